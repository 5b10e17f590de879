/* Times a function and prints the figures as a line of JSON.
 * Layer: tools. Must not know: files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_BENCH_H
#define UATTN_RUN_BENCH_H

#include "run_cuda.h"
#include "run_emulator.h"

/* On the GPU, by its own clock. */
UATTN_NODISCARD uattn_error_t *run_bench_cuda(const uattn_device_t *device,
                                              const run_cuda_t *cuda,
                                              const run_values_t *values);

/* One run of the emulator. */
void run_bench_emulator(const run_values_t *values,
                        const run_emulated_t *emulated);

/* The reference took `seconds` for one call. */
void run_bench_reference(const run_values_t *values, double seconds);

#endif /* UATTN_RUN_BENCH_H */
