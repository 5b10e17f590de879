/* Plain loads from global memory.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/thread_builder.h"

MlirValue uattn_emit_global_address(const uattn_builder_t *b, MlirValue base,
                                    MlirValue offset, MlirValue index,
                                    MlirType element) {
  int32_t dynamic_index = INT32_MIN; /* the index is an operand */
  MlirValue position =
      uattn_binary(b, "arith.addi", offset,
                   uattn_cast(b, "arith.extui", index, uattn_type_i64(b)));
  uattn_op_t op = uattn_op("llvm.getelementptr");
  uattn_op_operand(&op, base);
  uattn_op_operand(&op, position);
  uattn_op_attribute(&op, "elem_type", mlirTypeAttrGet(element));
  uattn_op_attribute(&op, "rawConstantIndices",
                     mlirDenseI32ArrayGet(b->context, 1, &dynamic_index));
  uattn_op_result(&op, mlirValueGetType(base));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_global_load(const uattn_builder_t *b, MlirValue base,
                                 MlirValue offset, MlirValue index,
                                 MlirType element) {
  uattn_op_t op = uattn_op("llvm.load");
  uattn_op_operand(&op,
                   uattn_emit_global_address(b, base, offset, index, element));
  uattn_op_result(&op, element);
  MlirValue loaded = uattn_op_append_value(b, &op);
  return mlirTypeIsABF16(element) || mlirTypeIsAF16(element)
             ? uattn_cast(b, "arith.extf", loaded, uattn_type_f32(b))
             : loaded;
}
