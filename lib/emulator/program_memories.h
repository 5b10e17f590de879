/* The host memory that the kernels of a call may touch.
 * Layer: emulator. Must not know: instructions, how kernels run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_PROGRAM_MEMORIES_H
#define UATTN_EMULATOR_PROGRAM_MEMORIES_H

#include "artifact/call.h"
#include "uattn/emulator.h"

/* Zero-initialise; release when done. */
typedef struct {
  uattn_emulator_memory_t *list; /* names are owned */
  size_t count;
} emu_program_memories_t;

/* Arguments, results, the values between ops, and the scratch of the op
 * `step`, of a call that was checked. Tensors that share memory become one,
 * which has the names of all. */
void emu_program_memories_find(const uattn_call_t *call, uint32_t step,
                               emu_program_memories_t *out_memories);
void emu_program_memories_release(emu_program_memories_t *memories);

#endif /* UATTN_EMULATOR_PROGRAM_MEMORIES_H */
