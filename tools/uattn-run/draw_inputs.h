/* Draws the inputs of an op that the user has not given, from a seed.
 * Layer: tools. Must not know: devices, files, MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_DRAW_INPUTS_H
#define UATTN_RUN_DRAW_INPUTS_H

#include "uattn/problem.h"

typedef struct {
  uint64_t seed;
  uint64_t op_index; /* position of the op in its function: two ops differ */
  int thread_count;  /* of the reference forward; 0: one for each processor */
} uattn_draw_options_t;

/* Allocates and fills every operand that `problem` (no dynamic dimension) has
 * and whose entry is NULL; free each with free(). Arrays are dense, in C order:
 * int32_t for bounds and segment ids, else float rounded to the operand's type.
 *
 *   q, k, v, dout           N(0, 1)          temp      U[0.5, 1.5)
 *   dlse                    N(0, 0.1)        out, lse  the reference forward of
 *                                                      the other operands
 *   bounds, segment ids     history from 0, then candidates, then a few dead
 *                           rows; other sizes in each batch; both agree
 *
 * What one operand holds depends only on the problem, the seed, op_index and
 * (out, lse) the other operands: giving one leaves the others as they were. On
 * error every entry is as it was before the call. */
UATTN_NODISCARD uattn_error_t *
uattn_draw_missing_inputs(const uattn_problem_t *problem,
                          const uattn_draw_options_t *options,
                          void *operands[UATTN_OPERAND_COUNT]);

/* Fills one operand's array. out and lse are stand-ins of a usual size for
 * where only time counts: they are no forward's of the other operands. */
void uattn_draw_operand(const uattn_problem_t *problem, uattn_operand_t operand,
                        const uattn_draw_options_t *options, void *out_data);

#endif /* UATTN_RUN_DRAW_INPUTS_H */
