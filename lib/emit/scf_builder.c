/* Builders of structured control flow.
 * Layer: emit. Must not know: attributes of the op level, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/builder.h"

MlirRegion uattn_region_create(const uattn_builder_t *b, const MlirType *types,
                               int type_count, uattn_builder_t *out_inner) {
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  for (int i = 0; i < type_count; ++i)
    mlirBlockAddArgument(block, types[i], b->location);
  mlirRegionAppendOwnedBlock(region, block);
  *out_inner = uattn_builder_at_end(block, b->location);
  return region;
}

void uattn_yield(const uattn_builder_t *b, const MlirValue *values, int count) {
  uattn_op_t op = uattn_op("scf.yield");
  for (int i = 0; i < count; ++i)
    uattn_op_operand(&op, values[i]);
  uattn_op_append(b, &op);
}

MlirOperation uattn_for_append(const uattn_builder_t *b, MlirValue lower,
                               MlirValue upper, MlirValue step,
                               const MlirValue *initial, int initial_count,
                               MlirRegion owned_body) {
  uattn_op_t op = uattn_op("scf.for");
  uattn_op_operand(&op, lower);
  uattn_op_operand(&op, upper);
  uattn_op_operand(&op, step);
  for (int i = 0; i < initial_count; ++i) {
    uattn_op_operand(&op, initial[i]);
    uattn_op_result(&op, mlirValueGetType(initial[i]));
  }
  uattn_op_region(&op, owned_body);
  return uattn_op_append(b, &op);
}

MlirOperation uattn_if_else_append(const uattn_builder_t *b,
                                   MlirValue condition, const MlirType *types,
                                   int type_count, MlirRegion owned_then,
                                   MlirRegion owned_else) {
  uattn_op_t op = uattn_op("scf.if");
  uattn_op_operand(&op, condition);
  for (int i = 0; i < type_count; ++i)
    uattn_op_result(&op, types[i]);
  uattn_op_region(&op, owned_then);
  uattn_op_region(&op, owned_else);
  return uattn_op_append(b, &op);
}

void uattn_if_append(const uattn_builder_t *b, MlirValue condition,
                     MlirRegion owned_then) {
  uattn_op_t op = uattn_op("scf.if");
  uattn_op_operand(&op, condition);
  uattn_op_region(&op, owned_then);
  uattn_op_region(&op, mlirRegionCreate());
  uattn_op_append(b, &op);
}
