/* What masks depend on, as values of Triton's ops.
 * Layer: passes. Must not know: which keys follow from it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_TTGIR_FACTS_H
#define UATTN_PASSES_TTGIR_FACTS_H

#include "emit/mask_algebra.h"
#include "passes/ttgir.h"

/* lib/mask's algebra: all on scalars (i32), or all on rows of them. */
typedef struct {
  const uattn_ttgir_role_t *role;
  MlirType type;
  uattn_mask_builder_t builder; /* set by what follows */
} uattn_ttgir_algebra_t;
/* `algebra` lives as long as what is returned. */
uattn_mask_algebra_t uattn_ttgir_make_algebra(uattn_ttgir_algebra_t *algebra);

/* The bounds of a batch, clamped; null values without the mask. */
typedef struct {
  MlirValue history_lower;
  MlirValue history_upper;
  MlirValue candidate_lower;
  MlirValue candidate_upper;
} uattn_ttgir_bounds_t;
uattn_ttgir_bounds_t uattn_ttgir_bounds(const uattn_ttgir_role_t *role,
                                        const uattn_ttgir_place_t *place);

uattn_mask_facts_t uattn_ttgir_facts(const uattn_ttgir_role_t *role,
                                     const uattn_ttgir_bounds_t *bounds);

#endif /* UATTN_PASSES_TTGIR_FACTS_H */
