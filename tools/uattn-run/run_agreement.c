/* Whether results of two runs agree.
 * Layer: tools. Must not know: devices, files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_agreement.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_pack.h"

static bool takes_reordered(const uattn_artifact_step_t *step,
                            const bool *is_reordered) {
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    if (step->operand_values[i] >= 0 && is_reordered[step->operand_values[i]])
      return true;
  return false;
}

static bool has_sums(const uattn_artifact_step_t *step) {
  for (uint32_t i = 0; i < step->scratch_count; ++i)
    if (step->scratch[i] == UATTN_SCRATCH_Q_SUMS)
      return true;
  return false;
}

/* By value of the function; owned by the caller. */
static bool *find_reordered(const uattn_artifact_function_t *function) {
  bool *is_reordered =
      uattn_allocate((function->value_count + 1) * sizeof *is_reordered);
  for (uint32_t s = 0; s < function->step_count; ++s) {
    const uattn_artifact_step_t *step = &function->steps[s];
    bool are_all = takes_reordered(step, is_reordered);
    for (int r = 0; r < UATTN_RESULT_COUNT; ++r)
      if (step->result_values[r] >= 0)
        is_reordered[step->result_values[r]] =
            are_all || (r == UATTN_RESULT_DQ && has_sums(step));
  }
  return is_reordered;
}

static float number_at(const void *data, uattn_dtype_t dtype, size_t index) {
  size_t size = uattn_dtype_bytes(dtype);
  float number = 0;
  memcpy(&number, (const char *)data + index * size, size);
  run_unpack(&number, dtype, 1);
  return number;
}

/* Not finite: never close to anything. */
static bool are_close(uattn_dtype_t dtype, size_t count, const void *first,
                      const void *other) {
  double norm = 0, difference = 0;
  for (size_t i = 0; i < count; ++i) {
    double x = number_at(first, dtype, i);
    double y = number_at(other, dtype, i);
    norm += x * x;
    difference += (x - y) * (x - y);
  }
  return sqrt(difference) <= RUN_AGREEMENT_BOUND * sqrt(norm);
}

static bool is_same(const run_values_t *values, uint32_t value,
                    const run_comparison_t *comparison, uint32_t result,
                    bool may_differ) {
  uattn_dtype_t dtype = values->function->values[value].dtype;
  if (comparison->are_widened && dtype != UATTN_DTYPE_I32)
    dtype = UATTN_DTYPE_F32;
  size_t size = uattn_dtype_bytes(dtype);
  size_t total = values->element_counts[value];
  const char *first = comparison->first[result];
  const char *other = comparison->other[result];
  size_t count = 0;
  size_t place = 0;
  for (size_t i = total; i-- > 0;)
    if (memcmp(first + i * size, other + i * size, size) != 0) {
      ++count;
      place = i;
    }
  if (count == 0 || (may_differ && dtype != UATTN_DTYPE_I32 &&
                     are_close(dtype, total, first, other)))
    return true;
  fprintf(stderr,
          "uattn-run: %s differs between %s: %zu of %zu numbers of %s %" PRIu64
          " are not those of %s %" PRIu64 ", number %zu first\n",
          values->function->values[value].name, comparison->kind, count, total,
          comparison->noun, comparison->other_number, comparison->noun,
          comparison->first_number, place);
  return false;
}

bool run_do_agree(const run_values_t *values,
                  const run_comparison_t *comparison) {
  const uattn_artifact_function_t *function = values->function;
  bool *is_reordered = find_reordered(function);
  bool do_agree = true;
  for (uint32_t i = 0; i < function->result_count; ++i) {
    uint32_t value = (uint32_t)function->result_values[i];
    do_agree &= is_same(values, value, comparison, i, is_reordered[value]);
  }
  free(is_reordered);
  return do_agree;
}
