// RUN: uattn-opt --uattn-plan %s | FileCheck %s
// RUN: uattn-opt --uattn-plan=target=sm_90a %s | FileCheck %s
// RUN: uattn-opt --uattn-plan=compiler=uattn %s | FileCheck %s
// RUN: uattn-opt --uattn-plan="target=sm_90a compiler=triton" %s | FileCheck %s --check-prefix=TRITON
//
// Triton's tiles are powers of two of rows, its kernels have no polynomials. A
// plan that is there stays for it, too.
// TRITON: plan = #uattn.plan<
// TRITON-NOT: kv_tile_rows = {{(80|96|112|144|160|176|192|208|224|240) }}
// TRITON-NOT: polynomial_period = {{[1-9]}}
// TRITON-LABEL: func.func @plan_that_is_there_stays(
// TRITON: kv_tile_rows = 64 : i64, ping_pong = false
// TRITON-NOT: kv_tile_rows = {{(80|96|112|144|160|176|192|208|224|240) }}
// TRITON-NOT: polynomial_period = {{[1-9]}}
// TRITON-LABEL: func.func @other_ops_stay(
// RUN: uattn-opt --uattn-plan %s | uattn-opt - | FileCheck %s
// RUN: uattn-opt --uattn-plan --uattn-plan %s | FileCheck %s

!q = tensor<1x64x2x64xbf16>
!kv = tensor<1x64x1x64xbf16>
!dq = tensor<?x?x?x64xbf16>

// Every decision is in the attribute; nothing else of the op changes.
// CHECK-LABEL: func.func @op_gets_a_plan(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: cap = #uattn.cap<"none",
// CHECK-SAME: plan = #uattn.plan<{
// CHECK-SAME: consumer_registers = {{[0-9]+}} : i64
// CHECK-SAME: consumer_warpgroups = {{[0-9]+}} : i64
// CHECK-SAME: entry_registers = {{[0-9]+}} : i64
// CHECK-SAME: kv_tile_rows = {{[0-9]+}} : i64
// CHECK-SAME: ping_pong = {{true|false}}
// CHECK-SAME: polynomial_period = 0 : i64
// CHECK-SAME: producer_registers = {{[0-9]+}} : i64
// CHECK-SAME: softmax = "online"
// CHECK-SAME: stage_count = {{[0-9]+}} : i64
// CHECK-SAME: target = "sm_90a"}>
// CHECK-SAME: sm_scale = 1.250000e-01 : f32
func.func @op_gets_a_plan(%q: !q, %k: !kv) -> !q {
  %out = "uattn.ranker_attention"(%q, %k, %k) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !kv, !kv) -> !q
  return %out : !q
}

// A kernel serves every length and head count, so dimensions that are known
// only at run time change no decision.
// CHECK-LABEL: func.func @sizes_do_not_matter(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<[[PLAN:{.*}]]>,
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<[[PLAN]]>,
// CHECK: return
func.func @sizes_do_not_matter(%q: !q, %k: !kv, %dq: !dq) -> (!q, !dq) {
  %0 = "uattn.ranker_attention"(%q, %k, %k) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !kv, !kv) -> !q
  %1 = "uattn.ranker_attention"(%dq, %dq, %dq) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!dq, !dq, !dq) -> !dq
  return %0, %1 : !q, !dq
}

// Who wrote a plan meant it, even one that the cost model would not choose.
// CHECK-LABEL: func.func @plan_that_is_there_stays(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: kv_tile_rows = 64 : i64, ping_pong = false
func.func @plan_that_is_there_stays(%q: !q, %k: !kv) -> !q {
  %out = "uattn.ranker_attention"(%q, %k, %k) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
      entry_registers = 168 : i64, kv_tile_rows = 64 : i64, ping_pong = false,
      polynomial_period = 0 : i64,
      producer_registers = 24 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !kv, !kv) -> !q
  return %out : !q
}

// Without a mask q_offset moves nothing, so it needs no kernel of its own.
// CHECK-LABEL: func.func @q_offset_alone_is_covered(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<
// CHECK-SAME: q_offset = 7 : i64
func.func @q_offset_alone_is_covered(%q: !q, %k: !kv) -> !q {
  %out = "uattn.ranker_attention"(%q, %k, %k) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    q_offset = 7 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !kv, !kv) -> !q
  return %out : !q
}

