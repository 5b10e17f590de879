/* Arithmetic on tensors in Triton's ops: one op each.
 * Layer: passes. Must not know: what the kernel does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/ttgir.h"

/* ---- Spreading ------------------------------------------------------------
 */

static MlirValue with_result(const uattn_builder_t *b, const char *name,
                             MlirValue operand, MlirType type) {
  uattn_op_t op = uattn_op(name);
  uattn_op_operand(&op, operand);
  uattn_op_result(&op, type);
  return uattn_op_append_value(b, &op);
}

/* Rows or columns along the other dimension of `type`. */
static MlirValue spread_vector(const uattn_ttgir_role_t *role, MlirValue value,
                               MlirType type) {
  const uattn_builder_t *b = &role->b;
  MlirType from = mlirValueGetType(value);
  int axis = mlirAttributeEqual(mlirRankedTensorTypeGetEncoding(from),
                                role->kernel->layouts.scores_columns)
                 ? 0
                 : 1;
  int64_t shape[2] = {uattn_type_dim(type, 0), uattn_type_dim(type, 1)};
  shape[axis] = 1;
  MlirType thin =
      mlirRankedTensorTypeGet(2, shape, uattn_type_element(from),
                              mlirRankedTensorTypeGetEncoding(type));
  uattn_op_t op = uattn_op("tt.expand_dims");
  uattn_op_operand(&op, value);
  uattn_op_attribute(&op, "axis", uattn_attribute_i32(b, axis));
  uattn_op_result(&op, thin);
  return with_result(b, "tt.broadcast", uattn_op_append_value(b, &op), type);
}

MlirValue uattn_ttgir_spread(const uattn_ttgir_role_t *role, MlirValue value,
                             MlirType type) {
  const uattn_ttgir_layouts_t *layouts = &role->kernel->layouts;
  MlirType from = mlirValueGetType(value);
  if (mlirTypeEqual(from, type))
    return value;
  if (!mlirTypeIsARankedTensor(from))
    return with_result(&role->b, "tt.splat", value, type);
  bool is_for_out =
      mlirAttributeEqual(mlirRankedTensorTypeGetEncoding(type), layouts->out);
  if (is_for_out && !mlirAttributeEqual(layouts->out, layouts->scores)) {
    int64_t rows = UATTN_WARPGROUP_ROWS;
    value = uattn_ttgir_convert(
        role, value,
        mlirRankedTensorTypeGet(1, &rows, uattn_type_element(from),
                                layouts->out_rows));
  }
  return spread_vector(role, value, type);
}

/* ---- Elements -------------------------------------------------------------
 */

/* The type that `value` has when it is spread like `like`. */
static MlirValue spread_like(const uattn_ttgir_role_t *role, MlirValue value,
                             MlirValue like) {
  MlirType from = mlirValueGetType(value);
  MlirType element =
      mlirTypeIsARankedTensor(from) ? uattn_type_element(from) : from;
  return uattn_ttgir_spread(
      role, value, uattn_ttgir_type_of(mlirValueGetType(like), element));
}

MlirValue uattn_ttgir_binary(const uattn_ttgir_role_t *role, const char *name,
                             MlirValue lhs, MlirValue rhs) {
  return uattn_binary(&role->b, name, lhs, spread_like(role, rhs, lhs));
}

MlirValue uattn_ttgir_compare_i(const uattn_ttgir_role_t *role, int predicate,
                                MlirValue lhs, MlirValue rhs) {
  uattn_op_t op = uattn_op("arith.cmpi");
  uattn_op_operand(&op, lhs);
  uattn_op_operand(&op, spread_like(role, rhs, lhs));
  uattn_op_attribute(&op, "predicate",
                     uattn_attribute_i64(&role->b, predicate));
  uattn_op_result(
      &op, uattn_ttgir_type_of(mlirValueGetType(lhs), uattn_type_i1(&role->b)));
  return uattn_op_append_value(&role->b, &op);
}

