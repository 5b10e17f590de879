/* What an op must be for its tiles to have a layout and an instruction.
 * Layer: passes. Must not know: any particular kernel, how ops are built.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The dialect's rules say what an op means; these say what one warpgroup of
 * the hardware takes, so that a handler may rely on it. */
#include <string.h>

#include "passes/distribute.h"

/* wgmma's n and the k of one instruction; an stmatrix x4's columns; a TMA box's
 * rows; how many groups a wait may leave in flight; rows after which the
 * 128-byte swizzle repeats; a slot's two mbarriers; what a CTA has at most. */
enum {
  MAX_WGMMA_N = 256,
  WGMMA_K_STEP = 16,
  STMATRIX_COLUMNS = 16,
  MAX_BOX_ROWS = 256,
  MAX_PENDING_GROUPS = 7,
  SWIZZLE_ROWS = 8,
  SLOT_BARRIER_BYTES = 16,
  MAX_THREADS = 1024,
  MAX_WARPS = MAX_THREADS / 32,
  MAX_SMEM_BYTES = 232448
};

static MlirType operand_type(MlirOperation op, intptr_t index) {
  return mlirValueGetType(mlirOperationGetOperand(op, index));
}

static MlirType result_type(MlirOperation op, intptr_t index) {
  return mlirValueGetType(mlirOperationGetResult(op, index));
}

bool uattn_distribute_refuse(MlirOperation op, const char *what, MlirType found,
                             const char *wanted) {
  uattn_string_t text = {0};
  mlirTypePrint(found, uattn_string_append_ref, &text);
  uattn_emit_error(op, "%s is %s: expected %s", what, uattn_string_get(&text),
                   wanted);
  uattn_string_release(&text);
  return false;
}

bool uattn_refuse_layout(MlirOperation op, MlirType type) {
  uattn_string_t text = {0};
  mlirTypePrint(type, uattn_string_append_ref, &text);
  uattn_emit_error(op,
                   "%s has no layout: expected a vector of 64 rows and a "
                   "multiple of 8 columns, at most %d",
                   uattn_string_get(&text), UATTN_MAX_TILE_COLUMNS);
  uattn_string_release(&text);
  return false;
}

/* ---- Any op ---------------------------------------------------------------
 */

static bool has_layout(MlirOperation op, MlirType type) {
  return !mlirTypeIsNull(uattn_distributed_type(type)) ||
         uattn_refuse_layout(op, type);
}

/* The constants of a ring are read from its ring_alloc, the distance between
 * the panels of a tile from the ring that it lies in: both must be in sight. */
static bool has_origin(MlirOperation op, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  bool is_ring = uattn_type_is(type, UATTN_TYPENAME_RING);
  if (!is_ring && !uattn_type_is(type, UATTN_TYPENAME_SMEM))
    return true;
  if (mlirValueIsAOpResult(value)) {
    MlirOperation owner = mlirOpResultGetOwner(value);
    if (is_ring ? uattn_op_is(owner, UATTN_OPNAME_RING_ALLOC)
                : uattn_op_is(owner, UATTN_OPNAME_RING_ACQUIRE) ||
                      uattn_op_is(owner, UATTN_OPNAME_SMEM_ALLOC) ||
                      uattn_op_is(owner, UATTN_OPNAME_SMEM_ROWS) ||
                      uattn_op_is(owner, UATTN_OPNAME_SMEM_COLUMNS))
      return true;
  }
  return uattn_distribute_refuse(
      op, "an operand that was passed on", type,
      is_ring ? "the result of " UATTN_OPNAME_RING_ALLOC " itself"
              : "the result of " UATTN_OPNAME_RING_ACQUIRE
                ", " UATTN_OPNAME_SMEM_ALLOC ", " UATTN_OPNAME_SMEM_ROWS
                " or " UATTN_OPNAME_SMEM_COLUMNS " itself");
}

static bool check_values(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!has_layout(op, operand_type(op, i)) ||
        !has_origin(op, mlirOperationGetOperand(op, i)))
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    if (!has_layout(op, result_type(op, i)))
      return false;
  return true;
}

/* ---- One op ---------------------------------------------------------------
 */

static bool has_f32_elements(MlirOperation op, const char *what,
                             MlirType type) {
  MlirType element = mlirTypeIsAVector(type) ? uattn_type_element(type) : type;
  return mlirTypeIsAF32(element) ||
         uattn_distribute_refuse(op, what, type, "f32 elements");
}

static bool check_f32_operand(MlirOperation op) {
  return has_f32_elements(op, "the operand", operand_type(op, 0));
}

