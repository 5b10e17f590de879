// RUN: uattn-opt --uattn-plan %s | FileCheck %s
// RUN: uattn-opt --uattn-plan=target=sm_90a %s | FileCheck %s
// RUN: uattn-opt --uattn-plan %s | uattn-opt - | FileCheck %s
// RUN: uattn-opt --uattn-plan --uattn-plan %s | FileCheck %s

!q = tensor<1x64x2x64xbf16>
!lse = tensor<1x2x64xf32>
!dyn = tensor<?x?x?x64xbf16>
!dynlse = tensor<?x?x?xf32>

// Every decision is in the attribute; nothing else of the op changes. What only
// a forward decides is not there.
// CHECK-LABEL: func.func @op_gets_a_plan(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: cap = #uattn.cap<"none",
// CHECK-SAME: plan = #uattn.plan<{
// CHECK-SAME: consumer_registers = {{[0-9]+}} : i64, consumer_warpgroups = {{[0-9]+}} : i64,
// CHECK-SAME: entry_registers = {{[0-9]+}} : i64, fuses_dq = true, moving_tile_rows = {{[0-9]+}} : i64,
// CHECK-SAME: producer_registers = {{[0-9]+}} : i64, stage_count = {{[0-9]+}} : i64,
// CHECK-SAME: target = "sm_90a"}>
// CHECK-SAME: sm_scale = 1.250000e-01 : f32
func.func @op_gets_a_plan(%q: !q, %lse: !lse) -> (!q, !q, !q) {
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %0#0, %0#1, %0#2 : !q, !q, !q
}

// Sizes, the scale and the weight of z-loss are arguments of the launch.
// CHECK-LABEL: func.func @launch_arguments_do_not_matter(
// CHECK: "uattn.ranker_attention_bwd"({{.*}} plan = #uattn.plan<[[PLAN:{.*}]]>,
// CHECK: "uattn.ranker_attention_bwd"({{.*}} plan = #uattn.plan<[[PLAN]]>,
// CHECK-SAME: z_loss_weight = 5.000000e-01 : f32
func.func @launch_arguments_do_not_matter(%q: !q, %lse: !lse, %dq: !dyn, %dlse: !dynlse)
    -> (!q, !dyn) {
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  %1:3 = "uattn.ranker_attention_bwd"(%dq, %dq, %dq, %dq, %dlse, %dq) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = -2.0 : f32,
    z_loss_weight = 0.5 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!dyn, !dyn, !dyn, !dyn, !dynlse, !dyn) -> (!dyn, !dyn, !dyn)
  return %0#0, %1#0 : !q, !dyn
}

// Sums in one order.
// CHECK-LABEL: func.func @deterministic_dq_is_not_added_up(
// CHECK: plan = #uattn.plan<{{.*}} fuses_dq = false,
func.func @deterministic_dq_is_not_added_up(%q: !q, %lse: !lse) -> !q {
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, deterministic,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %0#0 : !q
}

// Who wrote a plan meant it.
// CHECK-LABEL: func.func @plan_that_is_there_stays(
// CHECK: plan = #uattn.plan<{consumer_registers = 168 : i64, consumer_warpgroups = 1 : i64,
// CHECK-SAME: moving_tile_rows = 32 : i64
func.func @plan_that_is_there_stays(%q: !q, %lse: !lse) -> !q {
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 168 : i64, consumer_warpgroups = 1 : i64,
      entry_registers = 128 : i64, moving_tile_rows = 32 : i64, producer_registers = 32 : i64,
      stage_count = 1 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %0#0 : !q
}

// Both ops of a module have a plan each, of their own fields.
// CHECK-LABEL: func.func @forward_and_backward(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<{{{.*}} kv_tile_rows =
// CHECK: "uattn.ranker_attention_bwd"({{.*}} plan = #uattn.plan<{{{.*}} moving_tile_rows =
func.func @forward_and_backward(%q: !q) -> !q {
  %out, %lse = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (!q, !q, !q) -> (!q, !lse)
  %0:3 = "uattn.ranker_attention_bwd"(%q, %q, %q, %out, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %0#0 : !q
}

// The larger head dimension, the other type, temp, dtemp, dlse and masks.
// CHECK-LABEL: func.func @everything_is_covered(
// CHECK: "uattn.ranker_attention_bwd"({{.*}} causal,
// CHECK-SAME: plan = #uattn.plan<{
// CHECK-SAME: window_len = 16 : i64
func.func @everything_is_covered(%q: tensor<1x64x2x128xf16>, %temp: tensor<1x64xbf16>,
                                 %ids: tensor<1x64xi32>, %lse: !lse)
    -> (tensor<1x64x2x128xf16>, tensor<1x64xf32>) {
  %0:4 = "uattn.ranker_attention_bwd"(%q, %q, %q, %temp, %ids, %ids, %q, %lse, %q, %lse) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 4.0 : f32, 0.5 : f32>, sm_scale = 0.125 : f32,
    causal, window_len = 16 : i64, q_offset = 3 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (tensor<1x64x2x128xf16>, tensor<1x64x2x128xf16>, tensor<1x64x2x128xf16>, tensor<1x64xbf16>,
       tensor<1x64xi32>, tensor<1x64xi32>, tensor<1x64x2x128xf16>, !lse, tensor<1x64x2x128xf16>,
       !lse)
    -> (tensor<1x64x2x128xf16>, tensor<1x64x2x128xf16>, tensor<1x64x2x128xf16>, tensor<1x64xf32>)
  return %0#0, %0#3 : tensor<1x64x2x128xf16>, tensor<1x64xf32>
}
