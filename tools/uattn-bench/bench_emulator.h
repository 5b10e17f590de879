/* What an emulated instruction costs, class by class.
 * Layer: tools. Must not know: artifacts, attention.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_BENCH_EMULATOR_H
#define UATTN_BENCH_EMULATOR_H

#include "uattn/error.h"

/* Prints a line a class, each measured for at least `seconds`. */
UATTN_NODISCARD uattn_error_t *bench_emulator_instructions(double seconds);

#endif /* UATTN_BENCH_EMULATOR_H */
