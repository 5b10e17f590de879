// RUN: uattn-opt %s | FileCheck %s
// RUN: uattn-opt %s | uattn-opt - | FileCheck %s
// RUN: uattn-opt --mlir-print-op-generic %s | uattn-opt - | FileCheck %s
// RUN: uattn-opt --emit-bytecode %s | uattn-opt - | FileCheck %s
// The backward op survives text, generic text and bytecode.

!q = tensor<1x64x4x64xbf16>
!k = tensor<1x96x2x64xbf16>
!lse = tensor<1x4x64xf32>
!t = tensor<1x64xf32>
!b = tensor<1x4xi32>
!sq = tensor<1x64xi32>
!skv = tensor<1x96xi32>
#none = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>

// Only what is always there.
// CHECK-LABEL: func.func @no_optional_operand(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1, 1, 0>
// CHECK-SAME: tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>
// CHECK-SAME: tensor<1x64x4x64xbf16>)
// CHECK-SAME: -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>
func.func @no_optional_operand(%q: !q, %k: !k, %v: !k, %out: !q, %lse: !lse,
                               %dout: !q) {
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !k, !k, !q, !lse, !q)
    -> (!q, !k, !k)
  return
}

// The temperature and its gradient.
// CHECK-LABEL: func.func @temp_and_dtemp(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1, 1, 1>
// CHECK-SAME: tensor<1x64xf32>, tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>
// CHECK-SAME: tensor<1x64x4x64xbf16>)
// CHECK-SAME: -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x64xf32>
func.func @temp_and_dtemp(%q: !q, %k: !k, %v: !k, %temp: !t, %out: !q,
                          %lse: !lse, %dout: !q) {
  "uattn.ranker_attention_bwd"(%q, %k, %v, %temp, %out, %lse, %dout) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (!q, !k, !k, !t, !q, !lse, !q)
    -> (!q, !k, !k, !t)
  return
}

// A gradient that nobody asks for.
// CHECK-LABEL: func.func @temp_without_dtemp(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1, 1, 0>
// CHECK-SAME: tensor<1x64xf32>, tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>
// CHECK-SAME: tensor<1x64x4x64xbf16>)
// CHECK-SAME: -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>
func.func @temp_without_dtemp(%q: !q, %k: !k, %v: !k, %temp: !t, %out: !q,
                              %lse: !lse, %dout: !q) {
  "uattn.ranker_attention_bwd"(%q, %k, %v, %temp, %out, %lse, %dout) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !k, !k, !t, !q, !lse, !q)
    -> (!q, !k, !k)
  return
}

// The ranker mask.
// CHECK-LABEL: func.func @bounds(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1, 1, 0>
// CHECK-SAME: tensor<1x4xi32>, tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>
// CHECK-SAME: tensor<1x64x4x64xbf16>)
// CHECK-SAME: -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>
func.func @bounds(%q: !q, %k: !k, %v: !k, %bounds: !b, %out: !q, %lse: !lse,
                  %dout: !q) {
  "uattn.ranker_attention_bwd"(%q, %k, %v, %bounds, %out, %lse, %dout) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !k, !k, !b, !q, !lse, !q)
    -> (!q, !k, !k)
  return
}

// Two operands that come together.
// CHECK-LABEL: func.func @segment_ids(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1, 1, 0>
// CHECK-SAME: tensor<1x64xi32>, tensor<1x96xi32>, tensor<1x64x4x64xbf16>
// CHECK-SAME: tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
// CHECK-SAME: -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>
func.func @segment_ids(%q: !q, %k: !k, %v: !k, %q_ids: !sq, %kv_ids: !skv,
                       %out: !q, %lse: !lse, %dout: !q) {
  "uattn.ranker_attention_bwd"(%q, %k, %v, %q_ids, %kv_ids, %out, %lse, %dout) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !k, !k, !sq, !skv, !q, !lse, !q)
    -> (!q, !k, !k)
  return
}

