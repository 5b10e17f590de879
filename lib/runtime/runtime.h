/* What tools may use of the runtime beyond its public header.
 * Layer: runtime. Must not know: MLIR, how kernels are made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_RUNTIME_H
#define UATTN_RUNTIME_RUNTIME_H

#include "uattn/runtime.h"

/* What a GPU can do at most, as its driver tells. */
typedef struct {
  int sm_count;
  double sm_clock_hz;             /* the highest */
  double memory_bytes_per_second; /* two transfers a clock and pin */
} uattn_device_rates_t;

UATTN_NODISCARD uattn_error_t *
uattn_device_rates(const uattn_device_t *device,
                   uattn_device_rates_t *out_rates);

/* Marks in a stream between which the GPU's time is told. */
typedef struct uattn_timer uattn_timer_t;

UATTN_NODISCARD uattn_error_t *uattn_timer_create(const uattn_device_t *device,
                                                  size_t mark_count,
                                                  uattn_timer_t **out_timer);
void uattn_timer_destroy(uattn_timer_t *timer); /* accepts NULL */

/* Sets a mark in the default stream after what was enqueued there. */
UATTN_NODISCARD uattn_error_t *uattn_timer_mark(uattn_timer_t *timer,
                                                size_t mark);

/* Milliseconds between two marks that the GPU has passed. */
UATTN_NODISCARD uattn_error_t *uattn_timer_elapsed(const uattn_timer_t *timer,
                                                   size_t first, size_t last,
                                                   float *out_ms);

#endif /* UATTN_RUNTIME_RUNTIME_H */
