// RUN: uattn-opt %s | FileCheck %s
// RUN: uattn-opt %s | uattn-opt - | FileCheck %s
// RUN: uattn-opt --emit-bytecode %s | uattn-opt - | FileCheck %s
// RUN: uattn-opt --canonicalize --cse %s | FileCheck %s
// The pipeline level's ops survive text, bytecode and upstream's clean-up, which
// knows none of their effects and so removes none of them.

!box = !uattn.tensor_map<vector<64x64xbf16>>
!q = !uattn.smem<vector<64x64xbf16>>
!kv = !uattn.smem<vector<128x64xbf16>>
!ring = !uattn.ring<vector<128x64xbf16>, 2 : i64>
!records = !uattn.ring<vector<128x4xf32>, 2 : i64>
!s = vector<64x128xf32>
!o = vector<64x64xf32>

// CHECK-LABEL: func.func @roles(
// CHECK: "uattn.role"() {registers = array<i64: 24, 240>, warpgroups = array<i64: 1, 2>} : () -> (i32, i32)
// CHECK: "uattn.elect"() : () -> i1
// CHECK: "uattn.cta_index"() : () -> i32
func.func @roles() -> (i32, i32, i1, i32) {
  %role:2 = "uattn.role"() {registers = array<i64: 24, 240>, warpgroups = array<i64: 1, 2>}
    : () -> (i32, i32)
  %one = "uattn.elect"() : () -> i1
  %cta = "uattn.cta_index"() : () -> i32
  return %role#0, %role#1, %one, %cta : i32, i32, i1, i32
}

// CHECK-LABEL: func.func @ring(
// CHECK: %[[RING:.*]] = "uattn.ring_alloc"()
// CHECK-SAME: barrier_offset = 65536 : i64
// CHECK-SAME: !uattn.ring<vector<128x64xbf16>, 2 : i64>
// CHECK: "uattn.ring_produce"(%{{.*}}, %[[RING]], %{{.*}})
// CHECK: %[[TILE:.*]] = "uattn.ring_acquire"(%[[RING]], %{{.*}}) : {{.*}} -> !uattn.smem<vector<128x64xbf16>>
// CHECK: "uattn.smem_rows"(%[[TILE]], %{{.*}}) : {{.*}} -> !uattn.smem<vector<64x64xbf16>>
// CHECK: "uattn.ring_release"(%[[RING]], %{{.*}})
func.func @ring(%map: !uattn.tensor_map<vector<128x64xbf16>>, %i: i32) -> !q {
  %ring = "uattn.ring_alloc"() {smem_offset = 1024 : i64, barrier_offset = 65536 : i64,
                                consumer_warps = 8 : i64} : () -> !ring
  "uattn.ring_produce"(%map, %i, %i, %i, %ring, %i)
    : (!uattn.tensor_map<vector<128x64xbf16>>, i32, i32, i32, !ring, i32) -> ()
  %tile = "uattn.ring_acquire"(%ring, %i) : (!ring, i32) -> !kv
  %rows = "uattn.smem_rows"(%tile, %i) : (!kv, i32) -> !q
  "uattn.ring_release"(%ring, %i) : (!ring, i32) -> ()
  return %rows : !q
}

// A box may be narrower than the tile: several copies fill a slot.
// CHECK-LABEL: func.func @wide_tile(
// CHECK: "uattn.ring_produce"
func.func @wide_tile(%map: !uattn.tensor_map<vector<128x64xbf16>>,
                     %ring: !uattn.ring<vector<128x128xbf16>, 2 : i64>, %i: i32) {
  "uattn.ring_produce"(%map, %i, %i, %i, %ring, %i)
    : (!uattn.tensor_map<vector<128x64xbf16>>, i32, i32, i32,
       !uattn.ring<vector<128x128xbf16>, 2 : i64>, i32) -> ()
  return
}