static bool check_most(MlirOperation op, const char *name, int64_t most) {
  int64_t value = 0;
  UATTN_CHECK(uattn_op_get_i64(op, name, &value));
  if (value <= most)
    return true;
  uattn_emit_error(op, "%s is %lld: expected at most %lld", name,
                   (long long)value, (long long)most);
  return false;
}

static bool check_wait(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    if (!has_f32_elements(op, "a waited value", operand_type(op, i)))
      return false;
  return check_most(op, UATTN_ATTR_PENDING, MAX_PENDING_GROUPS);
}

/* `count` things of `bytes` each from the byte that the attribute names on. */
static bool check_ring_end(MlirOperation op, const char *name, int64_t count,
                           int64_t bytes) {
  int64_t offset = 0;
  UATTN_CHECK(uattn_op_get_i64(op, name, &offset));
  if (offset <= MAX_SMEM_BYTES && count <= (MAX_SMEM_BYTES - offset) / bytes)
    return true;
  uattn_emit_error(op,
                   "%s is %lld for %lld slots of %lld bytes: expected them to "
                   "end at byte %d of shared memory at the latest",
                   name, (long long)offset, (long long)count, (long long)bytes,
                   MAX_SMEM_BYTES);
  return false;
}

static bool check_ring_memory(MlirOperation op, int64_t stage_count,
                              int64_t slot_bytes) {
  return check_ring_end(op, UATTN_ATTR_SMEM_OFFSET, stage_count, slot_bytes) &&
         check_ring_end(op, UATTN_ATTR_BARRIER_OFFSET, stage_count,
                        SLOT_BARRIER_BYTES) &&
         check_most(op, UATTN_ATTR_CONSUMER_WARPS, MAX_WARPS);
}

static bool check_ring_alloc(MlirOperation op) {
  MlirType ring = result_type(op, 0);
  MlirType tile = uattn_type_inner(ring);
  int64_t rows = uattn_type_dim(tile, 0);
  int64_t columns = uattn_type_dim(tile, 1);
  int64_t stage_count = uattn_ring_stage_count(ring);
  bool is_records = mlirTypeIsAF32(uattn_type_element(tile)) &&
                    columns == UATTN_RECORD_NUMBERS && rows <= MAX_BOX_ROWS;
  if (is_records)
    return check_ring_memory(op, stage_count, 4 * rows * columns);
  if (!uattn_is_packed_tile(tile) || rows % SWIZZLE_ROWS != 0 ||
      rows > MAX_BOX_ROWS || columns % UATTN_PANEL_COLUMNS != 0 ||
      columns > UATTN_MAX_TILE_COLUMNS)
    return uattn_distribute_refuse(
        op, "a slot's tile", tile,
        "bf16 or f16, at most 256 rows, a multiple of 8, and a multiple of 64 "
        "columns, at most 512; or records, at most 256 rows of 4 columns of "
        "f32");
  return check_ring_memory(op, stage_count, rows * columns * 2);
}

static bool is_f32_tile(MlirType tile) {
  return mlirTypeIsAF32(uattn_type_element(tile));
}

/* A tile that a warpgroup writes or multiplies, or what sums are staged in. */
static bool check_smem_alloc(MlirOperation op) {
  MlirType tile = uattn_type_inner(result_type(op, 0));
  int64_t rows = uattn_type_dim(tile, 0);
  int64_t columns = uattn_type_dim(tile, 1);
  if ((!uattn_is_packed_tile(tile) && !is_f32_tile(tile)) ||
      rows % SWIZZLE_ROWS != 0 || rows > MAX_BOX_ROWS ||
      columns % UATTN_PANEL_COLUMNS != 0 || columns > UATTN_MAX_TILE_COLUMNS ||
      (is_f32_tile(tile) && columns != UATTN_PANEL_COLUMNS))
    return uattn_distribute_refuse(
        op, "the tile", tile,
        "at most 256 rows, a multiple of 8, and of bf16 or f16 a multiple of "
        "64 columns, at most 512, of f32 64 columns");
  return check_ring_end(op, UATTN_ATTR_SMEM_OFFSET, 1,
                        rows * columns * (is_f32_tile(tile) ? 4 : 2));
}

static bool check_named_barrier(MlirOperation op) {
  return check_most(op, UATTN_ATTR_THREADS, MAX_THREADS);
}

static bool has_panel_box(MlirOperation op, MlirType map) {
  MlirType box = uattn_type_inner(map);
  return uattn_type_dim(box, 1) == UATTN_PANEL_COLUMNS ||
         uattn_distribute_refuse(op, "the tensor map's box", box, "64 columns");
}

