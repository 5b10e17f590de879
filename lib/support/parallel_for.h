/* Runs independent pieces of work on all processors.
 * Layer: support. Must not know: what the work is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_SUPPORT_PARALLEL_FOR_H
#define UATTN_SUPPORT_PARALLEL_FOR_H

#include "uattn/error.h"

/* Does piece `item` with memory of the worker that does it. */
typedef void (*uattn_parallel_body_t)(const void *context, void *scratch,
                                      int64_t item);

/* Calls `body` once for each item of 0 .. item_count - 1, in any order and on
 * up to `thread_count` threads (0: one for each processor), each with
 * `scratch_bytes` of its own, zeroed at the start. Fewer threads than wanted
 * are no error; no memory for a single one is, and then no item was begun. */
UATTN_NODISCARD uattn_error_t *
uattn_parallel_for(int64_t item_count, int thread_count, size_t scratch_bytes,
                   uattn_parallel_body_t body, const void *context);

#endif /* UATTN_SUPPORT_PARALLEL_FOR_H */
