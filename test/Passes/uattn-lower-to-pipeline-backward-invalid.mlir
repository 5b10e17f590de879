// RUN: uattn-opt --split-input-file --verify-diagnostics --uattn-lower-to-pipeline %s
// RUN: uattn-opt --split-input-file --verify-diagnostics --uattn-print-plan %s
// Plans of a backward op that are malformed, that do not fit the machine or whose
// kernels could not run, one rule a function. The passes that print and compile
// a plan read it through the same function.

// Nothing is decided while lowering.
func.func @no_plan(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{op has no plan: expected the attribute that uattn-plan adds}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

// A plan that lacks a decision is no plan.
func.func @missing_field(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no i64 field stage_count}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_rows = 64 : i64, producer_registers = 24 : i64, target =
      "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

func.func @missing_target(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no string field target}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_rows = 64 : i64, producer_registers = 24 : i64,
      stage_count = 2 : i64}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

func.func @missing_choice(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no boolean field fuses_dq}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_rows = 64 : i64, producer_registers = 24 : i64,
      stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

// A misspelt field is never ignored.
func.func @misspelt_field(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has the unknown field moving_tile_row: did you mean moving_tile_rows?}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_row = 64 : i64, moving_tile_rows = 64 : i64,
      producer_registers = 24 : i64, stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

// What only a forward decides says nothing here.
func.func @field_of_a_forward(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has the unknown field softmax: expected none such}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_rows = 64 : i64, producer_registers = 24 : i64, softmax =
      "online", stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

// Other integer types would not print back as they were written.
func.func @field_of_another_width(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no i64 field moving_tile_rows}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_rows = 64 : i32, producer_registers = 24 : i64,
      stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

func.func @field_beyond_32_bits(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field stage_count is 4294967298: expected 0 to 2147483647}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_rows = 64 : i64, producer_registers = 24 : i64,
      stage_count = 4294967298 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

func.func @unknown_target(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field target is "sm_80": expected "sm_90a"}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_rows = 64 : i64, producer_registers = 24 : i64,
      stage_count = 2 : i64, target = "sm_80"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

// wgmma takes k in steps of 16.
func.func @tile_of_odd_height(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field moving_tile_rows is 72: expected a multiple of 16 from 16 to 64}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_rows = 72 : i64, producer_registers = 24 : i64,
      stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

func.func @too_many_warpgroups(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field consumer_warpgroups is 4: expected 1 to 3}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 4 : i64, entry_registers =
      168 : i64, moving_tile_rows = 64 : i64, producer_registers = 24 : i64,
      stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

// Two rings of 8 stages of 64 rows of 384 bytes, and of 16, do not fit.
func.func @rings_beyond_shared_memory(%q: tensor<1x64x2x192xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x192xbf16> {
  // expected-error @below {{plan needs 500128 bytes of shared memory: expected at most 232448 on sm_90a}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_rows = 64 : i64, producer_registers = 24 : i64,
      stage_count = 8 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x192xbf16>)
    -> (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>)
  return %0#0 : tensor<1x64x2x192xbf16>
}

// -----

// 384 threads of 176 registers are more than an SM has.
func.func @registers_at_entry_beyond_the_sm(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan needs 67584 registers at entry: expected at most 65536 on sm_90a}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      176 : i64, moving_tile_rows = 64 : i64, producer_registers = 24 : i64,
      stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

// setmaxnreg deals out what the CTA got at entry.
func.func @consumers_that_would_wait_for_registers_forever(%q: tensor<1x64x2x64xbf16>, %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan needs 65536 registers after setmaxnreg: expected at most the 64512 of entry}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64, entry_registers =
      168 : i64, moving_tile_rows = 64 : i64, producer_registers = 32 : i64,
      stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}

// -----

// A candidate's own keys come in boxes of a warpgroup's rows.
func.func @other_tiles_with_bounds(%q: tensor<1x64x2x64xbf16>, %bounds: tensor<1x4xi32>,
                                   %lse: tensor<1x2x64xf32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field moving_tile_rows is 32: expected 64 with bounds}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %bounds, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
      entry_registers = 168 : i64, moving_tile_rows = 32 : i64, producer_registers = 24 : i64,
      stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x4xi32>,
       tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0 : tensor<1x64x2x64xbf16>
}
