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

static const uattn_artifact_kernel_t *
first_kernel(const uattn_artifact_t *artifact,
             const uattn_artifact_step_t *step) {
  return &artifact->kernels[step->first_kernel];
}

static uattn_error_t *find_target(const uattn_artifact_t *artifact,
                                  const uattn_artifact_step_t *step,
                                  const uattn_target_t **out_target) {
  if (step->kernel_count == 0)
    return uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                              "an op has no kernel: expected one at least");
  uint32_t image = first_kernel(artifact, step)->image_index;
  const char *chip = artifact->images[image].chip;
  *out_target = uattn_target_find(chip);
  return *out_target
             ? NULL
             : uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                                  "the kernel is of %s: expected sm_90a", chip);
}

/* The plan is a pure function of the problem: it is made again, and the
 * kernel's name tells whether it is the one that was compiled. */
static uattn_error_t *find_plan(const uattn_artifact_t *artifact,
                                const uattn_artifact_step_t *step,
                                const uattn_target_t *target,
                                uattn_forward_plan_t *out_plan) {
  if (step->kernel_count != 1)
    return uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                              "a forward op has %u kernels: expected 1",
                              (unsigned)step->kernel_count);
  uattn_error_t *error = uattn_plan_forward(
      &step->problem, target, UATTN_PLAN_COMPILER_UATTN, out_plan);
  if (error)
    return error;
  const char *entry = first_kernel(artifact, step)->entry;
  uattn_string_t name = {0};
  uattn_forward_kernel_name(out_plan, &name);
  if (strcmp(uattn_string_get(&name), entry) != 0)
    error = uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                               "the kernel is %s: this version's plan is %s",
                               entry, uattn_string_get(&name));
  uattn_string_release(&name);
  return error;
}

/* Cycles of each unit but memory. */
static uattn_error_t *add_forward(const uattn_artifact_t *artifact,
                                  const uattn_artifact_step_t *step,
                                  const uattn_target_t *target, double pairs,
                                  double *cycles) {
  uattn_forward_plan_t plan;
  uattn_error_t *error = find_plan(artifact, step, target, &plan);
  if (error)
    return error;
  uattn_forward_cost_t cost =
      uattn_forward_cost(&plan, target, UATTN_PLAN_COMPILER_UATTN);
  double tile_pairs = (double)UATTN_WARPGROUP_ROWS * plan.consumer_warpgroups *
                      plan.kv_tile_rows;
  double tiles = pairs / tile_pairs;
  cycles[BENCH_UNIT_TENSOR] += tiles * cost.tensor_cycles;
  cycles[BENCH_UNIT_SPECIAL_FUNCTION] += tiles * cost.special_function_cycles;
  cycles[BENCH_UNIT_ISSUE] += tiles * cost.issue_cycles;
  return NULL;
}

/* S, dP, dV, dK and dQ, two operations for each pair and column. */
static void add_backward(const uattn_artifact_step_t *step,
                         const uattn_target_t *target, double pairs,
                         double *cycles) {
  cycles[BENCH_UNIT_TENSOR] += pairs * 5 * 2 * (double)step->problem.head_dim /
                               target->tensor_flops_per_cycle;
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
                                bench_unit_times_t *out_times) {
  double cycles[BENCH_UNIT_MEMORY] = {0};
  bool has_backward = false;
  for (uint32_t i = 0; i < values->function->step_count; ++i) {
    const uattn_artifact_step_t *step = &values->function->steps[i];
    double pairs = run_count_step_pairs(values, i);
    const uattn_target_t *target = NULL;
    uattn_error_t *error = find_target(artifact, step, &target);
    if (!error && step->problem.kind == UATTN_OP_FORWARD)
      error = add_forward(artifact, step, target, pairs, cycles);
    if (error)
      return error;
    if (step->problem.kind == UATTN_OP_BACKWARD) {
      add_backward(step, target, pairs, cycles);
      has_backward = true;
    }
  }
  for (int unit = 0; unit < BENCH_UNIT_MEMORY; ++unit) {
    out_times->ms[unit] =
        cycles[unit] / rates->sm_count / rates->sm_clock_hz * 1e3;
    out_times->is_known[unit] = unit == BENCH_UNIT_TENSOR || !has_backward;
  }
  out_times->ms[BENCH_UNIT_MEMORY] =
      count_bytes(values) / rates->memory_bytes_per_second * 1e3;
  out_times->is_known[BENCH_UNIT_MEMORY] = true;
  return NULL;
}
