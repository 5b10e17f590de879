/* Launches a function again and again and compares the bits of its results.
 * Layer: tools. Must not know: files, the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_launches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Floats of 16 bits arrive as f32, which keeps all of their bits apart. */
static bool compare_results(const run_values_t *values, int64_t launch,
                            void *const *first_results, void *const *results) {
  const uattn_artifact_function_t *function = values->function;
  bool are_same = true;
  for (uint32_t i = 0; i < function->result_count; ++i) {
    uint32_t value = (uint32_t)function->result_values[i];
    const uint32_t *first = first_results[i];
    const uint32_t *found = results[i];
    size_t count = 0;
    size_t place = 0;
    for (size_t n = values->element_counts[value]; n-- > 0;)
      if (first[n] != found[n]) {
        ++count;
        place = n;
      }
    are_same &= count == 0;
    if (count > 0)
      fprintf(stderr,
              "uattn-run: %s differs between launches: %zu of %zu numbers of "
              "launch %" PRId64
              " are not those of launch 1, number %zu first\n",
              function->values[value].name, count,
              values->element_counts[value], launch, place);
  }
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
