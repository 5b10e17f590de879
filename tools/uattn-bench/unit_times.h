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

typedef struct {
  double ms[BENCH_UNIT_COUNT];
  /* False where an op of the function has no model of the unit. Always true of
   * the tensor cores and of memory. */
  bool is_known[BENCH_UNIT_COUNT];
} bench_unit_times_t;

/* For the allowed pairs alone, at the GPU's highest clock. Forward ops: what
 * the plans' cost model counts. Backward ops have none: of them the tensor
 * cores' time is that of the five products that they need, whatever their
 * kernels recompute. Every operand and result goes through memory once.
 * A forward whose kernel is not the one that the plan describes (another
 * version's artifact) gives UATTN_ERROR_UNSUPPORTED. */
UATTN_NODISCARD uattn_error_t *
bench_unit_times(const uattn_artifact_t *artifact, const run_values_t *values,
                 const uattn_device_rates_t *rates,
                 bench_unit_times_t *out_times);

#endif /* UATTN_BENCH_UNIT_TIMES_H */
