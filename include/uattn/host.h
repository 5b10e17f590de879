/* The op on the CPU, for frameworks that run it there.
 * Layer: host (public). Must not know: plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_H
#define UATTN_HOST_H

#include "uattn/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed for the call. Never grows. */
typedef struct {
  uattn_tensor_t operands[UATTN_OPERAND_COUNT]; /* data NULL where absent */
  uattn_tensor_t results[UATTN_RESULT_COUNT];   /* data NULL: not computed */
} uattn_host_tensors_t;

/* All zero (with struct_size set) means: every processor. */
typedef struct {
  size_t struct_size;   /* sizeof(uattn_host_options_t) */
  int32_t thread_count; /* 0: one for each processor */
} uattn_host_options_t;

/* Computes forward or backward of `problem`, which has no dynamic dimension, in
 * float32. Beyond what uattn_problem_validate
 * allows, its dtype may be f32 and its head_dim any number above 0. Tensors
 * have the shapes and types that uattn_operand_shape, uattn_operand_dtype and
 * their like for results give, and any strides; a result's elements lie apart,
 * and no result overlaps an operand or another result. A result without data
 * is not computed, whether the problem has it or not; one with data is, whether
 * the problem has it or not. dtemp needs temp.
 *
 * The same bits for every thread count on one machine. Memory beside the
 * tensors: O(head_dim) a thread, O(batch * q_tokens), and for the backward
 * O(batch * q_heads * q_tokens). On error no result has been written to.
 * `options` may be NULL. Thread safe. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_host_run(const uattn_problem_t *problem,
               const uattn_host_tensors_t *tensors,
               const uattn_host_options_t *options);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_HOST_H */
