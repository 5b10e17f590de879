/* What a reducing bulk copy does to each element.
 * Layer: emulator. Must not know: instructions, addresses, tensor maps.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_BULK_REDUCE_H
#define UATTN_EMULATOR_BULK_REDUCE_H

#include "emulator/ptx_syntax.h"

typedef enum {
  EMU_REDUCE_NONE, /* a plain copy */
  EMU_REDUCE_ADD,
  EMU_REDUCE_MIN,
  EMU_REDUCE_MAX,
  EMU_REDUCE_INC,
  EMU_REDUCE_DEC,
  EMU_REDUCE_AND,
  EMU_REDUCE_OR,
  EMU_REDUCE_XOR
} emu_reduce_t;

/* "add" and so on, ended by NULL: the name at i is EMU_REDUCE_ADD + i. */
extern const char *const emu_reduce_names[];

/* PTX ISA 9.0, cp.reduce.async.bulk: which operation takes which type. */
bool emu_reduce_is_valid(emu_reduce_t operation, ptx_type_t type,
                         bool is_to_global);

/* target[i] = target[i] op source[i], for `bytes` of elements of `type`. */
void emu_reduce(emu_reduce_t operation, ptx_type_t type, uint8_t *target,
                const uint8_t *source, size_t bytes);

#endif /* UATTN_EMULATOR_BULK_REDUCE_H */
