// RUN: uattn-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics \
// RUN:   --uattn-plan --uattn-emit-ttgir %s
// What has no place in a .ttgir file is refused by name.
//
// RUN: not uattn-opt --uattn-plan --uattn-emit-ttgir %S/../Examples/forward_dense.mlir 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DIALECT
// DIALECT: Triton's dialects are not registered: expected --allow-unregistered-dialect
//
// RUN: not uattn-opt --allow-unregistered-dialect --uattn-emit-ttgir %S/../Examples/forward_dense.mlir 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PLAN
// PLAN: op has no plan: expected the attribute that uattn-plan adds
//
// RUN: echo "func.func private @nothing()" | not uattn-opt --allow-unregistered-dialect --uattn-emit-ttgir - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTHING
// NOTHING: the module has 0 attention ops: expected 1, as a .ttgir file has one kernel

!q = tensor<1x64x2x64xbf16>
!lse = tensor<1x2x64xf32>
func.func @backward(%q: !q, %lse: !lse) -> (!q, !q, !q) {
  // expected-error @below {{the backward op has no kernel in Triton's ops: expected the forward op}}
  %dq, %dk, %dv = "uattn.ranker_attention_bwd"(%q, %q, %q, %q, %lse, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %dq, %dk, %dv : !q, !q, !q
}

// -----

!q = tensor<1x64x2x64xbf16>
func.func @two_ops(%q: !q) -> !q {
  %first = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  // expected-error @below {{the module has 2 attention ops: expected 1, as a .ttgir file has one kernel}}
  %second = "uattn.ranker_attention"(%first, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %second : !q
}

// -----

!q = tensor<1x64x2x64xbf16>
func.func @other_work(%q: !q) -> !q {
  %k = arith.addf %q, %q : !q
  // expected-error @below {{the module holds more than this op: expected one function with the op and its return, since nothing else becomes part of the kernel}}
  %out = "uattn.ranker_attention"(%q, %k, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// -----

!q = tensor<1x64x2x64xbf16>
func.func @beside_a_function(%q: !q) -> !q {
  // expected-error @below {{the module holds more than this op}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}
func.func @other() {
  return
}

// -----

!q = tensor<1x64x2x192xbf16>
func.func @head_dim(%q: !q) -> !q {
  // expected-error @below {{head_dim is 192: expected a power of two, as every dimension of a tensor of Triton's}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// -----

!q = tensor<1x64x2x64xbf16>
func.func @window(%q: !q) -> !q {
  // expected-error @below {{window_len is 1073741825: expected at most 2^30 in size}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    window_len = 1073741825 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// -----

!q = tensor<1x64x2x64xbf16>
func.func @offset(%q: !q) -> !q {
  // expected-error @below {{q_offset is -1073741825: expected at most 2^30 in size}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    causal, q_offset = -1073741825 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}
