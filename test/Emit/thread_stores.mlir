// RUN: uattn-opt --uattn-distribute-tiles --canonicalize --cse %s | FileCheck %s
// A tile leaves through shared memory and the copy engine; one is changed in
// place for the tensor cores.

!ring = !uattn.ring<vector<128x128xbf16>, 1 : i64>
!tile = !uattn.smem<vector<128x128xbf16>>
!rows = !uattn.smem<vector<64x128xbf16>>

gpu.module @kernels {
  // The warpgroup meets (others may still have read the staging tile), writes
  // its 64 x 128 elements with 8 stmatrix x4 (32 registers a thread), fences
  // them for the copy engine and meets again; one thread stores a panel of 64
  // columns at a time and waits until shared memory has been read.
  //
  // Lane l gives the address of row 16 (warp % 4) + l % 16, 128 bytes each, and
  // of the 16-byte chunk 2 s + l / 16 for stmatrix s of a panel: swizzled, chunk
  // c of row r lies at c ^ (r % 8). 4 stmatrix are a panel, 16384 bytes on is the
  // next one of the 128-row tile.
  // CHECK-LABEL: llvm.func @tile_store(
  // CHECK-SAME: %[[X:[^:]*]]: vector<32xi32>, %[[MAP:[^:]*]]: !llvm.ptr {{{.*}}}, %[[HEAD:[^:]*]]: i32, %[[ROW:[^:]*]]: i32, %[[BATCH:[^:]*]]: i32, %[[BAR:[^:]*]]: i32
  // CHECK-DAG: %[[PANEL:c.*]] = arith.constant 16384 : i32
  // CHECK-DAG: %[[ZERO:c.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[SIXTYFOUR:c.*]] = arith.constant 64 : i32
  // CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: "bar.sync $0, 128;", "r" %[[BAR]]
  // CHECK-COUNT-32: vector.extract %[[X]]
  // CHECK-DAG: %[[LANE:.*]] = arith.andi %[[T]], %c31_i32
  // CHECK-DAG: %[[LANEROW:.*]] = arith.andi %[[LANE]], %c15_i32
  // CHECK-DAG: %[[WARP:.*]] = arith.shrui %[[T]], %c5_i32
  // CHECK-DAG: %[[QUARTER:.*]] = arith.andi %[[WARP]], %c3_i32
  // CHECK-DAG: %[[WARPROW:.*]] = arith.shli %[[QUARTER]], %c4_i32
  // CHECK-DAG: %[[R:.*]] = arith.addi %[[WARPROW]], %[[LANEROW]]
  // CHECK-DAG: %[[RMOD8:.*]] = arith.andi %[[LANE]], %c7_i32
  // CHECK-DAG: %[[HALF:.*]] = arith.shrui %[[LANE]], %c4_i32
  // CHECK-DAG: %[[CHUNK:.*]] = arith.xori %[[HALF]], %[[RMOD8]]
  // CHECK-DAG: %[[ROWBYTES:.*]] = arith.muli %[[R]], %c128_i32
  // CHECK-DAG: %[[ROWAT:.*]] = arith.addi %{{.*}}, %[[ROWBYTES]]
  // CHECK-DAG: %[[CHUNKBYTES:.*]] = arith.shli %[[CHUNK]], %c4_i32
  // CHECK-DAG: %[[AT0:.*]] = arith.addi %[[ROWAT]], %[[CHUNKBYTES]]
  // CHECK: "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r" %[[AT0]],
  // CHECK: %[[CHUNK1:.*]] = arith.xori %[[CHUNKBYTES]], %c32_i32
  // CHECK: %[[AT1:.*]] = arith.addi %[[ROWAT]], %[[CHUNK1]]
  // CHECK: "stmatrix{{.*}}" %[[AT1]],
  // CHECK: arith.xori %[[CHUNKBYTES]], %c64_i32
  // CHECK: "stmatrix
  // CHECK: arith.xori %[[CHUNKBYTES]], %c96_i32
  // CHECK: "stmatrix
  // CHECK: %[[PANELAT:.*]] = arith.addi %[[ROWAT]], %[[PANEL]]
  // CHECK: %[[AT4:.*]] = arith.addi %[[PANELAT]], %[[CHUNKBYTES]]
  // CHECK: "stmatrix{{.*}}" %[[AT4]],
  // CHECK-COUNT-3: "stmatrix.sync.aligned.m8n8.x4.shared.b16
  // CHECK-NOT: stmatrix
  // CHECK: "fence.proxy.async.shared::cta;"
  // CHECK-NEXT: "bar.sync $0, 128;", "r" %[[BAR]]
  // CHECK: %[[IN:.*]] = arith.andi %[[T]], %c127
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[IN]], %[[ZERO]]
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [$0, {$1, $2, $3, $4}], [$5];", "l,r,r,r,r,r" %[[MAP]], %[[ZERO]], %[[HEAD]], %[[ROW]], %[[BATCH]], %[[AT:.*]] :
  // CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %[[PANEL]]
  // CHECK: "cp.async.bulk.tensor.4d.global{{.*}}" %[[MAP]], %[[SIXTYFOUR]], %[[HEAD]], %[[ROW]], %[[BATCH]], %[[NEXT]]
  // CHECK-NEXT: "cp.async.bulk.commit_group;\0Acp.async.bulk.wait_group.read 0;"
  // CHECK-NEXT: }
  // CHECK-NEXT: llvm.return
  gpu.func @tile_store(%x: vector<64x128xbf16>, %map: !uattn.tensor_map<vector<64x64xbf16>>,
                       %head: i32, %row: i32, %batch: i32, %barrier: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !ring
    %t = "uattn.ring_acquire"(%r, %head) : (!ring, i32) -> !tile
    %s = "uattn.smem_rows"(%t, %head) : (!tile, i32) -> !rows
    "uattn.tile_store"(%x, %s, %map, %head, %row, %batch, %barrier)
      : (vector<64x128xbf16>, !rows, !uattn.tensor_map<vector<64x64xbf16>>, i32, i32, i32, i32)
      -> ()
    gpu.return
  }

  // What a warp writes is fenced for the tensor cores, where it has a row to
  // flip, and all of the warpgroup meet.
  // CHECK-LABEL: llvm.func @negated_rows(
  // CHECK-SAME: %{{[^:]*}}: vector<2xi1>, %{{[^:]*}}: i32, %[[BAR:[^:]*]]: i32
  // CHECK: %[[ANY:.*]] = llvm.inline_asm {{.*}}"vote.sync.any.pred
  // CHECK-NEXT: scf.if %[[ANY]] {
  // CHECK-COUNT-8: "ldmatrix.sync
  // CHECK-COUNT-8: "stmatrix.sync
  // CHECK-NEXT: "fence.proxy.async.shared::cta;"
  // CHECK-NEXT: }
  // CHECK-NEXT: "bar.sync $0, 128;", "r" %[[BAR]]
  // CHECK-NEXT: llvm.return
  gpu.func @negated_rows(%flags: vector<64xi1>, %step: i32, %barrier: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !ring
    %t = "uattn.ring_acquire"(%r, %step) : (!ring, i32) -> !tile
    %s = "uattn.smem_rows"(%t, %step) : (!tile, i32) -> !rows
    "uattn.smem_negate_rows"(%s, %flags, %barrier) : (!rows, vector<64xi1>, i32) -> ()
    gpu.return
  }

  // A transpose: columns of the tile's registers are rows of the target, 128
  // bytes each, rows chunks. Of an stmatrix x4 of 16 columns lane l gives row
  // l % 8 + 8 (l / 16), chunk 2 (warp % 4) + l / 8 % 2, swizzled as in tile_store;
  // 16 columns are 2048 bytes. Columns 64 on of the 32-row tile lie 4096 bytes
  // behind its first.
  // CHECK-LABEL: llvm.func @transpose(
  // CHECK-SAME: %[[X:[^:]*]]: vector<8xi32>, %[[COLUMNS:[^:]*]]: i32
  // CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[BASE:.*]] = llvm.ptrtoint
  // CHECK-DAG: %[[TILE:.*]] = arith.addi %[[BASE]], %c2048_i32
  // CHECK-DAG: %[[PANEL:.*]] = arith.muli %[[COLUMNS]], %c4096_i32
  // CHECK-DAG: %[[TARGET:.*]] = arith.addi %[[TILE]], %[[PANEL]]
  // CHECK-DAG: %[[TMOD8:.*]] = arith.andi %[[T]], %c7_i32
  // CHECK-DAG: %[[HALF:.*]] = arith.shrui %[[T]], %c1_i32
  // CHECK-DAG: %[[EIGHT:.*]] = arith.andi %[[HALF]], %c8_i32
  // CHECK-DAG: %[[R:.*]] = arith.addi %[[TMOD8]], %[[EIGHT]]
  // CHECK-DAG: %[[EIGHTH:.*]] = arith.shrui %[[T]], %c3_i32
  // CHECK-DAG: %[[ODD:.*]] = arith.andi %[[EIGHTH]], %c1_i32
  // CHECK-DAG: %[[PAIR:.*]] = arith.shrui %[[WARPROW:.*]], %c3_i32
  // CHECK-DAG: %[[CHUNK:.*]] = arith.addi %[[PAIR]], %[[ODD]]
  // CHECK-DAG: %[[SWIZZLED:.*]] = arith.xori %[[CHUNK]], %[[TMOD8]]
  // CHECK-DAG: %[[CHUNKBYTES:.*]] = arith.shli %[[SWIZZLED]], %c4_i32
  // CHECK-DAG: %[[ROWBYTES:.*]] = arith.muli %[[R]], %c128_i32
  // CHECK-DAG: %[[IN:.*]] = arith.addi %[[ROWBYTES]], %[[CHUNKBYTES]]
  // CHECK-DAG: %[[AT:.*]] = arith.addi %[[TARGET]], %[[IN]]
  // CHECK: "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [$0], {$1, $2, $3, $4};", "r,r,r,r,r" %[[AT]],
  // CHECK-NEXT: %[[AT16:.*]] = arith.addi %[[AT]], %c2048_i32
  // CHECK-NEXT: "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16{{.*}}" %[[AT16]],
  // CHECK-NEXT: llvm.return
  gpu.func @transpose(%x: vector<64x32xbf16>, %columns: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %all = "uattn.smem_alloc"() {smem_offset = 2048 : i64}
      : () -> !uattn.smem<vector<32x128xbf16>>
    %target = "uattn.smem_columns"(%all, %columns)
      : (!uattn.smem<vector<32x128xbf16>>, i32) -> !uattn.smem<vector<32x64xbf16>>
    "uattn.smem_transpose"(%x, %target)
      : (vector<64x32xbf16>, !uattn.smem<vector<32x64xbf16>>) -> ()
    gpu.return
  }

  // The four threads of a row clear 64 bytes at a time, for each of a thread's
  // rows under its flag; the second panel lies 128 rows behind the first. All is
  // fenced for the tensor cores before the warpgroup meets.
  // CHECK-LABEL: llvm.func @dropped_rows(
  // CHECK-SAME: %[[FLAGS:[^:]*]]: vector<2xi1>, %{{[^:]*}}: i32, %[[BAR:[^:]*]]: i32
  // CHECK-DAG: %[[FIRST:.*]] = vector.extract %[[FLAGS]][0]
  // CHECK-DAG: %[[SECOND:.*]] = vector.extract %[[FLAGS]][1]
  // CHECK: "@$2 st.shared.v4.b32 [$0], {$1, $1, $1, $1};", "r,r,b" %[[AT:[^,]*]], %c0_i32{{[^,]*}}, %[[FIRST]]
  // CHECK-NEXT: %[[AT64:.*]] = arith.addi %[[AT]], %c64_i32
  // CHECK-NEXT: "@$2 st.shared.v4.b32{{.*}}" %[[AT64]], %c0_i32{{[^,]*}}, %[[FIRST]]
  // CHECK-NEXT: %[[PANEL:.*]] = arith.addi %[[AT]], %c16384_i32
  // CHECK-NEXT: "@$2 st.shared.v4.b32{{.*}}" %[[PANEL]], %c0_i32{{[^,]*}}, %[[FIRST]]
  // CHECK-NEXT: %[[PANEL64:.*]] = arith.addi %[[AT]], %c16448_i32
  // CHECK-NEXT: "@$2 st.shared.v4.b32{{.*}}" %[[PANEL64]], %c0_i32{{[^,]*}}, %[[FIRST]]
  // CHECK-COUNT-4: "@$2 st.shared.v4.b32{{.*}}, %[[SECOND]] :
  // CHECK-NEXT: "fence.proxy.async.shared::cta;"
  // CHECK-NEXT: "bar.sync $0, 128;", "r" %[[BAR]]
  // CHECK-NEXT: llvm.return
  gpu.func @dropped_rows(%flags: vector<64xi1>, %step: i32, %barrier: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 4 : i64} : () -> !ring
    %t = "uattn.ring_acquire"(%r, %step) : (!ring, i32) -> !tile
    %s = "uattn.smem_rows"(%t, %step) : (!tile, i32) -> !rows
    "uattn.smem_drop_rows"(%s, %flags, %barrier) : (!rows, vector<64xi1>, i32) -> ()
    gpu.return
  }

  // CHECK-LABEL: llvm.func @fence(
  // CHECK: "fence.proxy.async.shared::cta;"
  // CHECK-NEXT: llvm.return
  gpu.func @fence()
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    "uattn.async_proxy_fence"() : () -> ()
    gpu.return
  }
}
