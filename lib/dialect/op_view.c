/* The attention ops' operands and results by meaning.
 * Layer: dialect. Must not know: shapes, attributes other than the segments.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect_verify.h"

bool uattn_is_attention_op(MlirOperation op) {
  return uattn_op_is(op, UATTN_OPNAME_RANKER_ATTENTION) ||
         uattn_op_is(op, UATTN_OPNAME_RANKER_ATTENTION_BWD);
}

static uattn_op_kind_t op_kind(MlirOperation op) {
  return uattn_op_is(op, UATTN_OPNAME_RANKER_ATTENTION) ? UATTN_OP_FORWARD
                                                        : UATTN_OP_BACKWARD;
}

static bool segments_are_right(MlirOperation op, const char *attribute_name,
                               const char *what, intptr_t group_count,
                               intptr_t value_count) {
  MlirAttribute sizes = uattn_op_get_attribute(op, attribute_name);
  if (mlirAttributeIsNull(sizes) || !mlirAttributeIsADenseI32Array(sizes)) {
    uattn_emit_error(op, "%s is missing: expected an array of %td i32",
                     attribute_name, group_count);
    return false;
  }
  intptr_t found_count = mlirDenseArrayGetNumElements(sizes);
  if (found_count != group_count) {
    uattn_emit_error(op, "%s has %td entries: expected %td", attribute_name,
                     found_count, group_count);
    return false;
  }
  intptr_t sum = 0;
  for (intptr_t group = 0; group < group_count; ++group) {
    int32_t size = mlirDenseI32ArrayGetElement(sizes, group);
    if (size != 0 && size != 1) {
      uattn_emit_error(op, "%s has %d at entry %td: expected 0 or 1",
                       attribute_name, size, group);
      return false;
    }
    sum += size;
  }
  if (sum == value_count)
    return true;
  uattn_emit_error(op, "%s adds up to %td: expected %td, the number of %s",
                   attribute_name, sum, value_count, what);
  return false;
}

bool uattn_verify_segments(MlirOperation op) {
  uattn_op_kind_t kind = op_kind(op);
  return segments_are_right(op, UATTN_ATTR_OPERAND_SEGMENTS, "operands",
                            uattn_operand_count(kind),
                            mlirOperationGetNumOperands(op)) &&
         segments_are_right(op, UATTN_ATTR_RESULT_SEGMENTS, "results",
                            uattn_result_count(kind),
                            mlirOperationGetNumResults(op));
}

uattn_op_view_t uattn_op_view(MlirOperation op) {
  uattn_op_view_t view = {.kind = op_kind(op)};
  MlirAttribute sizes = uattn_op_get_attribute(op, UATTN_ATTR_OPERAND_SEGMENTS);
  intptr_t next = 0;
  for (int index = 0; index < uattn_operand_count(view.kind); ++index)
    if (mlirDenseI32ArrayGetElement(sizes, index) == 1)
      view.operands[index] = mlirOperationGetOperand(op, next++);
  sizes = uattn_op_get_attribute(op, UATTN_ATTR_RESULT_SEGMENTS);
  next = 0;
  for (int index = 0; index < uattn_result_count(view.kind); ++index)
    if (mlirDenseI32ArrayGetElement(sizes, index) == 1)
      view.results[index] = mlirOperationGetResult(op, next++);
  return view;
}
