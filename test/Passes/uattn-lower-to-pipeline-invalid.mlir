// RUN: uattn-opt --split-input-file --verify-diagnostics --uattn-lower-to-pipeline %s
// Plans that are malformed, that do not fit the machine or whose kernel could
// not run, one rule a function. The passes that print and compile a plan read
// it through the same function.

// Nothing is decided while lowering.
func.func @no_plan(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{op has no plan: expected the attribute that uattn-plan adds}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// A plan that lacks a decision is no plan.
func.func @missing_field(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no i64 field stage_count}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @missing_switch(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no boolean field ping_pong}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, polynomial_period = 0 : i64,
      producer_registers = 32 : i64,
      softmax = "online", stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @missing_target(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no string field target}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// A misspelt field is never ignored.
func.func @misspelt_field(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has the unknown field softmx: did you mean softmax?}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a", softmx = "online"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @unknown_field(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has the unknown field warp_count: expected none such}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a", warp_count = 4 : i64}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// Other integer types would not print back as they were written.
func.func @field_of_another_width(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no i64 field kv_tile_rows}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i32, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @field_of_an_unsigned_type(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no i64 field kv_tile_rows}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : ui64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @field_of_index_type(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no i64 field kv_tile_rows}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : index, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @field_of_a_float(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no i64 field kv_tile_rows}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128.0 : f32, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @number_for_a_switch(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no boolean field ping_pong}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = 1 : i64,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @number_for_a_name(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has no string field softmax}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = 1 : i64, stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @field_beyond_32_bits(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field kv_tile_rows is 4294967424: expected 0 to 2147483647}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 4294967424 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @negative_field(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field stage_count is -2: expected 0 to 2147483647}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = -2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// There are two ways to compute the softmax.
func.func @unknown_softmax(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field softmax is "offline": expected "online" or "fixed_maximum"}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "offline", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @unknown_target(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field target is "sm_80": expected "sm_90a"}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_80"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @target_with_a_zero_byte(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field target is "sm_90a}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a\00x"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// wgmma takes k in steps of 16.
func.func @tile_of_odd_height(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field kv_tile_rows is 100: expected a multiple of 16 from 16 to 256}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 100 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @no_stage(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field stage_count is 0: expected 1 to 8}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 0 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

func.func @too_many_warpgroups(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field consumer_warpgroups is 4: expected 1 to 3}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 4 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// setmaxnreg takes registers from the producer, never gives it any.
func.func @producer_grows(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field producer_registers is 136: expected a multiple of 8 from 24 to 128}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 136 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// Two rings of 8 stages of 256 rows of 128 bytes do not fit.
func.func @rings_beyond_shared_memory(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan needs 549136 bytes of shared memory: expected at most 232448 on sm_90a}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 256 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 8 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// 512 threads of 160 registers are more than an SM has.
func.func @registers_at_entry_beyond_the_sm(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan needs 81920 registers at entry: expected at most 65536 on sm_90a}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 160 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// setmaxnreg deals out what the CTA got at entry: the consumers of this plan hung.
func.func @consumers_that_would_wait_for_registers_forever(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan needs 65536 registers after setmaxnreg: expected at most the 32768 of entry}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 64 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// Groups of 8 columns are counted.
func.func @polynomial_period_beyond_the_tile(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan field polynomial_period is 33: expected 0 to 32}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 33 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// Without a cap scores have no bound.
func.func @fixed_maximum_without_a_bound(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has a fixed maximum for cap none and bf16: expected tanh or soft_sign and bf16}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "fixed_maximum", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// Nor is alsc's tight enough.
func.func @fixed_maximum_of_alsc(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{plan has a fixed maximum for cap alsc and bf16: expected tanh or soft_sign and bf16}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 8.0 : f32, 0.5 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "fixed_maximum", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// f16 has too few exponents for what is not relative to a maximum.
func.func @fixed_maximum_of_f16(%q: tensor<1x64x2x64xf16>) -> tensor<1x64x2x64xf16> {
  // expected-error @below {{plan has a fixed maximum for cap tanh and f16: expected tanh or soft_sign and bf16}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "fixed_maximum", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xf16>, tensor<1x64x2x64xf16>, tensor<1x64x2x64xf16>) -> tensor<1x64x2x64xf16>
  return %out : tensor<1x64x2x64xf16>
}
