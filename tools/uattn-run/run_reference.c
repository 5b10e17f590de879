/* Computes values of a function with the float64 reference.
 * Layer: tools. Must not know: devices, files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_reference.h"

#include <stdlib.h>
#include <string.h>

#include "spec/spec.h"
#include "uattn/reference.h"

bool run_find_maker(const uattn_artifact_function_t *function, uint32_t value,
                    uint32_t *out_step, int *out_result) {
  for (uint32_t step = 0; step < function->step_count; ++step)
    for (int result = 0; result < UATTN_RESULT_COUNT; ++result)
      if (function->steps[step].result_values[result] == (int32_t)value) {
        *out_step = step;
        *out_result = result;
        return true;
      }
  return false;
}

static uattn_error_t *store_value(run_values_t *values, uint32_t value,
                                  const double *computed) {
  size_t count = values->element_counts[value];
  float *data = uattn_try_allocate(count * sizeof *data);
  if (!data)
    return uattn_error_create(UATTN_ERROR_INTERNAL,
                              "out of host memory for %zu numbers of %s", count,
                              values->function->values[value].name);
  uattn_dtype_t dtype = values->is_operand[value]
                            ? values->function->values[value].dtype
                            : UATTN_DTYPE_F32;
  for (size_t i = 0; i < count; ++i)
    data[i] = uattn_round_to_dtype((float)computed[i], dtype);
  values->data[value] = data;
  return NULL;
}

/* Runs an op whose operands are known and keeps all of its results. */
static uattn_error_t *run_step(run_values_t *values, uint32_t step) {
  uattn_problem_t problem = run_values_problem(values, step);
  uattn_reference_tensors_t tensors = {0};
  void *operands[UATTN_OPERAND_COUNT];
  run_values_operands(values, step, operands);
  memcpy(tensors.operands, operands, sizeof operands);
  const int32_t *made = values->function->steps[step].result_values;
  uattn_error_t *error = NULL;
  for (int i = 0; i < UATTN_RESULT_COUNT && !error; ++i) {
    if (made[i] < 0)
      continue;
    size_t count = values->element_counts[made[i]];
    tensors.results[i] = uattn_try_allocate(count * sizeof(double));
    if (!tensors.results[i])
      error = uattn_error_create(UATTN_ERROR_INTERNAL,
                                 "out of host memory for %zu numbers", count);
  }
  if (!error)
    error = uattn_reference_run(&problem, &tensors, NULL);
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i) {
    if (!error && made[i] >= 0 && !values->data[made[i]])
      error = store_value(values, (uint32_t)made[i], tensors.results[i]);
    free(tensors.results[i]);
  }
  return error;
}

uattn_error_t *run_reference_operands(run_values_t *values, uint32_t step) {
  const int32_t *read = values->function->steps[step].operand_values;
  uattn_error_t *error = NULL;
  for (int i = 0; i < UATTN_OPERAND_COUNT && !error; ++i)
    if (read[i] >= 0)
      error = run_reference_value(values, (uint32_t)read[i]);
  return error;
}

uattn_error_t *run_reference_value(run_values_t *values, uint32_t value) {
  uint32_t step = 0;
  int result = 0;
  if (values->data[value])
    return NULL;
  bool is_made = run_find_maker(values->function, value, &step, &result);
  UATTN_CHECK(is_made); /* arguments were read or drawn */
  uattn_error_t *error = run_reference_operands(values, step);
  return error ? error : run_step(values, step);
}