// A box may be shorter than the tile: the copy fills the slot's first rows, and
// those alone are acquired.
// CHECK-LABEL: func.func @short_box(
// CHECK: "uattn.ring_produce"
// CHECK: "uattn.ring_acquire"({{.*}}) : {{.*}} -> !uattn.smem<vector<64x64xbf16>>
func.func @short_box(%map: !box, %ring: !ring, %i: i32) -> !q {
  "uattn.ring_produce"(%map, %i, %i, %i, %ring, %i)
    : (!box, i32, i32, i32, !ring, i32) -> ()
  %tile = "uattn.ring_acquire"(%ring, %i) : (!ring, i32) -> !q
  return %tile : !q
}

// CHECK-LABEL: func.func @named_barriers(
// CHECK: "uattn.named_barrier_sync"(%{{.*}}) {threads = 256 : i64} : (i32) -> ()
// CHECK: "uattn.named_barrier_arrive"(%{{.*}}, %{{.*}}) {threads = 128 : i64} : (i32, i1) -> ()
func.func @named_barriers(%id: i32, %when: i1) {
  "uattn.named_barrier_sync"(%id) {threads = 256 : i64} : (i32) -> ()
  "uattn.named_barrier_arrive"(%id, %when) {threads = 128 : i64} : (i32, i1) -> ()
  return
}

// Q K^T with both factors in shared memory, then P V with P in registers.
// CHECK-LABEL: func.func @products(
// CHECK: "uattn.wgmma"(%{{.*}}, %{{.*}}) {transpose_b}
// CHECK-SAME: -> vector<64x128xf32>
// CHECK: "uattn.wgmma_wait"(%{{.*}}) {pending = 0 : i64}
// CHECK: "uattn.wgmma"(%{{.*}}, %{{.*}}, %{{.*}}) {negate_a}
// CHECK-SAME: (vector<64x128xbf16>, !uattn.smem<vector<128x64xbf16>>, vector<64x64xf32>) -> vector<64x64xf32>
// CHECK: "uattn.wgmma_wait"(%{{.*}}, %{{.*}}) {pending = 1 : i64}
// CHECK-SAME: -> (vector<64x64xf32>, vector<64x128xbf16>)
func.func @products(%q: !q, %k: !kv, %v: !kv, %acc: !o) -> (!o, vector<64x128xbf16>) {
  %started = "uattn.wgmma"(%q, %k) {transpose_b} : (!q, !kv) -> !s
  %s = "uattn.wgmma_wait"(%started) {pending = 0 : i64} : (!s) -> !s
  %p = arith.truncf %s : !s to vector<64x128xbf16>
  %sum = "uattn.wgmma"(%p, %v, %acc) {negate_a}
    : (vector<64x128xbf16>, !kv, !o) -> !o
  %o:2 = "uattn.wgmma_wait"(%sum, %p) {pending = 1 : i64}
    : (!o, vector<64x128xbf16>) -> (!o, vector<64x128xbf16>)
  return %o#0, %o#1 : !o, vector<64x128xbf16>
}

// CHECK-LABEL: func.func @tile_arithmetic(
// CHECK: "uattn.cap_apply"(%{{.*}}) {method = "tanh"}
// CHECK: "uattn.exp2_apply"(%{{.*}}) {polynomial_period = 4 : i64} : (vector<64x128xf32>) -> vector<64x128xf32>
// CHECK: "uattn.fold_columns"(%{{.*}}) {kind = "max"} : (vector<64x128xf32>) -> vector<64x8xf32>
// CHECK: "uattn.row_broadcast"(%{{.*}}) : (vector<64xf32>) -> vector<64x128xf32>
func.func @tile_arithmetic(%x: !s, %rows: vector<64xf32>)
    -> (!s, vector<64x8xf32>, !s) {
  %capped = "uattn.cap_apply"(%x) {method = "tanh"} : (!s) -> !s
  %p = "uattn.exp2_apply"(%capped) {polynomial_period = 4 : i64} : (!s) -> !s
  %folded = "uattn.fold_columns"(%p) {kind = "max"} : (!s) -> vector<64x8xf32>
  %spread = "uattn.row_broadcast"(%rows) : (vector<64xf32>) -> !s
  return %p, %folded, %spread : !s, vector<64x8xf32>, !s
}

