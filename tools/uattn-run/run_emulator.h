/* A function with its values on the emulator, run under one or more schedules.
 * Layer: tools. Must not know: files, the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_EMULATOR_H
#define UATTN_RUN_EMULATOR_H

#include "run_trace.h"
#include "run_values.h"
#include "uattn/emulator.h"

/* Runs the function's kernels and allocates an array of float or int32_t for
 * each result, of the first schedule. Further schedules, of the seeds after
 * `seed`, must agree (run_agreement.h), else do_schedules_agree is false and
 * stderr says what differs. `out_seconds` and `out_statistics` are of the first
 * one. */
typedef struct {
  uint64_t seed;
  int64_t schedule_count;
  const run_trace_t *trace;
  uattn_emulator_timeline_t *timeline; /* of the first one; may be NULL */
} run_schedules_t;
typedef struct {
  double seconds;
  uattn_emulator_statistics_t statistics;
  bool do_schedules_agree;
} run_emulated_t;
UATTN_NODISCARD uattn_error_t *
run_emulator(const uattn_artifact_t *artifact, size_t function,
             const run_values_t *values, const run_schedules_t *schedules,
             void **out_results, run_emulated_t *out_emulated);

#endif /* UATTN_RUN_EMULATOR_H */
