/* What a whole forward kernel costs on the emulator.
 * Layer: tools. Must not know: instructions, MLIR's C interface.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_BENCH_EMULATED_FORWARD_H
#define UATTN_BENCH_EMULATED_FORWARD_H

#include <stdint.h>

#include "uattn/error.h"

/* Batch 1, 4 heads, head_dim 128; prints a line. */
UATTN_NODISCARD uattn_error_t *bench_emulator_forward(int64_t tokens);

#endif /* UATTN_BENCH_EMULATED_FORWARD_H */
