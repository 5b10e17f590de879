/* Times a function and prints the figures as a line of JSON.
 * Layer: tools. Must not know: files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_BENCH_H
#define UATTN_RUN_BENCH_H

#include "run_cuda.h"
#include "run_emulator.h"
#include "run_timing.h"

/* Pairs of a query and a key that an op's masks allow, in all heads. */
double run_count_step_pairs(const run_values_t *values, uint32_t step);

/* Floating-point operations of one call: two matrix products forward, five
 * backward, over the allowed pairs of all heads. */
double run_count_flops(const run_values_t *values, double *out_pairs);

UATTN_NODISCARD uattn_error_t *run_time_cuda(const uattn_device_t *device,
                                             const run_cuda_t *cuda,
                                             run_times_t *out_times);

/* Times on the GPU and prints. */
UATTN_NODISCARD uattn_error_t *run_bench_cuda(const uattn_device_t *device,
                                              const run_cuda_t *cuda,
                                              const run_values_t *values);

/* One run of the emulator. */
void run_bench_emulator(const run_values_t *values,
                        const run_emulated_t *emulated);

/* The reference took `seconds` for one call. */
void run_bench_reference(const run_values_t *values, double seconds);

#endif /* UATTN_RUN_BENCH_H */
