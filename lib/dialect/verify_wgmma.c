/* Rules of the matrix products.
 * Layer: dialect. Must not know: plans, kernels, how an op is lowered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/verify_pipeline.h"

#include <inttypes.h>

/* `a` is a tile in registers or in shared memory. */
static bool verify_wgmma_a(MlirOperation op, uattn_tile_t *out_a) {
  MlirType type = uattn_operand_type(op, 0);
  if (uattn_type_is(type, UATTN_TYPENAME_SMEM)) {
    *out_a = uattn_inner_tile(type);
    return true;
  }
  return uattn_tile_from_vector(type, out_a) ||
         uattn_refuse_type(op, "a", type, "a vector of rank 2 or an smem tile");
}

static bool verify_wgmma_elements(MlirOperation op, const uattn_tile_t *a,
                                  const uattn_tile_t *b) {
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

bool uattn_verify_wgmma(MlirOperation op) {
  uattn_tile_t a, result;
  if (!uattn_verify_unit(op, UATTN_ATTR_TRANSPOSE_B) ||
      !uattn_verify_unit(op, UATTN_ATTR_NEGATE_A) || !verify_wgmma_a(op, &a))
    return false;
  uattn_tile_t b = uattn_inner_tile(uattn_operand_type(op, 1));
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
  MlirType found = uattn_result_type(op, 0);
  MlirType f32 = mlirF32TypeGet(mlirOperationGetContext(op));
  uattn_tile_t wanted = {a.rows, b_outer, f32};
  if (!uattn_tile_from_vector(found, &result) ||
      !uattn_tile_equals(&result, &wanted))
    return uattn_refuse_tile(op, "the product", found, &wanted);
  return mlirOperationGetNumOperands(op) < 3 ||
         mlirTypeEqual(uattn_operand_type(op, 2), found) ||
         uattn_refuse_tile(op, "acc", uattn_operand_type(op, 2), &wanted);
}

bool uattn_verify_wgmma_wait(MlirOperation op) {
  intptr_t operands = mlirOperationGetNumOperands(op);
  intptr_t results = mlirOperationGetNumResults(op);
  if (operands != results) {
    uattn_emit_error(op, "%td values go in and %td come out: expected as many",
                     operands, results);
    return false;
  }
  for (intptr_t i = 0; i < operands; ++i)
    if (!mlirTypeEqual(uattn_operand_type(op, i), uattn_result_type(op, i)))
      return uattn_refuse_type(op, "a result", uattn_result_type(op, i),
                               "the type of its operand");
  return uattn_verify_i64(op, UATTN_ATTR_PENDING, 0, 1);
}
