// RUN: uattn-opt --allow-unregistered-dialect --split-input-file --uattn-plan --uattn-emit-ttgir %s \
// RUN:   -o %t.ttgir
// RUN: FileCheck %s < %t.ttgir
// RUN: FileCheck %s --check-prefix=ALONE < %t.ttgir
//
// RUN: uattn-opt --allow-unregistered-dialect --split-input-file --uattn-plan=compiler=triton \
// RUN:   --uattn-emit-ttgir %s | FileCheck %s --check-prefix=TRITON
//
// What else the module held is gone; nothing of uattn's dialect is left but two
// numbers for who launches.
// ALONE-NOT: func.func
// ALONE-NOT: "uattn.
// ALONE-NOT: #uattn.

!q = tensor<1x64x2x64xbf16>

// TRITON: uattn.kv_tile_rows = 128 : i32, uattn.q_tile_rows = 192 : i32
//
// Triton reads the target and the warps of one consumer off the module; tiles
// are those of the plan.
// CHECK: module attributes {
// CHECK-SAME: "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32
// CHECK-SAME: ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32
// CHECK-SAME: uattn.kv_tile_rows = 128 : i32, uattn.q_tile_rows = 192 : i32
// CHECK: "tt.func"()
// CHECK-NEXT: ^bb0(
// CHECK-SAME: !tt.tensordesc<tensor<1x1x64x64xbf16,
// CHECK-SAME: !tt.tensordesc<tensor<1x1x128x64xbf16,
// CHECK-SAME: !tt.tensordesc<tensor<1x1x128x64xbf16,
// CHECK-SAME: !tt.tensordesc<tensor<1x1x64x64xbf16,
// CHECK-SAME: i32, {{%[a-z0-9]+}}: i32, {{%[a-z0-9]+}}: i32, {{%[a-z0-9]+}}: i32):
//
// Q of three consumers, rings of two stages, and their barriers: of Q, of the
// turns, then of the rings, where one arrival fills a stage and three empty it.
// CHECK: "ttg.local_alloc"() : () -> !ttg.memdesc<3x64x64xbf16,
// CHECK-COUNT-2: "ttg.local_alloc"() : () -> !ttg.memdesc<2x128x64xbf16,
// CHECK-COUNT-3: "ttng.init_barrier"({{.*}}) {count = 1 : i32}
// CHECK-COUNT-3: "ttng.init_barrier"({{.*}}) {count = 1 : i32}
// CHECK-COUNT-2: "ttng.init_barrier"({{.*}}) {count = 1 : i32}
// CHECK-COUNT-2: "ttng.init_barrier"({{.*}}) {count = 3 : i32}
// CHECK-COUNT-2: "ttng.init_barrier"({{.*}}) {count = 1 : i32}
// CHECK-COUNT-2: "ttng.init_barrier"({{.*}}) {count = 3 : i32}
// CHECK-NEXT: "ttng.fence_async_shared"()
//
// A consumer waits for Q, its turn and K, multiplies, hands the turn on, and is
// one tile ahead with Q K.
// CHECK: "ttg.warp_specialize"(
// CHECK-COUNT-3: "ttng.wait_barrier"
// CHECK: "ttng.warp_group_dot"
// CHECK: "ttng.arrive_barrier"
// CHECK: "ttng.warp_group_dot_wait"({{.*}}) {pendings = 0 : i32}
// CHECK: "ttng.arrive_barrier"
// CHECK: scf.for
// CHECK-COUNT-2: "ttng.wait_barrier"
// CHECK: "ttng.warp_group_dot"
// CHECK: "ttng.wait_barrier"
// CHECK: "ttng.warp_group_dot"
// CHECK: "ttng.arrive_barrier"
// CHECK: "ttng.warp_group_dot_wait"({{.*}}) {pendings = 1 : i32}
// CHECK: "ttng.arrive_barrier"
// CHECK: math.exp2
// CHECK: "ttng.warp_group_dot_wait"({{.*}}) {pendings = 0 : i32}
// CHECK: "ttng.arrive_barrier"
// CHECK: scf.yield
// CHECK: "ttng.wait_barrier"
// CHECK: "ttng.warp_group_dot"
// CHECK: "ttng.warp_group_dot_wait"({{.*}}) {pendings = 0 : i32}
// CHECK: "ttg.local_store"
// CHECK: "ttng.fence_async_shared"
// CHECK: "ttng.async_tma_copy_local_to_global"
// CHECK: "ttng.async_tma_store_wait"() {pendings = 0 : i32}
// CHECK-NEXT: "ttg.warp_yield"
//
// The other two do the same.
// CHECK: "ttg.warp_specialize.partitions"
// CHECK-COUNT-4: "ttng.warp_group_dot"(
// CHECK: "ttng.async_tma_copy_local_to_global"
// CHECK: "ttg.warp_return"
// CHECK-COUNT-4: "ttng.warp_group_dot"(
// CHECK: "ttng.async_tma_copy_local_to_global"
// CHECK: "ttg.warp_return"
//
// The producer loads Q for each and then walks the rings.
// CHECK-COUNT-3: "ttng.async_tma_copy_global_to_local"
// CHECK: scf.for
// CHECK: "ttng.wait_barrier"
// CHECK: "ttng.barrier_expect"({{.*}}) {size = 16384 : i32}
// CHECK: "ttng.async_tma_copy_global_to_local"
// CHECK: "ttng.wait_barrier"
// CHECK: "ttng.async_tma_copy_global_to_local"
// CHECK: "ttg.warp_return"
// CHECK: partitionNumWarps = array<i32: 4, 4, 4>, requestedRegisters = array<i32: 160, 160, 32>
// CHECK: "tt.return"
// CHECK: arg_attrs = [{tt.nv_tma_desc = 1 : i32}, {tt.nv_tma_desc = 1 : i32}, {tt.nv_tma_desc = 1 : i32}, {tt.nv_tma_desc = 1 : i32}, {}, {}, {}, {}]
// CHECK-SAME: sym_name = "ranker_attention_fwd_bf16_d64_none"
func.func @dense(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// -----

!q = tensor<?x?x?x128xf16>

// Operands that are there are arguments in the op's order, out and lse behind
// them.
// TRITON: uattn.kv_tile_rows = 128 : i32, uattn.q_tile_rows = 128 : i32
// CHECK: module attributes {
// CHECK: ^bb0(
// CHECK-SAME: !tt.tensordesc<tensor<1x1x64x128xf16,
// CHECK-SAME: !tt.ptr<bf16>, {{%[a-z0-9]+}}: !tt.ptr<i32>, {{%[a-z0-9]+}}: !tt.ptr<i32>, {{%[a-z0-9]+}}: !tt.ptr<i32>, {{%[a-z0-9]+}}: !tt.tensordesc
// CHECK-SAME: !tt.ptr<f32>, {{%[a-z0-9]+}}: i32
// CHECK: "ttg.warp_specialize"(
// CHECK: "tt.elementwise_inline_asm"({{.*}}asm_string = "tanh.approx.f32 $0, $1;"
func.func @everything(%q: !q, %temp: tensor<?x?xbf16>, %bounds: tensor<?x4xi32>,
                      %ids: tensor<?x?xi32>) -> (!q, tensor<?x?x?xf32>) {
  %out, %lse = "uattn.ranker_attention"(%q, %q, %q, %temp, %bounds, %ids, %ids) {
    cap = #uattn.cap<"tanh", 20.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    causal, window_len = 64 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (!q, !q, !q, tensor<?x?xbf16>, tensor<?x4xi32>, tensor<?x?xi32>, tensor<?x?xi32>)
    -> (!q, tensor<?x?x?xf32>)
  return %out, %lse : !q, tensor<?x?x?xf32>
}

// -----

!q = tensor<1x64x2x128xbf16>

// A cap that bounds the logits needs no maximum. A plan's tile of 80 keys
// becomes one of 64: dimensions are powers of two in Triton. A plan that was
// made for Triton has 128, and two consumers.
// TRITON: uattn.kv_tile_rows = 128 : i32, uattn.q_tile_rows = 128 : i32
// TRITON: "ttg.local_alloc"() : () -> !ttg.memdesc<2x64x128xbf16,
// TRITON-COUNT-2: "ttg.local_alloc"() : () -> !ttg.memdesc<2x128x128xbf16,
// TRITON: "ttg.warp_specialize"(
// TRITON-NOT: arith.maxnumf
// TRITON: "ttg.warp_yield"
// TRITON: partitionNumWarps = array<i32: 4, 4>, requestedRegisters = array<i32: 240, 24>
// CHECK: module attributes {
// CHECK-SAME: uattn.kv_tile_rows = 64 : i32
// CHECK: "ttg.warp_specialize"(
// CHECK-NOT: arith.maxnumf
// CHECK: "ttg.warp_yield"
func.func @fixed_maximum(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"soft_sign", 20.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// -----

!q = tensor<1x64x2x64xbf16>

// TRITON: uattn.kv_tile_rows = 64 : i32, uattn.q_tile_rows = 128 : i32
//
// Without turns there are the barriers of Q and of the rings alone.
// CHECK: module attributes {
// CHECK-SAME: uattn.kv_tile_rows = 64 : i32, uattn.q_tile_rows = 128 : i32
// CHECK-COUNT-14: "ttng.init_barrier"
// CHECK-NOT: "ttng.init_barrier"
// CHECK: "ttg.warp_specialize"(
// CHECK-COUNT-2: "ttng.wait_barrier"
// CHECK: "ttng.warp_group_dot"
// CHECK: partitionNumWarps = array<i32: 4, 4>, requestedRegisters = array<i32: 240, 24>
func.func @given_plan(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 2 : i64,
      entry_registers = 168 : i64, kv_tile_rows = 64 : i64, ping_pong = false,
      polynomial_period = 0 : i64, producer_registers = 24 : i64,
      softmax = "online", stage_count = 3 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}
