// RUN: uattn-opt --uattn-plan --uattn-lower-to-pipeline --canonicalize --cse %s | FileCheck %s
// What each mask adds to the forward kernel, and what its absence leaves out. A
// score is a product that was waited for: where no mask stands between the wait
// and the row maximum, the tile is free of mask code.

!q = tensor<?x?x?x64xbf16>
!ids = tensor<?x?xi32>
func.func @all(%q: !q, %b: tensor<?x4xi32>, %ids: !ids) -> (!q, !q, !q, !q, !q) {
  %causal_window = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    causal, window_len = 100 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  %causal = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    causal,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  %window = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    window_len = 100 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  %ranker = "uattn.ranker_attention"(%q, %q, %q, %b) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q, tensor<?x4xi32>) -> !q
  %segments = "uattn.ranker_attention"(%q, %q, %q, %ids, %ids) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q, !ids, !ids) -> !q
  return %causal_window, %causal, %window, %ranker, %segments : !q, !q, !q, !q, !q
}

// Causal and window: the CTA's keys go from its first row's begin to its last
// row's end; three loops, of which the middle one has no mask.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_none_causal_window(
// CHECK-SAME: %[[SQ:[^:]*]]: i32, %[[SKV:[^:]*]]: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32,
// CHECK-SAME: %[[OFFSET:[^:]*]]: i32, %[[WINDOW:[^:]*]]: i32, %{{[^:]*}}: f32) kernel
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c192{{.*}} : i32
// CHECK: %[[PAST:.*]] = arith.addi %[[ROW]], %c192{{.*}} : i32
// CHECK: %[[AFTERROW:.*]] = arith.minsi %[[SQ]], %[[PAST]] : i32
// CHECK: %[[FIRST:.*]] = arith.addi %[[OFFSET]], %[[ROW]] : i32
// CHECK: %[[AFTER:.*]] = arith.addi %[[OFFSET]], %[[AFTERROW]] : i32
// CHECK: %[[NEXT:.*]] = arith.addi %[[FIRST]], %c1{{.*}} : i32
// CHECK: %[[OLDEST:.*]] = arith.subi %[[NEXT]], %[[WINDOW]] : i32
// CHECK: %[[BEGIN:.*]] = arith.maxsi %[[OLDEST]], %c0{{.*}} : i32
// CHECK: %[[END:.*]] = arith.minsi %[[SKV]], %[[AFTER]] : i32
// CHECK: arith.subi %[[AFTER]], %[[WINDOW]] : i32
// CHECK: arith.minsi %[[SKV]], %[[NEXT]] : i32
// CHECK: arith.subi %[[END]], %[[BEGIN]] : i32
// CHECK: %[[STEPS:.*]] = arith.divui %{{.*}}, %c112{{.*}} : i32
// CHECK: %[[FIRSTFULL:.*]] = arith.subi %[[STEPS]], %{{.*}} : i32
// CHECK: %[[AFTERFULL:.*]] = arith.maxsi %[[FIRSTFULL]], %{{.*}} : i32
// No candidates: two loads of a tile in one loop, no bounds, nothing cleared.
// CHECK-NOT: {{uattn.scalar_load|uattn.column_load|uattn.row_dot|uattn.smem_clear_rows|uattn.smem_read}}
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[STEPS]]
// CHECK-COUNT-2: uattn.ring_produce
// CHECK-NOT: {{uattn.ring_produce|uattn.scalar_load|uattn.column_load|uattn.row_dot|uattn.smem_clear_rows|uattn.smem_read}}
// A row's own limits.
// CHECK: %[[POSITION:.*]] = arith.addi %{{.*}}, %{{.*}} : vector<64xi32>
// CHECK: %[[ROWNEXT:.*]] = arith.addi %[[POSITION]], %{{.*}} : vector<64xi32>
// CHECK: %[[ROWOLDEST:.*]] = arith.subi %[[ROWNEXT]], %{{.*}} : vector<64xi32>
// CHECK: %[[ROWBEGIN:.*]] = arith.maxsi %[[ROWOLDEST]], %{{.*}} : vector<64xi32>
// CHECK: %[[ROWEND:.*]] = arith.minsi %{{.*}}, %[[ROWNEXT]] : vector<64xi32>
// A CTA without a key starts nothing.
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[STEPS]], %c0{{.*}}
// CHECK: scf.if %[[SOME]]
// CHECK: "uattn.mask_apply"(%{{.*}}, %{{.*}}, %[[ROWEND]], %[[ROWBEGIN]])
// CHECK: scf.for %{{.*}} = %c1{{.*}} to %[[FIRSTFULL]]
// CHECK: %[[D:.*]] = "uattn.wgmma_wait"({{.*}}) {pending = 1 : i64}
// CHECK: "uattn.mask_apply"(%[[D]], %{{.*}}, %[[ROWEND]], %[[ROWBEGIN]])
// CHECK: %[[FROM:.*]] = arith.maxsi %[[FIRSTFULL]], %c1{{.*}} : i32
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[AFTERFULL]]
// CHECK: %[[D:.*]] = "uattn.wgmma_wait"({{.*}}) {pending = 1 : i64}
// CHECK-NOT: uattn.mask_apply
// CHECK: "uattn.fold_columns"(%[[D]]) {kind = "max"}
// CHECK-NOT: uattn.mask_apply
// CHECK: %[[FROM:.*]] = arith.maxsi
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[STEPS]]
// CHECK: %[[D:.*]] = "uattn.wgmma_wait"({{.*}}) {pending = 1 : i64}
// CHECK: "uattn.mask_apply"(%[[D]], %{{.*}}, %[[ROWEND]], %[[ROWBEGIN]])
// CHECK-NOT: {{scf.for|uattn.mask_apply}}
// Rows without a key: sum 0, out 0.
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %{{.*}} : vector<64xf32>
// CHECK: %[[TILE:.*]] = "uattn.row_broadcast"(%[[EMPTY]]) : (vector<64xi1>) -> vector<64x64xi1>
// CHECK: arith.select %[[TILE]],
// CHECK: gpu.return