// Keys from a row's begin, where there is one, to its end.
// CHECK-LABEL: func.func @masks(
// CHECK-SAME: %[[X:[^:]*]]: vector<64x128xf32>, %[[FIRST:[^:]*]]: i32
// CHECK: %[[ROWS:.*]] = "uattn.row_index"() : () -> vector<64xi32>
// CHECK: %[[ENDED:.*]] = "uattn.mask_apply"(%[[X]], %[[FIRST]], %[[ROWS]])
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0>
// CHECK-SAME: (vector<64x128xf32>, i32, vector<64xi32>) -> vector<64x128xf32>
// CHECK: "uattn.mask_apply"(%[[ENDED]], %[[FIRST]], %[[ROWS]], %[[ROWS]])
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1>
func.func @masks(%x: !s, %first: i32) -> !s {
  %rows = "uattn.row_index"() : () -> vector<64xi32>
  %ended = "uattn.mask_apply"(%x, %first, %rows)
    {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!s, i32, vector<64xi32>) -> !s
  %both = "uattn.mask_apply"(%ended, %first, %rows, %rows)
    {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
    : (!s, i32, vector<64xi32>, vector<64xi32>) -> !s
  return %both : !s
}

// Flags of rows, in one warp or in all of the warpgroup.
// CHECK-LABEL: func.func @votes(
// CHECK: "uattn.warp_any"(%{{.*}}) : (vector<64xi1>) -> i1
// CHECK: "uattn.warpgroup_all"(%{{.*}}, %{{.*}}) : (vector<64xi1>, i32) -> i1
func.func @votes(%flags: vector<64xi1>, %id: i32) -> (i1, i1) {
  %any = "uattn.warp_any"(%flags) : (vector<64xi1>) -> i1
  %all = "uattn.warpgroup_all"(%flags, %id) : (vector<64xi1>, i32) -> i1
  return %any, %all : i1, i1
}

// CHECK-LABEL: func.func @memory(
// CHECK: %[[ROWS:.*]] = "uattn.row_load"
// CHECK: "uattn.row_store"(%[[ROWS]],
// CHECK: "uattn.tile_store"(%{{.*}}) : (vector<64x64xbf16>, !uattn.smem<vector<64x64xbf16>>
func.func @memory(%g: !uattn.global<f32>, %offset: i64, %i: i32, %tile: vector<64x64xbf16>,
                  %staging: !q, %map: !box) {
  %rows = "uattn.row_load"(%g, %offset, %i, %i)
    : (!uattn.global<f32>, i64, i32, i32) -> vector<64xf32>
  "uattn.row_store"(%rows, %g, %offset, %i, %i)
    : (vector<64xf32>, !uattn.global<f32>, i64, i32, i32) -> ()
  "uattn.tile_store"(%tile, %staging, %map, %i, %i, %i, %i)
    : (vector<64x64xbf16>, !q, !box, i32, i32, i32, i32) -> ()
  return
}

// CHECK-LABEL: func.func @other_loads(
// CHECK: "uattn.scalar_load"(%{{.*}}, %{{.*}}) : (!uattn.global<i32>, i64) -> i32
// CHECK: "uattn.column_load"(%{{.*}}) : (!uattn.global<i32>, i64, i32, i32) -> vector<64x128xi32>
func.func @other_loads(%g: !uattn.global<i32>, %offset: i64, %i: i32)
    -> (i32, vector<64x128xi32>) {
  %one = "uattn.scalar_load"(%g, %offset) : (!uattn.global<i32>, i64) -> i32
  %tile = "uattn.column_load"(%g, %offset, %i, %i)
    : (!uattn.global<i32>, i64, i32, i32) -> vector<64x128xi32>
  return %one, %tile : i32, vector<64x128xi32>
}

// Ordinary accesses to tiles in shared memory; the fence stays where it was.
// CHECK-LABEL: func.func @shared_memory(
// CHECK-SAME: %[[A:[^:]*]]: !uattn.smem<vector<64x64xbf16>>, %[[B:[^:]*]]: !uattn.smem<vector<64x64xbf16>>
// CHECK: "uattn.smem_negate_rows"(%[[A]], %{{.*}}, %{{.*}}) : (!uattn.smem<vector<64x64xbf16>>, vector<64xi1>, i32) -> ()
// CHECK: "uattn.smem_clear_rows"(%[[B]], %{{.*}}) : (!uattn.smem<vector<64x64xbf16>>, i32) -> ()
// CHECK: "uattn.async_proxy_fence"() : () -> ()
// CHECK: "uattn.smem_read"(%[[A]]) : {{.*}} -> vector<64x64xbf16>
// CHECK: "uattn.row_dot"(%[[A]], %[[B]]) : {{.*}} -> vector<64xf32>
func.func @shared_memory(%a: !q, %b: !q, %flags: vector<64xi1>, %i: i32)
    -> (vector<64x64xbf16>, vector<64xf32>) {
  "uattn.smem_negate_rows"(%a, %flags, %i) : (!q, vector<64xi1>, i32) -> ()
  "uattn.smem_clear_rows"(%b, %i) : (!q, i32) -> ()
  "uattn.async_proxy_fence"() : () -> ()
  %x = "uattn.smem_read"(%a) : (!q) -> vector<64x64xbf16>
  %dot = "uattn.row_dot"(%a, %b) : (!q, !q) -> vector<64xf32>
  return %x, %dot : vector<64x64xbf16>, vector<64xf32>
}

// Records of rows lie one behind the other and come by plain copies; what they
// say of a column is read for all rows.
// CHECK-LABEL: func.func @records(
// CHECK-SAME: %[[G:[^:]*]]: !uattn.global<f32>
// CHECK: %[[RING:.*]] = "uattn.ring_alloc"()
// CHECK: "uattn.ring_produce_records"(%[[G]], %{{.*}}, %[[RING]], %{{.*}}) : (!uattn.global<f32>, i64, !uattn.ring<vector<128x4xf32>, 2 : i64>, i32) -> ()
// CHECK: %[[RECORDS:.*]] = "uattn.ring_acquire"(%[[RING]],
// CHECK: "uattn.column_read"(%[[RECORDS]]) {field = 0 : i64} : {{.*}} -> vector<64x128xf32>
// CHECK: "uattn.column_read"(%[[RECORDS]]) {field = 3 : i64} : {{.*}} -> vector<64x128xi32>
// CHECK: "uattn.record_store"(%{{.*}}, %[[G]], %{{.*}}) : (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>, !uattn.global<f32>, i64, i32, i32) -> ()
func.func @records(%g: !uattn.global<f32>, %offset: i64, %i: i32, %rows: vector<64xf32>)
    -> (!s, vector<64x128xi32>) {
  %ring = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                                consumer_warps = 4 : i64} : () -> !records
  "uattn.ring_produce_records"(%g, %offset, %ring, %i)
    : (!uattn.global<f32>, i64, !records, i32) -> ()
  %tile = "uattn.ring_acquire"(%ring, %i) : (!records, i32) -> !uattn.smem<vector<128x4xf32>>
  %first = "uattn.column_read"(%tile) {field = 0 : i64}
    : (!uattn.smem<vector<128x4xf32>>) -> !s
  %last = "uattn.column_read"(%tile) {field = 3 : i64}
    : (!uattn.smem<vector<128x4xf32>>) -> vector<64x128xi32>
  "uattn.record_store"(%rows, %rows, %rows, %rows, %g, %offset, %i, %i)
    : (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>, !uattn.global<f32>,
       i64, i32, i32) -> ()
  return %first, %last : !s, vector<64x128xi32>
}

