/* The words of loads, stores and atomics that say where, for whom, and how to
 * cache.
 * Layer: emulator. Must not know: how memory is reached.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_ACCESS_PARTS_H
#define UATTN_EMULATOR_ACCESS_PARTS_H

#include "emulator/decode.h"

typedef enum {
  EMU_ORDER_WEAK, /* or none */
  EMU_ORDER_VOLATILE,
  EMU_ORDER_RELAXED,
  EMU_ORDER_ACQUIRE,
  EMU_ORDER_RELEASE,
  EMU_ORDER_ACQ_REL
} emu_order_t;

typedef struct {
  emu_order_t order;
  bool is_mmio;
  int scope; /* cta, cluster, gpu, sys; -1: none */
  ptx_space_t space;
  bool has_cache_policy; /* an operand more at the end */
  uint32_t vector;       /* elements */
} emu_access_parts_t;

/* Takes order, scope, state space, cache operators and hints, .v2 to .v8. */
UATTN_NODISCARD uattn_error_t *emu_take_access(emu_parts_t *parts,
                                               emu_access_parts_t *out_access);

/* Other CTAs may take part in the communication. */
bool emu_reaches_others(const emu_access_parts_t *access);

/* Checks the cache policy, the last operand, where there is one. */
UATTN_NODISCARD uattn_error_t *
emu_decode_policy(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                  const emu_access_parts_t *access);

#endif /* UATTN_EMULATOR_ACCESS_PARTS_H */
