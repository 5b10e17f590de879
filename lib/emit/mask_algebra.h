/* lib/mask's algebra on IR values.
 * Layer: emit. Must not know: the masks' formulas, which ops stand for it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMIT_MASK_ALGEBRA_H
#define UATTN_EMIT_MASK_ALGEBRA_H

#include "emit/builder.h"
#include "mask/mask.h"

static inline uattn_mask_value_t uattn_mask_pack(MlirValue value) {
  uattn_mask_value_t packed = {{(uint64_t)(uintptr_t)value.ptr}};
  return packed;
}

static inline MlirValue uattn_mask_unpack(uattn_mask_value_t packed) {
  MlirValue value = {(void *)(uintptr_t)packed.words[0]};
  return value;
}

/* How values are made. `name` is one of arith.addi, subi, minsi, maxsi. */
typedef struct {
  void *context;
  MlirValue (*constant)(void *context, int32_t value);
  MlirValue (*binary)(void *context, const char *name, MlirValue x,
                      MlirValue y);
} uattn_mask_builder_t;

/* `builder` lives as long as what is returned. */
uattn_mask_algebra_t
uattn_emit_mask_algebra(const uattn_mask_builder_t *builder);

#endif /* UATTN_EMIT_MASK_ALGEBRA_H */
