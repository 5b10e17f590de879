// RUN: uattn-opt --uattn-plan --uattn-lower-to-pipeline %s | FileCheck %s
// The forward kernel at the pipeline level: who does what, in which order. The
// algorithm as pseudo code is in lib/emit/kernel_forward.c.

!q = tensor<?x?x?x128xbf16>
!lse = tensor<?x?x?xf32>

func.func @main(%q: !q) -> (!q, !lse) {
  %out, %lse = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.0883 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (!q, !q, !q) -> (!q, !lse)
  return %out, %lse : !q, !lse
}

// Parameters: q, k, v and out behind tensor maps with the boxes of their tiles,
// lse, Sq, Skv, H, Hkv, the number of query tiles, the scale in base 2.
// CHECK-LABEL: gpu.func @ranker_attention_fwd_bf16_d128_none_lse(
// CHECK-SAME: %[[Q:[^:]*]]: !uattn.tensor_map<vector<192x64xbf16>>,
// CHECK-SAME: %[[K:[^:]*]]: !uattn.tensor_map<vector<80x64xbf16>>,
// CHECK-SAME: %[[V:[^:]*]]: !uattn.tensor_map<vector<80x64xbf16>>,
// CHECK-SAME: %[[OUT:[^:]*]]: !uattn.tensor_map<vector<64x64xbf16>>,
// CHECK-SAME: %[[LSE:[^:]*]]: !uattn.global<f32>,
// CHECK-SAME: %[[SQ:[^:]*]]: i32, %[[SKV:[^:]*]]: i32, %[[H:[^:]*]]: i32, %[[HKV:[^:]*]]: i32,
// CHECK-SAME: %[[TILES:[^:]*]]: i32, %[[SCALE:[^:]*]]: f32)

// A CTA is a query tile (fastest), a query head and a batch entry; query head h
// reads KV head h / (H / Hkv).
// CHECK-DAG: %[[CTA:.*]] = "uattn.cta_index"
// CHECK-DAG: %[[TILE:.*]] = arith.remui %[[CTA]], %[[TILES]]
// CHECK-DAG: %[[REST:.*]] = arith.divui %[[CTA]], %[[TILES]]
// CHECK-DAG: %[[GROUP:.*]] = arith.divui %[[H]], %[[HKV]]
// CHECK-DAG: %[[HEAD:.*]] = arith.remui %[[REST]], %[[H]]
// CHECK-DAG: %[[BATCH:.*]] = arith.divui %[[REST]], %[[H]]
// CHECK-DAG: %[[KVHEAD:.*]] = arith.divui %[[HEAD]], %[[GROUP]]
// CHECK-DAG: %[[ROW:.*]] = arith.muli %[[TILE]], %{{.*}} : i32
// n = (Skv + 79) / 80 tiles from key 0 on, which are all keys without a mask.
// CHECK: %[[LEFT:.*]] = arith.subi %[[SKV]], %c0{{.*}} : i32
// CHECK: %[[KEYS:.*]] = arith.maxsi %[[LEFT]], %c0{{.*}} : i32
// CHECK: %[[UP:.*]] = arith.addi %[[KEYS]], %c79{{.*}} : i32
// CHECK: %[[N:.*]] = arith.divui %[[UP]], %c80{{.*}} : i32

// Shared memory: Q, then the stages of K, then those of V, then the barriers;
// 4 warps of each of 3 consumers free a slot.
// CHECK: %[[QRING:.*]] = "uattn.ring_alloc"() {barrier_offset = 131072 : i64, consumer_warps = 12 : i64, smem_offset = 0 : i64} : () -> !uattn.ring<vector<192x128xbf16>, 1 : i64>
// CHECK: %[[KRING:.*]] = "uattn.ring_alloc"() {barrier_offset = 131088 : i64, consumer_warps = 12 : i64, smem_offset = 49152 : i64} : () -> !uattn.ring<vector<80x128xbf16>, 2 : i64>
// CHECK: %[[VRING:.*]] = "uattn.ring_alloc"() {barrier_offset = 131120 : i64, consumer_warps = 12 : i64, smem_offset = 90112 : i64} : () -> !uattn.ring<vector<80x128xbf16>, 2 : i64>

// CHECK: %[[ROLE:.*]]:2 = "uattn.role"() {registers = array<i64: 32, 160>, warpgroups = array<i64: 1, 3>}
// CHECK: scf.index_switch

