/* Kernels of the pipeline level, lowered as the compiler lowers its own, for
 * the emulator.
 * Layer: test. Must not know: what the kernels do.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMITTED_KERNEL_H
#define UATTN_EMITTED_KERNEL_H

#include "emulator_call.h"

/* The program of the one gpu.module in test/Inputs/emit/NAME.mlir, behind
 * `aliases`: what the file leaves open. The caller destroys it. */
uattn_emulator_t *emitted_program(const char *name, const char *aliases);

#endif /* UATTN_EMITTED_KERNEL_H */