// The gradient that arrives through lse.
// CHECK-LABEL: func.func @dlse(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1, 1, 0>
// CHECK-SAME: tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>
// CHECK-SAME: tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>)
// CHECK-SAME: -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>
func.func @dlse(%q: !q, %k: !k, %v: !k, %out: !q, %lse: !lse, %dout: !q,
                %dlse: !lse) {
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout, %dlse) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !k, !k, !q, !lse, !q, !lse)
    -> (!q, !k, !k)
  return
}

// All operands and results.
// CHECK-LABEL: func.func @everything(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1, 1, 1>
// CHECK-SAME: tensor<1x64xf32>, tensor<1x4xi32>, tensor<1x64xi32>
// CHECK-SAME: tensor<1x96xi32>, tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>
// CHECK-SAME: tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>)
// CHECK-SAME: -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x64xf32>
func.func @everything(%q: !q, %k: !k, %v: !k, %temp: !t, %bounds: !b,
                      %q_ids: !sq, %kv_ids: !skv, %out: !q, %lse: !lse,
                      %dout: !q, %dlse: !lse) {
  "uattn.ranker_attention_bwd"(%q, %k, %v, %temp, %bounds, %q_ids, %kv_ids, %out, %lse, %dout, %dlse) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (!q, !k, !k, !t, !b, !sq, !skv, !q, !lse, !q, !lse)
    -> (!q, !k, !k, !t)
  return
}

// The attributes of the backward op alone.
// CHECK-LABEL: func.func @z_loss_and_deterministic(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: causal
// CHECK-SAME: deterministic
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>
// CHECK-SAME: q_offset = 16 : i64
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1, 1, 0>
// CHECK-SAME: window_len = 32 : i64
// CHECK-SAME: z_loss_weight = 1.000000e-03 : f32
// CHECK-SAME: tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>
// CHECK-SAME: tensor<1x64x4x64xbf16>)
// CHECK-SAME: -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>
func.func @z_loss_and_deterministic(%q: !q, %k: !k, %v: !k, %out: !q,
                                    %lse: !lse, %dout: !q) {
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #none,
    sm_scale = 0.125 : f32,
    causal,
    deterministic,
    q_offset = 16 : i64,
    window_len = 32 : i64,
    z_loss_weight = 1.000000e-03 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !k, !k, !q, !lse, !q)
    -> (!q, !k, !k)
  return
}

// Everything but D may be dynamic; dtemp is f32 where temp is bf16.
// CHECK-LABEL: func.func @dynamic_dimensions(
// CHECK: "uattn.ranker_attention_bwd"(
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1, 1, 1>
// CHECK-SAME: tensor<?x?xbf16>, tensor<?x4xi32>, tensor<?x?xi32>
// CHECK-SAME: tensor<?x?xi32>, tensor<?x?x?x128xf16>, tensor<?x?x?xf32>
// CHECK-SAME: tensor<?x?x?x128xf16>, tensor<?x?x?xf32>)
// CHECK-SAME: -> (tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?xf32>
func.func @dynamic_dimensions(%q: tensor<?x?x?x128xf16>,
                              %k: tensor<?x?x?x128xf16>,
                              %v: tensor<?x?x?x128xf16>,
                              %temp: tensor<?x?xbf16>,
                              %bounds: tensor<?x4xi32>,
                              %q_ids: tensor<?x?xi32>,
                              %kv_ids: tensor<?x?xi32>,
                              %out: tensor<?x?x?x128xf16>,
                              %lse: tensor<?x?x?xf32>,
                              %dout: tensor<?x?x?x128xf16>,
                              %dlse: tensor<?x?x?xf32>) {
  "uattn.ranker_attention_bwd"(%q, %k, %v, %temp, %bounds, %q_ids, %kv_ids, %out, %lse, %dout, %dlse) {
    cap = #none,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>,
       tensor<?x?xbf16>, tensor<?x4xi32>, tensor<?x?xi32>, tensor<?x?xi32>,
       tensor<?x?x?x128xf16>, tensor<?x?x?xf32>, tensor<?x?x?x128xf16>,
       tensor<?x?x?xf32>)
    -> (tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?xf32>)
  return
}
