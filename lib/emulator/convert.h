/* A conversion between two types, as cvt describes it.
 * Layer: emulator. Must not know: how instructions are decoded.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_CONVERT_H
#define UATTN_EMULATOR_CONVERT_H

#include "emulator/decode.h"
#include "emulator/float_format.h"

typedef struct {
  ptx_type_t target;
  ptx_type_t source;
  emu_rounding_t rounding; /* to the target's precision */
  bool rounds_to_integer;  /* a float to a float without fraction */
  bool flushes;            /* subnormal f32 on either side */
  bool saturates;          /* integers to the target's range, floats to 0..1 */
  bool is_relu;
  bool is_finite;        /* .satfinite: infinity becomes the largest number */
  size_t register_bytes; /* of the target, which may be wider than its type */
} emu_conversion_t;

/* insn->detail is the conversion; rows[0] from rows[1], or the halves of
 * rows[0] from rows[1] (upper) and rows[2]. */
emu_outcome_t emu_convert_integers(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes);
emu_outcome_t emu_convert_to_integer(emu_warp_t *warp, const emu_insn_t *insn,
                                     uint32_t lanes);
emu_outcome_t emu_convert_from_integer(emu_warp_t *warp, const emu_insn_t *insn,
                                       uint32_t lanes);
emu_outcome_t emu_convert_floats(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes);
emu_outcome_t emu_convert_pair(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t lanes);

#endif /* UATTN_EMULATOR_CONVERT_H */
