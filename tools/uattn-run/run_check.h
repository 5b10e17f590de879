/* Compares a function's results with the float64 reference.
 * Layer: tools. Must not know: devices, where the results come from.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_CHECK_H
#define UATTN_RUN_CHECK_H

#include "run_values.h"

/* Prints a line for each result. On a problem that the reference would take
 * long for, a sample of rows is compared, and the line says so. `results` are
 * float or int32_t arrays, one for each result. */
UATTN_NODISCARD uattn_error_t *run_check_results(run_values_t *values,
                                                 void *const *results,
                                                 bool *out_is_right);

#endif /* UATTN_RUN_CHECK_H */
