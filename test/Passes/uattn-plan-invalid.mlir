// RUN: uattn-opt --split-input-file --verify-diagnostics --uattn-plan %s
// RUN: not uattn-opt --uattn-plan=target=sm_80 %s 2>&1 | FileCheck %s --check-prefix=TARGET
// What no kernel covers yet is refused by name, at the op; it is never computed
// as something else.
// TARGET: error: target sm_80 is not supported: expected sm_90a

// The backward op has no kernel yet.
func.func @backward(%q: tensor<1x64x2x64xbf16>, %l: tensor<1x2x64xf32>) -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) {
  // expected-error @below {{uattn.ranker_attention_bwd is not compiled yet: expected uattn.ranker_attention}}
  %dq, %dk, %dv = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %l, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>) -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %dq, %dk, %dv : tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>
}

// -----

// One run names all that it cannot plan.
func.func @every_op_is_reported(%q: tensor<1x64x2x64xbf16>, %l: tensor<1x2x64xf32>) -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) {
  // expected-error @below {{uattn.ranker_attention_bwd is not compiled yet}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %l, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>) -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  // expected-error @below {{uattn.ranker_attention_bwd is not compiled yet}}
  %1:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %l, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.25 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>) -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %0#0, %1#0 : tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>
}

// -----

// No plan makes a kernel of it, whoever wrote it.
func.func @backward_with_a_plan(%q: tensor<1x64x2x64xbf16>, %l: tensor<1x2x64xf32>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) {
  // expected-error @below {{uattn.ranker_attention_bwd is not compiled yet: expected uattn.ranker_attention}}
  %dq, %dk, %dv = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %l, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %dq, %dk, %dv : tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>
}
