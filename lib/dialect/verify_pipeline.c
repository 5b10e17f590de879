/* The verifier's entry for the pipeline level: which op has which rule.
 * Layer: dialect. Must not know: plans, kernels, how an op is lowered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/verify_pipeline.h"

/* ---- Types -------------------------------------------------------------- */

static bool is_well_formed(MlirOperation op, MlirType type) {
  uattn_tile_t tile;
  if (uattn_type_is(type, UATTN_TYPENAME_GLOBAL)) {
    MlirType element = uattn_type_inner(type);
    return (!mlirTypeIsNull(element) &&
            (mlirTypeIsAFloat(element) || mlirTypeIsAInteger(element))) ||
           uattn_refuse_type(op, "the type of a value", type,
                             "a number type as its parameter");
  }
  bool is_ring = uattn_type_is(type, UATTN_TYPENAME_RING);
  if (!is_ring && !uattn_type_is(type, UATTN_TYPENAME_SMEM) &&
      !uattn_type_is(type, UATTN_TYPENAME_TENSOR_MAP))
    return true;
  if (!uattn_tile_from_vector(uattn_type_inner(type), &tile))
    return uattn_refuse_type(op, "the type of a value", type,
                             "a vector of rank 2 in it");
  return !is_ring || uattn_ring_stage_count(type) > 0 ||
         uattn_refuse_type(op, "the type of a value", type,
                           "an i64 number of stages above 0");
}

static bool verify_types(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!is_well_formed(op, uattn_operand_type(op, i)))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!is_well_formed(op, uattn_result_type(op, i)))
      return false;
  return true;
}

/* ---- Which op has which attributes and rules ---------------------------- */

typedef struct {
  const char *name;
  const char *attributes[5];      /* up to the first NULL */
  bool (*rule)(MlirOperation op); /* NULL: the declaration says it all */
} op_rule_t;

static const op_rule_t op_rules[] = {
    {UATTN_OPNAME_ROLE,
     {UATTN_ATTR_REGISTERS, UATTN_ATTR_WARPGROUPS},
     uattn_verify_role},
    {UATTN_OPNAME_SEGMENT_HULL,
     {UATTN_ATTR_ROWS, UATTN_ATTR_THREADS, UATTN_ATTR_SMEM_OFFSET},
     uattn_verify_segment_hull},
    {UATTN_OPNAME_RING_ALLOC,
     {UATTN_ATTR_SMEM_OFFSET, UATTN_ATTR_BARRIER_OFFSET,
      UATTN_ATTR_CONSUMER_WARPS},
     uattn_verify_ring_alloc},
    {UATTN_OPNAME_RING_PRODUCE, {NULL}, uattn_verify_ring_produce},
    {UATTN_OPNAME_RING_ACQUIRE, {NULL}, uattn_verify_ring_acquire},
    {UATTN_OPNAME_RING_PRODUCE_RECORDS,
     {NULL},
     uattn_verify_ring_produce_records},
    {UATTN_OPNAME_SMEM_ALLOC,
     {UATTN_ATTR_SMEM_OFFSET},
     uattn_verify_smem_alloc},
    {UATTN_OPNAME_SMEM_ROWS, {NULL}, uattn_verify_smem_rows},
    {UATTN_OPNAME_SMEM_COLUMNS, {NULL}, uattn_verify_smem_columns},
    {UATTN_OPNAME_SMEM_TRANSPOSE, {NULL}, uattn_verify_smem_transpose},
    {UATTN_OPNAME_NAMED_BARRIER_SYNC,
     {UATTN_ATTR_THREADS, UATTN_ATTR_OPERAND_SEGMENTS},
     uattn_verify_named_barrier},
    {UATTN_OPNAME_NAMED_BARRIER_ARRIVE,
     {UATTN_ATTR_THREADS, UATTN_ATTR_OPERAND_SEGMENTS},
     uattn_verify_named_barrier},
    {UATTN_OPNAME_WGMMA,
     {UATTN_ATTR_TRANSPOSE_B, UATTN_ATTR_NEGATE_A, UATTN_ATTR_OPERAND_SEGMENTS},
     uattn_verify_wgmma},
    {UATTN_OPNAME_WGMMA_WAIT,
     {UATTN_ATTR_PENDING, UATTN_ATTR_OPERAND_SEGMENTS,
      UATTN_ATTR_RESULT_SEGMENTS},
     uattn_verify_wgmma_wait},
    {UATTN_OPNAME_CAP_APPLY, {UATTN_ATTR_METHOD}, uattn_verify_cap_apply},
    {UATTN_OPNAME_EXP2_APPLY,
     {UATTN_ATTR_POLYNOMIAL_PERIOD},
     uattn_verify_exp2_apply},
    {UATTN_OPNAME_MASK_APPLY,
     {UATTN_ATTR_OPERAND_SEGMENTS},
     uattn_verify_mask_apply},
    {UATTN_OPNAME_ROW_BROADCAST, {NULL}, uattn_verify_row_broadcast},
    {UATTN_OPNAME_FOLD_COLUMNS, {UATTN_ATTR_KIND}, uattn_verify_fold_columns},
    {UATTN_OPNAME_ROW_INDEX, {NULL}, uattn_verify_row_load},
    {UATTN_OPNAME_ROW_LOAD, {NULL}, uattn_verify_row_load},
    {UATTN_OPNAME_COLUMN_LOAD, {NULL}, uattn_verify_column_load},
    {UATTN_OPNAME_COLUMN_READ, {UATTN_ATTR_FIELD}, uattn_verify_column_read},
    {UATTN_OPNAME_SMEM_READ, {NULL}, uattn_verify_smem_read},
    {UATTN_OPNAME_ROW_DOT, {NULL}, uattn_verify_row_dot},
    {UATTN_OPNAME_ROW_STORE, {NULL}, uattn_verify_row_store},
    {UATTN_OPNAME_RECORD_STORE, {NULL}, uattn_verify_record_store},
    {UATTN_OPNAME_TILE_STORE, {NULL}, uattn_verify_tile_store},
    {UATTN_OPNAME_SUMS_CLEAR, {UATTN_ATTR_COLUMNS}, uattn_verify_sums_clear},
    {UATTN_OPNAME_SUMS_ADD, {NULL}, uattn_verify_sums_add},
    {UATTN_OPNAME_SUMS_LOAD, {NULL}, uattn_verify_sums_load},
};

/* Ops without a row have no attributes and no rule. */
static const op_rule_t *find_rule(MlirOperation op) {
  static const op_rule_t no_rule = {0};
  for (size_t index = 0; index < sizeof op_rules / sizeof *op_rules; ++index)
    if (uattn_op_is(op, op_rules[index].name))
      return &op_rules[index];
  return &no_rule;
}

bool uattn_verify_pipeline_op(MlirOperation op) {
  const op_rule_t *row = find_rule(op);
  size_t attribute_count = 0;
  while (row->attributes[attribute_count])
    ++attribute_count;
  return uattn_verify_attribute_names(op, row->attributes, attribute_count) &&
         verify_types(op) && (!row->rule || row->rule(op));
}
