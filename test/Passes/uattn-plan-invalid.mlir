// RUN: uattn-opt --split-input-file --verify-diagnostics --uattn-plan %s
// RUN: not uattn-opt --uattn-plan=target=sm_80 %s 2>&1 | FileCheck %s --check-prefix=TARGET
// What no kernel covers yet is refused by name, at the op; it is never computed
// as something else.
// TARGET: error: target sm_80 is not supported: expected sm_90a

// The backward op has no kernel of this size yet.
func.func @backward_of_192_columns(%q: tensor<1x64x2x192xbf16>, %l: tensor<1x2x64xf32>) -> (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>) {
  // expected-error @below {{uattn.ranker_attention_bwd with head_dim 192 is not compiled yet: expected at most 128}}
  %dq, %dk, %dv = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %l, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x192xbf16>) -> (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>)
  return %dq, %dk, %dv : tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>
}

// -----

// One run names all that it cannot plan.
func.func @every_op_is_reported(%q: tensor<1x64x2x192xbf16>, %l: tensor<1x2x64xf32>) -> (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>) {
  // expected-error @below {{uattn.ranker_attention_bwd with head_dim 192 is not compiled yet}}
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %l, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x192xbf16>) -> (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>)
  // expected-error @below {{uattn.ranker_attention_bwd with head_dim 192 is not compiled yet}}
  %1:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %l, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.25 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x192xbf16>) -> (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>)
  return %0#0, %1#0 : tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>
}
