/* Exponential, logarithm and trigonometric functions of f32.
 * Layer: emulator. Must not know: how instructions are decoded or scheduled.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The hardware approximates; these are the host's functions, whose error of
 * less than one unit in the last place is within what the PTX manual
 * documents for the hardware's. */
#include "emulator/float_options.h"

static uint32_t finish(float result, uint32_t flags) {
  uint32_t bits = emu_float_bits(result);
  if (flags & EMU_FLOAT_FTZ)
    bits = emu_flush_f32(bits);
  return emu_is_nan_f32(bits) ? EMU_NAN_F32 : bits;
}

#define DEFINE_FUNCTION(name, function, allowed)                               \
  static emu_outcome_t name##_f32(emu_warp_t *warp, const emu_insn_t *insn,    \
                                  uint32_t lanes) {                            \
    uint32_t flags = (uint32_t)insn->immediates[0];                            \
    uint32_t *target = emu_target_word(warp, insn->rows[0]);                   \
    const uint32_t *a = emu_words(warp, insn->rows[1]);                        \
    EMU_LANE_LOOP(lanes, uint32_t bits = a[lane];                              \
                  bits = flags & EMU_FLOAT_FTZ ? emu_flush_f32(bits) : bits;   \
                  target[lane] = finish(function(emu_float(bits)), flags))     \
    return EMU_NEXT;                                                           \
  }                                                                            \
  emu_execute_t emu_choose_##name##_f32(uint32_t flags) {                      \
    bool is_approx = (flags & EMU_FLOAT_APPROX) != 0;                          \
    return !is_approx || (flags & ~(uint32_t)(allowed)) ? NULL : name##_f32;   \
  }

enum { APPROX_FTZ = EMU_FLOAT_APPROX | EMU_FLOAT_FTZ };
DEFINE_FUNCTION(ex2, exp2f, APPROX_FTZ)
DEFINE_FUNCTION(lg2, log2f, APPROX_FTZ)
DEFINE_FUNCTION(sin, sinf, APPROX_FTZ)
DEFINE_FUNCTION(cos, cosf, APPROX_FTZ)
DEFINE_FUNCTION(tanh, tanhf, EMU_FLOAT_APPROX)
