/* Counts the pairs of a query and a key that an op's masks allow.
 * Layer: tools. Must not know: devices, kernels, tiles.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_PAIRS_H
#define UATTN_RUN_PAIRS_H

#include "uattn/problem.h"

/* Over all batches, for one head. `problem` has no dynamic dimension; operands
 * as uattn_reference_run takes them, of which only the masks' are read. */
int64_t run_count_pairs(const uattn_problem_t *problem,
                        const void *const operands[UATTN_OPERAND_COUNT]);

#endif /* UATTN_RUN_PAIRS_H */