MlirValue uattn_ttgir_reduce(const uattn_ttgir_role_t *role, const char *name,
                             MlirValue scores) {
  const uattn_builder_t *b = &role->b;
  MlirType element = uattn_type_element(mlirValueGetType(scores));
  MlirType pair[2] = {element, element};
  uattn_builder_t inner;
  MlirRegion body = uattn_region_create(b, pair, 2, &inner);
  uattn_op_t end = uattn_op("tt.reduce.return");
  uattn_op_operand(&end, uattn_binary(&inner, name,
                                      mlirBlockGetArgument(inner.block, 0),
                                      mlirBlockGetArgument(inner.block, 1)));
  uattn_op_append(&inner, &end);
  uattn_op_t op = uattn_op("tt.reduce");
  uattn_op_operand(&op, scores);
  uattn_op_attribute(&op, "axis", uattn_attribute_i32(b, 1));
  uattn_op_region(&op, body);
  uattn_op_result(&op, uattn_ttgir_rows_type(role->kernel, element));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_ttgir_convert(const uattn_ttgir_role_t *role, MlirValue tensor,
                              MlirType type) {
  return with_result(&role->b, "ttg.convert_layout", tensor, type);
}

MlirValue uattn_ttgir_range(const uattn_ttgir_role_t *role, MlirType type,
                            MlirValue first) {
  const uattn_builder_t *b = &role->b;
  uattn_op_t op = uattn_op("tt.make_range");
  uattn_op_attribute(&op, "start", uattn_attribute_i32(b, 0));
  uattn_op_attribute(&op, "end",
                     uattn_attribute_i32(b, uattn_type_dim(type, 0)));
  uattn_op_result(&op, type);
  return uattn_ttgir_binary(role, "arith.addi", uattn_op_append_value(b, &op),
                            first);
}

MlirValue uattn_ttgir_ptx(const uattn_ttgir_role_t *role, const char *text,
                          MlirValue value) {
  const uattn_builder_t *b = &role->b;
  uattn_op_t op = uattn_op("tt.elementwise_inline_asm");
  uattn_op_operand(&op, value);
  uattn_op_attribute(&op, "asm_string", uattn_attribute_string(b, text));
  uattn_op_attribute(&op, "constraints", uattn_attribute_string(b, "=f,f"));
  uattn_op_attribute(&op, "packed_element", uattn_attribute_i32(b, 1));
  uattn_op_attribute(&op, "pure", mlirBoolAttrGet(b->context, true));
  uattn_op_result(&op, mlirValueGetType(value));
  return uattn_op_append_value(b, &op);
}

/* ---- Grid and global memory -----------------------------------------------
 */

MlirValue uattn_ttgir_program_id(const uattn_ttgir_role_t *role, int axis) {
  uattn_op_t op = uattn_op("tt.get_program_id");
  uattn_op_attribute(&op, "axis", uattn_attribute_i32(&role->b, axis));
  uattn_op_result(&op, uattn_type_i32(&role->b));
  return uattn_op_append_value(&role->b, &op);
}

MlirValue uattn_ttgir_advance(const uattn_ttgir_role_t *role, MlirValue pointer,
                              MlirValue offset) {
  MlirType type =
      uattn_ttgir_type_of(mlirValueGetType(offset), mlirValueGetType(pointer));
  uattn_op_t op = uattn_op("tt.addptr");
  uattn_op_operand(&op, uattn_ttgir_spread(role, pointer, type));
  uattn_op_operand(&op, offset);
  uattn_op_result(&op, type);
  return uattn_op_append_value(&role->b, &op);
}

/* Attributes that loads and stores share: nothing special. */
static void add_access(const uattn_builder_t *b, uattn_op_t *op) {
  uattn_op_attribute(op, "boundaryCheck",
                     mlirDenseI32ArrayGet(b->context, 0, NULL));
  uattn_op_attribute(op, "cache", uattn_attribute_i32(b, 1));
  uattn_op_attribute(op, "evict", uattn_attribute_i32(b, 1));
}

static MlirValue load(const uattn_builder_t *b, const MlirValue *operands,
                      bool is_masked, MlirType type) {
  int32_t segments[3] = {1, is_masked, is_masked};
  uattn_op_t op = uattn_op("tt.load");
  for (int i = 0; i < (is_masked ? 3 : 1); ++i)
    uattn_op_operand(&op, operands[i]);
  add_access(b, &op);
  uattn_op_attribute(&op, "isVolatile", mlirBoolAttrGet(b->context, false));
  uattn_op_attribute(&op, "operandSegmentSizes",
                     mlirDenseI32ArrayGet(b->context, 3, segments));
  uattn_op_result(&op, type);
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_ttgir_load_scalar(const uattn_ttgir_role_t *role,
                                  MlirValue pointer, MlirType element) {
  return load(&role->b, &pointer, false, element);
}

static MlirValue zeros(const uattn_builder_t *b, MlirType type) {
  MlirType element = uattn_type_element(type);
  MlirAttribute zero = mlirTypeIsAInteger(element)
                           ? mlirIntegerAttrGet(element, 0)
                           : mlirFloatAttrDoubleGet(b->context, element, 0.0);
  uattn_op_t op = uattn_op("arith.constant");
  uattn_op_attribute(&op, "value", mlirDenseElementsAttrSplatGet(type, zero));
  uattn_op_result(&op, type);
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_ttgir_load(const uattn_ttgir_role_t *role, MlirValue pointer,
                           MlirType element, MlirValue indices,
                           MlirValue mask) {
  MlirType type = uattn_ttgir_type_of(mlirValueGetType(indices), element);
  MlirValue operands[3] = {uattn_ttgir_advance(role, pointer, indices), mask,
                           zeros(&role->b, type)};
  return load(&role->b, operands, true, type);
}

void uattn_ttgir_store(const uattn_ttgir_role_t *role, MlirValue pointer,
                       MlirValue indices, MlirValue value, MlirValue mask) {
  uattn_op_t op = uattn_op("tt.store");
  uattn_op_operand(&op, uattn_ttgir_advance(role, pointer, indices));
  uattn_op_operand(&op, value);
  uattn_op_operand(&op, mask);
  add_access(&role->b, &op);
  uattn_op_append(&role->b, &op);
}
