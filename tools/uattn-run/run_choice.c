/* Which device runs: what is asked for, or what there is.
 * Layer: tools. Must not know: values, how devices run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_choice.h"

#include <inttypes.h>
#include <stdlib.h>

#include "run_cuda.h"

static uattn_error_t *make_automatically(run_choice_t *choice) {
  uattn_error_t *error = run_cuda_open(true, &choice->cuda);
  if (!error) {
    choice->device = RUN_DEVICE_CUDA;
    fprintf(stderr, "uattn-run: running on %s\n",
            uattn_device_name(choice->cuda));
    return NULL;
  }
  choice->device = RUN_DEVICE_EMULATOR;
  choice->kernels = RUN_KERNELS_IF_POSSIBLE;
  choice->without_gpu = uattn_string_copy(uattn_error_message(error));
  uattn_error_destroy(error);
  return NULL;
}

uattn_error_t *run_choice_make(run_device_t asked, run_choice_t *out_choice) {
  out_choice->device = asked;
  out_choice->kernels = RUN_KERNELS_WANTED;
  if (asked == RUN_DEVICE_AUTO)
    return make_automatically(out_choice);
  if (asked == RUN_DEVICE_CUDA)
    return run_cuda_open(false, &out_choice->cuda);
  if (asked == RUN_DEVICE_REFERENCE)
    out_choice->kernels = RUN_KERNELS_NONE;
  return NULL;
}

/* Why the emulator cannot run the function; NULL where it can. */
static char *find_missing_kernel(const uattn_artifact_function_t *function) {
  for (uint32_t i = 0; i < function->step_count; ++i)
    if (function->steps[i].kernel_count == 0) {
      uattn_string_t text = {0};
      uattn_string_appendf(&text, "op %" PRIu32 " has no kernel in this file",
                           i);
      return uattn_string_take(&text);
    }
  return NULL;
}

void run_choice_settle(run_choice_t *choice,
                       const uattn_artifact_function_t *function) {
  if (!choice->without_gpu)
    return;
  if (!choice->refusal)
    choice->refusal = find_missing_kernel(function);
  if (!choice->refusal) {
    fprintf(stderr, "uattn-run: running on the emulator: %s\n",
            choice->without_gpu);
    return;
  }
  choice->device = RUN_DEVICE_REFERENCE;
  fprintf(stderr,
          "uattn-run: running the reference: %s; no kernel for the emulator: "
          "%s\n",
          choice->without_gpu, choice->refusal);
}

void run_choice_release(run_choice_t *choice) {
  uattn_device_close(choice->cuda);
  free(choice->without_gpu);
  free(choice->refusal);
}
