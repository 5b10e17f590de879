/* An atomic operation on memory.
 * Layer: emulator. Must not know: how instructions are decoded.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_ATOMIC_H
#define UATTN_EMULATOR_ATOMIC_H

#include "emulator/decode.h"

typedef enum {
  EMU_ATOMIC_ADD,
  EMU_ATOMIC_MIN,
  EMU_ATOMIC_MAX,
  EMU_ATOMIC_AND,
  EMU_ATOMIC_OR,
  EMU_ATOMIC_XOR,
  EMU_ATOMIC_EXCHANGE,
  EMU_ATOMIC_COMPARE,
  EMU_ATOMIC_INCREMENT,
  EMU_ATOMIC_DECREMENT
} emu_atomic_operation_t;

enum { EMU_ATOMIC_ELEMENTS = 8 };

typedef struct {
  emu_atomic_operation_t operation;
  ptx_type_t type; /* of an element */
  uint32_t element_count;
  bool has_result;
  ptx_space_t space;
  emu_row_t base;
  int64_t offset;
  emu_row_t results[EMU_ATOMIC_ELEMENTS]; /* old values */
  emu_row_t values[EMU_ATOMIC_ELEMENTS];
  emu_row_t replacement; /* of a comparison that holds */
} emu_atomic_t;

/* insn->detail is the operation. Lanes go one after the other. */
emu_outcome_t emu_execute_atomic(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes);

#endif /* UATTN_EMULATOR_ATOMIC_H */