// Causal alone: all rows begin at key 0, and the masked tiles come first.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_none_causal(
// CHECK: default {
// CHECK: "uattn.mask_apply"(%{{.*}}, %{{.*}}, %[[ROWEND:[^,)]*]])
// CHECK: scf.for
// CHECK: %[[D:.*]] = "uattn.wgmma_wait"({{.*}}) {pending = 1 : i64}
// CHECK: "uattn.mask_apply"(%[[D]], %{{.*}}, %[[ROWEND]])
// CHECK: scf.for
// CHECK-NOT: {{uattn.mask_apply|scf.for}}
// CHECK: gpu.return

// A window alone: no end but that of the keys, and the masked tiles come last.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_none_window(
// CHECK: default {
// CHECK: "uattn.mask_apply"(%{{.*}}, %{{.*}}, %[[ROWEND:[^,)]*]], %[[ROWBEGIN:[^,)]*]])
// CHECK: scf.for
// CHECK: %[[D:.*]] = "uattn.wgmma_wait"({{.*}}) {pending = 1 : i64}
// CHECK-NOT: uattn.mask_apply
// CHECK: "uattn.fold_columns"(%[[D]]) {kind = "max"}
// CHECK: scf.for
// CHECK: "uattn.mask_apply"(%{{.*}}, %{{.*}}, %[[ROWEND]], %[[ROWBEGIN]])
// CHECK-NOT: {{uattn.mask_apply|scf.for}}
// CHECK: gpu.return

