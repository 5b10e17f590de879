/* Launches a function again and again and compares its results.
 * Layer: tools. Must not know: files, the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_launches.h"

#include <inttypes.h>
#include <stdlib.h>

#include "run_agreement.h"

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
    *out_do_agree = run_do_agree(
        values, &(run_comparison_t){.first = first_results,
                                    .other = results,
                                    .are_widened = true,
                                    .kind = "launches",
                                    .noun = "launch",
                                    .first_number = 1,
                                    .other_number = (uint64_t)launch});
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
