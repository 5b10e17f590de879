/* The families of instructions, in the order in which opcodes are looked up.
 * Layer: emulator. Must not know: what the instructions do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode_program.h"

const emu_variant_t *const emu_variant_tables[] = {
    emu_integer_variants, emu_wide_variants, emu_carry_variants,
    emu_logic_variants,   emu_bit_variants,  NULL,
};

const emu_opcode_t *const emu_opcode_tables[] = {
    emu_barrier_opcodes,
    emu_mbarrier_opcodes,
    emu_copy_opcodes,
    emu_matrix_opcodes,
    emu_wgmma_opcodes,
    NULL,
};
