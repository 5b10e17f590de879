/* A tensor in somebody's memory: where it lies and how.
 * Layer: spec (public). Must not know: MLIR, CUDA, whose memory it is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_TENSOR_H
#define UATTN_TENSOR_H

#include "uattn/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed: device memory for a GPU, host memory for the emulator and for
 * uattn_host_run. Never grows: it stands in arrays. */
typedef struct {
  void *data;
  uattn_dtype_t dtype;
  int32_t rank;
  int64_t shape[4];
  int64_t strides[4]; /* in elements; of a dimension of size 1: any */
} uattn_tensor_t;

/* A dense tensor in C order; reads `rank` sizes of `shape`. */
UATTN_EXPORT uattn_tensor_t uattn_tensor_dense(void *data, uattn_dtype_t dtype,
                                               int32_t rank,
                                               const int64_t *shape);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_TENSOR_H */
