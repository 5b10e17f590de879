/* The forward kernel at the pipeline level.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One CTA computes q_tile_rows rows of one query head against all keys. Key
 * tiles are taken from the last to the first: only the last one can reach past
 * kv_tokens, so only the prologue masks.
 *
 *   producer (one thread)
 *     load Q
 *     for i in 0 .. n: load K(n-1-i); load V(n-1-i)
 *
 *   consumer c of C (64 rows each)
 *     S = Q K(0)                                        qk_issue, in turn
 *     m, P, l = softmax(mask(S))                        softmax
 *     for i in 1 .. n:
 *       S = Q K(i)  and  O += P V(i-1)                  qk_issue, pv_issue,
 *                                                       in turn
 *       wait for S; m', P', alpha = softmax(S, m)       softmax, while P V runs
 *       wait for O; O = alpha O; l = alpha l + sum P'
 *     O += P V(n-1)
 *     out = O / l; lse = m + log l
 *
 *   barrier        count  arrives                   waits      first wait
 *   Q full         1      producer (expect_tx)      consumers  parity 0
 *   Q empty        4 C    nobody: one tile          producer   parity 1
 *   K, V full  x s 1      producer (expect_tx)      consumers  parity 0
 *   K, V empty x s 4 C    lane 0 of consumer warps  producer   parity 1
 *   turn c         256    consumer c - 1 and c      c          c > 0: step 0
 *   store c        128    consumer c                c          out is staged
 */
#include "dialect/dialect.h"
#include "emit/emit.h"
#include "emit/pipeline_builder.h"
#include "emit/softmax.h"

enum { WARPS_PER_WARPGROUP = 4 };
enum { ROLE_PRODUCER = 0, ROLE_CONSUMER = 1, ROLE_COUNT = 2 };

/* What both roles use; values of the function's entry block. */
typedef struct {
  const uattn_forward_plan_t *plan;
  uattn_forward_layout_t layout;
  MlirValue params[UATTN_FORWARD_PARAM_COUNT]; /* null where absent */
  MlirValue batch;
  MlirValue head;
  MlirValue kv_head;
  MlirValue cta_row;  /* first query row of the CTA */
  MlirValue kv_tiles; /* n */
  MlirValue index_in_role;
  MlirValue q_ring;
  MlirValue k_ring;
  MlirValue v_ring;
  MlirValue zero;
  MlirValue one;
} kernel_t;

