/* Builders of single ops, types and attributes.
 * Layer: emit. Must not know: attributes of the op level, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/builder.h"

uattn_builder_t uattn_builder_at_end(MlirBlock block, MlirLocation location) {
  uattn_builder_t builder = {mlirLocationGetContext(location), location, block};
  return builder;
}

MlirType uattn_type_i1(const uattn_builder_t *b) {
  return mlirIntegerTypeGet(b->context, 1);
}
MlirType uattn_type_i32(const uattn_builder_t *b) {
  return mlirIntegerTypeGet(b->context, 32);
}
MlirType uattn_type_i64(const uattn_builder_t *b) {
  return mlirIntegerTypeGet(b->context, 64);
}
MlirType uattn_type_f32(const uattn_builder_t *b) {
  return mlirF32TypeGet(b->context);
}
MlirType uattn_type_index(const uattn_builder_t *b) {
  return mlirIndexTypeGet(b->context);
}

MlirType uattn_type_vector1(MlirType element, int64_t count) {
  return mlirVectorTypeGet(1, &count, element);
}

MlirType uattn_type_vector2(MlirType element, int64_t rows, int64_t columns) {
  int64_t shape[2] = {rows, columns};
  return mlirVectorTypeGet(2, shape, element);
}

MlirType uattn_type_parse(MlirContext context, const char *format, ...) {
  uattn_string_t text = {0};
  va_list arguments;
  va_start(arguments, format);
  uattn_string_appendv(&text, format, arguments);
  va_end(arguments);
  MlirType type = mlirTypeParseGet(
      context, mlirStringRefCreateFromCString(uattn_string_get(&text)));
  uattn_string_release(&text);
  UATTN_CHECK(!mlirTypeIsNull(type));
  return type;
}

MlirAttribute uattn_attribute_parse(MlirContext context, const char *format,
                                    ...) {
  uattn_string_t text = {0};
  va_list arguments;
  va_start(arguments, format);
  uattn_string_appendv(&text, format, arguments);
  va_end(arguments);
  MlirAttribute attribute = mlirAttributeParseGet(
      context, mlirStringRefCreateFromCString(uattn_string_get(&text)));
  uattn_string_release(&text);
  UATTN_CHECK(!mlirAttributeIsNull(attribute));
  return attribute;
}

MlirAttribute uattn_attribute_i32(const uattn_builder_t *b, int64_t value) {
  return mlirIntegerAttrGet(uattn_type_i32(b), value);
}
MlirAttribute uattn_attribute_i64(const uattn_builder_t *b, int64_t value) {
  return mlirIntegerAttrGet(uattn_type_i64(b), value);
}
MlirAttribute uattn_attribute_string(const uattn_builder_t *b,
                                     const char *text) {
  return mlirStringAttrGet(b->context, mlirStringRefCreateFromCString(text));
}
MlirAttribute uattn_attribute_unit(const uattn_builder_t *b) {
  return mlirUnitAttrGet(b->context);
}

MlirType uattn_type_element(MlirType type) {
  return mlirShapedTypeGetElementType(type);
}
int64_t uattn_type_dim(MlirType type, int dim) {
  return mlirShapedTypeGetDimSize(type, dim);
}

uattn_op_t uattn_op(const char *name) {
  uattn_op_t op = {.name = name};
  return op;
}

void uattn_op_operand(uattn_op_t *op, MlirValue operand) {
  UATTN_CHECK(op->operand_count < UATTN_OP_MAX_OPERANDS);
  op->operands[op->operand_count++] = operand;
}

void uattn_op_more_operands(uattn_op_t *op, const MlirValue *operands,
                            int count) {
  op->more_operands = operands;
  op->more_operand_count = count;
}

void uattn_op_result(uattn_op_t *op, MlirType type) {
  UATTN_CHECK(op->result_count < UATTN_OP_MAX_OPERANDS);
  op->results[op->result_count++] = type;
}

void uattn_op_attribute(uattn_op_t *op, const char *name, MlirAttribute value) {
  UATTN_CHECK(op->attribute_count < UATTN_OP_MAX_ATTRIBUTES);
  MlirContext context = mlirAttributeGetContext(value);
  op->attributes[op->attribute_count++] = mlirNamedAttributeGet(
      mlirIdentifierGet(context, mlirStringRefCreateFromCString(name)), value);
}

void uattn_op_region(uattn_op_t *op, MlirRegion owned_region) {
  UATTN_CHECK(op->region_count < UATTN_OP_MAX_REGIONS);
  op->regions[op->region_count++] = owned_region;
}

MlirOperation uattn_op_append(const uattn_builder_t *b, const uattn_op_t *op) {
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString(op->name), b->location);
  mlirOperationStateAddOperands(&state, op->operand_count, op->operands);
  mlirOperationStateAddOperands(&state, op->more_operand_count,
                                op->more_operands);
  mlirOperationStateAddResults(&state, op->result_count, op->results);
  mlirOperationStateAddAttributes(&state, op->attribute_count, op->attributes);
  mlirOperationStateAddOwnedRegions(&state, op->region_count, op->regions);
  MlirOperation operation = mlirOperationCreate(&state);
  UATTN_CHECK(!mlirOperationIsNull(operation));
  mlirBlockAppendOwnedOperation(b->block, operation);
  return operation;
}

MlirValue uattn_op_append_value(const uattn_builder_t *b,
                                const uattn_op_t *op) {
  return mlirOperationGetResult(uattn_op_append(b, op), 0);
}
