/* Pass uattn-expand-tile-ops: caps as elementwise arithmetic.
 * Layer: passes. Must not know: layouts, kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "emit/builder.h"
#include "passes/pass_runs.h"
#include "passes/walk.h"

/* The replacement is built in a block of its own and moved before the op. */
static void replace(MlirOperation op, MlirBlock owned_block,
                    MlirValue replacement) {
  MlirBlock parent = mlirOperationGetBlock(op);
  MlirOperation next = mlirBlockGetFirstOperation(owned_block);
  while (!mlirOperationIsNull(next)) {
    MlirOperation current = next;
    next = mlirOperationGetNextInBlock(current);
    mlirOperationRemoveFromParent(current);
    mlirBlockInsertOwnedOperationBefore(parent, op, current);
  }
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), replacement);
  mlirOperationDestroy(op);
  mlirBlockDestroy(owned_block);
}

static bool check_scores(MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  if (mlirTypeIsAF32(uattn_type_element(type)) &&
      !mlirVectorTypeIsScalable(type))
    return true;
  uattn_string_t text = {0};
  mlirTypePrint(type, uattn_string_append_ref, &text);
  uattn_emit_error(op, "scores are %s: expected a vector of f32",
                   uattn_string_get(&text));
  uattn_string_release(&text);
  return false;
}

static MlirValue emit_one(const uattn_builder_t *b, MlirValue like) {
  return uattn_constant_splat(b, mlirValueGetType(like), 1.0);
}

/* x / (1 + |x|) */
static MlirValue emit_soft_sign(const uattn_builder_t *b, MlirValue x) {
  MlirValue one = emit_one(b, x);
  MlirValue denominator =
      uattn_binary(b, "arith.addf", uattn_unary(b, "math.absf", x), one);
  return uattn_binary(b, "arith.mulf", x,
                      uattn_divide_approximate(b, one, denominator));
}

/* 1 / (1 + 2^x); not through tanh.approx, whose error c / (2 n) amplifies. */
static MlirValue emit_logistic(const uattn_builder_t *b, MlirValue x) {
  MlirValue one = emit_one(b, x);
  MlirValue power = uattn_unary_approximate(b, "math.exp2", x);
  return uattn_divide_approximate(b, one,
                                  uattn_binary(b, "arith.addf", power, one));
}

static MlirValue emit_cap(const uattn_builder_t *b, MlirValue x,
                          uattn_cap_method_t method) {
  switch (method) {
  case UATTN_CAP_NONE:
    return x;
  case UATTN_CAP_TANH: /* tanh.approx.f32: 2^-11, enough for this cap */
    return uattn_unary_approximate(b, "math.tanh", x);
  case UATTN_CAP_SOFT_SIGN:
    return emit_soft_sign(b, x);
  case UATTN_CAP_ALSC:
    return emit_logistic(b, x);
  }
  UATTN_CHECK(!"a cap method");
  return x;
}

static bool expand_cap(MlirOperation op) {
  MlirStringRef name;
  uattn_cap_method_t method;
  if (!check_scores(op))
    return false;
  UATTN_CHECK(uattn_op_get_string(op, UATTN_ATTR_METHOD, &name));
  uattn_string_t text = {0};
  uattn_string_append_bytes(&text, name.data, name.length);
  bool is_known = uattn_cap_method_parse(uattn_string_get(&text), &method);
  uattn_string_release(&text);
  if (!is_known) {
    uattn_emit_error(op, "cap method \"%.*s\" is not known", (int)name.length,
                     name.data);
    return false;
  }
  uattn_builder_t b = uattn_builder_at_end(mlirBlockCreate(0, NULL, NULL),
                                           mlirOperationGetLocation(op));
  MlirValue capped = emit_cap(&b, mlirOperationGetOperand(op, 0), method);
  replace(op, b.block, capped);
  return true;
}

static bool expand_all(MlirOperation root, const char *name,
                       bool (*expand)(MlirOperation op)) {
  uattn_op_list_t found = uattn_collect_ops(root, name);
  bool is_ok = true;
  for (size_t i = 0; i < found.count; ++i)
    is_ok &= expand(found.ops[i]);
  free(found.ops);
  return is_ok;
}

bool uattn_expand_tile_ops_run(MlirOperation root,
                               const uattn_pass_options_t *options) {
  (void)options;
  return expand_all(root, UATTN_OPNAME_CAP_APPLY, expand_cap);
}
