// RUN: uattn-opt --split-input-file --verify-diagnostics --uattn-plan %s
// RUN: not uattn-opt --uattn-plan=target=sm_80 %s 2>&1 | FileCheck %s --check-prefix=TARGET
// What no kernel covers yet is refused by name, at the op; it is never computed
// as something else.
// TARGET: error: target sm_80 is not supported: expected sm_90a

// Another element type has other instructions.
func.func @f16(%q: tensor<1x64x2x64xf16>) -> tensor<1x64x2x64xf16> {
  // expected-error @below {{element type f16 is not compiled yet: expected bf16}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xf16>, tensor<1x64x2x64xf16>, tensor<1x64x2x64xf16>) -> tensor<1x64x2x64xf16>
  return %out : tensor<1x64x2x64xf16>
}

// -----

// K and V tiles of 192 columns are planned by nobody yet.
func.func @head_dim_192(%q: tensor<1x64x2x192xbf16>) -> tensor<1x64x2x192xbf16> {
  // expected-error @below {{head_dim 192 is not compiled yet: expected 64 or 128}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>) -> tensor<1x64x2x192xbf16>
  return %out : tensor<1x64x2x192xbf16>
}

// -----

// Nor are those of 256.
func.func @head_dim_256(%q: tensor<1x64x2x256xbf16>) -> tensor<1x64x2x256xbf16> {
  // expected-error @below {{head_dim 256 is not compiled yet: expected 64 or 128}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x256xbf16>, tensor<1x64x2x256xbf16>, tensor<1x64x2x256xbf16>) -> tensor<1x64x2x256xbf16>
  return %out : tensor<1x64x2x256xbf16>
}

// -----

// The presence of bounds asks for the ranker mask.
func.func @bounds(%q: tensor<1x64x2x64xbf16>, %b: tensor<1x4xi32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{operand bounds (the ranker mask) is not compiled yet: expected an op without it}}
  %out = "uattn.ranker_attention"(%q, %q, %q, %b) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x4xi32>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// Both segment operands come together.
func.func @segment_ids(%q: tensor<1x64x2x64xbf16>, %s: tensor<1x64xi32>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{operands q_segment_ids and kv_segment_ids are not compiled yet: expected an op without them}}
  %out = "uattn.ranker_attention"(%q, %q, %q, %s, %s) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64xi32>, tensor<1x64xi32>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// A causal op without its mask would leak the future.
func.func @causal(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{attribute causal is not compiled yet: expected an op without it}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, causal,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// The same holds for a window.
func.func @window(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {
  // expected-error @below {{attribute window_len = 16 is not compiled yet: expected an op without it}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, window_len = 16 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %out : tensor<1x64x2x64xbf16>
}

// -----

// The backward op has no kernel yet.
func.func @backward(%q: tensor<1x64x2x64xbf16>, %l: tensor<1x2x64xf32>) -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) {
  // expected-error @below {{uattn.ranker_attention_bwd is not compiled yet: expected uattn.ranker_attention}}
  %dq, %dk, %dv = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %l, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x64x2x64xbf16>) -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)
  return %dq, %dk, %dv : tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>
}

// -----

// One run names all that it cannot plan.
func.func @every_op_is_reported(%q: tensor<1x64x2x64xbf16>) -> (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) {
  // expected-error @below {{attribute causal is not compiled yet}}
  %0 = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, causal,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  // expected-error @below {{attribute window_len = 3 is not compiled yet}}
  %1 = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, window_len = 3 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>
  return %0, %1 : tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>
}
