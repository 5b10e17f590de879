// RUN: uattn-opt --uattn-distribute-tiles --canonicalize --cse %s | FileCheck %s
// Sums and records at the thread level. A row of 64 sums is 256 bytes, four of
// 16 columns; thread t of the row's four has 16 bytes of each, from byte
// 16 t + 64 (row % 2) on in the first. Which of a thread's numbers lie where is
// known to sums_add and sums_load alone: test/unit/emit_sums_test.c.

!staging = !uattn.smem<vector<128x64xf32>>
!half = !uattn.smem<vector<64x64xf32>>

gpu.module @kernels {
  // 128 threads clear 2048 bytes at a time, 8 times for 64 rows, as far as the
  // bytes of rows below the limit; the second 64 columns lie `limit` rows of 64
  // numbers behind the first.
  // CHECK-LABEL: llvm.func @sums_clear(
  // CHECK-SAME: %[[G:[^:]*]]: !llvm.ptr<1>, %[[O:[^:]*]]: i64, %[[FIRST:[^:]*]]: i32, %[[LIMIT:[^:]*]]: i32
  // CHECK: %[[LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST]]
  // CHECK-NEXT: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %c64_i32
  // CHECK-NEXT: %[[END:.*]] = arith.muli %[[ROWS]], %c256_i32
  // CHECK: %[[ROW:.*]] = arith.extui %[[FIRST]] : i32 to i64
  // CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[ROW]], %c64_i64
  // CHECK-NEXT: %[[AT:.*]] = arith.addi %[[O]], %[[BEFORE]]
  // CHECK-NEXT: %[[TILE:.*]] = llvm.getelementptr %[[G]][%[[AT]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  // CHECK: %[[IN:.*]] = arith.cmpi slt, %[[OWN:.*]], %[[END]]
  // CHECK: "@$2 st.global.v4.f32 [$0], {$1, $1, $1, $1};", "l,f,b" %{{.*}}, %{{.*}}, %[[IN]]
  // CHECK: arith.addi %[[OWN]], %c2048_i32
  // CHECK-COUNT-7: "@$2 st.global.v4.f32
  // CHECK: %[[ROWSOFBLOCK:.*]] = arith.extui %[[LIMIT]] : i32 to i64
  // CHECK-NEXT: arith.addi %[[ROW]], %[[ROWSOFBLOCK]] : i64
  // CHECK-COUNT-8: "@$2 st.global.v4.f32
  // CHECK-NEXT: llvm.return
  gpu.func @sums_clear(%g: !uattn.global<f32>, %offset: i64, %first: i32, %limit: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    "uattn.sums_clear"(%g, %offset, %first, %limit) {columns = 128 : i64}
      : (!uattn.global<f32>, i64, i32, i32) -> ()
    gpu.return
  }

  // The warpgroup's first thread, which starts all copies, waits for the last
  // one; then all write, fence for the copy engine and meet, and it starts one
  // copy of as many rows as are below the limit, if there is one. Staging rows
  // are 256 bytes: the second 64 lie 16384 behind.
  // CHECK-LABEL: llvm.func @sums_add(
  // CHECK-SAME: %{{[^:]*}}: vector<32xf32>, %[[INDEX:[^:]*]]: i32, %[[G:[^:]*]]: !llvm.ptr<1>, %[[O:[^:]*]]: i64, %[[FIRST:[^:]*]]: i32, %[[LIMIT:[^:]*]]: i32, %[[BAR:[^:]*]]: i32
  // CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[BYTES:.*]] = arith.muli %[[INDEX]], %c16384_i32
  // CHECK: %[[STAGING:.*]] = arith.addi %{{.*}}, %[[BYTES]]
  // CHECK: %[[INGROUP:.*]] = arith.andi %[[T]], %c127_i32
  // CHECK: %[[ISFIRST:.*]] = arith.cmpi eq, %[[INGROUP]], %c0_i32
  // CHECK-NEXT: scf.if %[[ISFIRST]] {
  // CHECK-NEXT: "cp.async.bulk.wait_group.read 0;"
  // CHECK-NEXT: }
  // CHECK-NEXT: "bar.sync $0, 128;", "r" %[[BAR]]
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[FIRST]]
  // CHECK: %[[ODD:.*]] = arith.andi %[[ROW]], %c1_i32
  // CHECK: arith.muli %[[ODD]], %c64_i32
  // CHECK: %[[AT:.*]] = arith.addi %[[STAGING]], %{{.*}}
  // CHECK-NEXT: "st.shared.v4.f32 [$0], {$1, $2, $3, $4};", "r,f,f,f,f" %[[AT]],
  // CHECK-NEXT: arith.xori %[[AT]], %c64_i32
  // CHECK-NEXT: "st.shared.v4.f32
  // CHECK-NEXT: arith.xori %[[AT]], %c128_i32
  // CHECK-NEXT: "st.shared.v4.f32
  // CHECK-NEXT: arith.xori %[[AT]], %c192_i32
  // CHECK-COUNT-5: "st.shared.v4.f32
  // CHECK-NEXT: "fence.proxy.async.shared::cta;"
  // CHECK-NEXT: "bar.sync $0, 128;", "r" %[[BAR]]
  // CHECK-NEXT: scf.if %[[ISFIRST]] {
  // CHECK: %[[LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST]]
  // CHECK-NEXT: %[[ROWS:.*]] = arith.minsi %[[LEFT]], %c64_i32
  // CHECK: %[[TO:.*]] = llvm.getelementptr %[[G]]
  // CHECK: %[[ROWBYTES:.*]] = arith.muli %[[ROWS]], %c256_i32
  // CHECK-NEXT: %[[SOME:.*]] = arith.cmpi sgt, %[[ROWS]], %c0_i32
  // CHECK-NEXT: "@$3 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [$0], [$1], $2;\0Acp.async.bulk.commit_group;", "l,r,r,b" %[[TO]], %[[STAGING]], %[[ROWBYTES]], %[[SOME]]
  // CHECK-NEXT: }
  // CHECK-NEXT: llvm.return
  gpu.func @sums_add(%x: vector<64x64xf32>, %index: i32, %g: !uattn.global<f32>, %offset: i64,
                     %first: i32, %limit: i32, %barrier: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %all = "uattn.smem_alloc"() {smem_offset = 1024 : i64} : () -> !staging
    %s = "uattn.smem_rows"(%all, %index) : (!staging, i32) -> !half
    "uattn.sums_add"(%x, %s, %g, %offset, %first, %limit, %barrier)
      : (vector<64x64xf32>, !half, !uattn.global<f32>, i64, i32, i32, i32) -> ()
    gpu.return
  }

  // A row is loaded where it is below the limit, by 16 bytes of four groups; else
  // its numbers are 0.
  // CHECK-LABEL: llvm.func @sums_load(
  // CHECK-SAME: %[[G:[^:]*]]: !llvm.ptr<1>, %[[O:[^:]*]]: i64, %[[FIRST:[^:]*]]: i32, %[[LIMIT:[^:]*]]: i32
  // CHECK: %[[LEFT:.*]] = arith.subi %[[LIMIT]], %[[FIRST]]
  // CHECK: %[[IN:.*]] = arith.cmpi slt, %[[ROW:.*]], %[[LEFT]]
  // CHECK: "mov.b32 $0, 0;\0Amov.b32 $1, 0;\0Amov.b32 $2, 0;\0Amov.b32 $3, 0;\0A@$5 ld.global.v4.f32 {$0, $1, $2, $3}, [$4];", "=&f,=&f,=&f,=&f,l,b" %{{.*}}, %[[IN]]
  // CHECK-COUNT-3: @$5 ld.global.v4.f32 {{.*}}, %[[IN]] :
  // CHECK: %[[SECOND:.*]] = arith.addi %[[ROW]], %c8_i32
  // CHECK-NEXT: %[[IN2:.*]] = arith.cmpi slt, %[[SECOND]], %[[LEFT]]
  // CHECK-COUNT-4: @$5 ld.global.v4.f32 {{.*}}, %[[IN2]] :
  // CHECK-NOT: ld.global
  // CHECK: llvm.return
  gpu.func @sums_load(%g: !uattn.global<f32>, %offset: i64, %first: i32, %limit: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %x = "uattn.sums_load"(%g, %offset, %first, %limit)
      : (!uattn.global<f32>, i64, i32, i32) -> vector<64x64xf32>
    gpu.return
  }

  // The first of a row's four threads writes its four numbers at once, 4 numbers
  // a row on.
  // CHECK-LABEL: llvm.func @record_store(
  // CHECK-SAME: %[[A:[^:]*]]: vector<2xf32>, %[[B:[^:]*]]: vector<2xf32>, %[[C:[^:]*]]: vector<2xf32>, %[[D:[^:]*]]: vector<2xf32>, %[[G:[^:]*]]: !llvm.ptr<1>, %[[O:[^:]*]]: i64, %[[FIRST:[^:]*]]: i32, %[[LIMIT:[^:]*]]: i32
  // CHECK: %[[LEADER:.*]] = arith.cmpi eq
  // CHECK-DAG: %[[A0:.*]] = vector.extract %[[A]][0]
  // CHECK-DAG: %[[B0:.*]] = vector.extract %[[B]][0]
  // CHECK-DAG: %[[C0:.*]] = vector.extract %[[C]][0]
  // CHECK-DAG: %[[D0:.*]] = vector.extract %[[D]][0]
  // CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %{{.*}}
  // CHECK-NEXT: %[[NUMBER:.*]] = arith.muli %[[ROW]], %c4_i32
  // CHECK: %[[I:.*]] = arith.addi %[[O]], %{{.*}} : i64
  // CHECK-NEXT: %[[AT:.*]] = llvm.getelementptr %[[G]][%[[I]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
  // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi slt, %[[ROW]], %[[LIMIT]]
  // CHECK-NEXT: %[[WHEN:.*]] = arith.andi %[[LEADER]], %[[INSIDE]]
  // CHECK-NEXT: "@$1 st.global.v4.f32 [$0], {$2, $3, $4, $5};", "l,b,f,f,f,f" %[[AT]], %[[WHEN]], %[[A0]], %[[B0]], %[[C0]], %[[D0]]
  // CHECK-NEXT: arith.addi %[[ROW]], %c8_i32
  // CHECK: "@$1 st.global.v4.f32
  // CHECK-NEXT: llvm.return
  gpu.func @record_store(%a: vector<64xf32>, %b: vector<64xf32>, %c: vector<64xf32>,
                         %d: vector<64xf32>, %g: !uattn.global<f32>, %offset: i64, %first: i32,
                         %limit: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    "uattn.record_store"(%a, %b, %c, %d, %g, %offset, %first, %limit)
      : (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>, !uattn.global<f32>, i64,
         i32, i32) -> ()
    gpu.return
  }
}
