/* The forward kernel at the pipeline level: function, rings, producer.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One CTA computes q_tile_rows rows of one query head against the n tiles of
 * keys that its rows may see, from the last to the first (forward_ranges.c).
 * Tiles that hold keys which some row must not see come first (the end of the
 * keys, the causal diagonal) and last (the window's end); those between carry
 * no mask code. A candidate's own key is seen before all tiles
 * (forward_diagonal.c).
 *
 *   producer (one thread)
 *     load Q
 *     where the CTA has candidates: load their own rows of K and of V
 *     for i in 0 .. n: load K(n-1-i); load V(n-1-i)
 *
 *   consumer c of C (64 rows each)                      forward_consumer.c
 *     m, l, O = nothing, or the candidates' own keys
 *     S = Q K(0)                                        qk_issue, in turn
 *     m, P, l = softmax(mask(S))                        softmax
 *     for i in 1 .. n:                                  three loops: mask the
 *       S = Q K(i)  and  O += P V(i-1)                  end, none, the window
 *       wait for S; m', P', alpha = softmax(S, m)       softmax, while P V runs
 *       wait for O; O = alpha O; l = alpha l + sum P'
 *     O += P V(n-1)
 *     out = O / l; lse = m + log l; rows without a key: 0 and -inf
 *
 *   barrier        count  arrives                   waits      first wait
 *   Q full         1      producer (expect_tx)      consumers  parity 0
 *   Q empty        4 C    nobody: one tile          producer   parity 1
 *   K, V full  x s 1      producer (expect_tx)      consumers  parity 0
 *   K, V empty x s 4 C    lane 0 of consumer warps  producer   parity 1
 *   turn c         256    consumer c - 1 and c      c          c > 0: step 0
 *   store c        128    consumer c                c          out is staged
 *   clear          128 C  all consumers             all        dead rows of V
 */
#include "dialect/dialect.h"
#include "emit/emit.h"
#include "emit/forward_kernel.h"

enum { WARPS_PER_WARPGROUP = 4 };
enum { ROLE_PRODUCER = 0, ROLE_CONSUMER = 1, ROLE_COUNT = 2 };

MlirType uattn_emit_element_type(const uattn_builder_t *b,
                                 uattn_dtype_t dtype) {
  switch (dtype) {
  case UATTN_DTYPE_BF16:
    return mlirBF16TypeGet(b->context);
  case UATTN_DTYPE_F16:
    return mlirF16TypeGet(b->context);
  case UATTN_DTYPE_F32:
    return uattn_type_f32(b);
  case UATTN_DTYPE_I32:
    return uattn_type_i32(b);
  }
  UATTN_CHECK(!"an element type");
  return uattn_type_i32(b);
}

MlirType uattn_emit_param_type(const uattn_builder_t *b,
                               uattn_plan_param_t param,
                               uattn_dtype_t tile_dtype,
                               uattn_dtype_t pointer_dtype) {
  switch (param.kind) {
  case UATTN_PLAN_PARAM_TENSOR_MAP:
    return uattn_tensor_map_type(
        uattn_type_vector2(uattn_emit_element_type(b, tile_dtype),
                           param.box_rows, UATTN_PANEL_COLUMNS));
  case UATTN_PLAN_PARAM_POINTER:
    return uattn_global_type(uattn_emit_element_type(b, pointer_dtype));
  case UATTN_PLAN_PARAM_I32:
    return uattn_type_i32(b);
  case UATTN_PLAN_PARAM_F32:
    return uattn_type_f32(b);
  }
  UATTN_CHECK(!"a parameter kind");
  return uattn_type_i32(b);
}

static uattn_dtype_t pointer_dtype(const uattn_forward_plan_t *plan,
                                   uattn_forward_param_t what) {
  switch (what) {
  case UATTN_FORWARD_PARAM_TEMP:
    return plan->temp_dtype;
  case UATTN_FORWARD_PARAM_BOUNDS:
  case UATTN_FORWARD_PARAM_Q_SEGMENT_IDS:
  case UATTN_FORWARD_PARAM_KV_SEGMENT_IDS:
    return UATTN_DTYPE_I32;
  default:
    return UATTN_DTYPE_F32;
  }
}

void uattn_emit_kernel_function(const uattn_builder_t *b,
                                const uattn_kernel_function_t *function,
                                MlirRegion owned_body) {
  uattn_op_t op = uattn_op("gpu.func");
  uattn_op_attribute(&op, "sym_name",
                     uattn_attribute_string(b, function->name));
  uattn_op_attribute(
      &op, "function_type",
      mlirTypeAttrGet(mlirFunctionTypeGet(b->context, function->param_count,
                                          function->param_types, 0, NULL)));
  uattn_op_attribute(&op, "gpu.kernel", uattn_attribute_unit(b));
  uattn_op_attribute(&op, "workgroup_attributions", uattn_attribute_i64(b, 0));
  uattn_op_attribute(&op, UATTN_KERNEL_ATTR_THREADS,
                     uattn_attribute_i64(b, function->threads));
  uattn_op_attribute(&op, UATTN_KERNEL_ATTR_ENTRY_REGISTERS,
                     uattn_attribute_i64(b, function->entry_registers));
  uattn_op_attribute(&op, UATTN_KERNEL_ATTR_SMEM_BYTES,
                     uattn_attribute_i64(b, function->smem_bytes));
  uattn_op_region(&op, owned_body);
  uattn_op_append(b, &op);
}

