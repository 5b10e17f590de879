/* The decoder of mma.sync, for the table of matrix instructions.
 * Layer: emulator. Must not know: shared memory, how warps are scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_DECODE_MMA_H
#define UATTN_EMULATOR_DECODE_MMA_H

#include "emulator/machine.h"

UATTN_NODISCARD uattn_error_t *emu_decode_mma(emu_decoder_t *decoder,
                                              const ptx_instruction_t *syntax,
                                              emu_insn_t *insn);

#endif /* UATTN_EMULATOR_DECODE_MMA_H */