// The producer: one thread, Q once, then K and V of every tile from the last to
// the first.
// CHECK: case 0 {
// CHECK: %[[ONE:.*]] = "uattn.elect"
// CHECK: scf.if %[[ONE]]
// CHECK: "uattn.ring_produce"(%[[Q]], %[[HEAD]], %[[ROW]], %[[BATCH]], %[[QRING]], %{{.*}})
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N]]
// CHECK: %[[SLOT:.*]] = arith.addi %c0{{.*}}, %[[I]] : i32
// CHECK: %[[LASTTILE:.*]] = arith.subi %[[N]], %c1{{.*}} : i32
// CHECK: %[[T:.*]] = arith.subi %[[LASTTILE]], %[[I]] : i32
// CHECK: %[[AHEAD:.*]] = arith.muli %[[T]], %c80{{.*}} : i32
// CHECK: %[[KEY:.*]] = arith.addi %c0{{.*}}, %[[AHEAD]] : i32
// CHECK: "uattn.ring_produce"(%[[K]], %[[KVHEAD]], %[[KEY]], %[[BATCH]], %[[KRING]], %[[SLOT]])
// CHECK: "uattn.ring_produce"(%[[V]], %[[KVHEAD]], %[[KEY]], %[[BATCH]], %[[VRING]], %[[SLOT]])
// CHECK-NOT: uattn.ring_produce

// A consumer: its barrier, that of the next one (the first's for the last), and
// its 64 rows of Q.
// CHECK: default {
// CHECK: %[[FIRSTROW:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
// CHECK: %[[END:.*]] = vector.broadcast %[[SKV]] : i32 to vector<64xi32>
// CHECK: %[[FIRSTTURN:.*]] = arith.constant 1 : i32
// CHECK: %[[NOTLAST:.*]] = arith.cmpi ne, %[[ROLE]]#1, %{{.*}}
// CHECK: %[[TURN:.*]] = arith.addi %[[FIRSTTURN]], %[[ROLE]]#1
// CHECK: %[[AFTER:.*]] = arith.addi %[[TURN]], %{{.*}}
// CHECK: %[[NEXT:.*]] = arith.select %[[NOTLAST]], %[[AFTER]], %[[FIRSTTURN]]
// CHECK: %[[QTILE:.*]] = "uattn.ring_acquire"(%[[QRING]],
// CHECK: %[[QROWS:.*]] = "uattn.smem_rows"(%[[QTILE]], %[[ROLE]]#1)

// The first tile, in turn: consumer 0 does not wait, and the last one hands over
// only where a step follows. K's slot is free once the product that read it has
// been waited for. Only this tile is masked, after the
// cap (here none), and starts the running maximum and sums.
// CHECK: %[[NOTFIRST:.*]] = arith.cmpi slt, %{{.*}}, %[[ROLE]]#1
// CHECK: "uattn.named_barrier_sync"(%[[TURN]], %[[NOTFIRST]]) {threads = 256 : i64}
// CHECK: %[[K0:.*]] = "uattn.ring_acquire"(%[[KRING]],
// CHECK: %[[S0:.*]] = "uattn.wgmma"(%[[QROWS]], %[[K0]]) {transpose_b} : {{.*}} -> vector<64x80xf32>
// CHECK: %[[MORE:.*]] = arith.cmpi ne, %{{.*}}, %[[N]]
// CHECK: %[[HANDS:.*]] = arith.ori %[[NOTLAST]], %[[MORE]]
// CHECK: "uattn.named_barrier_arrive"(%[[NEXT]], %[[HANDS]]) {threads = 256 : i64}
// CHECK: %[[S0D:.*]] = "uattn.wgmma_wait"(%[[S0]]) {pending = 0 : i64}
// CHECK: "uattn.ring_release"(%[[KRING]],
// CHECK: %[[M0:.*]] = "uattn.mask_apply"(%[[S0D]], %{{.*}}, %[[END]]) : 
// CHECK: "uattn.fold_columns"(%[[M0]]) {kind = "max"}
// CHECK: vector.multi_reduction <maxnumf>, {{.*}} [1] : vector<64x8xf32> to vector<64xf32>
// CHECK: %[[P0:.*]] = math.exp2 %{{.*}} fastmath<afn> : vector<64x80xf32>
// CHECK: "uattn.fold_columns"(%[[P0]]) {kind = "add"}
// CHECK: arith.truncf %[[P0]] : vector<64x80xf32> to vector<64x80xbf16>