static void emit_rings(const uattn_builder_t *b,
                       uattn_forward_kernel_t *kernel) {
  const uattn_forward_plan_t *plan = kernel->plan;
  const uattn_forward_layout_t *layout = &kernel->layout;
  MlirType element = uattn_emit_element_type(b, plan->dtype);
  uattn_ring_description_t ring = {
      .tile = uattn_type_vector2(element, layout->q_tile_rows, plan->head_dim),
      .stage_count = 1,
      .smem_offset = layout->q_offset,
      .barrier_offset = layout->q_barrier_offset,
      .consumer_warps = WARPS_PER_WARPGROUP * plan->consumer_warpgroups,
  };
  kernel->q_ring = uattn_emit_ring_alloc(b, &ring);
  ring.tile = uattn_type_vector2(element, plan->kv_tile_rows, plan->head_dim);
  ring.stage_count = plan->stage_count;
  ring.smem_offset = layout->k_offset;
  ring.barrier_offset = layout->k_barrier_offset;
  kernel->k_ring = uattn_emit_ring_alloc(b, &ring);
  ring.smem_offset = layout->v_offset;
  ring.barrier_offset = layout->v_barrier_offset;
  kernel->v_ring = uattn_emit_ring_alloc(b, &ring);
}

static MlirRegion emit_producer(const uattn_builder_t *b,
                                const uattn_forward_kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  uattn_builder_t role, thread, body;
  MlirRegion role_region = uattn_region_create(b, NULL, 0, &role);
  MlirRegion thread_region = uattn_region_create(&role, NULL, 0, &thread);

  uattn_tile_place_t q_place = {kernel->head, kernel->cta_row, kernel->batch};
  uattn_emit_ring_produce(&thread, params[UATTN_FORWARD_PARAM_Q], q_place,
                          kernel->q_ring, kernel->zero);
  if (kernel->plan->masks.has_ranker)
    uattn_forward_emit_diagonal_loads(&thread, kernel);
  MlirType step_type = uattn_type_i32(b);
  MlirRegion loop = uattn_region_create(&thread, &step_type, 1, &body);
  MlirValue step = mlirBlockGetArgument(body.block, 0);
  MlirValue ring_step =
      uattn_binary(&body, "arith.addi", kernel->ring_offset, step);
  uattn_tile_place_t place = {kernel->kv_head,
                              uattn_forward_emit_first_key(&body, kernel, step),
                              kernel->batch};
  uattn_emit_ring_produce(&body, params[UATTN_FORWARD_PARAM_K], place,
                          kernel->k_ring, ring_step);
  uattn_emit_ring_produce(&body, params[UATTN_FORWARD_PARAM_V], place,
                          kernel->v_ring, ring_step);
  uattn_yield(&body, NULL, 0);
  uattn_for_append(&thread, kernel->zero, kernel->keys.steps, kernel->one, NULL,
                   0, loop);
  uattn_yield(&thread, NULL, 0);

  uattn_if_append(&role, uattn_emit_elect(&role), thread_region);
  uattn_yield(&role, NULL, 0);
  return role_region;
}

void uattn_emit_forward_kernel(const uattn_builder_t *module_body,
                               const uattn_forward_plan_t *plan) {
  uattn_forward_kernel_t kernel = {.plan = plan,
                                   .layout = uattn_forward_layout(plan)};
  uattn_plan_param_t params[UATTN_FORWARD_PARAM_COUNT];
  MlirType types[UATTN_FORWARD_PARAM_COUNT];
  int param_count = uattn_forward_params(plan, params);
  for (int i = 0; i < param_count; ++i)
    types[i] = uattn_emit_param_type(module_body, params[i], plan->dtype,
                                     pointer_dtype(plan, params[i].what));

  uattn_builder_t body;
  MlirRegion region =
      uattn_region_create(module_body, types, param_count, &body);
  for (int i = 0; i < param_count; ++i)
    kernel.params[params[i].what] = mlirBlockGetArgument(body.block, i);
  kernel.zero = uattn_constant_i32(&body, 0);
  kernel.one = uattn_constant_i32(&body, 1);
  uattn_forward_emit_place(&body, &kernel);
  emit_rings(&body, &kernel);

  int64_t registers[ROLE_COUNT] = {plan->producer_registers,
                                   plan->consumer_registers};
  int64_t warpgroups[ROLE_COUNT] = {1, plan->consumer_warpgroups};
  MlirValue role;
  uattn_emit_role(&body, registers, warpgroups, ROLE_COUNT, &role,
                  &kernel.index_in_role);
  MlirRegion roles[ROLE_COUNT];
  roles[ROLE_PRODUCER] = emit_producer(&body, &kernel);
  roles[ROLE_CONSUMER] = uattn_forward_emit_consumer(&body, &kernel);
  uattn_emit_role_switch(&body, role, roles, ROLE_COUNT);
  uattn_op_t end = uattn_op("gpu.return");
  uattn_op_append(&body, &end);
  uattn_string_t name = {0};
  uattn_forward_kernel_name(plan, &name);
  uattn_emit_kernel_function(
      module_body,
      &(uattn_kernel_function_t){.name = uattn_string_get(&name),
                                 .param_types = types,
                                 .param_count = param_count,
                                 .threads = kernel.layout.threads,
                                 .entry_registers = plan->entry_registers,
                                 .smem_bytes = kernel.layout.total_bytes},
      region);
  uattn_string_release(&name);
}
