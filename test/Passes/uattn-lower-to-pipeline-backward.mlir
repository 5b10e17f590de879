// RUN: uattn-opt --uattn-plan --uattn-lower-to-pipeline %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: uattn-opt %t.mlir | cmp - %t.mlir
// RUN: uattn-opt --uattn-lower-to-pipeline %t.mlir | cmp - %t.mlir

!q = tensor<1x64x2x64xbf16>
!lse = tensor<1x2x64xf32>
!temp = tensor<1x64xf32>
!dyn = tensor<?x?x?x64xbf16>
!dynlse = tensor<?x?x?xf32>

// The op stays as the description of the launches and names its kernels in the
// order in which they run; what lowering already made is not made again (second
// and third RUN line).
// CHECK: module attributes {gpu.container_module}
// CHECK-LABEL: func.func @op_names_its_kernels(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: kernels = [
// CHECK-SAME: @[[ROWS:[a-z0-9_]+]]::@ranker_attention_bwd_rows_bf16_d64_none_fused,
// CHECK-SAME: @[[FUSED:[a-z0-9_]+]]::@ranker_attention_bwd_dqkv_bf16_d64_none_fused,
// CHECK-SAME: @[[SUM:[a-z0-9_]+]]::@ranker_attention_bwd_dqsum_bf16_d64_none_fused],
func.func @op_names_its_kernels(%q: !q, %lse: !lse) -> !q {
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %0#0 : !q
}

// Sizes, the scale's value and sign, q_offset and the weight of z-loss are
// arguments of the launch.
// CHECK-LABEL: func.func @same_plan_shares_the_kernels(
// CHECK: kernels = [@[[ROWS]]::@{{[a-z0-9_]+}}, @[[FUSED]]::@{{[a-z0-9_]+}}, @[[SUM]]::@{{[a-z0-9_]+}}],
func.func @same_plan_shares_the_kernels(%q: !dyn, %lse: !dynlse) -> !dyn {
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = -1.0 : f32,
    q_offset = 5 : i64, z_loss_weight = 0.5 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!dyn, !dyn, !dyn, !dyn, !dynlse, !dyn) -> (!dyn, !dyn, !dyn)
  return %0#0 : !dyn
}

// Sums in one order take kernels of their own.
// CHECK-LABEL: func.func @deterministic_op_has_others(
// CHECK: kernels = [
// CHECK-SAME: @[[ORDERED:[a-z0-9_]+]]::@ranker_attention_bwd_rows_bf16_d64_none,
// CHECK-SAME: @[[DKV:[a-z0-9_]+]]::@ranker_attention_bwd_dkv_bf16_d64_none,
// CHECK-SAME: @[[DQ:[a-z0-9_]+]]::@ranker_attention_bwd_dq_bf16_d64_none],
func.func @deterministic_op_has_others(%q: !q, %lse: !lse) -> !q {
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, deterministic,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %0#0 : !q
}

// Two plans that differ in a decision are kernels of one name in other modules.
// CHECK-LABEL: func.func @decisions_are_part_of_the_module(
// CHECK: kernels = [
// CHECK-SAME: @[[SMALLER:[a-z0-9_]+_1x32x1_r128_32_168]]::@ranker_attention_bwd_rows_bf16_d64_none,
func.func @decisions_are_part_of_the_module(%q: !q, %lse: !lse) -> !q {
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{fuses_dq = false, consumer_registers = 168 : i64, consumer_warpgroups = 1 : i64,
      entry_registers = 128 : i64, moving_tile_rows = 32 : i64, producer_registers = 32 : i64,
      stage_count = 1 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %0#0 : !q
}

// dtemp adds a kernel.
// CHECK-LABEL: func.func @dtemp_has_a_kernel(
// CHECK: kernels = [
// CHECK-SAME: ::@ranker_attention_bwd_rows_bf16_d64_none_temp_f32_dtemp,
// CHECK-SAME: ::@ranker_attention_bwd_dkv_bf16_d64_none_temp_f32_dtemp,
// CHECK-SAME: ::@ranker_attention_bwd_dq_bf16_d64_none_temp_f32_dtemp,
// CHECK-SAME: ::@ranker_attention_bwd_dtemp_bf16_d64_none_temp_f32_dtemp],
func.func @dtemp_has_a_kernel(%q: !q, %temp: !temp, %lse: !lse) -> !temp {
  %0:4 = "uattn.ranker_attention_bwd"(%q, %q, %q, %temp, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (!q, !q, !q, !temp, !q, !lse, !q) -> (!q, !q, !q, !temp)
  return %0#3 : !temp
}

// Products: two for S and dP, then the sums; dP is of V and dout.
// CHECK: gpu.module @[[ROWS]]
// CHECK: gpu.func @ranker_attention_bwd_rows_bf16_d64_none_fused(
// CHECK: "uattn.wgmma"(
// CHECK: "uattn.record_store"(
// CHECK: "uattn.sums_clear"(
// CHECK: gpu.module @[[FUSED]]
// CHECK: gpu.func @ranker_attention_bwd_dqkv_bf16_d64_none_fused(
// CHECK-COUNT-2: "uattn.wgmma"({{.*}} {transpose_b}
// CHECK: "uattn.wgmma"(
// CHECK: "uattn.smem_transpose"(
// CHECK-COUNT-2: "uattn.wgmma"(
// CHECK: "uattn.sums_add"(
// CHECK-COUNT-2: "uattn.tile_store"(
// CHECK: gpu.module @[[SUM]]
// CHECK: gpu.func @ranker_attention_bwd_dqsum_bf16_d64_none_fused(
// CHECK-NOT: "uattn.wgmma"(
// CHECK: "uattn.sums_load"(
// CHECK: "uattn.tile_store"(
// CHECK: gpu.module @[[ORDERED]]
// CHECK-NOT: "uattn.sums_clear"(
// CHECK: gpu.module @[[DKV]]
// CHECK: gpu.func @ranker_attention_bwd_dkv_bf16_d64_none(
// CHECK-COUNT-2: "uattn.wgmma"({{.*}} {transpose_b}
// CHECK-COUNT-2: "uattn.wgmma"(
// CHECK-NOT: "uattn.sums_add"(
// CHECK-COUNT-2: "uattn.tile_store"(
// CHECK: gpu.module @[[DQ]]
// CHECK: gpu.func @ranker_attention_bwd_dq_bf16_d64_none(
// CHECK-COUNT-2: "uattn.wgmma"({{.*}} {transpose_b}
// CHECK: "uattn.wgmma"(
// CHECK: "uattn.tile_store"(
// CHECK: gpu.module @[[SMALLER]]
