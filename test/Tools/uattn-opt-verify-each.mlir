// RUN: not uattn-opt --transform-interpreter --cse %s -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EACH
// RUN: not uattn-opt --verify-each --transform-interpreter --cse %s -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EACH
// RUN: uattn-opt --verify-each=false --transform-interpreter --cse %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NEVER
// RUN: not uattn-opt --transform-interpreter --uattn-verify %s -o %t \
// RUN:   --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=DUMP

// The semantic verifier follows upstream's passes as well: the transform script
// misspells an attribute. Without it nobody notices. Beside IR dumps only
// uattn's own passes are followed by it, so no dump shows a pass that the
// command line did not name.
// EACH: uattn-opt-verify-each.mlir:[[# @LINE + 5]]:8: error: unknown attribute 'casual'
// NEVER: casual
// DUMP: IR Dump After uattn-verify Failed
// DUMP-NOT: uattn-verify-each
func.func @op(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
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
