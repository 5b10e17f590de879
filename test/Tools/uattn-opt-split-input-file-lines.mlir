// RUN: not uattn-opt --split-input-file %s -o %t.out 2>&1 | FileCheck %s
// RUN: not ls %t.out

// Lines keep their numbers in later pieces; all pieces are looked at; nothing is
// written where one is wrong.
// CHECK: uattn-opt-split-input-file-lines.mlir:[[# @LINE + 2]]:3: error: unknown attribute
func.func @first(%q: tensor<1x64x2x64xbf16>) {
  "uattn.ranker_attention"(%q, %q, %q) {
    dropout,
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
    -> tensor<1x64x2x64xbf16>
  return
}

// -----

// CHECK: uattn-opt-split-input-file-lines.mlir:[[# @LINE + 3]]:3: error:
// CHECK-NEXT: {{^  no_such_op$}}
func.func @second() {
  no_such_op
}
