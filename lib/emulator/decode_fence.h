/* Decoders of fences and hints, for the table of barrier instructions.
 * Layer: emulator. Must not know: barriers, how warps are scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_DECODE_FENCE_H
#define UATTN_EMULATOR_DECODE_FENCE_H

#include "emulator/machine.h"

/* fence, membar, griddepcontrol. */
UATTN_NODISCARD uattn_error_t *emu_decode_fence(emu_decoder_t *decoder,
                                                const ptx_instruction_t *syntax,
                                                emu_insn_t *insn);
UATTN_NODISCARD uattn_error_t *
emu_decode_setmaxnreg(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                      emu_insn_t *insn);

#endif /* UATTN_EMULATOR_DECODE_FENCE_H */
