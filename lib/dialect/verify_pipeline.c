/* The verifier's rules on the pipeline level's ops and types.
 * Layer: dialect. Must not know: plans, kernels, how an op is lowered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect_verify.h"

#include <inttypes.h>

/* Swizzled tiles start where the 128-byte pattern repeats. */
#define SMEM_TILE_ALIGNMENT_BYTES 1024
#define MBARRIER_BYTES 8
#define WARPGROUP_ROWS 64
#define WARP_THREADS 32

/* A rank-2 vector type with static sizes. */
typedef struct {
  int64_t rows;
  int64_t columns;
  MlirType element;
} tile_t;

static bool tile_from_vector(MlirType type, tile_t *out_tile) {
  if (mlirTypeIsNull(type) || !mlirTypeIsAVector(type) ||
      mlirVectorTypeIsScalable(type) || mlirShapedTypeGetRank(type) != 2)
    return false;
  out_tile->rows = mlirShapedTypeGetDimSize(type, 0);
  out_tile->columns = mlirShapedTypeGetDimSize(type, 1);
  out_tile->element = mlirShapedTypeGetElementType(type);
  return true;
}

static bool same_tile(const tile_t *a, const tile_t *b) {
  return a->rows == b->rows && a->columns == b->columns &&
         mlirTypeEqual(a->element, b->element);
}

static MlirType operand_type(MlirOperation op, intptr_t index) {
  return mlirValueGetType(mlirOperationGetOperand(op, index));
}

static MlirType result_type(MlirOperation op, intptr_t index) {
  return mlirValueGetType(mlirOperationGetResult(op, index));
}

/* "WHAT is TYPE: expected WANTED". */
static bool refuse_type(MlirOperation op, const char *what, MlirType type,
                        const char *wanted) {
  uattn_string_t text = uattn_type_text(type);
  uattn_emit_error(op, "%s is %s: expected %s", what, uattn_string_get(&text),
                   wanted);
  uattn_string_release(&text);
  return false;
}

static bool refuse_tile(MlirOperation op, const char *what, MlirType type,
                        int64_t rows, int64_t columns, MlirType element) {
  uattn_string_t wanted = {0};
  uattn_string_appendf(&wanted, "vector<%" PRId64 "x%" PRId64 "x", rows,
                       columns);
  mlirTypePrint(element, uattn_string_append_ref, &wanted);
  uattn_string_append(&wanted, ">");
  refuse_type(op, what, type, uattn_string_get(&wanted));
  uattn_string_release(&wanted);
  return false;
}

/* ---- Types -------------------------------------------------------------- */

static bool is_well_formed(MlirOperation op, MlirType type) {
  tile_t tile;
  if (uattn_type_is(type, UATTN_TYPENAME_GLOBAL)) {
    MlirType element = uattn_type_inner(type);
    return (!mlirTypeIsNull(element) &&
            (mlirTypeIsAFloat(element) || mlirTypeIsAInteger(element))) ||
           refuse_type(op, "a type", type, "a number type as its parameter");
  }
  bool is_ring = uattn_type_is(type, UATTN_TYPENAME_RING);
  if (!is_ring && !uattn_type_is(type, UATTN_TYPENAME_SMEM) &&
      !uattn_type_is(type, UATTN_TYPENAME_TENSOR_MAP))
    return true;
  if (!tile_from_vector(uattn_type_inner(type), &tile))
    return refuse_type(op, "a type", type, "a vector of rank 2 in it");
  return !is_ring || uattn_ring_stage_count(type) > 0 ||
         refuse_type(op, "a type", type, "an i64 number of stages above 0");
}

static bool verify_types(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!is_well_formed(op, operand_type(op, i)))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!is_well_formed(op, result_type(op, i)))
      return false;
  return true;
}

/* ---- Attributes --------------------------------------------------------- */

/* An i64 of at least `least` that `multiple` divides. */
static bool verify_i64(MlirOperation op, const char *name, int64_t least,
                       int64_t multiple) {
  int64_t value = 0;
  if (!uattn_op_get_i64(op, name, &value)) {
    uattn_emit_error(op, "%s is missing or no i64: expected an i64", name);
    return false;
  }
  if (value >= least && value % multiple == 0)
    return true;
  uattn_emit_error(op,
                   "%s is %" PRId64 ": expected a multiple of %" PRId64
                   ", at least %" PRId64,
                   name, value, multiple, least);
  return false;
}

