/* Numbers between their host form, 4 bytes each, and a tensor's element type.
 * Layer: tools. Must not know: devices, files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_PACK_H
#define UATTN_RUN_PACK_H

#include "uattn/problem.h"

/* Writes `count` elements of `dtype`. */
void run_pack(const void *host, uattn_dtype_t dtype, size_t count, void *out);

/* In place: `data` holds the elements at its start and has room for the
 * numbers. */
void run_unpack(void *data, uattn_dtype_t dtype, size_t count);

#endif /* UATTN_RUN_PACK_H */
