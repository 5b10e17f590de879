/* Whether results of two runs agree.
 * Layer: tools. Must not know: devices, files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_agreement.h"

#include <math.h>
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

bool *run_find_reordered(const uattn_artifact_function_t *function) {
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

bool run_do_agree(uattn_dtype_t dtype, size_t count, bool may_differ,
                  const void *first, const void *other,
                  run_difference_t *out_difference) {
  size_t size = uattn_dtype_bytes(dtype);
  *out_difference = (run_difference_t){0};
  for (size_t i = count; i-- > 0;)
    if (memcmp((const char *)first + i * size, (const char *)other + i * size,
               size) != 0) {
      ++out_difference->count;
      out_difference->first = i;
    }
  return out_difference->count == 0 ||
         (may_differ && dtype != UATTN_DTYPE_I32 &&
          are_close(dtype, count, first, other));
}