// Every other tile, in turn: Q K of this tile is started before P V of the last
// one, the turn is passed while both run, softmax works on S while P V runs.
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N]] step %{{.*}} iter_args(%[[MAX:.*]] = %{{.*}}, %[[SUMS:.*]] = %{{.*}}, %[[O:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
// CHECK: %[[BEFORE:.*]] = arith.subi %[[I]], %{{.*}} : i32
// CHECK: "uattn.named_barrier_sync"(%[[TURN]]) {threads = 256 : i64}
// CHECK: %[[KT:.*]] = "uattn.ring_acquire"(%[[KRING]], %[[I]])
// CHECK: %[[S:.*]] = "uattn.wgmma"(%[[QROWS]], %[[KT]]) {transpose_b}
// CHECK: %[[VT:.*]] = "uattn.ring_acquire"(%[[VRING]], %[[BEFORE]])
// CHECK: %[[PV:.*]] = "uattn.wgmma"(%[[P]], %[[VT]], %[[O]])
// CHECK: %[[NEXTSTEP:.*]] = arith.addi %[[I]], %{{.*}}
// CHECK: %[[MORE:.*]] = arith.cmpi ne, %[[NEXTSTEP]], %[[N]]
// CHECK: %[[HANDS:.*]] = arith.ori %[[NOTLAST]], %[[MORE]]
// CHECK: "uattn.named_barrier_arrive"(%[[NEXT]], %[[HANDS]]) {threads = 256 : i64}
// CHECK: %[[SD:.*]] = "uattn.wgmma_wait"(%[[S]]) {pending = 1 : i64}
// CHECK: "uattn.ring_release"(%[[KRING]], %[[I]])
// CHECK-NOT: uattn.mask_apply
// CHECK: "uattn.fold_columns"(%[[SD]]) {kind = "max"}
// CHECK: %[[GREATER:.*]] = vector.multi_reduction <maxnumf>, %{{.*}}, %[[MAX]] [1]
// The maximum stays until a row of the warp has outgrown it by 2^8.
// CHECK: %[[GROWTH:.*]] = arith.subf %[[GREATER]], %[[MAX]]
// CHECK: %[[LOG:.*]] = arith.mulf %[[GROWTH]], %{{.*}}
// CHECK: %[[EIGHT:.*]] = arith.constant dense<8.000000e+00> : vector<64xf32>
// CHECK: %[[OUTGREW:.*]] = arith.cmpf olt, %[[EIGHT]], %[[LOG]]
// CHECK: %[[RAISE:.*]] = "uattn.warp_any"(%[[OUTGREW]])
// CHECK: %[[NEWMAX:.*]] = arith.select %[[RAISE]], %[[GREATER]], %[[MAX]]
// CHECK: %[[DROP:.*]] = arith.subf %[[MAX]], %[[NEWMAX]]
// CHECK: %[[ALPHA:.*]] = math.exp2 %{{.*}} fastmath<afn> : vector<64xf32>
// CHECK: arith.mulf %[[NEWMAX]], %{{.*}} : vector<64xf32>
// CHECK: %[[PNEW:.*]] = math.exp2 %{{.*}} fastmath<afn> : vector<64x80xf32>
// The sums are rescaled by the same factor as out, which waits for P V.
// CHECK: math.fma %[[SUMS]], %{{.*}}, %{{.*}} : vector<64x8xf32>
// CHECK: %[[DONE:.*]]:2 = "uattn.wgmma_wait"(%[[PV]], %[[PNEW]]) {pending = 0 : i64}
// CHECK: "uattn.ring_release"(%[[VRING]], %[[BEFORE]])
// Out is rescaled by warps that raised it alone.
// CHECK: %[[ONEW:.*]] = scf.if %[[RAISE]] -> (vector<64x128xf32>) {
// CHECK: %[[ALPHATILE:.*]] = "uattn.row_broadcast"(%[[ALPHA]]) : (vector<64xf32>) -> vector<64x128xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[DONE]]#0, %[[ALPHATILE]]
// CHECK: scf.yield %[[SCALED]]
// CHECK: } else {
// CHECK: scf.yield %[[DONE]]#0
// CHECK: arith.truncf %[[DONE]]#1 : vector<64x80xf32> to vector<64x80xbf16>
// CHECK: scf.yield %[[NEWMAX]], %{{.*}}, %[[ONEW]],

// The last P V, then lse = (max scale + log2 sum) ln 2 and out / sum, which
// leaves through the consumer's own rows of Q's tile.
// CHECK: %[[VLAST:.*]] = "uattn.ring_acquire"(%[[VRING]],
// CHECK: %[[OLAST:.*]] = "uattn.wgmma"(%{{.*}}, %[[VLAST]], %{{.*}})
// CHECK: %[[OD:.*]] = "uattn.wgmma_wait"(%[[OLAST]]) {pending = 0 : i64}
// CHECK: "uattn.ring_release"(%[[VRING]],
// CHECK: %[[SUM:.*]] = vector.multi_reduction <add>,
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[SUM]] fastmath<arcp,afn>
// CHECK-DAG: math.log2 %[[SUM]] fastmath<afn>
// CHECK: "uattn.row_store"(%{{.*}}, %[[LSE]], %{{.*}}, %[[FIRSTROW]], %[[SQ]])
// CHECK: arith.mulf %[[OD]], %{{.*}} : vector<64x128xf32>
// CHECK: "uattn.tile_store"(%{{.*}}, %[[QROWS]], %[[OUT]], %[[HEAD]], %[[FIRSTROW]], %[[BATCH]], %{{.*}})
// CHECK: gpu.return
// CHECK-NOT: uattn.mask_apply
