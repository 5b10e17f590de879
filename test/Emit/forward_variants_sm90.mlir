// RUN: uattn-opt --uattn-plan --uattn-lower-to-pipeline %s | FileCheck %s
// What caps, temp, lse and the scale's sign add to the forward kernel, and what
// their absence leaves out.

!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>
!temp = tensor<?x?xbf16>

func.func @all(%q: !q, %t: !temp) -> (!q, !q, !q, !q, !q, !lse, !q, !q) {
  %none = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  %tanh = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  %soft_sign = "uattn.ranker_attention"(%q, %q, %q, %t) {
    cap = #uattn.cap<"soft_sign", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q, !temp) -> !q
  %alsc = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 8.0 : f32, 0.5 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  %out, %lse = "uattn.ranker_attention"(%q, %q, %q, %t) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 8.0 : f32, 0.5 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (!q, !q, !q, !temp) -> (!q, !lse)
  %negative = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = -0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  %free = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
      entry_registers = 168 : i64, kv_tile_rows = 64 : i64, ping_pong = false,
      polynomial_period = 0 : i64,
      producer_registers = 24 : i64, softmax = "online", stage_count = 4 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %none, %tanh, %soft_sign, %alsc, %out, %lse, %negative, %free
    : !q, !q, !q, !q, !q, !lse, !q, !q
}

// Plain: one f32 parameter, no cap, no rows loaded or stored.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_none(
// CHECK-SAME: i32, %[[POST:[^:]*]]: f32) kernel
// A scale of zero must not turn a masked -inf into a NaN.
// CHECK: %[[TINY:.*]] = arith.constant 7.88860905E-31 : f32
// CHECK: %[[SCALE:.*]] = arith.maximumf %[[POST]], %[[TINY]] : f32
// CHECK-NOT: {{uattn.cap_apply|uattn.row_load|uattn.row_store|negate_a}}
// CHECK: gpu.return

// A cap: products are scaled, capped, then (in the prologue alone) masked. It
// bounds the exponents within 88: no maximum is looked for, out is not rescaled,
// and a share of the exponentials of tiles without a mask is a polynomial.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_tanh(
// CHECK-SAME: i32, %[[PRE:[^:]*]]: f32, %[[POST:[^:]*]]: f32) kernel
// CHECK: %[[S:.*]] = "uattn.wgmma_wait"({{.*}}) {pending = 0 : i64}
// CHECK: %[[PRETILE:.*]] = vector.broadcast %[[PRE]] : f32 to vector<64x128xf32>
// CHECK: %[[X:.*]] = arith.mulf %[[S]], %[[PRETILE]]
// CHECK: %[[C:.*]] = "uattn.cap_apply"(%[[X]]) {method = "tanh"}
// CHECK: %[[M:.*]] = "uattn.mask_apply"(%[[C]],
// CHECK-NOT: kind = "max"
// CHECK: %[[E:.*]] = arith.mulf %[[M]], %{{.*}} : vector<64x128xf32>
// CHECK: math.exp2 %[[E]] fastmath<afn>
// CHECK: scf.for
// CHECK: "uattn.wgmma_wait"({{.*}}) {pending = 1 : i64}
// CHECK: %[[C2:.*]] = "uattn.cap_apply"({{.*}}) {method = "tanh"}
// CHECK-NOT: {{uattn.mask_apply|kind = "max"|uattn.warp_any}}
// CHECK: %[[E2:.*]] = arith.mulf %[[C2]], %{{.*}} : vector<64x128xf32>
// CHECK: "uattn.exp2_apply"(%[[E2]]) {polynomial_period = {{[1-9]}} : i64}
// CHECK-NOT: {{uattn.mask_apply|kind = "max"|uattn.warp_any|scf.if}}
// CHECK: gpu.return

// temp, of any float type: a row's value is loaded once; its sign goes into the
// products, its size into the scale, so that the scale stays positive.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_soft_sign_temp_bf16(
// CHECK-SAME: %[[TEMP:[^:]*]]: !uattn.global<bf16>, %[[SQ:[^:]*]]: i32,
// CHECK-SAME: %[[PRE:[^:]*]]: f32, %[[POST:[^:]*]]: f32) kernel
// CHECK: %[[T:.*]] = "uattn.row_load"(%[[TEMP]], %{{.*}}, %{{.*}}, %[[SQ]]) : {{.*}} -> vector<64xf32>
// CHECK: %[[POSTROWS:.*]] = vector.broadcast %[[POST]] : f32 to vector<64xf32>
// CHECK: %[[ROWSCALE:.*]] = arith.mulf %[[T]], %[[POSTROWS]]
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[ROWSCALE]], %{{.*}}
// CHECK: %[[SIZE:.*]] = math.absf %[[ROWSCALE]]
// CHECK: %[[ATLEAST:.*]] = arith.maximumf %[[SIZE]], %{{.*}} : vector<64xf32>
// CHECK: %[[SIGN:.*]] = arith.select %[[BELOW]],
// CHECK: arith.mulf %[[SIGN]], %{{.*}} : vector<64xf32>
// CHECK-NOT: uattn.row_load
// Whether the cap bounds the exponents depends on the rows: where all 64 are
// within 88 there is no maximum, else there is one.
// CHECK: %[[LIMIT:.*]] = arith.constant dense<8.800000e+01> : vector<64xf32>
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %[[ATLEAST]], %[[LIMIT]]
// CHECK: %[[ALL:.*]] = "uattn.warpgroup_all"(%[[SMALL]], %{{.*}})
// CHECK: scf.if %[[ALL]] -> (vector<64xf32>, vector<64x8xf32>, vector<64x64xf32>) {
// CHECK-NOT: {{kind = "max"|uattn.row_load}}
// CHECK: "uattn.cap_apply"({{.*}}) {method = "soft_sign"}
// CHECK: scf.for
// CHECK-NOT: {{kind = "max"|uattn.row_load}}
// CHECK: } else {
// CHECK: "uattn.cap_apply"({{.*}}) {method = "soft_sign"}
// CHECK: "uattn.fold_columns"({{.*}}) {kind = "max"}
// CHECK: scf.for
// CHECK: "uattn.fold_columns"({{.*}}) {kind = "max"}
// CHECK: "uattn.warp_any"
// The results are scaled by a temp that is loaded again.
// CHECK: "uattn.row_load"(%[[TEMP]],
// CHECK-NOT: {{uattn.row_load|uattn.row_store}}
// CHECK: gpu.return

