/* Addresses of shared memory in a cluster of one CTA.
 * Layer: emulator. Must not know: what lies at the addresses.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An address of shared::cluster that belongs to the CTA itself is the same
 * number as its address of shared::cta, as on hardware. */
#ifndef UATTN_EMULATOR_SHARED_ADDRESS_H
#define UATTN_EMULATOR_SHARED_ADDRESS_H

#include "emulator/machine.h"

/* Generic addresses of `lanes` become offsets in shared memory, in place;
 * false after a fault, where one is not in shared memory. */
bool emu_shared_offsets(emu_warp_t *warp, const emu_insn_t *insn,
                        uint32_t lanes, uint64_t io_addresses[EMU_LANES]);

UATTN_NODISCARD uattn_error_t *
emu_decode_map_address(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                       emu_insn_t *insn);
UATTN_NODISCARD uattn_error_t *
emu_decode_cta_rank(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                    emu_insn_t *insn);

#endif /* UATTN_EMULATOR_SHARED_ADDRESS_H */
