// RUN: uattn-opt --uattn-plan --uattn-print-plan %s -o %t.mlir 2> %t.txt
// RUN: FileCheck %s < %t.txt
// RUN: uattn-opt --uattn-plan %s | cmp - %t.mlir
// RUN: not uattn-opt --uattn-print-plan %s 2>&1 | FileCheck %s --check-prefix=UNPLANNED

!q = tensor<1x64x2x64xbf16>
!lse = tensor<1x2x64xf32>
!temp = tensor<1x64xf32>

// Every kernel by name, what it does and what it takes, in the order in which
// they run; the fourth is there for dtemp.
// CHECK: backward kernel ranker_attention_bwd_rows_bf16_d64_tanh_temp_f32_dtemp on sm_90a
// CHECK-NEXT: work: delta and lse in base 2 of every query row
// CHECK-NEXT: tiles: 64 rows stay (1 consumer warpgroups of 64){{$}}
// CHECK-NEXT: registers a thread: {{[0-9]+}} at entry, producer {{[0-9]+}}, consumers {{[0-9]+}}
// CHECK-NEXT: shared memory: {{[0-9]+}} of 232448 bytes; 256 threads
// CHECK-NEXT: backward kernel ranker_attention_bwd_dkv_bf16_d64_tanh_temp_f32_dtemp on sm_90a
// CHECK-NEXT: work: dK and dV
// CHECK-NEXT: tiles: 128 rows stay (2 consumer warpgroups of 64), 64 move past, 2 stages
// CHECK-NEXT: registers a thread: {{[0-9]+}} at entry, producer {{[0-9]+}}, consumers {{[0-9]+}}
// CHECK-NEXT: shared memory: {{[0-9]+}} of 232448 bytes; 384 threads
// CHECK-NEXT: backward kernel ranker_attention_bwd_dq_bf16_d64_tanh_temp_f32_dtemp on sm_90a
// CHECK-NEXT: work: dQ
// CHECK-NEXT: tiles: 128 rows stay (2 consumer warpgroups of 64), 64 move past, 2 stages
// CHECK-NEXT: registers
// CHECK-NEXT: shared memory
// CHECK-NEXT: backward kernel ranker_attention_bwd_dtemp_bf16_d64_tanh_temp_f32_dtemp on sm_90a
// CHECK-NEXT: work: dtemp
// CHECK-NEXT: tiles: 64 rows stay (1 consumer warpgroups of 64){{$}}
// CHECK-NEXT: registers
// CHECK-NEXT: shared memory
// CHECK-NEXT: sums: in one order, whatever CTAs do first
// UNPLANNED: uattn-print-plan-backward.mlir:[[# @LINE + 2]]:10: error: op has no plan: expected the attribute that uattn-plan adds
func.func @chosen_plan_is_explained(%q: !q, %temp: !temp, %lse: !lse) -> (!q, !temp) {
  %0:4 = "uattn.ranker_attention_bwd"(%q, %q, %q, %temp, %q, %lse, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (!q, !q, !q, !temp, !q, !lse, !q) -> (!q, !q, !q, !temp)
  return %0#0, %0#3 : !q, !temp
}

// A plan that somebody wrote is explained as it stands; three kernels do without
// dtemp.
// CHECK-NEXT: backward kernel ranker_attention_bwd_rows_bf16_d64_none_causal on sm_90a
// CHECK: backward kernel ranker_attention_bwd_dkv_bf16_d64_none_causal on sm_90a
// CHECK: tiles: 64 rows stay (1 consumer warpgroups of 64), 32 move past, 3 stages
// CHECK-NEXT: registers a thread: 128 at entry, producer 24, consumers 232
// CHECK-NEXT: shared memory: {{[0-9]+}} of 232448 bytes; 256 threads
// CHECK-NEXT: backward kernel ranker_attention_bwd_dq_bf16_d64_none_causal on sm_90a
// CHECK-NOT: backward kernel
// CHECK: sums: in one order, whatever CTAs do first{{$}}
func.func @written_plan_is_explained(%q: !q, %lse: !lse) -> !q {
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, causal,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 232 : i64, consumer_warpgroups = 1 : i64,
      entry_registers = 128 : i64, moving_tile_rows = 32 : i64, producer_registers = 24 : i64,
      stage_count = 3 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %0#0 : !q
}

// The kernels that add dQ up.
// CHECK-NEXT: backward kernel ranker_attention_bwd_rows_bf16_d64_none_fused on sm_90a
// CHECK: backward kernel ranker_attention_bwd_dqkv_bf16_d64_none_fused on sm_90a
// CHECK-NEXT: work: dK and dV, and sums of dQ
// CHECK: backward kernel ranker_attention_bwd_dqsum_bf16_d64_none_fused on sm_90a
// CHECK-NEXT: work: dQ from its sums
// CHECK-NEXT: tiles: 64 rows stay (1 consumer warpgroups of 64){{$}}
// CHECK-NOT: backward kernel
// CHECK: sums: those of dQ as CTAs come, the others in one order{{$}}
// CHECK-NOT: {{.}}
func.func @fused_plan_is_explained(%q: !q, %lse: !lse) -> !q {
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %0#0 : !q
}
