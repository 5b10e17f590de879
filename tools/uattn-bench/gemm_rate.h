/* The rate of cuBLAS: what a GPU's tensor cores sustain.
 * Layer: tools. Must not know: attention.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_BENCH_GEMM_RATE_H
#define UATTN_BENCH_GEMM_RATE_H

#include "tools/uattn-run/run_timing.h"
#include "uattn/problem.h"

/* Rows and columns of both factors. */
#define BENCH_GEMM_SIZE 8192

/* Times a product of two matrices of normally distributed numbers in `dtype`
 * (bf16 or f16, sums in f32). cuBLAS is opened by name: $UATTN_CUBLAS, else
 * libcublas.so.13 or .12; without it, UATTN_ERROR_DEVICE. */
UATTN_NODISCARD uattn_error_t *bench_time_gemm(const uattn_device_t *device,
                                               uattn_dtype_t dtype,
                                               run_times_t *out_times);

/* TFLOP/s of one such product. */
double bench_gemm_tflops(double ms);

#endif /* UATTN_BENCH_GEMM_RATE_H */