/* `number` of the operand that is global memory: of f32. */
static bool is_f32_memory(MlirOperation op, intptr_t number) {
  return has_f32_elements(op, "the memory's element type",
                          uattn_type_inner(operand_type(op, number)));
}

static bool check_produce_records(MlirOperation op) {
  return is_f32_memory(op, 0);
}

static bool check_ring_produce(MlirOperation op) {
  return has_panel_box(op, operand_type(op, 0));
}

static bool check_wgmma(MlirOperation op) {
  MlirType b = uattn_type_inner(operand_type(op, 1));
  bool is_transposed = uattn_op_has_unit(op, UATTN_ATTR_TRANSPOSE_B);
  int64_t k = uattn_type_dim(b, is_transposed ? 1 : 0);
  int64_t n = uattn_type_dim(b, is_transposed ? 0 : 1);
  if (n <= MAX_WGMMA_N && k % WGMMA_K_STEP == 0)
    return true;
  uattn_emit_error(op,
                   "a product of %lld columns over %lld elements has no "
                   "instruction: expected at most %d columns and a multiple "
                   "of %d elements",
                   (long long)n, (long long)k, MAX_WGMMA_N, WGMMA_K_STEP);
  return false;
}

static bool check_truncf(MlirOperation op) {
  return !uattn_is_packed_tile(result_type(op, 0)) || check_f32_operand(op);
}

static bool is_i32(MlirType type) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 32;
}

/* 16-bit floats arrive as f32, other elements as they are. */
static bool check_load(MlirOperation op) {
  MlirType source = uattn_type_inner(operand_type(op, 0));
  MlirType found = result_type(op, 0);
  MlirType element =
      mlirTypeIsAVector(found) ? uattn_type_element(found) : found;
  bool is_float = mlirTypeIsAF32(source) || mlirTypeIsABF16(source) ||
                  mlirTypeIsAF16(source);
  if (!is_float && !is_i32(source))
    return uattn_distribute_refuse(op, "the source's element type", source,
                                   "f32, bf16, f16 or i32");
  if (is_float ? mlirTypeIsAF32(element) : is_i32(element))
    return true;
  return uattn_distribute_refuse(op, "the type of what is loaded", found,
                                 is_float ? "f32 elements" : "i32 elements");
}

static bool check_mask(MlirOperation op) {
  for (intptr_t i = 2; i < mlirOperationGetNumOperands(op); ++i)
    if (!is_i32(uattn_type_element(operand_type(op, i))))
      return uattn_distribute_refuse(op, "a limit", operand_type(op, i),
                                     "i32 elements");
  return check_f32_operand(op);
}

static bool check_row_index(MlirOperation op) {
  MlirType type = result_type(op, 0);
  return (mlirShapedTypeGetRank(type) == 1 &&
          is_i32(uattn_type_element(type))) ||
         uattn_distribute_refuse(op, "the rows' type", type, "64 rows of i32");
}

static bool are_flags(MlirOperation op, MlirType type) {
  MlirType element = uattn_type_element(type);
  return (mlirShapedTypeGetRank(type) == 1 && mlirTypeIsAInteger(element) &&
          mlirIntegerTypeGetWidth(element) == 1) ||
         uattn_distribute_refuse(op, "flags", type, "64 rows of i1");
}

static bool check_flags(MlirOperation op) {
  return are_flags(op, operand_type(op, 0));
}

/* A tile that one warpgroup reads or writes as fragments. */
static bool check_smem_tile(MlirOperation op) {
  MlirType tile = uattn_type_inner(operand_type(op, 0));
  return (uattn_is_packed_tile(tile) &&
          uattn_type_dim(tile, 0) == UATTN_WARPGROUP_ROWS &&
          uattn_type_dim(tile, 1) % UATTN_PANEL_COLUMNS == 0) ||
         uattn_distribute_refuse(
             op, "the tile", tile,
             "64 rows and a multiple of 64 columns of bf16 or f16");
}

static bool check_negate_rows(MlirOperation op) {
  return check_smem_tile(op) && are_flags(op, operand_type(op, 1));
}

static bool check_clear_rows(MlirOperation op) {
  MlirType tile = uattn_type_inner(operand_type(op, 0));
  return uattn_is_packed_tile(tile) ||
         uattn_distribute_refuse(op, "the tile", tile, "bf16 or f16 elements");
}

/* An stmatrix takes 16 columns. */
static bool check_transpose(MlirOperation op) {
  MlirType value = operand_type(op, 0);
  return (uattn_is_packed_tile(value) &&
          uattn_type_dim(value, 1) % STMATRIX_COLUMNS == 0) ||
         uattn_distribute_refuse(op, "the value", value,
                                 "a multiple of 16 columns of bf16 or f16");
}

