/* How long each unit of a GPU has to work at least for a function.
 * Layer: tools. Must not know: how anything is measured.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_times.h"

#include <string.h>

#include "plan/plan.h"
#include "tools/uattn-run/run_bench.h"

const char *bench_unit_name(bench_unit_t unit) {
  static const char *const names[] = {[BENCH_UNIT_TENSOR] = "tensor cores",
                                      [BENCH_UNIT_SPECIAL_FUNCTION] =
                                          "special functions",
                                      [BENCH_UNIT_ISSUE] = "instruction issue",
                                      [BENCH_UNIT_MEMORY] = "memory"};
  return names[unit];
}

/* The plan is a pure function of the problem: it is made again, and the
 * kernel's name tells whether it is the one that was compiled. */
static uattn_error_t *find_plan(const uattn_artifact_t *artifact,
                                const uattn_artifact_step_t *step,
                                const uattn_target_t **out_target,
                                uattn_forward_plan_t *out_plan) {
  if (step->kernel_count != 1)
    return uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                              "an op has %u kernels: expected 1, of a forward",
                              (unsigned)step->kernel_count);
  const uattn_artifact_kernel_t *kernel =
      &artifact->kernels[step->first_kernel];
  const char *chip = artifact->images[kernel->image_index].chip;
  *out_target = uattn_target_find(chip);
  if (!*out_target)
    return uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                              "the kernel is of %s: expected sm_90a", chip);
  uattn_error_t *error =
      uattn_plan_forward(&step->problem, *out_target, out_plan);
  if (error)
    return error;
  uattn_string_t name = {0};
  uattn_forward_kernel_name(out_plan, &name);
  if (strcmp(uattn_string_get(&name), kernel->entry) != 0)
    error = uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                               "the kernel is %s: this version's plan is %s",
                               kernel->entry, uattn_string_get(&name));
  uattn_string_release(&name);
  return error;
}

static double count_bytes(const run_values_t *values) {
  double bytes = 0;
  for (uint32_t i = 0; i < values->function->value_count; ++i)
    bytes += (double)values->element_counts[i] *
             (double)uattn_dtype_bytes(values->function->values[i].dtype);
  return bytes;
}

uattn_error_t *bench_unit_times(const uattn_artifact_t *artifact,
                                const run_values_t *values,
                                const uattn_device_rates_t *rates,
                                double out_ms[BENCH_UNIT_COUNT]) {
  double cycles[BENCH_UNIT_MEMORY] = {0};
  for (uint32_t step = 0; step < values->function->step_count; ++step) {
    uattn_forward_plan_t plan;
    const uattn_target_t *target = NULL;
    uattn_error_t *error =
        find_plan(artifact, &values->function->steps[step], &target, &plan);
    if (error)
      return error;
    uattn_forward_cost_t cost = uattn_forward_cost(&plan, target);
    double tile_pairs = (double)UATTN_WARPGROUP_ROWS *
                        plan.consumer_warpgroups * plan.kv_tile_rows;
    double tiles = run_count_step_pairs(values, step) / tile_pairs;
    cycles[BENCH_UNIT_TENSOR] += tiles * cost.tensor_cycles;
    cycles[BENCH_UNIT_SPECIAL_FUNCTION] += tiles * cost.special_function_cycles;
    cycles[BENCH_UNIT_ISSUE] += tiles * cost.issue_cycles;
  }
  for (int unit = 0; unit < BENCH_UNIT_MEMORY; ++unit)
    out_ms[unit] = cycles[unit] / rates->sm_count / rates->sm_clock_hz * 1e3;
  out_ms[BENCH_UNIT_MEMORY] =
      count_bytes(values) / rates->memory_bytes_per_second * 1e3;
  return NULL;
}
