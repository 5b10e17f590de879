// RUN: uattn-opt --uattn-plan=compiler=triton %s | FileCheck %s
// Which decisions the cost model takes where Triton compiles the kernel: tiles
// are powers of two of rows, and three warpgroups hide no more than two. The
// measurements behind it: tools/uattn-bench/NOTES.md.

!q64 = tensor<?x?x?x64xbf16>
!q128 = tensor<?x?x?x128xbf16>
!q192 = tensor<?x?x?x192xbf16>
!q256 = tensor<?x?x?x256xbf16>
!temp = tensor<?x?xf32>
!bounds = tensor<?x4xi32>
!ids = tensor<?x?xi32>

// Three warpgroups of 160 registers hold 128 keys each, as in uattn's own kernel.
// CHECK-LABEL: func.func @d64_none(
// CHECK: plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
// CHECK-SAME: entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
func.func @d64_none(%q: !q64) -> !q64 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q64, !q64, !q64) -> !q64
  return %out : !q64
}

// Triton's kernel has no polynomials, which uattn's own has here.
// CHECK-LABEL: func.func @d64_tanh(
// CHECK: plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
// CHECK-SAME: entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 32 : i64, softmax = "fixed_maximum", stage_count = 2 : i64,
func.func @d64_tanh(%q: !q64) -> !q64 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q64, !q64, !q64) -> !q64
  return %out : !q64
}

// Key ids take what 160 registers had left: two warpgroups with 128 keys are
// better than three with 64.
// CHECK-LABEL: func.func @d64_segments(
// CHECK: plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
// CHECK-SAME: entry_registers = 168 : i64, kv_tile_rows = 128 : i64, ping_pong = false, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 24 : i64, softmax = "online", stage_count = 2 : i64,
func.func @d64_segments(%q: !q64, %s: !ids) -> !q64 {
  %out = "uattn.ranker_attention"(%q, %q, %q, %s, %s) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q64, !q64, !q64, !ids, !ids) -> !q64
  return %out : !q64
}

// Three warpgroups would hold 80 keys, which is no power of two, and 64 are a
// smaller step than two warpgroups have with the 128 that 240 registers hold.
// CHECK-LABEL: func.func @d128_none(
// CHECK: plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
// CHECK-SAME: entry_registers = 168 : i64, kv_tile_rows = 128 : i64, ping_pong = false, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 24 : i64, softmax = "online", stage_count = 2 : i64,
func.func @d128_none(%q: !q128) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128) -> !q128
  return %out : !q128
}

// CHECK-LABEL: func.func @d128_f16_causal(
// CHECK: plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
// CHECK-SAME: entry_registers = 168 : i64, kv_tile_rows = 128 : i64, ping_pong = false, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 24 : i64, softmax = "online", stage_count = 2 : i64,
func.func @d128_f16_causal(%q: tensor<?x?x?x128xf16>) -> tensor<?x?x?x128xf16> {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, causal,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>, tensor<?x?x?x128xf16>) -> tensor<?x?x?x128xf16>
  return %out : tensor<?x?x?x128xf16>
}

// CHECK-LABEL: func.func @d128_tanh(
// CHECK: plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
// CHECK-SAME: entry_registers = 168 : i64, kv_tile_rows = 128 : i64, ping_pong = false, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 24 : i64, softmax = "fixed_maximum", stage_count = 2 : i64,
func.func @d128_tanh(%q: !q128) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128) -> !q128
  return %out : !q128
}

// With temp Triton's kernel follows a maximum, whatever the cap.
// CHECK-LABEL: func.func @d128_tanh_temp(
// CHECK: plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
// CHECK-SAME: entry_registers = 168 : i64, kv_tile_rows = 128 : i64, ping_pong = false, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 24 : i64, softmax = "online", stage_count = 2 : i64,
func.func @d128_tanh_temp(%q: !q128, %t: !temp) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q, %t) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128, !temp) -> !q128
  return %out : !q128
}

// CHECK-LABEL: func.func @d128_bounds(
// CHECK: plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
// CHECK-SAME: entry_registers = 168 : i64, kv_tile_rows = 128 : i64, ping_pong = false, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 24 : i64, softmax = "online", stage_count = 2 : i64,
func.func @d128_bounds(%q: !q128, %b: !bounds) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q, %b) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128, !bounds) -> !q128
  return %out : !q128
}

// All masks and the costliest cap.
// CHECK-LABEL: func.func @d128_everything(
// CHECK: plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
// CHECK-SAME: entry_registers = 168 : i64, kv_tile_rows = 128 : i64, ping_pong = false, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 24 : i64, softmax = "online", stage_count = 2 : i64,
func.func @d128_everything(%q: !q128, %t: !temp, %b: !bounds, %s: !ids) -> !q128 {
  %out = "uattn.ranker_attention"(%q, %q, %q, %t, %b, %s, %s) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 8.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, causal, window_len = 64 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q128, !q128, !q128, !temp, !bounds, !ids, !ids) -> !q128
  return %out : !q128
}

// Two stages of 128 keys would take 240 KiB with the queries. (uattn-emit-ttgir
// refuses this D.)
// CHECK-LABEL: func.func @d192_none(
// CHECK: plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
// CHECK-SAME: entry_registers = 168 : i64, kv_tile_rows = 64 : i64, ping_pong = false, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 24 : i64, softmax = "online", stage_count = 2 : i64,
func.func @d192_none(%q: !q192) -> !q192 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q192, !q192, !q192) -> !q192
  return %out : !q192
}

// 128 registers of out leave room for 64 keys.
// CHECK-LABEL: func.func @d256_none(
// CHECK: plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
// CHECK-SAME: entry_registers = 168 : i64, kv_tile_rows = 64 : i64, ping_pong = false, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 24 : i64, softmax = "online", stage_count = 2 : i64,
func.func @d256_none(%q: !q256) -> !q256 {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q256, !q256, !q256) -> !q256
  return %out : !q256
}

// CHECK-LABEL: func.func @d256_everything(
// CHECK: plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
// CHECK-SAME: entry_registers = 168 : i64, kv_tile_rows = 64 : i64, ping_pong = false, polynomial_period = 0 : i64,
// CHECK-SAME: producer_registers = 24 : i64, softmax = "online", stage_count = 2 : i64,
func.func @d256_everything(%q: !q256, %t: !temp, %b: !bounds, %s: !ids) -> !q256 {
  %out = "uattn.ranker_attention"(%q, %q, %q, %t, %b, %s, %s) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 8.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, causal, window_len = 64 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q256, !q256, !q256, !temp, !bounds, !ids, !ids) -> !q256
  return %out : !q256
}
