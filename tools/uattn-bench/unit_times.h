/* How long each unit of a GPU has to work at least for a function.
 * Layer: tools. Must not know: how anything is measured.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_BENCH_UNIT_TIMES_H
#define UATTN_BENCH_UNIT_TIMES_H

#include "runtime/runtime.h"
#include "tools/uattn-run/run_values.h"

typedef enum {
  BENCH_UNIT_TENSOR,
  BENCH_UNIT_SPECIAL_FUNCTION,
  BENCH_UNIT_ISSUE,
  BENCH_UNIT_MEMORY,
  BENCH_UNIT_COUNT
} bench_unit_t;

const char *bench_unit_name(bench_unit_t unit); /* static */

/* Milliseconds: what the plans' cost model counts for the allowed pairs alone,
 * at the GPU's highest clock; every operand and result through memory once.
 * An op that is not forward, or whose kernel is not the one that the plan
 * describes (another version's artifact), gives UATTN_ERROR_UNSUPPORTED. */
UATTN_NODISCARD uattn_error_t *
bench_unit_times(const uattn_artifact_t *artifact, const run_values_t *values,
                 const uattn_device_rates_t *rates,
                 double out_ms[BENCH_UNIT_COUNT]);

#endif /* UATTN_BENCH_UNIT_TIMES_H */
