/* The forward kernel in Triton's ops: function, shared memory, roles.
 * Layer: passes. Must not know: attributes of the op level, how plans are
 * chosen.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One CTA computes 64 C rows of one query head against the n tiles of keys that
 * its rows may see (ttgir_keys.c). Consumer 0 is the default partition of
 * ttg.warp_specialize, the other consumers and the producer are the partitions
 * 0 .. C - 1.
 *
 *   producer (a warpgroup, as registers are moved by whole ones)
 *     load Q of every consumer
 *     for i in 0 .. n: load K(i); load V(i)
 *
 *   consumer c of C (64 rows each)                      ttgir_consumer.c
 *     S = Q K(0), in turn; m, l, P = softmax(mask(S))
 *     for i in 1 .. n:
 *       S = Q K(i)  and  O += P V(i-1), in turn
 *       wait for S; m', P', alpha = softmax(mask(S), m)   while P V runs
 *       wait for O; O = alpha O; l = alpha l + sum P'
 *     O += P V(n-1)
 *     out = O / l; lse = m + log l; rows without a key: 0 and -inf
 *
 *   barrier        count  arrives                   waits      first wait
 *   Q full     x C 1      producer (expect)         consumer   parity 0
 *   turn c         1      consumer c - 1            c > 0      parity 0
 *   turn 0         1      consumer C - 1            0          parity 1
 *   K, V full  x s 1      producer (expect)         consumers  parity 0
 *   K, V empty x s C      one thread a consumer     producer   parity 1 */
#include "passes/ttgir.h"

enum { WARPS_OF_CONSUMER = 4, WARPS_OF_PRODUCER = 4 };

/* ---- Arguments ------------------------------------------------------------
 */

static MlirType argument_type(const uattn_builder_t *b,
                              const uattn_ttgir_kernel_t *kernel,
                              uattn_ttgir_value_t what) {
  const uattn_forward_plan_t *plan = kernel->plan;
  MlirType none = {NULL}, i32 = uattn_type_i32(b), f32 = uattn_type_f32(b);
  switch (what) {
  case UATTN_TTGIR_Q:
  case UATTN_TTGIR_OUT:
    return uattn_ttgir_descriptor_type(kernel, UATTN_WARPGROUP_ROWS);
  case UATTN_TTGIR_K:
  case UATTN_TTGIR_V:
    return uattn_ttgir_descriptor_type(kernel, kernel->kv_tile_rows);
  case UATTN_TTGIR_TEMP:
    if (!plan->has_temp)
      return none;
    return uattn_ttgir_pointer_type(plan->temp_dtype == UATTN_DTYPE_F32 ? f32
                                    : plan->temp_dtype == UATTN_DTYPE_F16
                                        ? mlirF16TypeGet(b->context)
                                        : mlirBF16TypeGet(b->context));
  case UATTN_TTGIR_BOUNDS:
    return plan->masks.has_ranker ? uattn_ttgir_pointer_type(i32) : none;
  case UATTN_TTGIR_Q_SEGMENT_IDS:
  case UATTN_TTGIR_KV_SEGMENT_IDS:
    return plan->masks.has_segments ? uattn_ttgir_pointer_type(i32) : none;
  case UATTN_TTGIR_LSE:
    return plan->has_lse ? uattn_ttgir_pointer_type(f32) : none;
  default:
    return i32;
  }
}

static bool is_descriptor(int what) {
  return what <= UATTN_TTGIR_V || what == UATTN_TTGIR_OUT;
}

/* Triton passes such an argument as a CUtensorMap by value. */
static MlirAttribute argument_attributes(MlirContext context, int what) {
  return uattn_attribute_parse(
      context, "%s", is_descriptor(what) ? "{tt.nv_tma_desc = 1 : i32}" : "{}");
}

/* ---- Shared memory --------------------------------------------------------
 */

