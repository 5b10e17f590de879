/* Launches a function again and again and compares its results.
 * Layer: tools. Must not know: files, the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_launches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "run_agreement.h"

/* Floats of 16 bits arrive as f32, which keeps all of their bits apart. */
static bool compare_results(const run_values_t *values, int64_t launch,
                            void *const *first_results, void *const *results) {
  const uattn_artifact_function_t *function = values->function;
  bool *is_reordered = run_find_reordered(function);
  bool are_same = true;
  for (uint32_t i = 0; i < function->result_count; ++i) {
    uint32_t value = (uint32_t)function->result_values[i];
    uattn_dtype_t dtype = function->values[value].dtype == UATTN_DTYPE_I32
                              ? UATTN_DTYPE_I32
                              : UATTN_DTYPE_F32;
    run_difference_t difference;
    if (run_do_agree(dtype, values->element_counts[value], is_reordered[value],
                     first_results[i], results[i], &difference))
      continue;
    are_same = false;
    fprintf(stderr,
            "uattn-run: %s differs between launches: %zu of %zu numbers of "
            "launch %" PRId64 " are not those of launch 1, number %zu first\n",
            function->values[value].name, difference.count,
            values->element_counts[value], launch, difference.first);
  }
  free(is_reordered);
  return are_same;
}

static uattn_error_t *compare_launch(const run_cuda_t *cuda,
                                     const run_values_t *values, int64_t launch,
                                     void *const *first_results,
                                     bool *out_do_agree) {
  uint32_t count = values->function->result_count;
  void **results = uattn_allocate(count * sizeof *results);
  uattn_error_t *error = run_cuda_poison(cuda);
  if (!error)
    error = run_cuda_launch(cuda);
  if (!error)
    error = run_cuda_results(cuda, results);
  if (!error)
    *out_do_agree = compare_results(values, launch, first_results, results);
  for (uint32_t i = 0; i < count; ++i)
    free(results[i]);
  free(results);
  return error;
}

uattn_error_t *run_launches_compare(const run_cuda_t *cuda,
                                    const run_values_t *values,
                                    int64_t launch_count,
                                    void *const *first_results,
                                    bool *out_do_agree) {
  uattn_error_t *error = NULL;
  *out_do_agree = true;
  for (int64_t launch = 2; launch <= launch_count && *out_do_agree && !error;
       ++launch)
    error = uattn_error_annotate(
        compare_launch(cuda, values, launch, first_results, out_do_agree),
        "launch %" PRId64, launch);
  return error;
}