static bool check_column_read(MlirOperation op) {
  MlirType element = uattn_type_element(result_type(op, 0));
  return mlirTypeIsAF32(element) || is_i32(element) ||
         uattn_distribute_refuse(op, "the tile", result_type(op, 0),
                                 "f32 or i32 elements");
}

static bool check_record_store(MlirOperation op) {
  for (intptr_t i = 0; i < UATTN_RECORD_NUMBERS; ++i)
    if (!has_f32_elements(op, "the rows' type", operand_type(op, i)))
      return false;
  return is_f32_memory(op, UATTN_RECORD_NUMBERS);
}

static bool check_sums_clear(MlirOperation op) {
  return is_f32_memory(op, 0) &&
         check_most(op, UATTN_ATTR_COLUMNS, UATTN_MAX_TILE_COLUMNS);
}

static bool check_sums_add(MlirOperation op) { return is_f32_memory(op, 2); }

static bool check_sums_load(MlirOperation op) {
  return is_f32_memory(op, 0) &&
         has_f32_elements(op, "the tile", result_type(op, 0));
}

static bool check_row_dot(MlirOperation op) {
  return check_smem_tile(op) &&
         has_f32_elements(op, "the rows' type", result_type(op, 0));
}

static bool check_row_broadcast(MlirOperation op) {
  return !uattn_is_packed_tile(result_type(op, 0)) ||
         uattn_distribute_refuse(op, "the tile", result_type(op, 0),
                                 "elements of another type than bf16 or f16");
}

static bool check_row_store(MlirOperation op) {
  MlirType target = uattn_type_inner(operand_type(op, 1));
  return has_f32_elements(op, "the rows' type", operand_type(op, 0)) &&
         has_f32_elements(op, "the target's element type", target);
}

static bool check_tile_store(MlirOperation op) {
  MlirType value = operand_type(op, 0);
  MlirType staging = uattn_type_inner(operand_type(op, 1));
  if (!mlirTypeEqual(value, staging))
    return uattn_distribute_refuse(op, "the value's type", value,
                                   "the staging tile's element type");
  if (!uattn_is_packed_tile(value))
    return uattn_distribute_refuse(op, "the value's type", value,
                                   "bf16 or f16 elements");
  return has_panel_box(op, operand_type(op, 2));
}

static bool check_constant(MlirOperation op) {
  MlirType type = result_type(op, 0);
  MlirAttribute value = uattn_op_get_attribute(op, "value");
  return !mlirTypeIsAVector(type) ||
         (!uattn_is_packed_tile(type) && mlirAttributeIsADenseElements(value) &&
          mlirDenseElementsAttrIsSplat(value)) ||
         uattn_distribute_refuse(
             op, "a constant tile", type,
             "the same value in every element, and no packed type");
}

static const struct {
  const char *name;
  bool (*check)(MlirOperation op);
} op_checks[] = {
    {"arith.constant", check_constant},
    {"arith.truncf", check_truncf},
    {"math.log2", check_f32_operand},
    {"vector.multi_reduction", check_f32_operand},
    {UATTN_OPNAME_RING_ALLOC, check_ring_alloc},
    {UATTN_OPNAME_RING_PRODUCE, check_ring_produce},
    {UATTN_OPNAME_RING_PRODUCE_RECORDS, check_produce_records},
    {UATTN_OPNAME_SMEM_ALLOC, check_smem_alloc},
    {UATTN_OPNAME_SMEM_TRANSPOSE, check_transpose},
    {UATTN_OPNAME_SMEM_CLEAR_ROWS, check_clear_rows},
    {UATTN_OPNAME_SMEM_DROP_ROWS, check_negate_rows},
    {UATTN_OPNAME_COLUMN_READ, check_column_read},
    {UATTN_OPNAME_RECORD_STORE, check_record_store},
    {UATTN_OPNAME_SUMS_CLEAR, check_sums_clear},
    {UATTN_OPNAME_SUMS_ADD, check_sums_add},
    {UATTN_OPNAME_SUMS_LOAD, check_sums_load},
    {UATTN_OPNAME_NAMED_BARRIER_SYNC, check_named_barrier},
    {UATTN_OPNAME_NAMED_BARRIER_ARRIVE, check_named_barrier},
    {UATTN_OPNAME_WGMMA, check_wgmma},
    {UATTN_OPNAME_WGMMA_WAIT, check_wait},
    {UATTN_OPNAME_ROW_BROADCAST, check_row_broadcast},
    {UATTN_OPNAME_FOLD_COLUMNS, check_f32_operand},
    {UATTN_OPNAME_MASK_APPLY, check_mask},
    {UATTN_OPNAME_EXP2_APPLY, check_f32_operand},
    {UATTN_OPNAME_ROW_INDEX, check_row_index},
    {UATTN_OPNAME_WARP_ANY, check_flags},
    {UATTN_OPNAME_WARPGROUP_ALL, check_flags},
    {UATTN_OPNAME_ROW_LOAD, check_load},
    {UATTN_OPNAME_SCALAR_LOAD, check_load},
    {UATTN_OPNAME_COLUMN_LOAD, check_load},
    {UATTN_OPNAME_SMEM_READ, check_smem_tile},
    {UATTN_OPNAME_SMEM_NEGATE_ROWS, check_negate_rows},
    {UATTN_OPNAME_ROW_DOT, check_row_dot},
    {UATTN_OPNAME_ROW_STORE, check_row_store},
    {UATTN_OPNAME_TILE_STORE, check_tile_store},
};

