/* lib/mask's algebra on IR values.
 * Layer: emit. Must not know: the masks' formulas, which ops stand for it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/mask_algebra.h"

static uattn_mask_value_t make_constant(void *context, int32_t value) {
  const uattn_mask_builder_t *builder = context;
  return uattn_mask_pack(builder->constant(builder->context, value));
}

static uattn_mask_value_t make_binary(void *context, const char *name,
                                      uattn_mask_value_t x,
                                      uattn_mask_value_t y) {
  const uattn_mask_builder_t *builder = context;
  return uattn_mask_pack(builder->binary(
      builder->context, name, uattn_mask_unpack(x), uattn_mask_unpack(y)));
}

static uattn_mask_value_t make_sum(void *context, uattn_mask_value_t x,
                                   uattn_mask_value_t y) {
  return make_binary(context, "arith.addi", x, y);
}

static uattn_mask_value_t make_difference(void *context, uattn_mask_value_t x,
                                          uattn_mask_value_t y) {
  return make_binary(context, "arith.subi", x, y);
}

static uattn_mask_value_t make_min(void *context, uattn_mask_value_t x,
                                   uattn_mask_value_t y) {
  return make_binary(context, "arith.minsi", x, y);
}

static uattn_mask_value_t make_max(void *context, uattn_mask_value_t x,
                                   uattn_mask_value_t y) {
  return make_binary(context, "arith.maxsi", x, y);
}

uattn_mask_algebra_t
uattn_emit_mask_algebra(const uattn_mask_builder_t *builder) {
  uattn_mask_algebra_t algebra = {(void *)(uintptr_t)builder,
                                  make_constant,
                                  make_sum,
                                  make_difference,
                                  make_min,
                                  make_max};
  return algebra;
}
