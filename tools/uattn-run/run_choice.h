/* Which device runs: what is asked for, or what there is.
 * Layer: tools. Must not know: values, how devices run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_CHOICE_H
#define UATTN_RUN_CHOICE_H

#include "artifact/artifact.h"
#include "run_command.h"
#include "run_compile.h"
#include "uattn/runtime.h"

/* Zero-initialise; release when done. */
typedef struct {
  run_device_t device;   /* never auto */
  uattn_device_t *cuda;  /* of RUN_DEVICE_CUDA */
  run_kernels_t kernels; /* that the artifact has to have */
  char *without_gpu;     /* why auto has not taken cuda; owned */
  char *refusal;         /* why there are no kernels; owned */
} run_choice_t;

/* Opens the GPU where it is to run. */
UATTN_NODISCARD uattn_error_t *run_choice_make(run_device_t asked,
                                               run_choice_t *out_choice);

/* The last word of auto, which is said on stderr: without a GPU the emulator
 * runs a function whose ops all have kernels, the reference any other. */
void run_choice_settle(run_choice_t *choice,
                       const uattn_artifact_function_t *function);

void run_choice_release(run_choice_t *choice);

#endif /* UATTN_RUN_CHOICE_H */
