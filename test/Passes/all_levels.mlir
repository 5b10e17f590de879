// Every level prints, parses back to the same text and lowers on from there:
// one pass a process, all passes in one pipeline mixed with upstream's, and
// uattn-compile come to the same kernel.

// RUN: rm -rf %t && mkdir %t
// RUN: uattn-opt %s --uattn-verify -o %t/0.mlir
// RUN: uattn-opt %t/0.mlir --uattn-plan -o %t/1.mlir
// RUN: uattn-opt %t/1.mlir --uattn-lower-to-pipeline --canonicalize --cse -o %t/2.mlir
// RUN: uattn-opt %t/2.mlir --uattn-expand-tile-ops -o %t/3.mlir
// RUN: uattn-opt %t/3.mlir --uattn-distribute-tiles -o %t/4.mlir
// RUN: uattn-opt %t/4.mlir --uattn-lower-to-llvm -o %t/5.mlir

// RUN: uattn-opt %t/1.mlir | cmp - %t/1.mlir
// RUN: uattn-opt %t/2.mlir | cmp - %t/2.mlir
// RUN: uattn-opt %t/3.mlir | cmp - %t/3.mlir
// RUN: uattn-opt %t/4.mlir | cmp - %t/4.mlir
// RUN: uattn-opt %t/5.mlir | cmp - %t/5.mlir
// RUN: uattn-opt --emit-bytecode %t/2.mlir | uattn-opt - | cmp - %t/2.mlir
// RUN: uattn-opt --emit-bytecode %t/5.mlir | uattn-opt - | cmp - %t/5.mlir

// RUN: uattn-opt %s -o %t/whole.mlir --pass-pipeline="builtin.module(uattn-verify,uattn-plan{target=sm_90a},func.func(canonicalize),uattn-lower-to-pipeline,canonicalize,cse,uattn-expand-tile-ops,uattn-distribute-tiles,uattn-lower-to-llvm)"
// RUN: cmp %t/whole.mlir %t/5.mlir

// RUN: uattn-compile %s -o %t/compiled.mlir --emit=llvm
// RUN: cmp %t/compiled.mlir %t/5.mlir

// RUN: FileCheck %s < %t/5.mlir
// CHECK: gpu.module @[[MODULE:[a-z0-9_]+]] {
// CHECK-NOT: {{(arith|math|scf|cf|vector)\.}}
// CHECK-NOT: "uattn.
// CHECK: llvm.func @ranker_attention_fwd_bf16_d128_alsc_temp_bf16_lse(
// CHECK: llvm.return
// CHECK-NOT: {{(arith|math|scf|cf|vector)\.}}
// CHECK-NOT: "uattn.
!q = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>
func.func @main(%q: !q, %k: !q, %v: !q, %t: tensor<?x?xbf16>) -> (!q, !lse) {
  %out, %lse = "uattn.ranker_attention"(%q, %k, %v, %t) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 8.0 : f32, 0.5 : f32>, sm_scale = 0.0883 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (!q, !q, !q, tensor<?x?xbf16>) -> (!q, !lse)
  return %out, %lse : !q, !lse
}