static bool verify_unit(MlirOperation op, const char *name) {
  if (mlirAttributeIsNull(uattn_op_get_attribute(op, name)) ||
      uattn_op_has_unit(op, name))
    return true;
  uattn_emit_error(op, "%s has a value: expected a unit attribute", name);
  return false;
}

/* ---- Ops ---------------------------------------------------------------- */

static bool verify_ring_alloc(MlirOperation op) {
  return verify_i64(op, UATTN_ATTR_SMEM_OFFSET, 0, SMEM_TILE_ALIGNMENT_BYTES) &&
         verify_i64(op, UATTN_ATTR_BARRIER_OFFSET, 0, MBARRIER_BYTES) &&
         verify_i64(op, UATTN_ATTR_CONSUMER_WARPS, 1, 1);
}

/* A tile of smem, ring or tensor map; `type` is well formed. */
static tile_t inner_tile(MlirType type) {
  tile_t tile = {0};
  UATTN_CHECK(tile_from_vector(uattn_type_inner(type), &tile));
  return tile;
}

/* The box covers the tile's rows and divides its columns. */
static bool box_fits(MlirOperation op, MlirType map, const tile_t *tile) {
  tile_t box = inner_tile(map);
  if (box.rows == tile->rows && box.columns > 0 &&
      tile->columns % box.columns == 0 &&
      mlirTypeEqual(box.element, tile->element))
    return true;
  uattn_emit_error(op,
                   "the tensor map's box is %" PRId64 "x%" PRId64
                   " for a tile of %" PRId64 "x%" PRId64
                   ": expected the same rows, a divisor of the columns and "
                   "the same element type",
                   box.rows, box.columns, tile->rows, tile->columns);
  return false;
}

static bool verify_ring_produce(MlirOperation op) {
  tile_t tile = inner_tile(operand_type(op, 4));
  return box_fits(op, operand_type(op, 0), &tile);
}

static bool verify_ring_acquire(MlirOperation op) {
  tile_t wanted = inner_tile(operand_type(op, 0));
  tile_t found = inner_tile(result_type(op, 0));
  return same_tile(&wanted, &found) ||
         refuse_tile(op, "the acquired tile",
                     uattn_type_inner(result_type(op, 0)), wanted.rows,
                     wanted.columns, wanted.element);
}

static bool verify_smem_rows(MlirOperation op) {
  tile_t source = inner_tile(operand_type(op, 0));
  tile_t found = inner_tile(result_type(op, 0));
  if (source.rows % WARPGROUP_ROWS != 0) {
    uattn_emit_error(
        op, "the source has %" PRId64 " rows: expected a multiple of %d",
        source.rows, WARPGROUP_ROWS);
    return false;
  }
  tile_t wanted = source;
  wanted.rows = WARPGROUP_ROWS;
  return same_tile(&wanted, &found) ||
         refuse_tile(op, "the tile of rows",
                     uattn_type_inner(result_type(op, 0)), wanted.rows,
                     wanted.columns, wanted.element);
}

static bool verify_named_barrier(MlirOperation op) {
  return verify_i64(op, UATTN_ATTR_THREADS, WARP_THREADS, WARP_THREADS);
}

/* `a` is a tile in registers or in shared memory. */
static bool verify_wgmma_a(MlirOperation op, tile_t *out_a) {
  MlirType type = operand_type(op, 0);
  if (uattn_type_is(type, UATTN_TYPENAME_SMEM)) {
    *out_a = inner_tile(type);
    return true;
  }
  return tile_from_vector(type, out_a) ||
         refuse_type(op, "a", type, "a vector of rank 2 or an smem tile");
}

static bool verify_wgmma_elements(MlirOperation op, const tile_t *a,
                                  const tile_t *b) {
  if ((mlirTypeIsABF16(a->element) || mlirTypeIsAF16(a->element)) &&
      mlirTypeEqual(a->element, b->element))
    return true;
  uattn_string_t a_text = uattn_type_text(a->element);
  uattn_string_t b_text = uattn_type_text(b->element);
  uattn_emit_error(op,
                   "a has element type %s and b %s: expected bf16 or f16, the "
                   "same for both",
                   uattn_string_get(&a_text), uattn_string_get(&b_text));
  uattn_string_release(&a_text);
  uattn_string_release(&b_text);
  return false;
}