static MlirType element_type(const uattn_builder_t *b, uattn_dtype_t dtype) {
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

static MlirType param_type(const uattn_builder_t *b,
                           const uattn_forward_plan_t *plan,
                           uattn_plan_param_t param) {
  switch (param.kind) {
  case UATTN_PLAN_PARAM_TENSOR_MAP:
    return uattn_tensor_map_type(uattn_type_vector2(
        element_type(b, plan->dtype), param.box_rows, UATTN_PANEL_COLUMNS));
  case UATTN_PLAN_PARAM_POINTER:
    return uattn_global_type(element_type(
        b, param.what == UATTN_FORWARD_PARAM_TEMP ? plan->temp_dtype
                                                  : UATTN_DTYPE_F32));
  case UATTN_PLAN_PARAM_I32:
    return uattn_type_i32(b);
  case UATTN_PLAN_PARAM_F32:
    return uattn_type_f32(b);
  }
  UATTN_CHECK(!"a parameter kind");
  return uattn_type_i32(b);
}

/* The gpu.func with its attributes, around `owned_body`. */
static void append_function(const uattn_builder_t *module_body,
                            const uattn_forward_plan_t *plan,
                            const MlirType *types, int type_count,
                            MlirRegion owned_body) {
  const uattn_builder_t *b = module_body;
  uattn_forward_layout_t layout = uattn_forward_layout(plan);
  uattn_string_t name = {0};
  uattn_forward_kernel_name(plan, &name);
  uattn_op_t op = uattn_op("gpu.func");
  uattn_op_attribute(&op, "sym_name",
                     uattn_attribute_string(b, uattn_string_get(&name)));
  uattn_op_attribute(&op, "function_type",
                     mlirTypeAttrGet(mlirFunctionTypeGet(b->context, type_count,
                                                         types, 0, NULL)));
  uattn_op_attribute(&op, "gpu.kernel", uattn_attribute_unit(b));
  uattn_op_attribute(&op, "workgroup_attributions", uattn_attribute_i64(b, 0));
  uattn_op_attribute(&op, UATTN_KERNEL_ATTR_THREADS,
                     uattn_attribute_i64(b, layout.threads));
  uattn_op_attribute(&op, UATTN_KERNEL_ATTR_ENTRY_REGISTERS,
                     uattn_attribute_i64(b, plan->entry_registers));
  uattn_op_attribute(&op, UATTN_KERNEL_ATTR_SMEM_BYTES,
                     uattn_attribute_i64(b, layout.total_bytes));
  uattn_op_region(&op, owned_body);
  uattn_op_append(b, &op);
  uattn_string_release(&name);
}

/* CTA index -> query tile (fastest), head, batch; n = ceil(kv / tile). */
static void emit_place(const uattn_builder_t *b, kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  MlirValue q_heads = params[UATTN_FORWARD_PARAM_Q_HEADS];
  MlirValue q_tiles = params[UATTN_FORWARD_PARAM_Q_TILES];
  MlirValue cta = uattn_emit_cta_index(b);
  MlirValue q_tile = uattn_binary(b, "arith.remui", cta, q_tiles);
  MlirValue rest = uattn_binary(b, "arith.divui", cta, q_tiles);
  MlirValue group_heads = uattn_binary(b, "arith.divui", q_heads,
                                       params[UATTN_FORWARD_PARAM_KV_HEADS]);
  kernel->head = uattn_binary(b, "arith.remui", rest, q_heads);
  kernel->batch = uattn_binary(b, "arith.divui", rest, q_heads);
  kernel->kv_head = uattn_binary(b, "arith.divui", kernel->head, group_heads);
  kernel->cta_row =
      uattn_binary(b, "arith.muli", q_tile,
                   uattn_constant_i32(b, kernel->layout.q_tile_rows));
  MlirValue last_token = uattn_binary(
      b, "arith.subi", params[UATTN_FORWARD_PARAM_KV_TOKENS], kernel->one);
  kernel->kv_tiles = uattn_binary(
      b, "arith.addi",
      uattn_binary(b, "arith.divui", last_token,
                   uattn_constant_i32(b, kernel->plan->kv_tile_rows)),
      kernel->one);
}

static void emit_rings(const uattn_builder_t *b, kernel_t *kernel) {
  const uattn_forward_plan_t *plan = kernel->plan;
  const uattn_forward_layout_t *layout = &kernel->layout;
  MlirType element = element_type(b, plan->dtype);
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

/* First key row of the tile that step `step` takes: the last tile first. */
static MlirValue first_key(const uattn_builder_t *b, const kernel_t *kernel,
                           MlirValue step) {
  MlirValue last = uattn_binary(b, "arith.subi", kernel->kv_tiles, kernel->one);
  return uattn_binary(b, "arith.muli",
                      uattn_binary(b, "arith.subi", last, step),
                      uattn_constant_i32(b, kernel->plan->kv_tile_rows));
}

static MlirRegion emit_producer(const uattn_builder_t *b,
                                const kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  uattn_builder_t role, thread, body;
  MlirRegion role_region = uattn_region_create(b, NULL, 0, &role);
  MlirRegion thread_region = uattn_region_create(&role, NULL, 0, &thread);

  uattn_tile_place_t q_place = {kernel->head, kernel->cta_row, kernel->batch};
  uattn_emit_ring_produce(&thread, params[UATTN_FORWARD_PARAM_Q], q_place,
                          kernel->q_ring, kernel->zero);
  MlirType step_type = uattn_type_i32(b);
  MlirRegion loop = uattn_region_create(&thread, &step_type, 1, &body);
  MlirValue step = mlirBlockGetArgument(body.block, 0);
  uattn_tile_place_t place = {kernel->kv_head, first_key(&body, kernel, step),
                              kernel->batch};
  uattn_emit_ring_produce(&body, params[UATTN_FORWARD_PARAM_K], place,
                          kernel->k_ring, step);
  uattn_emit_ring_produce(&body, params[UATTN_FORWARD_PARAM_V], place,
                          kernel->v_ring, step);
  uattn_yield(&body, NULL, 0);
  uattn_for_append(&thread, kernel->zero, kernel->kv_tiles, kernel->one, NULL,
                   0, loop);
  uattn_yield(&thread, NULL, 0);

  uattn_if_append(&role, uattn_emit_elect(&role), thread_region);
  uattn_yield(&role, NULL, 0);
  return role_region;
}

/* What one consumer warpgroup keeps in reach. */
typedef struct {
  const kernel_t *kernel;
  uattn_softmax_t softmax;
  MlirType out_type;           /* vector<64 x head_dim x f32> */
  MlirType probabilities_type; /* vector<64 x kv x 16 bits> */
  MlirValue q_tile;            /* its 64 rows in shared memory */
  MlirValue first_row;
  MlirValue turn;        /* its named barrier */
  MlirValue next_turn;   /* the next consumer's */
  MlirValue is_not_last; /* of the consumers */
} consumer_t;

/* Two warpgroups meet: the one that waits and the one that hands over. */
enum { TURN_THREADS = 2 * UATTN_WARPGROUP_THREADS };

static void wait_turn(const uattn_builder_t *b, const consumer_t *consumer,
                      MlirValue when) {
  if (consumer->kernel->plan->is_ping_pong)
    uattn_emit_named_barrier_sync(b, consumer->turn, TURN_THREADS, when);
}

/* Hands the tensor cores on. The last consumer hands nothing on in its last
 * step, since nobody would take it. */
static void pass_turn(const uattn_builder_t *b, const consumer_t *consumer,
                      MlirValue step) {
  const kernel_t *kernel = consumer->kernel;
  if (!kernel->plan->is_ping_pong)
    return;
  MlirValue next = uattn_binary(b, "arith.addi", step, kernel->one);
  MlirValue has_next_step =
      uattn_compare_i(b, UATTN_CMPI_NE, next, kernel->kv_tiles);
  MlirValue when =
      uattn_binary(b, "arith.ori", consumer->is_not_last, has_next_step);
  uattn_emit_named_barrier_arrive(b, consumer->next_turn, TURN_THREADS, when);
}

static void emit_turns(const uattn_builder_t *b, consumer_t *consumer) {
  const kernel_t *kernel = consumer->kernel;
  MlirValue index = kernel->index_in_role;
  MlirValue first_turn = uattn_constant_i32(b, kernel->layout.turn_barrier_id);
  MlirValue last_index =
      uattn_constant_i32(b, kernel->plan->consumer_warpgroups - 1);
  consumer->is_not_last = uattn_compare_i(b, UATTN_CMPI_NE, index, last_index);
  consumer->turn = uattn_binary(b, "arith.addi", first_turn, index);
  consumer->next_turn = uattn_select(
      b, consumer->is_not_last,
      uattn_binary(b, "arith.addi", consumer->turn, kernel->one), first_turn);
}

static uattn_softmax_t emit_softmax_inputs(const uattn_builder_t *b,
                                           const kernel_t *kernel,
                                           MlirValue first_row) {
  const MlirValue *params = kernel->params;
  uattn_softmax_inputs_t inputs = {
      .pre_scale = params[UATTN_FORWARD_PARAM_PRE_SCALE],
      .pre_bias = params[UATTN_FORWARD_PARAM_PRE_BIAS],
      .post_scale = params[UATTN_FORWARD_PARAM_POST_SCALE],
      .lse_shift = params[UATTN_FORWARD_PARAM_LSE_SHIFT],
  };
  if (kernel->plan->has_temp) {
    MlirType i64 = uattn_type_i64(b);
    MlirValue q_tokens = params[UATTN_FORWARD_PARAM_Q_TOKENS];
    MlirValue offset = uattn_binary(
        b, "arith.muli", uattn_cast(b, "arith.extui", kernel->batch, i64),
        uattn_cast(b, "arith.extui", q_tokens, i64));
    inputs.temp = uattn_emit_row_load(
        b, params[UATTN_FORWARD_PARAM_TEMP], offset, first_row, q_tokens,
        uattn_type_vector1(uattn_type_f32(b), UATTN_WARPGROUP_ROWS));
  }
  return uattn_softmax_create(b, kernel->plan, &inputs);
}

static consumer_t emit_consumer_start(const uattn_builder_t *b,
                                      const kernel_t *kernel) {
  const uattn_forward_plan_t *plan = kernel->plan;
  consumer_t consumer = {.kernel = kernel};
  MlirValue row_in_cta =
      uattn_binary(b, "arith.muli", kernel->index_in_role,
                   uattn_constant_i32(b, UATTN_WARPGROUP_ROWS));
  consumer.first_row =
      uattn_binary(b, "arith.addi", kernel->cta_row, row_in_cta);
  consumer.out_type = uattn_type_vector2(uattn_type_f32(b),
                                         UATTN_WARPGROUP_ROWS, plan->head_dim);
  consumer.probabilities_type = uattn_type_vector2(
      element_type(b, plan->dtype), UATTN_WARPGROUP_ROWS, plan->kv_tile_rows);
  consumer.softmax = emit_softmax_inputs(b, kernel, consumer.first_row);
  emit_turns(b, &consumer);
  consumer.q_tile = uattn_emit_smem_rows(
      b, uattn_emit_ring_acquire(b, kernel->q_ring, kernel->zero),
      kernel->index_in_role, UATTN_WARPGROUP_ROWS);
  return consumer;
}

/* S = Q K^T of `step`, started. */
static MlirValue emit_qk(const uattn_builder_t *b, const consumer_t *consumer,
                         MlirValue step) {
  const kernel_t *kernel = consumer->kernel;
  uattn_wgmma_operands_t operands = {
      .a = consumer->q_tile,
      .b = uattn_emit_ring_acquire(b, kernel->k_ring, step),
      .result = consumer->softmax.tile_type,
      .transpose_b = true,
      .negate_a = kernel->plan->scale_sign == UATTN_SCALE_SIGN_NEGATIVE,
  };
  return uattn_emit_wgmma(b, &operands);
}

/* O + P V of `step`, started. */
static MlirValue emit_pv(const uattn_builder_t *b, const consumer_t *consumer,
                         MlirValue step, MlirValue probabilities,
                         MlirValue out) {
  uattn_wgmma_operands_t operands = {
      .a = probabilities,
      .b = uattn_emit_ring_acquire(b, consumer->kernel->v_ring, step),
      .accumulator = out,
      .result = consumer->out_type,
  };
  return uattn_emit_wgmma(b, &operands);
}

/* Values that a step hands to the next. */
enum { CARRIED_MAX, CARRIED_SUMS, CARRIED_OUT, CARRIED_P, CARRIED_COUNT };

static MlirValue narrow(const uattn_builder_t *b, const consumer_t *consumer,
                        MlirValue probabilities) {
  return uattn_cast(b, "arith.truncf", probabilities,
                    consumer->probabilities_type);
}

static void emit_first_step(const uattn_builder_t *b,
                            const consumer_t *consumer,
                            MlirValue out_carried[CARRIED_COUNT]) {
  const kernel_t *kernel = consumer->kernel;
  MlirValue is_not_first =
      uattn_compare_i(b, UATTN_CMPI_SLT, kernel->zero, kernel->index_in_role);
  wait_turn(b, consumer, is_not_first);
  MlirValue products = emit_qk(b, consumer, kernel->zero);
  pass_turn(b, consumer, kernel->zero);
  uattn_emit_wgmma_wait(b, 0, &products, NULL);
  uattn_emit_ring_release(b, kernel->k_ring, kernel->zero);
  MlirValue masked = uattn_emit_mask_apply(
      b, uattn_softmax_cap(b, &consumer->softmax, products),
      first_key(b, kernel, kernel->zero),
      kernel->params[UATTN_FORWARD_PARAM_KV_TOKENS]);
  uattn_softmax_state_t state;
  MlirValue p = uattn_softmax_first(b, &consumer->softmax, masked, &state);
  out_carried[CARRIED_MAX] = state.max;
  out_carried[CARRIED_SUMS] = state.sums;
  out_carried[CARRIED_OUT] = uattn_constant_splat(b, consumer->out_type, 0.0);
  out_carried[CARRIED_P] = narrow(b, consumer, p);
}

/* Steps 1 .. n: the products of this step and of the last one's probabilities
 * are in flight together, and softmax runs beside the second. */
static void emit_step(const uattn_builder_t *b, const consumer_t *consumer,
                      MlirValue step, MlirValue io_carried[CARRIED_COUNT]) {
  const kernel_t *kernel = consumer->kernel;
  MlirValue last_step = uattn_binary(b, "arith.subi", step, kernel->one);
  MlirValue none = {NULL};
  wait_turn(b, consumer, none);
  MlirValue products = emit_qk(b, consumer, step);
  MlirValue out = emit_pv(b, consumer, last_step, io_carried[CARRIED_P],
                          io_carried[CARRIED_OUT]);
  pass_turn(b, consumer, step);
  uattn_emit_wgmma_wait(b, 1, &products, NULL);
  uattn_emit_ring_release(b, kernel->k_ring, step);

  uattn_softmax_state_t state = {io_carried[CARRIED_MAX],
                                 io_carried[CARRIED_SUMS]};
  MlirValue rescale;
  MlirValue p = uattn_softmax_next(
      b, &consumer->softmax, uattn_softmax_cap(b, &consumer->softmax, products),
      &state, &rescale);

  uattn_emit_wgmma_wait(b, 0, &out, &p);
  uattn_emit_ring_release(b, kernel->v_ring, last_step);
  io_carried[CARRIED_MAX] = state.max;
  io_carried[CARRIED_SUMS] = state.sums;
  io_carried[CARRIED_OUT] =
      uattn_binary(b, "arith.mulf", out,
                   uattn_softmax_spread(b, rescale, consumer->out_type));
  io_carried[CARRIED_P] = narrow(b, consumer, p);
}

static void emit_steps(const uattn_builder_t *b, const consumer_t *consumer,
                       MlirValue io_carried[CARRIED_COUNT]) {
  const kernel_t *kernel = consumer->kernel;
  MlirType types[1 + CARRIED_COUNT] = {uattn_type_i32(b)};
  MlirValue inner[CARRIED_COUNT];
  uattn_builder_t body;
  for (int i = 0; i < CARRIED_COUNT; ++i)
    types[1 + i] = mlirValueGetType(io_carried[i]);
  MlirRegion region = uattn_region_create(b, types, 1 + CARRIED_COUNT, &body);
  for (int i = 0; i < CARRIED_COUNT; ++i)
    inner[i] = mlirBlockGetArgument(body.block, 1 + i);
  emit_step(&body, consumer, mlirBlockGetArgument(body.block, 0), inner);
  uattn_yield(&body, inner, CARRIED_COUNT);
  MlirOperation loop =
      uattn_for_append(b, kernel->one, kernel->kv_tiles, kernel->one,
                       io_carried, CARRIED_COUNT, region);
  for (int i = 0; i < CARRIED_COUNT; ++i)
    io_carried[i] = mlirOperationGetResult(loop, i);
}

/* lse [batch, head, q_tokens] and the out tile. */
static void emit_results(const uattn_builder_t *b, const consumer_t *consumer,
                         const MlirValue carried[CARRIED_COUNT],
                         MlirValue out) {
  const kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  MlirValue q_tokens = params[UATTN_FORWARD_PARAM_Q_TOKENS];
  uattn_softmax_state_t state = {carried[CARRIED_MAX], carried[CARRIED_SUMS]};
  MlirValue inverse_sum, lse;
  uattn_softmax_finish(b, &consumer->softmax, &state, &inverse_sum,
                       kernel->plan->has_lse ? &lse : NULL);
  if (kernel->plan->has_lse) {
    MlirType i64 = uattn_type_i64(b);
    MlirValue heads_before =
        uattn_binary(b, "arith.addi",
                     uattn_binary(b, "arith.muli", kernel->batch,
                                  params[UATTN_FORWARD_PARAM_Q_HEADS]),
                     kernel->head);
    MlirValue offset = uattn_binary(
        b, "arith.muli", uattn_cast(b, "arith.extui", heads_before, i64),
        uattn_cast(b, "arith.extui", q_tokens, i64));
    uattn_emit_row_store(b, lse, params[UATTN_FORWARD_PARAM_LSE], offset,
                         consumer->first_row, q_tokens);
  }
  MlirValue normalised =
      uattn_binary(b, "arith.mulf", out,
                   uattn_softmax_spread(b, inverse_sum, consumer->out_type));
  MlirType stored_type =
      uattn_type_vector2(element_type(b, kernel->plan->dtype),
                         UATTN_WARPGROUP_ROWS, kernel->plan->head_dim);
  uattn_tile_place_t place = {kernel->head, consumer->first_row, kernel->batch};
  MlirValue barrier =
      uattn_binary(b, "arith.addi", kernel->index_in_role,
                   uattn_constant_i32(b, kernel->layout.store_barrier_id));
  uattn_emit_tile_store(
      b, uattn_cast(b, "arith.truncf", normalised, stored_type),
      consumer->q_tile, params[UATTN_FORWARD_PARAM_OUT], place, barrier);
}

static MlirRegion emit_consumer(const uattn_builder_t *b,
                                const kernel_t *kernel) {
  uattn_builder_t role;
  MlirRegion region = uattn_region_create(b, NULL, 0, &role);
  consumer_t consumer = emit_consumer_start(&role, kernel);
  MlirValue carried[CARRIED_COUNT];
  emit_first_step(&role, &consumer, carried);
  emit_steps(&role, &consumer, carried);
  MlirValue last_step =
      uattn_binary(&role, "arith.subi", kernel->kv_tiles, kernel->one);
  MlirValue out = emit_pv(&role, &consumer, last_step, carried[CARRIED_P],
                          carried[CARRIED_OUT]);
  uattn_emit_wgmma_wait(&role, 0, &out, NULL);
  uattn_emit_ring_release(&role, kernel->v_ring, last_step);
  emit_results(&role, &consumer, carried, out);
  uattn_yield(&role, NULL, 0);
  return region;
}

void uattn_emit_forward_kernel(const uattn_builder_t *module_body,
                               const uattn_forward_plan_t *plan) {
  kernel_t kernel = {.plan = plan, .layout = uattn_forward_layout(plan)};
  uattn_plan_param_t params[UATTN_FORWARD_PARAM_COUNT];
  MlirType types[UATTN_FORWARD_PARAM_COUNT];
  int param_count = uattn_forward_params(plan, params);
  for (int i = 0; i < param_count; ++i)
    types[i] = param_type(module_body, plan, params[i]);

  uattn_builder_t body;
  MlirRegion region =
      uattn_region_create(module_body, types, param_count, &body);
  for (int i = 0; i < param_count; ++i)
    kernel.params[params[i].what] = mlirBlockGetArgument(body.block, i);
  kernel.zero = uattn_constant_i32(&body, 0);
  kernel.one = uattn_constant_i32(&body, 1);
  emit_place(&body, &kernel);
  emit_rings(&body, &kernel);

  int64_t registers[ROLE_COUNT] = {plan->producer_registers,
                                   plan->consumer_registers};
  int64_t warpgroups[ROLE_COUNT] = {1, plan->consumer_warpgroups};
  MlirValue role;
  uattn_emit_role(&body, registers, warpgroups, ROLE_COUNT, &role,
                  &kernel.index_in_role);
  MlirRegion roles[ROLE_COUNT];
  roles[ROLE_PRODUCER] = emit_producer(&body, &kernel);
  roles[ROLE_CONSUMER] = emit_consumer(&body, &kernel);
  uattn_emit_role_switch(&body, role, roles, ROLE_COUNT);
  uattn_op_t end = uattn_op("gpu.return");
  uattn_op_append(&body, &end);
  append_function(module_body, plan, types, param_count, region);
}
