/* Builders of arith, math and vector ops.
 * Layer: emit. Must not know: attributes of the op level, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/builder.h"

static MlirValue constant(const uattn_builder_t *b, MlirType type,
                          MlirAttribute value) {
  uattn_op_t op = uattn_op("arith.constant");
  uattn_op_attribute(&op, "value", value);
  uattn_op_result(&op, type);
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_constant_i32(const uattn_builder_t *b, int32_t value) {
  return constant(b, uattn_type_i32(b), uattn_attribute_i32(b, value));
}

MlirValue uattn_constant_i64(const uattn_builder_t *b, int64_t value) {
  return constant(b, uattn_type_i64(b), uattn_attribute_i64(b, value));
}

static MlirAttribute f32_attribute(const uattn_builder_t *b, double value) {
  return mlirFloatAttrDoubleGet(b->context, uattn_type_f32(b), value);
}

MlirValue uattn_constant_f32(const uattn_builder_t *b, double value) {
  return constant(b, uattn_type_f32(b), f32_attribute(b, value));
}

MlirValue uattn_constant_splat(const uattn_builder_t *b, MlirType type,
                               double value) {
  return constant(b, type,
                  mlirDenseElementsAttrSplatGet(type, f32_attribute(b, value)));
}

MlirValue uattn_constant_splat_i32(const uattn_builder_t *b, MlirType type,
                                   int32_t value) {
  return constant(
      b, type,
      mlirDenseElementsAttrSplatGet(type, uattn_attribute_i32(b, value)));
}

MlirValue uattn_constant_splat_i1(const uattn_builder_t *b, MlirType type,
                                  bool value) {
  return constant(
      b, type,
      mlirDenseElementsAttrSplatGet(type, mlirBoolAttrGet(b->context, value)));
}

static MlirValue same_type(const uattn_builder_t *b, const char *name,
                           const MlirValue *operands, int count,
                           const char *fastmath) {
  uattn_op_t op = uattn_op(name);
  for (int i = 0; i < count; ++i)
    uattn_op_operand(&op, operands[i]);
  if (fastmath)
    uattn_op_attribute(
        &op, "fastmath",
        uattn_attribute_parse(b->context, "#arith.fastmath<%s>", fastmath));
  uattn_op_result(&op, mlirValueGetType(operands[0]));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_unary(const uattn_builder_t *b, const char *name,
                      MlirValue value) {
  return same_type(b, name, &value, 1, NULL);
}

MlirValue uattn_binary(const uattn_builder_t *b, const char *name,
                       MlirValue lhs, MlirValue rhs) {
  MlirValue operands[2] = {lhs, rhs};
  return same_type(b, name, operands, 2, NULL);
}

MlirValue uattn_binary_i32(const uattn_builder_t *b, const char *name,
                           MlirValue lhs, int64_t constant) {
  return uattn_binary(b, name, lhs, uattn_constant_i32(b, (int32_t)constant));
}

MlirValue uattn_not(const uattn_builder_t *b, MlirValue flags) {
  return uattn_binary(
      b, "arith.xori", flags,
      uattn_constant_splat_i1(b, mlirValueGetType(flags), true));
}

MlirValue uattn_ternary(const uattn_builder_t *b, const char *name,
                        MlirValue first, MlirValue second, MlirValue third) {
  MlirValue operands[3] = {first, second, third};
  return same_type(b, name, operands, 3, NULL);
}

MlirValue uattn_unary_approximate(const uattn_builder_t *b, const char *name,
                                  MlirValue value) {
  return same_type(b, name, &value, 1, "afn");
}

MlirValue uattn_divide_approximate(const uattn_builder_t *b, MlirValue lhs,
                                   MlirValue rhs) {
  MlirValue operands[2] = {lhs, rhs};
  return same_type(b, "arith.divf", operands, 2, "arcp,afn");
}

MlirValue uattn_cast(const uattn_builder_t *b, const char *name,
                     MlirValue value, MlirType type) {
  uattn_op_t op = uattn_op(name);
  uattn_op_operand(&op, value);
  uattn_op_result(&op, type);
  return uattn_op_append_value(b, &op);
}

/* i1, or a vector of i1 of the shape of `operand`. */
static MlirType condition_type(const uattn_builder_t *b, MlirType operand) {
  if (!mlirTypeIsAVector(operand))
    return uattn_type_i1(b);
  int64_t shape[4];
  int64_t rank = mlirShapedTypeGetRank(operand);
  for (int64_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(operand, i);
  return mlirVectorTypeGet(rank, shape, uattn_type_i1(b));
}

static MlirValue compare(const uattn_builder_t *b, const char *name,
                         int predicate, MlirValue lhs, MlirValue rhs) {
  uattn_op_t op = uattn_op(name);
  uattn_op_operand(&op, lhs);
  uattn_op_operand(&op, rhs);
  uattn_op_attribute(&op, "predicate", uattn_attribute_i64(b, predicate));
  uattn_op_result(&op, condition_type(b, mlirValueGetType(lhs)));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_compare_i(const uattn_builder_t *b, int predicate,
                          MlirValue lhs, MlirValue rhs) {
  return compare(b, "arith.cmpi", predicate, lhs, rhs);
}

MlirValue uattn_compare_f(const uattn_builder_t *b, int predicate,
                          MlirValue lhs, MlirValue rhs) {
  return compare(b, "arith.cmpf", predicate, lhs, rhs);
}

MlirValue uattn_select(const uattn_builder_t *b, MlirValue condition,
                       MlirValue if_true, MlirValue if_false) {
  uattn_op_t op = uattn_op("arith.select");
  uattn_op_operand(&op, condition);
  uattn_op_operand(&op, if_true);
  uattn_op_operand(&op, if_false);
  uattn_op_result(&op, mlirValueGetType(if_true));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_broadcast(const uattn_builder_t *b, MlirValue scalar,
                          MlirType vector_type) {
  return uattn_cast(b, "vector.broadcast", scalar, vector_type);
}

MlirValue uattn_reduce_columns(const uattn_builder_t *b, const char *kind,
                               MlirValue tile, MlirValue accumulator) {
  uattn_op_t op = uattn_op("vector.multi_reduction");
  uattn_op_operand(&op, tile);
  uattn_op_operand(&op, accumulator);
  uattn_op_attribute(
      &op, "kind", uattn_attribute_parse(b->context, "#vector.kind<%s>", kind));
  uattn_op_attribute(&op, "reduction_dims",
                     uattn_attribute_parse(b->context, "array<i64: 1>"));
  uattn_op_result(&op, mlirValueGetType(accumulator));
  return uattn_op_append_value(b, &op);
}
