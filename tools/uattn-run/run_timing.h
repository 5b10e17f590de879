/* Times work on a GPU by its own clock.
 * Layer: tools. Must not know: what the work is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_TIMING_H
#define UATTN_RUN_TIMING_H

#include "runtime/runtime.h"

/* Enqueues `work` once on the device's default stream. */
typedef uattn_error_t *(*run_enqueue_t)(const void *work);

typedef struct {
  int call_count;
  double median_ms; /* sustained, as the percentiles */
  double p10_ms;
  double p90_ms;
  double burst_ms;
} run_times_t;

/* How run_time times, in a line. */
extern const char run_timing_protocol[];

UATTN_NODISCARD uattn_error_t *run_time(const uattn_device_t *device,
                                        run_enqueue_t enqueue, const void *work,
                                        run_times_t *out_times);

#endif /* UATTN_RUN_TIMING_H */
