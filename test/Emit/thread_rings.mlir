// RUN: uattn-opt --uattn-distribute-tiles --canonicalize --cse %s | FileCheck %s
// Rings at the thread level: barriers, parities, bytes and copies.

!ring = !uattn.ring<vector<80x128xbf16>, 2 : i64>
!tile = !uattn.smem<vector<80x128xbf16>>
!records = !uattn.ring<vector<80x4xf32>, 2 : i64>

gpu.module @kernels {
  // Thread 0 initialises the full barrier of every slot for the producer's one
  // arrival, the empty one, 8 bytes behind, for the consumer warps'; then the
  // copy engine and the CTA learn of them.
  // CHECK-LABEL: llvm.func @alloc(
  // CHECK-DAG: %[[FULL0:.*]] = arith.constant 65536 : i32
  // CHECK-DAG: %[[EMPTY0:.*]] = arith.constant 65544 : i32
  // CHECK-DAG: %[[FULL1:.*]] = arith.constant 65552 : i32
  // CHECK-DAG: %[[EMPTY1:.*]] = arith.constant 65560 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[WARPS:.*]] = arith.constant 12 : i32
  // CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[BASE:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr<3> to i32
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[T]], %{{.*}} : i32
  // CHECK: scf.if %[[FIRST]] {
  // CHECK: %[[A:.*]] = arith.addi %[[BASE]], %[[FULL0]]
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r" %[[A]], %[[ONE]]
  // CHECK: %[[B:.*]] = arith.addi %[[BASE]], %[[EMPTY0]]
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r" %[[B]], %[[WARPS]]
  // CHECK: %[[C:.*]] = arith.addi %[[BASE]], %[[FULL1]]
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r" %[[C]], %[[ONE]]
  // CHECK: %[[D:.*]] = arith.addi %[[BASE]], %[[EMPTY1]]
  // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r" %[[D]], %[[WARPS]]
  // CHECK-NOT: mbarrier.init
  // CHECK: "fence.mbarrier_init.release.cluster;"
  // CHECK-NEXT: nvvm.barrier0
  gpu.func @alloc()
      kernel attributes {uattn.threads = 512 : i64, uattn.smem_bytes = 65568 : i64,
                         uattn.entry_registers = 128 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 1024 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 12 : i64} : () -> !ring
    %role, %index = "uattn.role"() {registers = array<i64: 32, 160>,
                                    warpgroups = array<i64: 1, 3>} : () -> (i32, i32)
    gpu.return
  }

  // Slot = step % stages, parity = step / stages % 2. The producer waits for the
  // parity of the pass before: at the start every slot counts as empty. It
  // expects the bytes of the whole tile (80 rows of 128 elements of 2 bytes) and
  // copies a panel of 64 columns at a time, the second 80 rows of 128 bytes
  // behind the first (1024 + 10240).
  // CHECK-LABEL: llvm.func @produce(
  // CHECK-SAME: %[[MAP:[^:]*]]: !llvm.ptr {{{.*}}}, %[[HEAD:[^:]*]]: i32, %[[ROW:[^:]*]]: i32, %[[BATCH:[^:]*]]: i32, %[[STEP:[^:]*]]: i32
  // CHECK-DAG: %[[BYTES:.*]] = arith.constant 20480 : i32
  // CHECK-DAG: %[[RINGAT:.*]] = arith.constant 1024 : i32
  // CHECK-DAG: %[[SECONDAT:.*]] = arith.constant 11264 : i32
  // CHECK-DAG: %[[FULLAT:.*]] = arith.constant 65536 : i32
  // CHECK-DAG: %[[EMPTYAT:.*]] = arith.constant 65544 : i32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[SIXTEEN:.*]] = arith.constant 16 : i32
  // CHECK-DAG: %[[SIXTYFOUR:.*]] = arith.constant 64 : i32
  // CHECK: %[[BASE:.*]] = llvm.ptrtoint
  // CHECK-DAG: %[[SLOT:.*]] = arith.remui %[[STEP]], %[[TWO]]
  // CHECK-DAG: %[[PASS:.*]] = arith.divui %[[STEP]], %[[TWO]]
  // CHECK-DAG: %[[SLOTBYTES:.*]] = arith.muli %[[SLOT]], %[[BYTES]]
  // CHECK-DAG: %[[SLOTBASE:.*]] = arith.addi %[[BASE]], %[[SLOTBYTES]]
  // CHECK-DAG: %[[TILE:.*]] = arith.addi %[[SLOTBASE]], %[[RINGAT]]
  // CHECK-DAG: %[[BARBYTES:.*]] = arith.muli %[[SLOT]], %[[SIXTEEN]]
  // CHECK-DAG: %[[BARBASE:.*]] = arith.addi %[[BASE]], %[[BARBYTES]]
  // CHECK-DAG: %[[FULL:.*]] = arith.addi %[[BARBASE]], %[[FULLAT]]
  // CHECK-DAG: %[[EMPTY:.*]] = arith.addi %[[BARBASE]], %[[EMPTYAT]]
  // CHECK-DAG: %[[PARITY:.*]] = arith.andi %[[PASS]], %[[ONE]]
  // CHECK-DAG: %[[OTHER:.*]] = arith.xori %[[PARITY]], %[[ONE]]
  // CHECK: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;{{.*}}", "r,r" %[[EMPTY]], %[[OTHER]]
  // CHECK-NEXT: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r" %[[FULL]], %[[BYTES]]
  // CHECK-NEXT: "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$2, $3, $4, $5}], [$6];", "r,l,r,r,r,r,r" %[[TILE]], %[[MAP]], %[[ZERO]], %[[HEAD]], %[[ROW]], %[[BATCH]], %[[FULL]]
  // CHECK: %[[SECOND:.*]] = arith.addi %[[SLOTBASE]], %[[SECONDAT]]
  // CHECK: cp.async.bulk.tensor.4d.{{.*}}, "r,l,r,r,r,r,r" %[[SECOND]], %[[MAP]], %[[SIXTYFOUR]], %[[HEAD]], %[[ROW]], %[[BATCH]], %[[FULL]]
  // CHECK-NOT: cp.async
  // CHECK: llvm.return
  gpu.func @produce(%map: !uattn.tensor_map<vector<80x64xbf16>>, %head: i32, %row: i32,
                    %batch: i32, %step: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 65568 : i64,
                         uattn.entry_registers = 128 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 1024 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 12 : i64} : () -> !ring
    "uattn.ring_produce"(%map, %head, %row, %batch, %r, %step)
      : (!uattn.tensor_map<vector<80x64xbf16>>, i32, i32, i32, !ring, i32) -> ()
    gpu.return
  }

  // Consumers wait for the parity of this pass at the full barrier, without the
  // producer's xor; a warp's first lane frees the slot at the empty one.
  // CHECK-LABEL: llvm.func @acquire_and_release(
  // CHECK-SAME: %[[STEP:[^:]*]]: i32
  // CHECK-DAG: %[[FULLAT:.*]] = arith.constant 65536 : i32
  // CHECK-DAG: %[[EMPTYAT:.*]] = arith.constant 65544 : i32
  // CHECK-DAG: %[[LANES:.*]] = arith.constant 31 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK-NOT: arith.xori
  // CHECK: %[[PASS:.*]] = arith.divui %[[STEP]], %{{.*}}
  // CHECK: %[[FULL:.*]] = arith.addi %[[BARBASE:.*]], %[[FULLAT]]
  // CHECK: %[[PARITY:.*]] = arith.andi %[[PASS]], %[[ONE]]
  // CHECK-NEXT: try_wait.parity{{.*}}", "r,r" %[[FULL]], %[[PARITY]]
  // CHECK-DAG: %[[EMPTY:.*]] = arith.addi %[[BARBASE]], %[[EMPTYAT]]
  // CHECK-DAG: %[[LANE:.*]] = arith.andi %[[T]], %[[LANES]]
  // CHECK-DAG: %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]], %{{.*}}
  // CHECK: "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b" %[[EMPTY]], %[[FIRST]]
  gpu.func @acquire_and_release(%step: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 65568 : i64,
                         uattn.entry_registers = 128 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 1024 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 12 : i64} : () -> !ring
    %t = "uattn.ring_acquire"(%r, %step) : (!ring, i32) -> !tile
    "uattn.ring_release"(%r, %step) : (!ring, i32) -> ()
    gpu.return
  }

  // Records, 16 bytes each, come by one plain copy from source[offset] on; their
  // ring's barriers, parities and slots are those of all rings.
  // CHECK-LABEL: llvm.func @produce_records(
  // CHECK-SAME: %[[G:[^:]*]]: !llvm.ptr<1>, %[[O:[^:]*]]: i64, %[[STEP:[^:]*]]: i32
  // CHECK-DAG: %[[BYTES:.*]] = arith.constant 1280 : i32
  // CHECK-DAG: %[[RINGAT:.*]] = arith.constant 1024 : i32
  // CHECK-DAG: %[[FULLAT:.*]] = arith.constant 65536 : i32
  // CHECK-DAG: %[[EMPTYAT:.*]] = arith.constant 65544 : i32
  // CHECK: %[[BASE:.*]] = llvm.ptrtoint
  // CHECK-DAG: %[[SLOT:.*]] = arith.remui %[[STEP]], %{{.*}}
  // CHECK-DAG: %[[SLOTBYTES:.*]] = arith.muli %[[SLOT]], %[[BYTES]]
  // CHECK-DAG: %[[SLOTBASE:.*]] = arith.addi %[[BASE]], %[[SLOTBYTES]]
  // CHECK-DAG: %[[RECORDS:.*]] = arith.addi %[[SLOTBASE]], %[[RINGAT]]
  // CHECK-DAG: %[[BARBYTES:.*]] = arith.muli %[[SLOT]], %c16_i32
  // CHECK-DAG: %[[BARBASE:.*]] = arith.addi %[[BASE]], %[[BARBYTES]]
  // CHECK-DAG: %[[FULL:.*]] = arith.addi %[[BARBASE]], %[[FULLAT]]
  // CHECK-DAG: %[[EMPTY:.*]] = arith.addi %[[BARBASE]], %[[EMPTYAT]]
  // CHECK: mbarrier.try_wait.parity{{.*}}", "r,r" %[[EMPTY]],
  // CHECK-NEXT: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r" %[[FULL]], %[[BYTES]]
  // CHECK-NEXT: %[[FROM:.*]] = llvm.getelementptr %[[G]][%[[O]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  // CHECK-NEXT: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "r,l,r,r" %[[RECORDS]], %[[FROM]], %[[BYTES]], %[[FULL]]
  // CHECK-NOT: cp.async
  // CHECK: llvm.return
  gpu.func @produce_records(%g: !uattn.global<f32>, %offset: i64, %step: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 65568 : i64,
                         uattn.entry_registers = 128 : i64} {
    %r = "uattn.ring_alloc"() {smem_offset = 1024 : i64, barrier_offset = 65536 : i64,
                               consumer_warps = 12 : i64} : () -> !records
    "uattn.ring_produce_records"(%g, %offset, %r, %step)
      : (!uattn.global<f32>, i64, !records, i32) -> ()
    gpu.return
  }
}
