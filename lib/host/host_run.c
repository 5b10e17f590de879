/* Checks a run's arguments and hands it to the op's passes.
 * Layer: host. Must not know: how anything is computed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "host/host_work.h"

/* Fields past the caller's struct_size are zero. */
static uattn_host_options_t read_options(const uattn_host_options_t *options) {
  uattn_host_options_t copy = {0};
  if (options)
    memcpy(&copy, options,
           options->struct_size < sizeof copy ? options->struct_size
                                              : sizeof copy);
  return copy;
}

static bool wants_nothing(const uattn_host_tensors_t *tensors) {
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    if (tensors->results[i].data)
      return false;
  return true;
}

uattn_error_t *uattn_host_run(const uattn_problem_t *problem,
                              const uattn_host_tensors_t *tensors,
                              const uattn_host_options_t *options) {
  uattn_host_options_t set = read_options(options);
  uattn_error_t *error = uattn_host_check(problem, tensors);
  if (!error && set.thread_count < 0)
    error = uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "thread_count is %" PRId32 ": expected 0 or more", set.thread_count);
  if (error || wants_nothing(tensors))
    return error;

  uattn_host_work_t work = {
      .problem = problem, .tensors = tensors, .thread_count = set.thread_count};
  error = uattn_host_work_prepare(&work);
  if (!error)
    error = problem->kind == UATTN_OP_FORWARD ? uattn_host_forward(&work)
                                              : uattn_host_backward(&work);
  uattn_host_work_release(&work);
  return error;
}
