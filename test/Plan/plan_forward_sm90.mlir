// RUN: uattn-opt --uattn-plan %s | FileCheck %s
// RUN: uattn-opt --uattn-plan --uattn-print-plan %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=WHY
// Which decisions the cost model takes for an H100 or H200, and what it says
// bounds a step. tools/uattn-bench/NOTES.md has the measurements behind them.

!q64 = tensor<?x?x?x64xbf16>
!q128 = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>
!temp = tensor<?x?xf32>

// At D 64 three warpgroups of consumers hide the softmax behind the products
// better than two, and 128 keys are what their 160 registers hold.
// CHECK-LABEL: func.func @d64_none(
// CHECK: plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
// CHECK-SAME: entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
// CHECK-SAME: producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d64_none on sm_90a
// WHY: need 160
// WHY: bound by tensor cores
func.func @d64_none(%q: !q64) -> !q64 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q64, !q64, !q64) -> !q64
  return %out : !q64
}

// tanh is a second special function for each score, which takes twice as long
// as the products of D 64; polynomials instead take time to issue.
// CHECK-LABEL: func.func @d64_tanh(
// CHECK: consumer_warpgroups = 3 : i64, {{.*}} kv_tile_rows = 128 : i64
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d64_tanh on sm_90a
// WHY: bound by {{special functions|instruction issue}}
func.func @d64_tanh(%q: !q64) -> !q64 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q64, !q64, !q64) -> !q64
  return %out : !q64
}

// CHECK-LABEL: func.func @d64_soft_sign(
// CHECK: consumer_warpgroups = 3 : i64, {{.*}} kv_tile_rows = 128 : i64
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d64_soft_sign on sm_90a
// WHY: bound by {{special functions|instruction issue}}
func.func @d64_soft_sign(%q: !q64) -> !q64 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"soft_sign", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q64, !q64, !q64) -> !q64
  return %out : !q64
}

// CHECK-LABEL: func.func @d64_alsc_temp_lse(
// CHECK: consumer_warpgroups = 3 : i64, {{.*}} kv_tile_rows = 128 : i64
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d64_alsc_temp_f32_lse on sm_90a
// WHY: bound by special functions
func.func @d64_alsc_temp_lse(%q: !q64, %t: !temp) -> (!q64, !lse) {
  %out, %lse = "uattn.ranker_attention"(%q, %q, %q, %t) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 8.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (!q64, !q64, !q64, !temp) -> (!q64, !lse)
  return %out, %lse : !q64, !lse
}

// At D 128 a thread's part of out takes 64 registers: 80 keys are left, not 96,
// which spills.
// CHECK-LABEL: func.func @d128_none(
// CHECK: plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
// CHECK-SAME: entry_registers = 128 : i64, kv_tile_rows = 80 : i64, ping_pong = true,
// CHECK-SAME: producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d128_none on sm_90a
// WHY: bound by tensor cores
// WHY: 96 rows: {{.*}} too many registers
func.func @d128_none(%q: !q128) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.0883 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128) -> !q128
  return %out : !q128
}

// Twice the products a score: the special functions of tanh take just as long.
// CHECK-LABEL: func.func @d128_tanh_lse(
// CHECK: consumer_warpgroups = 3 : i64, {{.*}} kv_tile_rows = 80 : i64
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d128_tanh_lse on sm_90a
// WHY: a step: tensor [[T:[0-9]+]], special functions [[T]],
func.func @d128_tanh_lse(%q: !q128) -> (!q128, !lse) {
  %out, %lse = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.0883 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (!q128, !q128, !q128) -> (!q128, !lse)
  return %out, %lse : !q128, !lse
}

// CHECK-LABEL: func.func @d128_alsc(
// CHECK: consumer_warpgroups = 3 : i64, {{.*}} kv_tile_rows = 80 : i64
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d128_alsc on sm_90a
// WHY: bound by special functions
func.func @d128_alsc(%q: !q128) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 8.0 : f32, 0.0 : f32>, sm_scale = 0.0883 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128) -> !q128
  return %out : !q128
}

// Unscaled scores have a maximum that a negative scale would turn into a
// minimum: the kernel negates them instead.
// CHECK-LABEL: func.func @negative_scale(
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d128_none on sm_90a
// WHY: scores: negated (sm_scale < 0)
func.func @negative_scale(%q: !q128) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = -0.0883 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128) -> !q128
  return %out : !q128
}

// A cap's scores are scaled before it, and temp brings a sign of its own: both
// take the scale's sign, and one kernel serves all.
// CHECK-LABEL: func.func @negative_scale_with_cap(
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d128_tanh on sm_90a
// WHY-NOT: negated
func.func @negative_scale_with_cap(%q: !q128) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = -0.0883 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128) -> !q128
  return %out : !q128
}

// CHECK-LABEL: func.func @negative_scale_with_temp(
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d128_none_temp_f32 on sm_90a
// WHY-NOT: negated
func.func @negative_scale_with_temp(%q: !q128, %t: !temp) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q, %t) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = -0.0883 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128, !temp) -> !q128
  return %out : !q128
}

// A scale of zero and of minus zero count as positive.
// CHECK-LABEL: func.func @zero_scale(
// WHY-LABEL: forward kernel ranker_attention_fwd_bf16_d128_none on sm_90a
// WHY-NOT: negated
func.func @zero_scale(%q: !q128) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = -0.0 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128) -> !q128
  return %out : !q128
}
