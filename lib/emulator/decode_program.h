/* Programs: one entry of a module, decoded once for all launches.
 * Layer: emulator. Must not know: launches, memories of the host.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_DECODE_PROGRAM_H
#define UATTN_EMULATOR_DECODE_PROGRAM_H

#include "emulator/machine.h"

/* Decodes an entry. The module must outlive the program. */
UATTN_NODISCARD uattn_error_t *emu_program_create(const ptx_module_t *module,
                                                  const ptx_entry_t *entry,
                                                  emu_program_t **out_program);
/* Accepts NULL. */
void emu_program_destroy(emu_program_t *program);

/* The families' tables, each list ended by NULL. Variants are looked up first.
 */
extern const emu_variant_t *const emu_variant_tables[];
extern const emu_opcode_t *const emu_opcode_tables[];

/* Gives every variable that the entry names its place in its space, and the
 * program the sizes of the spaces. Module variables of .global and .const have
 * the same place for all entries. */
UATTN_NODISCARD uattn_error_t *
emu_variables_place(const emu_decoder_t *decoder);

/* ---- Special registers (special_registers.c) ------------------------------
 */

/* The index of "%tid.x" among the special registers, -1 for an unknown one. */
int emu_special_find(const char *name);
ptx_type_t emu_special_type(int special);
/* Changes while a thread runs: %clock and the like. */
bool emu_special_is_dynamic(int special);
/* The row of a register that is not dynamic, one a program. */
emu_row_t emu_special_row(emu_decoder_t *decoder, int special);
/* Writes the rows of all special registers of a new warp. */
void emu_special_fill(emu_warp_t *warp);
/* The value of a dynamic register just now. */
uint64_t emu_special_read(const emu_warp_t *warp, int special);

#endif /* UATTN_EMULATOR_DECODE_PROGRAM_H */
