/* Computes values of a function with the float64 reference.
 * Layer: tools. Must not know: devices, files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_REFERENCE_H
#define UATTN_RUN_REFERENCE_H

#include "run_values.h"

/* Makes a value known, and before it what its op reads. What another op reads
 * is rounded to its type, as it would be in memory; what only leaves the
 * function keeps float32. */
UATTN_NODISCARD uattn_error_t *run_reference_value(run_values_t *values,
                                                   uint32_t value);

/* Makes all that an op reads known. */
UATTN_NODISCARD uattn_error_t *run_reference_operands(run_values_t *values,
                                                      uint32_t step);

/* The op and result number that make a value; false for an argument. */
bool run_find_maker(const uattn_artifact_function_t *function, uint32_t value,
                    uint32_t *out_step, int *out_result);

#endif /* UATTN_RUN_REFERENCE_H */