static void allocate(uattn_ttgir_role_t *role) {
  const uattn_ttgir_kernel_t *kernel = role->kernel;
  const uattn_forward_plan_t *plan = kernel->plan;
  MlirType ring =
      uattn_ttgir_tiles_type(kernel, plan->stage_count, kernel->kv_tile_rows);
  role->values[UATTN_TTGIR_Q_TILES] = uattn_ttgir_alloc(
      &role->b, uattn_ttgir_tiles_type(kernel, plan->consumer_warpgroups,
                                       UATTN_WARPGROUP_ROWS));
  role->values[UATTN_TTGIR_K_RING] = uattn_ttgir_alloc(&role->b, ring);
  role->values[UATTN_TTGIR_V_RING] = uattn_ttgir_alloc(&role->b, ring);
}

static void init_barriers(uattn_ttgir_role_t *role, uattn_ttgir_value_t what,
                          int32_t barrier_count, int32_t arrival_count) {
  role->values[what] = uattn_ttgir_alloc(
      &role->b, uattn_ttgir_barriers_type(role->b.context, barrier_count));
  for (int32_t i = 0; i < barrier_count; ++i)
    uattn_ttgir_init_barrier(
        role,
        uattn_ttgir_barrier_at(role, what, uattn_constant_i32(&role->b, i)),
        arrival_count);
}

static void init_all_barriers(uattn_ttgir_role_t *role) {
  const uattn_forward_plan_t *plan = role->kernel->plan;
  int32_t consumers = plan->consumer_warpgroups, stages = plan->stage_count;
  init_barriers(role, UATTN_TTGIR_Q_FULL, consumers, 1);
  if (plan->is_ping_pong && consumers > 1)
    init_barriers(role, UATTN_TTGIR_TURN, consumers, 1);
  init_barriers(role, UATTN_TTGIR_K_FULL, stages, 1);
  init_barriers(role, UATTN_TTGIR_K_EMPTY, stages, consumers);
  init_barriers(role, UATTN_TTGIR_V_FULL, stages, 1);
  init_barriers(role, UATTN_TTGIR_V_EMPTY, stages, consumers);
  uattn_ttgir_fence(role);
}

/* ---- Roles ----------------------------------------------------------------
 */

static void append(const uattn_builder_t *b, const char *name) {
  uattn_op_t op = uattn_op(name);
  uattn_op_append(b, &op);
}

/* What partitions capture: everything there is. */
static int captures(const uattn_ttgir_role_t *role,
                    MlirValue out_values[UATTN_TTGIR_VALUE_COUNT]) {
  int count = 0;
  for (int i = 0; i < UATTN_TTGIR_VALUE_COUNT; ++i)
    if (role->values[i].ptr)
      out_values[count++] = role->values[i];
  return count;
}

/* A region whose arguments are the captures; `inner` sees these. */
static MlirRegion open_partition(const uattn_ttgir_role_t *role,
                                 uattn_ttgir_role_t *inner) {
  MlirValue values[UATTN_TTGIR_VALUE_COUNT];
  MlirType types[UATTN_TTGIR_VALUE_COUNT];
  int count = captures(role, values);
  for (int i = 0; i < count; ++i)
    types[i] = mlirValueGetType(values[i]);
  *inner = *role;
  MlirRegion region = uattn_region_create(&role->b, types, count, &inner->b);
  for (int i = 0, next = 0; i < UATTN_TTGIR_VALUE_COUNT; ++i)
    if (role->values[i].ptr)
      inner->values[i] = mlirBlockGetArgument(inner->b.block, next++);
  return region;
}

/* The region that holds the partitions: consumers but the first, producer. */
static MlirRegion emit_partitions(const uattn_ttgir_role_t *role) {
  int32_t consumers = role->kernel->plan->consumer_warpgroups;
  uattn_op_t partitions = uattn_op("ttg.warp_specialize.partitions");
  for (int32_t i = 1; i <= consumers; ++i) {
    uattn_ttgir_role_t inner;
    uattn_op_region(&partitions, open_partition(role, &inner));
    if (i < consumers)
      uattn_ttgir_emit_consumer(&inner, i);
    else
      uattn_ttgir_emit_producer(&inner);
    append(&inner.b, "ttg.warp_return");
  }
  uattn_builder_t holder;
  MlirRegion region = uattn_region_create(&role->b, NULL, 0, &holder);
  uattn_op_append(&holder, &partitions);
  return region;
}