static bool verify_wgmma(MlirOperation op) {
  tile_t a, result;
  if (!verify_unit(op, UATTN_ATTR_TRANSPOSE_B) ||
      !verify_unit(op, UATTN_ATTR_NEGATE_A) || !verify_wgmma_a(op, &a))
    return false;
  tile_t b = inner_tile(operand_type(op, 1));
  bool is_transposed = uattn_op_has_unit(op, UATTN_ATTR_TRANSPOSE_B);
  int64_t b_inner = is_transposed ? b.columns : b.rows;
  int64_t b_outer = is_transposed ? b.rows : b.columns;
  if (!verify_wgmma_elements(op, &a, &b))
    return false;
  if (a.columns != b_inner) {
    uattn_emit_error(op,
                     "a has %" PRId64 " columns and b %" PRId64
                     " products: expected the same number",
                     a.columns, b_inner);
    return false;
  }
  MlirType found = result_type(op, 0);
  MlirType f32 = mlirF32TypeGet(mlirOperationGetContext(op));
  tile_t wanted = {a.rows, b_outer, f32};
  if (!tile_from_vector(found, &result) || !same_tile(&result, &wanted))
    return refuse_tile(op, "the product", found, wanted.rows, wanted.columns,
                       wanted.element);
  return mlirOperationGetNumOperands(op) < 3 ||
         mlirTypeEqual(operand_type(op, 2), found) ||
         refuse_tile(op, "acc", operand_type(op, 2), wanted.rows,
                     wanted.columns, wanted.element);
}

static bool verify_wgmma_wait(MlirOperation op) {
  intptr_t operands = mlirOperationGetNumOperands(op);
  intptr_t results = mlirOperationGetNumResults(op);
  if (operands != results) {
    uattn_emit_error(op, "%td values go in and %td come out: expected as many",
                     operands, results);
    return false;
  }
  for (intptr_t i = 0; i < operands; ++i)
    if (!mlirTypeEqual(operand_type(op, i), result_type(op, i)))
      return refuse_type(op, "a result", result_type(op, i),
                         "the type of its operand");
  return verify_i64(op, UATTN_ATTR_PENDING, 0, 1);
}

static bool verify_cap_apply(MlirOperation op) {
  MlirStringRef method = {NULL, 0};
  uattn_cap_method_t parsed;
  uattn_string_t name = {0};
  bool is_string = uattn_op_get_string(op, UATTN_ATTR_METHOD, &method);
  if (is_string)
    uattn_string_append_bytes(&name, method.data, method.length);
  bool is_method =
      is_string && uattn_cap_method_parse(uattn_string_get(&name), &parsed);
  if (!is_method)
    uattn_emit_error(op,
                     "method is \"%s\": expected \"none\", \"tanh\", "
                     "\"soft_sign\" or \"alsc\"",
                     uattn_string_get(&name));
  uattn_string_release(&name);
  return is_method;
}

static bool verify_row_broadcast(MlirOperation op) {
  tile_t tile;
  MlirType rows = operand_type(op, 0);
  if (!tile_from_vector(result_type(op, 0), &tile))
    return refuse_type(op, "the tile", result_type(op, 0),
                       "a vector of rank 2");
  if (mlirShapedTypeGetRank(rows) != 1)
    return refuse_type(op, "rows", rows, "a vector of rank 1");
  if (mlirShapedTypeGetDimSize(rows, 0) == tile.rows &&
      mlirTypeEqual(mlirShapedTypeGetElementType(rows), tile.element))
    return true;
  return refuse_tile(op, "the tile", result_type(op, 0),
                     mlirShapedTypeGetDimSize(rows, 0), tile.columns,
                     mlirShapedTypeGetElementType(rows));
}

