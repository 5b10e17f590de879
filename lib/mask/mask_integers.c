/* The algebra of masks on integers.
 * Layer: mask. Must not know: formulas of masks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mask/mask.h"

uattn_mask_value_t uattn_mask_integer(int64_t value) {
  uattn_mask_value_t made = {{(uint64_t)value}};
  return made;
}

int64_t uattn_mask_to_integer(uattn_mask_value_t value) {
  return (int64_t)value.words[0];
}

static uattn_mask_value_t constant(void *context, int32_t value) {
  (void)context;
  return uattn_mask_integer(value);
}
static uattn_mask_value_t add(void *context, uattn_mask_value_t a,
                              uattn_mask_value_t b) {
  (void)context;
  return uattn_mask_integer(uattn_mask_to_integer(a) +
                            uattn_mask_to_integer(b));
}
static uattn_mask_value_t subtract(void *context, uattn_mask_value_t a,
                                   uattn_mask_value_t b) {
  (void)context;
  return uattn_mask_integer(uattn_mask_to_integer(a) -
                            uattn_mask_to_integer(b));
}
static uattn_mask_value_t min(void *context, uattn_mask_value_t a,
                              uattn_mask_value_t b) {
  (void)context;
  return uattn_mask_to_integer(a) < uattn_mask_to_integer(b) ? a : b;
}
static uattn_mask_value_t max(void *context, uattn_mask_value_t a,
                              uattn_mask_value_t b) {
  (void)context;
  return uattn_mask_to_integer(a) > uattn_mask_to_integer(b) ? a : b;
}

const uattn_mask_algebra_t *uattn_mask_integers(void) {
  static const uattn_mask_algebra_t integers = {NULL,     constant, add,
                                                subtract, min,      max};
  return &integers;
}
