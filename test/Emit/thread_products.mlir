// RUN: uattn-opt --uattn-distribute-tiles --canonicalize --cse %s | FileCheck %s
// Products at the thread level: descriptors, instructions, waits. Layouts and
// descriptors: PTX ISA, "Asynchronous Warpgroup Level Matrix Operation".

!qring = !uattn.ring<vector<128x128xbf16>, 1 : i64>
!kring = !uattn.ring<vector<80x128xbf16>, 1 : i64>
!q2 = !uattn.smem<vector<128x128xbf16>>
!q = !uattn.smem<vector<64x128xbf16>>
!kv = !uattn.smem<vector<80x128xbf16>>

gpu.module @kernels {
  // Q K^T, both K-major in shared memory. Descriptor: address >> 4, leading
  // offset 16 bytes (ignored), stride 1024 bytes, 128-byte swizzle:
  // 1 << 62 | 64 << 32 | 1 << 16. 128 elements are 8 instructions; a step of 16
  // elements is 32 bytes, 2 units of 16; the second panel of 64 columns lies
  // 128 rows of 128 bytes behind for Q (1024 units), 80 rows for K (640), for
  // the tile that a consumer's 64 rows were cut from.
  // CHECK-LABEL: llvm.func @scores(
  // CHECK-DAG: %[[MASK:c.*]] = arith.constant 262143 : i32
  // CHECK-DAG: %[[KMAJOR:c.*]] = arith.constant 4611686293305360384 : i64
  // CHECK-COUNT-2: arith.andi %{{.*}}, %[[MASK]]
  // CHECK: %[[R:.*]] = llvm.inline_asm
  // CHECK-SAME: wgmma.fence.sync.aligned;
  // CHECK-SAME: add.s64 da, $40, 0;\0Aadd.s64 db, $41, 0;\0Awgmma.mma_async.sync.aligned.m64n80k16.f32.bf16.bf16
  // CHECK-SAME: da, db, zero, 1, 1, 0, 0;
  // CHECK-SAME: add.s64 da, $40, 2;\0Aadd.s64 db, $41, 2;\0Awgmma.mma_async.sync.aligned.m64n80k16
  // CHECK-SAME: da, db, one, 1, 1, 0, 0;
  // CHECK-SAME: add.s64 da, $40, 6;
  // CHECK-SAME: add.s64 da, $40, 1024;\0Aadd.s64 db, $41, 640;
  // CHECK-SAME: add.s64 da, $40, 1030;\0Aadd.s64 db, $41, 646;\0Awgmma.mma_async
  // CHECK-SAME: da, db, one, 1, 1, 0, 0;\0Awgmma.commit_group.sync.aligned;
  // Accumulators of a product that starts at zero are outputs alone.
  // CHECK-SAME: "=f,=f,{{[=f,]*}}=f,l,l"
  // CHECK: llvm.extractvalue %[[R]][39]
  // CHECK-NOT: llvm.extractvalue %[[R]][40]
  // CHECK: llvm.return
  gpu.func @scores(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %qr = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65536 : i64,
                                consumer_warps = 4 : i64} : () -> !qring
    %kr = "uattn.ring_alloc"() {smem_offset = 32768 : i64, barrier_offset = 65552 : i64,
                                consumer_warps = 4 : i64} : () -> !kring
    %qt = "uattn.ring_acquire"(%qr, %i) : (!qring, i32) -> !q2
    %q = "uattn.smem_rows"(%qt, %i) : (!q2, i32) -> !q
    %k = "uattn.ring_acquire"(%kr, %i) : (!kring, i32) -> !kv
    %s = "uattn.wgmma"(%q, %k) {transpose_b} : (!q, !kv) -> vector<64x80xf32>
    %d = "uattn.wgmma_wait"(%s) {pending = 0 : i64} : (vector<64x80xf32>) -> vector<64x80xf32>
    gpu.return
  }

  // negate_a is the instruction's own sign of A.
  // CHECK-LABEL: llvm.func @negated_scores(
  // CHECK: da, db, zero, -1, 1, 0, 0;
  // CHECK-SAME: da, db, one, -1, 1, 0, 0;
  // CHECK-NOT: one, 1, 1,
  // CHECK: llvm.return
  gpu.func @negated_scores(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %kr = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65552 : i64,
                                consumer_warps = 4 : i64}
      : () -> !uattn.ring<vector<64x64xbf16>, 1 : i64>
    %k = "uattn.ring_acquire"(%kr, %i)
      : (!uattn.ring<vector<64x64xbf16>, 1 : i64>, i32) -> !uattn.smem<vector<64x64xbf16>>
    %s = "uattn.wgmma"(%k, %k) {transpose_b, negate_a}
      : (!uattn.smem<vector<64x64xbf16>>, !uattn.smem<vector<64x64xbf16>>) -> vector<64x64xf32>
    gpu.return
  }

  // O + P V: P from registers (4 a step), V MN-major: leading offset one panel,
  // 80 rows of 128 bytes (640 units), so 1 << 62 | 64 << 32 | 640 << 16; a step
  // of 16 keys is 16 rows of 128 bytes, 128 units. The accumulators are tied:
  // the same registers go in and come out.
  // CHECK-LABEL: llvm.func @output(
  // CHECK-SAME: %[[P:[^:]*]]: vector<20xi32>, %[[O:[^:]*]]: vector<64xf32>
  // CHECK-DAG: %[[MNMAJOR:c.*]] = arith.constant 4611686293347237888 : i64
  // CHECK-COUNT-64: vector.extract %[[O]]
  // CHECK-COUNT-20: vector.extract %[[P]]
  // CHECK: %[[R:.*]] = llvm.inline_asm
  // CHECK-SAME: add.s64 db, $148, 0;\0Awgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
  // CHECK-SAME: {$128, $129, $130, $131}, db, one, 1, 1, 1;
  // CHECK-SAME: add.s64 db, $148, 128;
  // CHECK-SAME: {$132, $133, $134, $135}, db, one, 1, 1, 1;
  // CHECK-SAME: add.s64 db, $148, 512;
  // CHECK-SAME: {$144, $145, $146, $147}, db, one, 1, 1, 1;\0Awgmma.commit_group
  // CHECK-SAME: =f,0,1,2,{{[0-9,]*}},62,63,r,{{[r,]*}}r,l"
  // CHECK-NOT: zero, 1
  // CHECK: llvm.return
  gpu.func @output(%p: vector<64x80xbf16>, %o: vector<64x128xf32>, %i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %vr = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65552 : i64,
                                consumer_warps = 4 : i64} : () -> !kring
    %v = "uattn.ring_acquire"(%vr, %i) : (!kring, i32) -> !kv
    %r = "uattn.wgmma"(%p, %v, %o) : (vector<64x80xbf16>, !kv, vector<64x128xf32>)
      -> vector<64x128xf32>
    gpu.return
  }

  // f16 differs in the instruction's types alone.
  // CHECK-LABEL: llvm.func @f16(
  // CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
  gpu.func @f16(%i: i32)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %kr = "uattn.ring_alloc"() {smem_offset = 0 : i64, barrier_offset = 65552 : i64,
                                consumer_warps = 4 : i64}
      : () -> !uattn.ring<vector<64x64xf16>, 1 : i64>
    %k = "uattn.ring_acquire"(%kr, %i)
      : (!uattn.ring<vector<64x64xf16>, 1 : i64>, i32) -> !uattn.smem<vector<64x64xf16>>
    %s = "uattn.wgmma"(%k, %k) {transpose_b}
      : (!uattn.smem<vector<64x64xf16>>, !uattn.smem<vector<64x64xf16>>) -> vector<64x64xf32>
    gpu.return
  }

  // A wait ties what it returns, so that nothing that uses it can move above.
  // CHECK-LABEL: llvm.func @wait(
  // CHECK-SAME: %[[S:[^:]*]]: vector<4xf32>, %[[T:[^:]*]]: vector<8xf32>
  // CHECK-COUNT-4: vector.extract %[[S]]
  // CHECK-COUNT-8: vector.extract %[[T]]
  // CHECK: %[[R:.*]] = llvm.inline_asm has_side_effects {{.*}} "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11"
  // CHECK: llvm.extractvalue %[[R]][4]
  // CHECK: arith.addf
  gpu.func @wait(%s: vector<64x8xf32>, %t: vector<64x16xf32>)
      kernel attributes {uattn.threads = 128 : i64, uattn.smem_bytes = 0 : i64,
                         uattn.entry_registers = 128 : i64} {
    %a, %b = "uattn.wgmma_wait"(%s, %t) {pending = 1 : i64}
      : (vector<64x8xf32>, vector<64x16xf32>) -> (vector<64x8xf32>, vector<64x16xf32>)
    %u = arith.addf %b, %b : vector<64x16xf32>
    %v = "uattn.wgmma_wait"(%u) {pending = 0 : i64} : (vector<64x16xf32>) -> vector<64x16xf32>
    gpu.return
  }
}