// Ranker: K and V come a second time, in boxes of 64 rows, for the candidates'
// own keys; the producer sends a consumer's rows each, before all tiles.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_none_ranker(
// CHECK-SAME: %[[K:[^:]*]]: !uattn.tensor_map<vector<128x64xbf16>>, %[[V:[^:]*]]: !uattn.tensor_map<vector<128x64xbf16>>, %{{[^:]*}}: !uattn.tensor_map<vector<64x64xbf16>>,
// CHECK-SAME: %[[KROWS:[^:]*]]: !uattn.tensor_map<vector<64x64xbf16>>, %[[VROWS:[^:]*]]: !uattn.tensor_map<vector<64x64xbf16>>, %[[BOUNDS:[^:]*]]: !uattn.global<i32>,
// CHECK-COUNT-4: "uattn.scalar_load"(%[[BOUNDS]],
// Only a CTA that has candidates: 3 ring steps, one a consumer, else none.
// CHECK: %[[HISTORY:.*]] = arith.cmpi slt
// CHECK: %[[CANDIDATES:.*]] = arith.cmpi slt
// CHECK: %[[OWNSTEPS:.*]] = arith.select %[[CANDIDATES]], %c3{{.*}}, %c0{{.*}} : i32
// A CTA without a live row visits nothing.
// CHECK: %[[LIVE:.*]] = arith.ori %[[HISTORY]], %[[CANDIDATES]]
// CHECK: %[[STEPS:.*]] = arith.select %[[LIVE]], %{{.*}}, %c0{{.*}} : i32
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %[[OWNSTEPS]]
// CHECK: "uattn.ring_produce"(%[[KROWS]], %{{.*}}, %[[I]])
// CHECK: "uattn.ring_produce"(%[[VROWS]], %{{.*}}, %[[I]])
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %[[STEPS]]
// CHECK: %[[SLOT:.*]] = arith.addi %{{.*}} : i32
// CHECK: "uattn.ring_produce"(%[[K]], %{{.*}}, %[[SLOT]])
// CHECK: "uattn.ring_produce"(%[[V]], %{{.*}}, %[[SLOT]])
// CHECK: default {
// CHECK: scf.if %[[CANDIDATES]] -> (vector<64xf32>, vector<64x8xf32>, vector<64x64xf32>) {
// The other consumers' steps pass by before and after the own one.
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[ME:.*]] step
// CHECK: %[[KOWN:.*]] = "uattn.ring_acquire"(%[[KRING:.*]], %[[ME]]) : {{.*}} -> !uattn.smem<vector<64x64xbf16>>
// CHECK: %[[VOWN:.*]] = "uattn.ring_acquire"(%[[VRING:.*]], %[[ME]]) : {{.*}} -> !uattn.smem<vector<64x64xbf16>>
// CHECK: %[[DOT:.*]] = "uattn.row_dot"(%{{.*}}, %[[KOWN]])
// CHECK: arith.select %[[SEES:.*]], %[[DOT]], %{{.*}} : vector<64xi1>, vector<64xf32>
// CHECK: %[[VALUES:.*]] = "uattn.smem_read"(%[[VOWN]])
// CHECK: %[[WIDE:.*]] = arith.extf %[[VALUES]]
// CHECK: %[[SEESTILE:.*]] = "uattn.row_broadcast"(%[[SEES]])
// CHECK: arith.select %[[SEESTILE]], %[[WIDE]], %{{.*}} : vector<64x64xi1>, vector<64x64xf32>
// CHECK: "uattn.async_proxy_fence"
// CHECK: "uattn.ring_release"(%[[KRING]], %[[ME]])
// CHECK: "uattn.ring_release"(%[[VRING]], %[[ME]])
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[OWNSTEPS]]
// CHECK: } else {
// The first tile holds the history's last keys: rows of V behind them are
// cleared by one consumer while all wait, and their scores are masked.
// CHECK: %[[DEAD:.*]] = arith.cmpi slt, %[[FROM:.*]], %c128{{.*}} : i32
// CHECK: scf.if %[[DEAD]] {
// CHECK: %[[VTILE:.*]] = "uattn.ring_acquire"(%[[VRING]], %[[OWNSTEPS]])
// CHECK: scf.if
// CHECK: "uattn.smem_clear_rows"(%[[VTILE]], %[[FROM]])
// CHECK: "uattn.async_proxy_fence"
// CHECK: "uattn.named_barrier_sync"(%{{.*}}) {threads = 384 : i64}
// CHECK: "uattn.mask_apply"
// No other tile has a mask; dead rows give 0.
// CHECK: scf.for
// CHECK-NOT: {{uattn.mask_apply|uattn.row_dot|uattn.smem_clear_rows|scf.for}}
// CHECK: gpu.return

// Segments: the rows' ids once, the keys' ids of every tile that may hold others.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d64_none_segments(
// CHECK-SAME: %[[QIDS:[^:]*]]: !uattn.global<i32>, %[[KIDS:[^:]*]]: !uattn.global<i32>,
// CHECK: default {
// CHECK: %[[IDS:.*]] = "uattn.row_load"(%[[QIDS]],
// CHECK: %[[MASKED:.*]] = "uattn.mask_apply"
// CHECK: %[[KEYS:.*]] = "uattn.column_load"(%[[KIDS]],
// CHECK: %[[IDTILE:.*]] = "uattn.row_broadcast"(%[[IDS]])
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[KEYS]], %[[IDTILE]]
// CHECK: arith.select %[[SAME]], %[[MASKED]], %{{.*}} : vector<64x{{[0-9]+}}xi1>, vector<64x{{[0-9]+}}xf32>
// CHECK: scf.for
// CHECK: %[[KEYS:.*]] = "uattn.column_load"(%[[KIDS]],
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[KEYS]],
// CHECK: arith.select %[[SAME]],
// CHECK-NOT: {{uattn.row_dot|uattn.smem_clear_rows}}
// CHECK: gpu.return
