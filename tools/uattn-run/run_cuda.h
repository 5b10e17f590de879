/* A function with its values on a GPU, to be launched and read back.
 * Layer: tools. Must not know: files, the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_CUDA_H
#define UATTN_RUN_CUDA_H

#include "run_values.h"
#include "runtime/runtime.h"

typedef struct run_cuda run_cuda_t;

/* Opens the GPU; for `wants_sm90` a GPU of another kind is an error too. */
UATTN_NODISCARD uattn_error_t *run_cuda_open(bool wants_sm90,
                                             uattn_device_t **out_device);

/* Loads the artifact, copies the arguments to the device and fills what will
 * be written with 0xff, NaN in every float type. Everything is borrowed. */
UATTN_NODISCARD uattn_error_t *run_cuda_create(const uattn_device_t *device,
                                               const uattn_artifact_t *artifact,
                                               size_t function,
                                               const run_values_t *values,
                                               run_cuda_t **out_cuda);
void run_cuda_destroy(run_cuda_t *cuda); /* accepts NULL */

/* Enqueues the function on the default stream. */
UATTN_NODISCARD uattn_error_t *run_cuda_launch(const run_cuda_t *cuda);

/* Waits, then fills again what a launch writes. */
UATTN_NODISCARD uattn_error_t *run_cuda_poison(const run_cuda_t *cuda);

/* Waits, and allocates an array of float or int32_t for each result. */
UATTN_NODISCARD uattn_error_t *run_cuda_results(const run_cuda_t *cuda,
                                                void **out_results);

#endif /* UATTN_RUN_CUDA_H */
