/* Inline PTX, and vectors taken apart for it.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/thread_builder.h"

/* llvm.inline_asm's asm_dialect: 0 is AT&T, which is what PTX passes as. */
MlirOperation uattn_inline_ptx(const uattn_builder_t *b, const char *text,
                               const char *constraints,
                               const MlirValue *operands, int operand_count,
                               MlirType result) {
  uattn_op_t op = uattn_op("llvm.inline_asm");
  uattn_op_more_operands(&op, operands, operand_count);
  uattn_op_attribute(&op, "asm_string", uattn_attribute_string(b, text));
  uattn_op_attribute(&op, "constraints",
                     uattn_attribute_string(b, constraints));
  uattn_op_attribute(&op, "has_side_effects", uattn_attribute_unit(b));
  uattn_op_attribute(&op, "asm_dialect", uattn_attribute_i64(b, 0));
  if (!mlirTypeIsNull(result))
    uattn_op_result(&op, result);
  return uattn_op_append(b, &op);
}

void uattn_vector_elements(const uattn_builder_t *b, MlirValue vector,
                           MlirValue *out_elements) {
  MlirType type = mlirValueGetType(vector);
  MlirType element = uattn_type_element(type);
  int64_t count = uattn_type_dim(type, 0);
  for (int64_t i = 0; i < count; ++i) {
    uattn_op_t op = uattn_op("vector.extract");
    uattn_op_operand(&op, vector);
    uattn_op_attribute(&op, "static_position",
                       mlirDenseI64ArrayGet(b->context, 1, &i));
    uattn_op_result(&op, element);
    out_elements[i] = uattn_op_append_value(b, &op);
  }
}

MlirValue uattn_vector_from_elements(const uattn_builder_t *b,
                                     const MlirValue *elements, int count) {
  uattn_op_t op = uattn_op("vector.from_elements");
  uattn_op_more_operands(&op, elements, count);
  uattn_op_result(&op,
                  uattn_type_vector1(mlirValueGetType(elements[0]), count));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_vector_shuffle2(const uattn_builder_t *b, MlirValue first,
                                MlirValue second, const int64_t *indices,
                                int count) {
  uattn_op_t op = uattn_op("vector.shuffle");
  uattn_op_operand(&op, first);
  uattn_op_operand(&op, second);
  uattn_op_attribute(&op, "mask",
                     mlirDenseI64ArrayGet(b->context, count, indices));
  uattn_op_result(&op, uattn_type_vector1(
                           uattn_type_element(mlirValueGetType(first)), count));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_vector_shuffle(const uattn_builder_t *b, MlirValue vector,
                               const int64_t *indices, int count) {
  return uattn_vector_shuffle2(b, vector, vector, indices, count);
}

MlirValue uattn_extract_value(const uattn_builder_t *b, MlirValue fields,
                              int64_t position, MlirType type) {
  uattn_op_t op = uattn_op("llvm.extractvalue");
  uattn_op_operand(&op, fields);
  uattn_op_attribute(&op, "position",
                     mlirDenseI64ArrayGet(b->context, 1, &position));
  uattn_op_result(&op, type);
  return uattn_op_append_value(b, &op);
}
