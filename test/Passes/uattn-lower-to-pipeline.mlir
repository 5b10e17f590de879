// RUN: uattn-opt --uattn-plan --uattn-lower-to-pipeline %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: uattn-opt %t.mlir | cmp - %t.mlir
// RUN: uattn-opt --uattn-lower-to-pipeline %t.mlir | cmp - %t.mlir

!q = tensor<1x64x2x64xbf16>
!dq = tensor<?x?x?x64xbf16>

// The op stays as the description of the launch and names its kernel; what
// lowering already made is not made again (second and third RUN line).
// CHECK: module attributes {gpu.container_module}
// CHECK-LABEL: func.func @op_names_its_kernel(
// CHECK: "uattn.ranker_attention"(
// CHECK-SAME: kernels = [@[[MODULE:[a-z0-9_]+]]::@[[KERNEL:ranker_attention_fwd_bf16_d64_none]]]
func.func @op_names_its_kernel(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// Sizes, the scale's value and q_offset are arguments of the launch.
// CHECK-LABEL: func.func @same_plan_shares_a_kernel(
// CHECK: kernels = [@[[MODULE]]::@[[KERNEL]]]
func.func @same_plan_shares_a_kernel(%q: !dq) -> !dq {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 1.0 : f32,
    q_offset = 5 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!dq, !dq, !dq) -> !dq
  return %out : !dq
}

// A negative scale needs the kernel that negates the products.
// CHECK-LABEL: func.func @negative_scale_has_its_own_kernel(
// CHECK: kernels = [@[[NEGATED:[a-z0-9_]+_negated]]::@[[KERNEL]]]
func.func @negative_scale_has_its_own_kernel(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = -0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// Two plans that differ in their registers alone once shared the first one's
// kernel.
// CHECK-LABEL: func.func @registers_are_part_of_the_plan(
// CHECK: kernels = [@[[SMALLER:[a-z0-9_]+]]::@[[KERNEL]]]
func.func @registers_are_part_of_the_plan(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 152 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64,
      producer_registers = 32 : i64, softmax = "online", stage_count = 2 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// A cap of another size may need another softmax: a kernel without a maximum,
// one whose exponentials are all instructions, and one with a maximum.
// CHECK-LABEL: func.func @softmax_is_part_of_the_plan(
// CHECK: kernels = [@[[FIXED:[a-z0-9_]+_fixed_poly[1-9]]]::@[[TANH:ranker_attention_fwd_bf16_d64_tanh]]]
// CHECK: kernels = [@[[PLAINEXP:[a-z0-9_]+_fixed]]::@[[TANH]]]
// CHECK: kernels = [@[[ONLINE:[a-z0-9_]+_r[0-9_]+]]::@[[TANH]]]
func.func @softmax_is_part_of_the_plan(%q: !q) -> (!q, !q, !q) {
  %0 = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  %1 = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 160 : i64, consumer_warpgroups = 3 : i64,
      entry_registers = 128 : i64, kv_tile_rows = 128 : i64, ping_pong = true,
      polynomial_period = 0 : i64, producer_registers = 32 : i64,
      softmax = "fixed_maximum", stage_count = 2 : i64, target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  %2 = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 300.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %0, %1, %2 : !q, !q, !q
}

// One gpu.module a plan, each with one kernel. Its function says what a launch
// needs: threads, registers at entry, shared memory.
// CHECK: gpu.module @[[MODULE]] {
// CHECK-NEXT: gpu.func @[[KERNEL]](
// CHECK-SAME: kernel attributes {
// CHECK-SAME: uattn.entry_registers = 128 : i64
// CHECK-SAME: uattn.smem_bytes = 90192 : i64
// CHECK-SAME: uattn.threads = 512 : i64
// CHECK: "uattn.role"() {registers = array<i64: 32, 160>, warpgroups = array<i64: 1, 3>}
// CHECK: "uattn.wgmma"({{.*}}) {transpose_b}
// CHECK: gpu.return
// CHECK: gpu.module @[[NEGATED]] {
// CHECK-NEXT: gpu.func @[[KERNEL]](
// CHECK: "uattn.wgmma"({{.*}}) {negate_a, transpose_b}
// CHECK: gpu.module @[[SMALLER]] {
// CHECK-NEXT: gpu.func @[[KERNEL]](
// CHECK: "uattn.role"() {registers = array<i64: 32, 152>, warpgroups = array<i64: 1, 3>}
// CHECK: gpu.module @[[FIXED]] {
// CHECK-NEXT: gpu.func @[[TANH]](
// CHECK-NOT: uattn.warp_any
// CHECK: "uattn.exp2_apply"({{.*}}) {polynomial_period = {{[1-9]}} : i64}
// CHECK: gpu.module @[[PLAINEXP]] {
// CHECK-NOT: {{uattn.warp_any|uattn.exp2_apply}}
// CHECK: gpu.module @[[ONLINE]] {
// CHECK-NOT: uattn.exp2_apply
// CHECK: uattn.warp_any
// CHECK-NOT: gpu.module