// alsc has a bias, in the multiply-add that scales. Without lse its shift is
// not needed: it is the same for all keys of a row.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_alsc(
// CHECK-SAME: i32, %[[PRE:[^:]*]]: f32, %[[BIAS:[^:]*]]: f32, %[[POST:[^:]*]]: f32) kernel
// CHECK: %[[S:.*]] = "uattn.wgmma_wait"({{.*}}) {pending = 0 : i64}
// CHECK-DAG: %[[PRETILE:.*]] = vector.broadcast %[[PRE]] : f32 to vector<64x128xf32>
// CHECK-DAG: %[[BIASTILE:.*]] = vector.broadcast %[[BIAS]] : f32 to vector<64x128xf32>
// CHECK: %[[X:.*]] = math.fma %[[S]], %[[PRETILE]], %[[BIASTILE]]
// CHECK: "uattn.cap_apply"(%[[X]]) {method = "alsc"}
// CHECK-NOT: uattn.row_store
// CHECK: gpu.return

// With temp the sign joins scale and bias, and a row of negative temp computes
// the reflected logistic, which lse makes good: min(row scale, 0) ln 2 + temp
// shift.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_alsc_temp_bf16_lse(
// CHECK-SAME: %[[LSE:[^:]*]]: !uattn.global<f32>, %[[TEMP:[^:]*]]: !uattn.global<bf16>,
// CHECK-SAME: %[[PRE:[^:]*]]: f32, %[[BIAS:[^:]*]]: f32, %[[POST:[^:]*]]: f32, %[[SHIFT:[^:]*]]: f32) kernel
// CHECK: "uattn.row_load"(%[[TEMP]],
// CHECK: %[[SIGN:.*]] = arith.select
// CHECK-COUNT-2: arith.mulf %[[SIGN]], %{{.*}} : vector<64xf32>
// At the end temp is loaded again, rather than held through all tiles.
// CHECK: scf.for
// CHECK: %[[T:.*]] = "uattn.row_load"(%[[TEMP]],
// CHECK: %[[POSTROWS:.*]] = vector.broadcast %[[POST]] : f32 to vector<64xf32>
// CHECK: %[[ROWSCALE:.*]] = arith.mulf %[[T]], %[[POSTROWS]]
// CHECK: %[[REFLECTED:.*]] = arith.minimumf %[[ROWSCALE]], %{{.*}}
// CHECK: %[[SHIFTROWS:.*]] = vector.broadcast %[[SHIFT]] : f32 to vector<64xf32>
// CHECK: %[[SHIFTED:.*]] = arith.mulf %[[T]], %[[SHIFTROWS]]
// CHECK: %[[OFFSET:.*]] = math.fma %[[REFLECTED]], %{{.*}}, %[[SHIFTED]] : vector<64xf32>
// CHECK: %[[NATURAL:.*]] = math.fma %{{.*}}, %{{.*}}, %[[OFFSET]] : vector<64xf32>
// CHECK: "uattn.row_store"(%[[NATURAL]], %[[LSE]],
// CHECK: gpu.return

// A negative scale without cap and temp: both uses of Q are negated, and the
// scale's size remains.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_none(
// CHECK-SAME: %[[POST:[^:]*]]: f32) kernel
// CHECK: %[[SIZE:.*]] = arith.negf %[[POST]] : f32
// CHECK: arith.maximumf %[[SIZE]], %{{.*}} : f32
// CHECK-COUNT-2: "uattn.wgmma"({{.*}}) {negate_a, transpose_b}
// CHECK-NOT: negate_a
// CHECK: gpu.return

// Another plan, another kernel: no turns, 2 consumers, rings of 4 stages.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_none(
// CHECK-SAME: uattn.threads = 384 : i64
// CHECK: !uattn.ring<vector<128x64xbf16>, 1 : i64>
// CHECK-COUNT-2: -> !uattn.ring<vector<64x64xbf16>, 4 : i64>
// CHECK-NOT: uattn.named_barrier
// CHECK: gpu.return