bool uattn_distribute_check(MlirOperation op) {
  if (!check_values(op))
    return false;
  for (size_t i = 0; i < sizeof op_checks / sizeof *op_checks; ++i)
    if (uattn_op_is(op, op_checks[i].name))
      return op_checks[i].check(op);
  return true;
}

/* ---- A kernel -------------------------------------------------------------
 */

static bool has_kernel_attributes(MlirOperation function) {
  int64_t value;
  if (uattn_op_has_unit(function, "gpu.kernel") &&
      uattn_op_get_i64(function, UATTN_KERNEL_ATTR_THREADS, &value) &&
      uattn_op_get_i64(function, UATTN_KERNEL_ATTR_ENTRY_REGISTERS, &value) &&
      uattn_op_get_i64(function, UATTN_KERNEL_ATTR_SMEM_BYTES, &value))
    return true;
  uattn_emit_error(function,
                   "a gpu.func is no kernel of uattn: expected the attributes "
                   "gpu.kernel, " UATTN_KERNEL_ATTR_THREADS
                   ", " UATTN_KERNEL_ATTR_ENTRY_REGISTERS
                   " and " UATTN_KERNEL_ATTR_SMEM_BYTES);
  return false;
}

/* What the parameter space and registers hold. */
static bool is_parameter(MlirType type) {
  return mlirTypeIsAInteger(type) || mlirTypeIsAFloat(type) ||
         mlirTypeIsAVector(type) ||
         uattn_type_is(type, UATTN_TYPENAME_TENSOR_MAP) ||
         uattn_type_is(type, UATTN_TYPENAME_GLOBAL);
}

/* Every block argument is a parameter: none is memory that gpu.func declares
 * beside them. */
static bool check_parameters(MlirOperation function, MlirBlock body) {
  MlirType type =
      mlirTypeAttrGetValue(uattn_op_get_attribute(function, "function_type"));
  if (mlirFunctionTypeGetNumInputs(type) != mlirBlockGetNumArguments(body)) {
    uattn_emit_error(function, "a kernel of uattn has workgroup or private "
                               "memory: expected parameters alone");
    return false;
  }
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    MlirType argument = mlirValueGetType(mlirBlockGetArgument(body, i));
    if (!is_parameter(argument))
      return uattn_distribute_refuse(
          function, "a kernel's parameter", argument,
          "a number, a vector, a tensor map or global "
          "memory");
    if (mlirTypeIsNull(uattn_distributed_type(argument)))
      return uattn_refuse_layout(function, argument);
  }
  return true;
}

static bool check_number(MlirOperation function, const char *name, int64_t low,
                         int64_t high, int64_t step) {
  int64_t value = 0;
  UATTN_CHECK(uattn_op_get_i64(function, name, &value));
  if (value >= low && value <= high && value % step == 0)
    return true;
  uattn_emit_error(
      function, "%s is %lld: expected %lld to %lld in steps of %lld", name,
      (long long)value, (long long)low, (long long)high, (long long)step);
  return false;
}

bool uattn_distribute_check_kernel(MlirOperation function) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  return has_kernel_attributes(function) &&
         check_number(function, UATTN_KERNEL_ATTR_THREADS,
                      UATTN_WARPGROUP_THREADS, MAX_THREADS,
                      UATTN_WARPGROUP_THREADS) &&
         check_number(function, UATTN_KERNEL_ATTR_ENTRY_REGISTERS, 24, 248,
                      8) &&
         check_number(function, UATTN_KERNEL_ATTR_SMEM_BYTES, 0, MAX_SMEM_BYTES,
                      1) &&
         check_parameters(function, body);
}
