// RUN: uattn-opt --uattn-verify %s | FileCheck %s
// RUN: not uattn-opt --transform-interpreter --verify-each=false \
// RUN:   --uattn-verify %s -o %t 2>&1 | FileCheck %s --check-prefix=BROKEN

// What is right passes unchanged. Parsing verifies too, so the transform
// script below breaks the op between parsing and the pass.
// CHECK-LABEL: func.func @op_is_checked_again(
// CHECK: "uattn.ranker_attention"(
// CHECK: return
// BROKEN: uattn-verify.mlir:[[# @LINE + 3]]:8: error: unknown attribute 'casual'
// BROKEN-SAME: did you mean 'causal'?
func.func @op_is_checked_again(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  %0 = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
    -> tensor<1x64x2x64xbf16>
  return %0 : tensor<1x64x2x64xbf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["uattn.ranker_attention"]} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.annotate %op "casual" : !transform.any_op
    transform.yield
  }
}