// The other element type and the other head sizes.
// CHECK-LABEL: func.func @f16_is_covered(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<
func.func @f16_is_covered(%q: tensor<1x64x2x64xf16>) -> tensor<1x64x2x64xf16> {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xf16>, tensor<1x64x2x64xf16>, tensor<1x64x2x64xf16>) -> tensor<1x64x2x64xf16>
  return %out : tensor<1x64x2x64xf16>
}

// Tiles of 192 columns are larger: two consumers share them.
// CHECK-LABEL: func.func @head_dim_192_is_covered(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<{{{.*}}consumer_warpgroups = 2 : i64
func.func @head_dim_192_is_covered(%q: tensor<1x64x2x192xbf16>) -> tensor<1x64x2x192xbf16> {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>, tensor<1x64x2x192xbf16>) -> tensor<1x64x2x192xbf16>
  return %out : tensor<1x64x2x192xbf16>
}

// Tiles of 256 columns are larger: two consumers share them.
// CHECK-LABEL: func.func @head_dim_256_is_covered(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<{{{.*}}consumer_warpgroups = 2 : i64
func.func @head_dim_256_is_covered(%q: tensor<1x64x2x256xbf16>) -> tensor<1x64x2x256xbf16> {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x256xbf16>, tensor<1x64x2x256xbf16>, tensor<1x64x2x256xbf16>) -> tensor<1x64x2x256xbf16>
  return %out : tensor<1x64x2x256xbf16>
}

// Every mask is covered, alone and with the others.
// CHECK-LABEL: func.func @bounds_are_covered(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<
func.func @bounds_are_covered(%q: !q, %b: tensor<1x4xi32>) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q, %b) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q, tensor<1x4xi32>) -> !q
  return %out : !q
}

// Both segment operands come together.
// CHECK-LABEL: func.func @segment_ids_are_covered(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<
func.func @segment_ids_are_covered(%q: !q, %s: tensor<1x64xi32>) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q, %s, %s) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q, tensor<1x64xi32>, tensor<1x64xi32>) -> !q
  return %out : !q
}

// The attributes of masks stay, since the launch reads them.
// CHECK-LABEL: func.func @causal_window_is_covered(
// CHECK: "uattn.ranker_attention"({{.*}} causal
// CHECK-SAME: plan = #uattn.plan<
// CHECK-SAME: window_len = 16 : i64
func.func @causal_window_is_covered(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, causal, window_len = 16 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// All four.
// CHECK-LABEL: func.func @all_masks_are_covered(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<
func.func @all_masks_are_covered(%q: !q, %b: tensor<1x4xi32>, %s: tensor<1x64xi32>) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q, %b, %s, %s) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32, causal, window_len = 16 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q, tensor<1x4xi32>, tensor<1x64xi32>, tensor<1x64xi32>) -> !q
  return %out : !q
}

// A cap of 30 keeps exponents within 44: no maximum is needed, and there is time
// for polynomials beside the special functions.
// CHECK-LABEL: func.func @tight_cap_needs_no_maximum(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<{{{.*}}polynomial_period = {{[1-9]}} : i64
// CHECK-SAME: softmax = "fixed_maximum"
func.func @tight_cap_needs_no_maximum(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// Exponents of 61.1 log2(e) pass 88.
// CHECK-LABEL: func.func @wide_cap_needs_a_maximum(
// CHECK: "uattn.ranker_attention"({{.*}} plan = #uattn.plan<{{{.*}}polynomial_period = 0 : i64
// CHECK-SAME: softmax = "online"
func.func @wide_cap_needs_a_maximum(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 61.1 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// f16 has too few exponents, whatever the cap.
// CHECK-LABEL: func.func @f16_needs_a_maximum(
// CHECK: "uattn.ranker_attention"({{.*}} softmax = "online"
func.func @f16_needs_a_maximum(%q: tensor<1x64x2x64xf16>) -> tensor<1x64x2x64xf16> {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x2x64xf16>, tensor<1x64x2x64xf16>, tensor<1x64x2x64xf16>) -> tensor<1x64x2x64xf16>
  return %out : tensor<1x64x2x64xf16>
}

// alsc's bound depends on parameters that a launch chooses.
// CHECK-LABEL: func.func @alsc_needs_a_maximum(
// CHECK: "uattn.ranker_attention"({{.*}} softmax = "online"
func.func @alsc_needs_a_maximum(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 8.0 : f32, 0.5 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// CHECK-LABEL: func.func @other_ops_stay(
// CHECK-NOT: plan
// CHECK: return
func.func @other_ops_stay(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}
