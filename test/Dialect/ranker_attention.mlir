// RUN: uattn-opt %s | FileCheck %s
// RUN: uattn-opt %s | uattn-opt - | FileCheck %s
// RUN: uattn-opt --mlir-print-op-generic %s | uattn-opt - | FileCheck %s
// RUN: uattn-opt --emit-bytecode %s | uattn-opt - | FileCheck %s
// The forward op survives text, generic text and bytecode.

!q = tensor<1x64x4x64xbf16>
!k = tensor<1x96x2x64xbf16>
!lse = tensor<1x4x64xf32>
!t = tensor<1x64xf32>
!b = tensor<1x4xi32>
!sq = tensor<1x64xi32>
!skv = tensor<1x96xi32>
#none = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>

// Each optional operand has its place in the segments.
// CHECK-LABEL: func.func @no_optional_operand(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @no_optional_operand(%q: !q, %k: !k, %v: !k) {
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k)
    -> !q
  return
}

// Each optional operand has its place in the segments.
// CHECK-LABEL: func.func @temp(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: tensor<1x64xf32>)
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @temp(%q: !q, %k: !k, %v: !k, %temp: !t) {
  "uattn.ranker_attention"(%q, %k, %v, %temp) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k, !t)
    -> !q
  return
}

// Each optional operand has its place in the segments.
// CHECK-LABEL: func.func @bounds(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: tensor<1x4xi32>)
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @bounds(%q: !q, %k: !k, %v: !k, %bounds: !b) {
  "uattn.ranker_attention"(%q, %k, %v, %bounds) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k, !b)
    -> !q
  return
}

// Each optional operand has its place in the segments.
// CHECK-LABEL: func.func @segment_ids(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: tensor<1x64xi32>, tensor<1x96xi32>)
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @segment_ids(%q: !q, %k: !k, %v: !k, %q_ids: !sq, %kv_ids: !skv) {
  "uattn.ranker_attention"(%q, %k, %v, %q_ids, %kv_ids) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k, !sq, !skv)
    -> !q
  return
}

// Each optional operand has its place in the segments.
// CHECK-LABEL: func.func @temp_and_bounds(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: tensor<1x64xf32>, tensor<1x4xi32>)
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @temp_and_bounds(%q: !q, %k: !k, %v: !k, %temp: !t, %bounds: !b) {
  "uattn.ranker_attention"(%q, %k, %v, %temp, %bounds) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k, !t, !b)
    -> !q
  return
}

// Each optional operand has its place in the segments.
// CHECK-LABEL: func.func @temp_and_segment_ids(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 1>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: tensor<1x64xf32>, tensor<1x64xi32>, tensor<1x96xi32>)
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @temp_and_segment_ids(%q: !q, %k: !k, %v: !k, %temp: !t,
                                %q_ids: !sq, %kv_ids: !skv) {
  "uattn.ranker_attention"(%q, %k, %v, %temp, %q_ids, %kv_ids) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k, !t, !sq, !skv)
    -> !q
  return
}

// Each optional operand has its place in the segments.
// CHECK-LABEL: func.func @bounds_and_segment_ids(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 1>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: tensor<1x4xi32>, tensor<1x64xi32>, tensor<1x96xi32>)
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @bounds_and_segment_ids(%q: !q, %k: !k, %v: !k, %bounds: !b,
                                  %q_ids: !sq, %kv_ids: !skv) {
  "uattn.ranker_attention"(%q, %k, %v, %bounds, %q_ids, %kv_ids) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k, !b, !sq, !skv)
    -> !q
  return
}

// Each optional operand has its place in the segments.
// CHECK-LABEL: func.func @temp_and_bounds_and_segment_ids(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: tensor<1x64xf32>, tensor<1x4xi32>, tensor<1x64xi32>
// CHECK-SAME: tensor<1x96xi32>)
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @temp_and_bounds_and_segment_ids(%q: !q, %k: !k, %v: !k, %temp: !t,
                                           %bounds: !b, %q_ids: !sq,
                                           %kv_ids: !skv) {
  "uattn.ranker_attention"(%q, %k, %v, %temp, %bounds, %q_ids, %kv_ids) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k, !t, !b, !sq, !skv)
    -> !q
  return
}

// The second result is optional.
// CHECK-LABEL: func.func @lse_result(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1>
// CHECK-SAME: -> (tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>
func.func @lse_result(%q: !q, %k: !k, %v: !k) {
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (!q, !k, !k)
    -> (!q, !lse)
  return
}

// The masks that are attributes.
// CHECK-LABEL: func.func @causal_window_offset(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: causal
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: q_offset = 16 : i64
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: window_len = 32 : i64
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @causal_window_offset(%q: !q, %k: !k, %v: !k) {
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #none,
    sm_scale = 0.125 : f32,
    causal,
    q_offset = 16 : i64,
    window_len = 32 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k)
    -> !q
  return
}

