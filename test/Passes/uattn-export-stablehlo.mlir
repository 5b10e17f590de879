// RUN: uattn-opt --allow-unregistered-dialect --uattn-export-stablehlo %s | FileCheck %s
// RUN: uattn-opt --allow-unregistered-dialect --uattn-export-stablehlo=form=custom-call %s | FileCheck %s
// RUN: uattn-opt --allow-unregistered-dialect --uattn-export-stablehlo=form=composite %s \
// RUN:   | FileCheck %s --check-prefix=COMPOSITE

!t = tensor<1x64x2x64xbf16>
!lse = tensor<1x2x64xf32>
!rows = tensor<?x64xf32>

// Defaults are written out, arrays as JAX writes numpy's; layouts are the
// default ones, from the fastest dimension to the slowest.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor
// CHECK-NEXT: %[[OUT:.*]] = "stablehlo.custom_call"(%[[Q]], %[[Q]], %[[Q]]) <{
// CHECK-SAME: api_version = 4 : i32
// CHECK-SAME: backend_config = {
// CHECK-SAME: cap = 0.000000e+00 : f32, cap_alpha = 0.000000e+00 : f32, cap_beta = 0.000000e+00 : f32
// CHECK-SAME: cap_method = "none", causal = false
// CHECK-SAME: operandSegmentSizes = dense<[1, 1, 1, 0, 0, 0, 0]> : tensor<7xi32>
// CHECK-SAME: q_offset = 0 : i64
// CHECK-SAME: resultSegmentSizes = dense<[1, 0]> : tensor<2xi32>
// CHECK-SAME: sm_scale = 1.250000e-01 : f32, window_len = 0 : i64}
// CHECK-SAME: call_target_name = "uattn.ranker_attention"
// CHECK-SAME: called_computations = []
// CHECK-SAME: has_side_effect = false
// CHECK-SAME: operand_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>]
// CHECK-SAME: output_operand_aliases = []
// CHECK-SAME: result_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>]}>
// CHECK-NEXT: return %[[OUT]]
// A composite's decomposition is the custom call, in a private function.
// COMPOSITE-LABEL: func.func @forward(
// COMPOSITE-SAME: %[[Q:[a-z0-9]+]]: tensor
// COMPOSITE-NEXT: %[[OUT:.*]] = "stablehlo.composite"(%[[Q]], %[[Q]], %[[Q]]) <{
// COMPOSITE-SAME: composite_attributes = {cap = 0.000000e+00 : f32
// COMPOSITE-SAME: decomposition = @[[FORWARD:[a-z._0-9]+]]
// COMPOSITE-SAME: name = "uattn.ranker_attention", version = 1 : i32}>
// COMPOSITE-NEXT: return %[[OUT]]
func.func @forward(%q: !t) -> !t {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!t, !t, !t) -> !t
  return %out : !t
}

// Every attribute, and those of other dialects.
// CHECK-LABEL: func.func @backward(
// CHECK-NEXT: %[[D:.*]]:4 = "stablehlo.custom_call"
// CHECK-SAME: cap = 3.000000e+01 : f32, cap_alpha = 1.500000e+00 : f32, cap_beta = -2.500000e-01 : f32
// CHECK-SAME: cap_method = "alsc", causal = true, deterministic = true
// CHECK-SAME: operandSegmentSizes = dense<[1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0]> : tensor<11xi32>
// CHECK-SAME: q_offset = -3 : i64
// CHECK-SAME: resultSegmentSizes = dense<1> : tensor<4xi32>
// CHECK-SAME: window_len = 17 : i64, z_loss_weight = 1.000000e-03 : f32}
// CHECK-SAME: call_target_name = "uattn.ranker_attention_bwd"
// CHECK-SAME: dense<[1, 0]> : tensor<2xindex>
// CHECK-SAME: }> {mhlo.sharding = "{replicated}"}
// CHECK-NEXT: return %[[D]]#0, %[[D]]#3
// COMPOSITE-LABEL: func.func @backward(
// COMPOSITE-NEXT: "stablehlo.composite"
// COMPOSITE-SAME: decomposition = @[[BACKWARD:[a-z._0-9]+]]
// COMPOSITE-SAME: }> {mhlo.sharding = "{replicated}"}
func.func @backward(%q: !t, %temp: !rows, %lse: !lse) -> (!t, !rows) {
  %dq, %dk, %dv, %dtemp = "uattn.ranker_attention_bwd"(%q, %q, %q, %temp, %q, %lse, %q) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 1.5 : f32, -0.25 : f32>, sm_scale = 0.125 : f32,
    causal, deterministic, window_len = 17 : i64, q_offset = -3 : i64, z_loss_weight = 1.0e-3 : f32,
    mhlo.sharding = "{replicated}",
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (!t, !t, !t, !rows, !t, !lse, !t) -> (!t, !t, !t, !rows)
  return %dq, %dtemp : !t, !rows
}

// Functions around a decomposition may have its name already.
// COMPOSITE-LABEL: func.func private @uattn.ranker_attention(
func.func private @uattn.ranker_attention(%q: !t) -> !t {
  return %q : !t
}

// COMPOSITE: func.func private @[[FORWARD]](%[[Q:.*]]: tensor<1x64x2x64xbf16>, %[[K:.*]]: tensor<1x64x2x64xbf16>, %[[V:.*]]: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
// COMPOSITE-NEXT: %[[OUT:.*]] = "stablehlo.custom_call"(%[[Q]], %[[K]], %[[V]])
// COMPOSITE-SAME: backend_config = {cap = 0.000000e+00 : f32
// COMPOSITE-NEXT: return %[[OUT]]
// COMPOSITE: func.func private @[[BACKWARD]](
// COMPOSITE-NEXT: %[[D:.*]]:4 = "stablehlo.custom_call"
// COMPOSITE-NEXT: return %[[D]]#0, %[[D]]#1, %[[D]]#2, %[[D]]#3
