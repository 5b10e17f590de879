/* The families of instructions, in the order in which opcodes are looked up.
 * Layer: emulator. Must not know: what the instructions do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode_program.h"

const emu_variant_t *const emu_variant_tables[] = {
    emu_integer_variants, emu_wide_variants, emu_carry_variants,
    emu_logic_variants,   emu_bit_variants,  NULL,
};

const emu_opcode_t *const emu_opcode_tables[] = {
    emu_float_opcodes,
    emu_convert_opcodes,
    emu_move_opcodes,
    emu_compare_opcodes,
    emu_control_opcodes,
    emu_memory_opcodes,
    emu_address_opcodes,
    emu_atomic_opcodes,
    emu_warp_opcodes,
    emu_warp_sync_opcodes,
    emu_async_copy_opcodes,
    emu_barrier_opcodes,
    emu_mbarrier_opcodes,
    emu_copy_opcodes,
    emu_matrix_opcodes,
    emu_wgmma_opcodes,
    NULL,
};