// Any finite scale; positions may start below 0.
// CHECK-LABEL: func.func @negative_scale_and_offset(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: q_offset = -16 : i64
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: sm_scale = -1.250000e-01 : f32
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @negative_scale_and_offset(%q: !q, %k: !k, %v: !k) {
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #none,
    sm_scale = -0.125 : f32,
    q_offset = -16 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k)
    -> !q
  return
}

// A cap method with the parameters that it uses.
// CHECK-LABEL: func.func @cap_tanh(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: cap = #uattn.cap<"tanh", 3.000000e+01 : f32,
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @cap_tanh(%q: !q, %k: !k, %v: !k) {
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k)
    -> !q
  return
}

// A cap method with the parameters that it uses.
// CHECK-LABEL: func.func @cap_soft_sign(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: cap = #uattn.cap<"soft_sign", 3.000000e+01 : f32,
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @cap_soft_sign(%q: !q, %k: !k, %v: !k) {
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"soft_sign", 30.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k)
    -> !q
  return
}

// A cap method with the parameters that it uses.
// CHECK-LABEL: func.func @cap_alsc(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: cap = #uattn.cap<"alsc", 3.000000e+01 : f32,
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @cap_alsc(%q: !q, %k: !k, %v: !k) {
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 4.0 : f32, -0.5 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k)
    -> !q
  return
}

// f16 throughout, and a temperature of the same type.
// CHECK-LABEL: func.func @half_precision(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: tensor<1x64xf16>)
// CHECK-SAME: -> tensor<1x64x4x256xf16>
func.func @half_precision(%q: tensor<1x64x4x256xf16>,
                          %k: tensor<1x96x2x256xf16>,
                          %v: tensor<1x96x2x256xf16>,
                          %temp: tensor<1x64xf16>) {
  "uattn.ranker_attention"(%q, %k, %v, %temp) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x256xf16>, tensor<1x96x2x256xf16>, tensor<1x96x2x256xf16>,
       tensor<1x64xf16>)
    -> tensor<1x64x4x256xf16>
  return
}

// Everything but D may be dynamic.
// CHECK-LABEL: func.func @dynamic_dimensions(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1>
// CHECK-SAME: tensor<?x?xf32>, tensor<?x4xi32>, tensor<?x?xi32>
// CHECK-SAME: tensor<?x?xi32>)
// CHECK-SAME: -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
func.func @dynamic_dimensions(%q: tensor<?x?x?x128xbf16>,
                              %k: tensor<?x?x?x128xbf16>,
                              %v: tensor<?x?x?x128xbf16>,
                              %temp: tensor<?x?xf32>,
                              %bounds: tensor<?x4xi32>,
                              %q_ids: tensor<?x?xi32>,
                              %kv_ids: tensor<?x?xi32>) {
  "uattn.ranker_attention"(%q, %k, %v, %temp, %bounds, %q_ids, %kv_ids) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>,
       tensor<?x?xf32>, tensor<?x4xi32>, tensor<?x?xi32>, tensor<?x?xi32>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return
}

// A dynamic size agrees with every static one.
// CHECK-LABEL: func.func @static_beside_dynamic(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1>
// CHECK-SAME: -> (tensor<2x?x8x64xbf16>, tensor<?x8x70xf32>
func.func @static_beside_dynamic(%q: tensor<2x?x8x64xbf16>,
                                 %k: tensor<?x96x?x64xbf16>,
                                 %v: tensor<?x96x?x64xbf16>) {
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<2x?x8x64xbf16>, tensor<?x96x?x64xbf16>, tensor<?x96x?x64xbf16>)
    -> (tensor<2x?x8x64xbf16>, tensor<?x8x70xf32>)
  return
}

// Attributes that passes add.
// CHECK-LABEL: func.func @plan_and_kernels(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: kernels = [@fwd::@main]
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: plan = #uattn.plan<{stages = 2 : i64}>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @plan_and_kernels(%q: !q, %k: !k, %v: !k) {
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #none,
    sm_scale = 0.125 : f32,
    kernels = [@fwd::@main],
    plan = #uattn.plan<{stages = 2 : i64}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k)
    -> !q
  return
}

// MLIR lets any dialect mark any op.
// CHECK-LABEL: func.func @attribute_of_another_dialect(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: llvm.note = "kept"
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: -> tensor<1x64x4x64xbf16>
func.func @attribute_of_another_dialect(%q: !q, %k: !k, %v: !k) {
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #none,
    sm_scale = 0.125 : f32,
    llvm.note = "kept",
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !k, !k)
    -> !q
  return
}