// Tiles that threads write: their parts, a transpose, rows that become zeros.
// CHECK-LABEL: func.func @written_tiles(
// CHECK: %[[ALL:.*]] = "uattn.smem_alloc"() {smem_offset = 2048 : i64} : () -> !uattn.smem<vector<64x128xbf16>>
// CHECK: %[[PART:.*]] = "uattn.smem_columns"(%[[ALL]], %{{.*}}) : {{.*}} -> !uattn.smem<vector<64x64xbf16>>
// CHECK: "uattn.smem_transpose"(%{{.*}}, %[[PART]]) : (vector<64x64xbf16>, !uattn.smem<vector<64x64xbf16>>) -> ()
// CHECK: "uattn.smem_drop_rows"(%[[ALL]], %{{.*}}, %{{.*}}) : (!uattn.smem<vector<64x128xbf16>>, vector<64xi1>, i32) -> ()
func.func @written_tiles(%value: vector<64x64xbf16>, %flags: vector<64xi1>, %i: i32) {
  %all = "uattn.smem_alloc"() {smem_offset = 2048 : i64}
    : () -> !uattn.smem<vector<64x128xbf16>>
  %part = "uattn.smem_columns"(%all, %i) : (!uattn.smem<vector<64x128xbf16>>, i32) -> !q
  "uattn.smem_transpose"(%value, %part) : (vector<64x64xbf16>, !q) -> ()
  "uattn.smem_drop_rows"(%all, %flags, %i)
    : (!uattn.smem<vector<64x128xbf16>>, vector<64xi1>, i32) -> ()
  return
}

