// RUN: not uattn-opt --uattn-plan=target=sm_80 %s 2>&1 | FileCheck %s
// What no kernel covers is refused by name; it is never computed as something
// else. Every op has a kernel: a target alone can lack them.
// CHECK: error: target sm_80 is not supported: expected sm_90a
//
// RUN: not uattn-opt --uattn-plan=compiler=llvm %s 2>&1 | FileCheck %s --check-prefix=COMPILER
// COMPILER: error: compiler llvm is not known: expected uattn or triton
//
// RUN: not uattn-opt --uattn-plan=compiler= %s 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: compiler {{ *}}is not known: expected uattn or triton
func.func @forward(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}
