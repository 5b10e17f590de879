/* Whether results of two runs agree.
 * Layer: tools. Must not know: devices, files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_AGREEMENT_H
#define UATTN_RUN_AGREEMENT_H

#include "run_values.h"

/* What of two runs' results may differ: nothing, but for gradients that
 * kernels add up in memory as their CTAs come (scratch UATTN_SCRATCH_Q_SUMS),
 * and what is computed from them. Those are rounded in another order. */
#define RUN_AGREEMENT_BOUND 2e-3

/* By value of the function; an array of value_count, owned by the caller. */
bool *run_find_reordered(const uattn_artifact_function_t *function);

/* The two buffers hold `count` numbers. True where they are the same bit for
 * bit or, with `may_differ`, their difference is at most RUN_AGREEMENT_BOUND of
 * the first in the Frobenius norm. Sets how many numbers differ and the first
 * that does. */
typedef struct {
  size_t count;
  size_t first;
} run_difference_t;
bool run_do_agree(uattn_dtype_t dtype, size_t count, bool may_differ,
                  const void *first, const void *other,
                  run_difference_t *out_difference);

#endif /* UATTN_RUN_AGREEMENT_H */