static bool verify_fold_columns(MlirOperation op) {
  tile_t tile, folded;
  MlirStringRef kind = {NULL, 0};
  if (!uattn_op_get_string(op, UATTN_ATTR_KIND, &kind) ||
      (!uattn_string_ref_is(kind, "add") &&
       !uattn_string_ref_is(kind, "max"))) {
    uattn_emit_error(op, "kind is \"%.*s\": expected \"add\" or \"max\"",
                     (int)kind.length, kind.length ? kind.data : "");
    return false;
  }
  if (!tile_from_vector(operand_type(op, 0), &tile))
    return refuse_type(op, "the tile", operand_type(op, 0),
                       "a vector of rank 2");
  if (!tile_from_vector(result_type(op, 0), &folded))
    return refuse_type(op, "the folded tile", result_type(op, 0),
                       "a vector of rank 2");
  if (tile.rows == folded.rows && mlirTypeEqual(tile.element, folded.element) &&
      tile.columns % folded.columns == 0)
    return true;
  return refuse_type(op, "the folded tile", result_type(op, 0),
                     "the tile's rows and element type, and a divisor of its "
                     "columns");
}

static bool verify_rank_1_rows(MlirOperation op, MlirType rows) {
  return mlirShapedTypeGetRank(rows) == 1 ||
         refuse_type(op, "rows", rows, "a vector of rank 1");
}

static bool verify_row_load(MlirOperation op) {
  return verify_rank_1_rows(op, result_type(op, 0));
}

static bool verify_row_store(MlirOperation op) {
  return verify_rank_1_rows(op, operand_type(op, 0));
}

static bool verify_tile_store(MlirOperation op) {
  tile_t value;
  tile_t staging = inner_tile(operand_type(op, 1));
  if (!tile_from_vector(operand_type(op, 0), &value))
    return refuse_type(op, "value", operand_type(op, 0), "a vector of rank 2");
  if (value.rows != staging.rows || value.columns != staging.columns)
    return refuse_tile(op, "value", operand_type(op, 0), staging.rows,
                       staging.columns, value.element);
  return box_fits(op, operand_type(op, 2), &staging);
}

/* ---- Which op has which attributes and rules ---------------------------- */

typedef struct {
  const char *name;
  const char *attributes[5];      /* up to the first NULL */
  bool (*rule)(MlirOperation op); /* NULL: the declaration says it all */
} op_rule_t;

static const op_rule_t op_rules[] = {
    {UATTN_OPNAME_ROLE, {UATTN_ATTR_REGISTERS, UATTN_ATTR_WARPGROUPS}, NULL},
    {UATTN_OPNAME_RING_ALLOC,
     {UATTN_ATTR_SMEM_OFFSET, UATTN_ATTR_BARRIER_OFFSET,
      UATTN_ATTR_CONSUMER_WARPS},
     verify_ring_alloc},
    {UATTN_OPNAME_RING_PRODUCE, {NULL}, verify_ring_produce},
    {UATTN_OPNAME_RING_ACQUIRE, {NULL}, verify_ring_acquire},
    {UATTN_OPNAME_SMEM_ROWS, {NULL}, verify_smem_rows},
    {UATTN_OPNAME_NAMED_BARRIER_SYNC,
     {UATTN_ATTR_THREADS, UATTN_ATTR_OPERAND_SEGMENTS},
     verify_named_barrier},
    {UATTN_OPNAME_NAMED_BARRIER_ARRIVE,
     {UATTN_ATTR_THREADS, UATTN_ATTR_OPERAND_SEGMENTS},
     verify_named_barrier},
    {UATTN_OPNAME_WGMMA,
     {UATTN_ATTR_TRANSPOSE_B, UATTN_ATTR_NEGATE_A, UATTN_ATTR_OPERAND_SEGMENTS},
     verify_wgmma},
    {UATTN_OPNAME_WGMMA_WAIT,
     {UATTN_ATTR_PENDING, UATTN_ATTR_OPERAND_SEGMENTS,
      UATTN_ATTR_RESULT_SEGMENTS},
     verify_wgmma_wait},
    {UATTN_OPNAME_CAP_APPLY, {UATTN_ATTR_METHOD}, verify_cap_apply},
    {UATTN_OPNAME_ROW_BROADCAST, {NULL}, verify_row_broadcast},
    {UATTN_OPNAME_FOLD_COLUMNS, {UATTN_ATTR_KIND}, verify_fold_columns},
    {UATTN_OPNAME_ROW_LOAD, {NULL}, verify_row_load},
    {UATTN_OPNAME_ROW_STORE, {NULL}, verify_row_store},
    {UATTN_OPNAME_TILE_STORE, {NULL}, verify_tile_store},
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