// What two warpgroups add is staged in rows of one tile.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME: %[[G:[^:]*]]: !uattn.global<f32>
// CHECK: "uattn.sums_clear"(%[[G]], %{{.*}}) {columns = 128 : i64} : (!uattn.global<f32>, i64, i32, i32) -> ()
// CHECK: %[[STAGING:.*]] = "uattn.smem_rows"(%{{.*}}) : {{.*}} -> !uattn.smem<vector<64x64xf32>>
// CHECK: "uattn.sums_add"(%{{.*}}, %[[STAGING]], %[[G]], %{{.*}}) : (vector<64x64xf32>, !uattn.smem<vector<64x64xf32>>, !uattn.global<f32>, i64, i32, i32, i32) -> ()
// CHECK: "uattn.sums_load"(%[[G]], %{{.*}}) : (!uattn.global<f32>, i64, i32, i32) -> vector<64x128xf32>
func.func @sums(%g: !uattn.global<f32>, %offset: i64, %i: i32, %value: !o) -> !s {
  "uattn.sums_clear"(%g, %offset, %i, %i) {columns = 128 : i64}
    : (!uattn.global<f32>, i64, i32, i32) -> ()
  %all = "uattn.smem_alloc"() {smem_offset = 0 : i64} : () -> !uattn.smem<vector<128x64xf32>>
  %staging = "uattn.smem_rows"(%all, %i)
    : (!uattn.smem<vector<128x64xf32>>, i32) -> !uattn.smem<!o>
  "uattn.sums_add"(%value, %staging, %g, %offset, %i, %i, %i)
    : (!o, !uattn.smem<!o>, !uattn.global<f32>, i64, i32, i32, i32) -> ()
  %sums = "uattn.sums_load"(%g, %offset, %i, %i) : (!uattn.global<f32>, i64, i32, i32) -> !s
  return %sums : !s
}

// CHECK-LABEL: func.func @segments(
// CHECK: "uattn.segment_hull"(%{{.*}}) {rows = 192 : i64, smem_offset = 1024 : i64, threads = 512 : i64}
// CHECK-SAME: -> (i32, i32, i1)
func.func @segments(%g: !uattn.global<i32>, %offset: i64, %i: i32) -> (i32, i32, i1) {
  %hull:3 = "uattn.segment_hull"(%g, %offset, %i, %i, %g, %offset, %i, %i)
    {rows = 192 : i64, smem_offset = 1024 : i64, threads = 512 : i64}
    : (!uattn.global<i32>, i64, i32, i32, !uattn.global<i32>, i64, i32, i32) -> (i32, i32, i1)
  return %hull#0, %hull#1, %hull#2 : i32, i32, i1
}
