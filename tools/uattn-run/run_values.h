/* The values of a function on the host: their sizes and what they hold.
 * Layer: tools. Must not know: devices, where results go.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_VALUES_H
#define UATTN_RUN_VALUES_H

#include "artifact/artifact.h"
#include "run_command.h"

/* Arrays are dense, in C order: int32_t for i32, float for all others. */
typedef struct {
  const uattn_artifact_function_t *function;
  uattn_function_dims_t dims;
  int64_t (*shapes)[4];   /* of each value, every size known */
  size_t *element_counts; /* of each value */
  void **data;            /* of each value; NULL where it is not known yet */
  bool *is_operand;       /* of each value: an op reads it */
  uint64_t seed;
  bool is_only_timed; /* what a backward takes of a forward is stood in for */
} run_values_t;

/* Reads the inputs, finds every size, draws the arguments that are not given.
 * Release in any case. */
UATTN_NODISCARD uattn_error_t *
run_values_create(const uattn_artifact_function_t *function,
                  const run_command_t *command, run_values_t *out_values);
void run_values_release(run_values_t *values);

/* The op's problem with every size known. */
uattn_problem_t run_values_problem(const run_values_t *values, uint32_t step);

/* NULL where the op has no such operand or it is not known yet. */
void run_values_operands(const run_values_t *values, uint32_t step,
                         void *out_operands[UATTN_OPERAND_COUNT]);

#endif /* UATTN_RUN_VALUES_H */
