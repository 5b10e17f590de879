/* Rules that plans of the forward and of the backward share.
 * Layer: plan. Must not know: MLIR, CUDA, how code is emitted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PLAN_PLAN_RULES_H
#define UATTN_PLAN_PLAN_RULES_H

#include "plan/plan.h"

/* What a field of a plan may be: a multiple of `step` from `low` to `high`. */
typedef struct {
  const char *field;
  int32_t value, low, high, step;
} uattn_plan_range_t;

UATTN_NODISCARD uattn_error_t *
uattn_plan_check_ranges(const uattn_plan_range_t *ranges, size_t count);

/* What a plan's largest CTA takes. */
typedef struct {
  int32_t smem_bytes;
  int32_t threads;
  int32_t consumer_warpgroups;
  int32_t entry_registers; /* a thread, as the two below */
  int32_t producer_registers;
  int32_t consumer_registers;
} uattn_plan_needs_t;

/* Does it fit, and does what setmaxnreg deals out? */
UATTN_NODISCARD uattn_error_t *
uattn_plan_check_needs(const uattn_plan_needs_t *needs,
                       const uattn_target_t *target);

#endif
