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

/* Results of two runs, in the function's order: in their tensors' types or,
 * where `are_widened`, floats of 16 bits as f32. For messages: the runs are
 * `kind`s
 * ("launches"), each named by `noun` and its number ("launch" 1). */
typedef struct {
  void *const *first;
  void *const *other;
  bool are_widened;
  const char *kind;
  const char *noun;
  uint64_t first_number;
  uint64_t other_number;
} run_comparison_t;
/* True where each result is the same bit for bit or, if it may differ, the
 * difference is at most RUN_AGREEMENT_BOUND of the first in the Frobenius norm.
 * Else says on stderr which are not. */
bool run_do_agree(const run_values_t *values,
                  const run_comparison_t *comparison);

#endif /* UATTN_RUN_AGREEMENT_H */