/* Registers of the first consumer are what the others leave. */
static void add_partition_sizes(const uattn_builder_t *b,
                                const uattn_forward_plan_t *plan,
                                uattn_op_t *op) {
  int32_t warps[UATTN_OP_MAX_REGIONS], registers[UATTN_OP_MAX_REGIONS];
  int32_t consumers = plan->consumer_warpgroups;
  UATTN_CHECK(consumers <= UATTN_OP_MAX_REGIONS);
  for (int32_t i = 0; i < consumers; ++i) {
    bool is_producer = i == consumers - 1;
    warps[i] = is_producer ? WARPS_OF_PRODUCER : WARPS_OF_CONSUMER;
    registers[i] =
        is_producer ? plan->producer_registers : plan->consumer_registers;
  }
  uattn_op_attribute(op, "partitionNumWarps",
                     mlirDenseI32ArrayGet(b->context, consumers, warps));
  uattn_op_attribute(op, "requestedRegisters",
                     mlirDenseI32ArrayGet(b->context, consumers, registers));
}

static void emit_roles(const uattn_ttgir_role_t *role) {
  MlirValue captured[UATTN_TTGIR_VALUE_COUNT];
  uattn_ttgir_role_t first = *role;
  MlirRegion default_region = uattn_region_create(&role->b, NULL, 0, &first.b);
  uattn_ttgir_emit_consumer(&first, 0);
  append(&first.b, "ttg.warp_yield");
  uattn_op_t op = uattn_op("ttg.warp_specialize");
  uattn_op_more_operands(&op, captured, captures(role, captured));
  add_partition_sizes(&role->b, role->kernel->plan, &op);
  uattn_op_region(&op, default_region);
  uattn_op_region(&op, emit_partitions(role));
  uattn_op_append(&role->b, &op);
}

/* ---- Function -------------------------------------------------------------
 */

static MlirRegion emit_body(const uattn_builder_t *module,
                            const uattn_ttgir_kernel_t *kernel,
                            const MlirType *types, const int *arguments,
                            int count) {
  uattn_ttgir_role_t role = {.kernel = kernel};
  MlirRegion body = uattn_region_create(module, types, count, &role.b);
  for (int i = 0; i < count; ++i)
    role.values[arguments[i]] = mlirBlockGetArgument(role.b.block, i);
  allocate(&role);
  init_all_barriers(&role);
  emit_roles(&role);
  append(&role.b, "tt.return");
  return body;
}

void uattn_ttgir_emit_kernel(const uattn_builder_t *module,
                             const uattn_problem_t *problem,
                             const uattn_forward_plan_t *plan,
                             const char *name) {
  MlirContext context = module->context;
  uattn_ttgir_kernel_t kernel =
      uattn_ttgir_kernel_create(context, problem, plan);
  MlirType types[UATTN_TTGIR_ARGUMENT_COUNT];
  MlirAttribute attributes[UATTN_TTGIR_ARGUMENT_COUNT];
  int arguments[UATTN_TTGIR_ARGUMENT_COUNT], count = 0;
  for (int i = 0; i < UATTN_TTGIR_ARGUMENT_COUNT; ++i) {
    MlirType type = argument_type(module, &kernel, (uattn_ttgir_value_t)i);
    if (mlirTypeIsNull(type))
      continue;
    types[count] = type;
    attributes[count] = argument_attributes(context, i);
    arguments[count++] = i;
  }
  uattn_op_t op = uattn_op("tt.func");
  uattn_op_attribute(&op, "sym_name", uattn_attribute_string(module, name));
  uattn_op_attribute(&op, "sym_visibility",
                     uattn_attribute_string(module, "public"));
  uattn_op_attribute(
      &op, "function_type",
      mlirTypeAttrGet(mlirFunctionTypeGet(context, count, types, 0, NULL)));
  uattn_op_attribute(&op, "arg_attrs",
                     mlirArrayAttrGet(context, count, attributes));
  uattn_op_region(&op, emit_body(module, &kernel, types, arguments, count));
  uattn_op_append(module, &op);
}
