/* Arithmetic on the head_dim numbers of one row, float data in float64.
 * Layer: reference. Must not know: masks, softmax, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_REFERENCE_ROW_OPERATIONS_H
#define UATTN_REFERENCE_ROW_OPERATIONS_H

#include <stdint.h>

/* Each function's `size` is a multiple of 8, as head_dim is. */

static inline void uattn_row_widen(const float *row, int64_t size,
                                   double *out_row) {
  for (int64_t d = 0; d < size; ++d)
    out_row[d] = (double)row[d];
}

static inline double uattn_row_dot(const double *restrict a,
                                   const float *restrict b, int64_t size) {
  /* Eight sums, so that the compiler may use vector registers without being
   * allowed to reorder a sum. */
  double sums[8] = {0};
  for (int64_t d = 0; d < size; d += 8)
    for (int lane = 0; lane < 8; ++lane)
      sums[lane] += a[d + lane] * (double)b[d + lane];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
         ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

static inline void uattn_row_add_scaled(double *restrict total, double factor,
                                        const float *restrict row,
                                        int64_t size) {
  for (int64_t d = 0; d < size; ++d)
    total[d] += factor * (double)row[d];
}

#endif /* UATTN_REFERENCE_ROW_OPERATIONS_H */
