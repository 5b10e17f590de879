/* Rules that plans of the forward and of the backward share.
 * Layer: plan. Must not know: MLIR, CUDA, how code is emitted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan_rules.h"

static uattn_error_t *check_range(const uattn_plan_range_t *range) {
  if (range->value >= range->low && range->value <= range->high &&
      range->value % range->step == 0)
    return NULL;
  if (range->step == 1)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT, "plan field %s is %d: expected %d to %d",
        range->field, range->value, range->low, range->high);
  return uattn_error_create(
      UATTN_ERROR_INVALID_ARGUMENT,
      "plan field %s is %d: expected a multiple of %d from %d to %d",
      range->field, range->value, range->step, range->low, range->high);
}

uattn_error_t *uattn_plan_check_ranges(const uattn_plan_range_t *ranges,
                                       size_t count) {
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < count && !error; ++i)
    error = check_range(&ranges[i]);
  return error;
}

uattn_error_t *uattn_plan_check_needs(const uattn_plan_needs_t *needs,
                                      const uattn_target_t *target) {
  int32_t entry_registers = needs->threads * needs->entry_registers;
  int32_t role_registers =
      UATTN_WARPGROUP_THREADS *
      (needs->producer_registers +
       needs->consumer_warpgroups * needs->consumer_registers);
  if (needs->smem_bytes > target->smem_bytes_per_cta)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "plan needs %d bytes of shared memory: expected at most %d on %s",
        needs->smem_bytes, target->smem_bytes_per_cta, target->chip);
  if (entry_registers > target->registers_per_sm)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "plan needs %d registers at entry: expected at most %d on %s",
        entry_registers, target->registers_per_sm, target->chip);
  /* setmaxnreg deals out what the CTA got at entry and waits for the rest. */
  if (role_registers > entry_registers)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "plan needs %d registers after setmaxnreg: expected at most the %d of "
        "entry",
        role_registers, entry_registers);
  return NULL;
}
