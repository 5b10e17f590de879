/* Minimum, maximum and signs of f32 and f64.
 * Layer: emulator. Must not know: how instructions are decoded or scheduled.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A NaN operand loses against a number, but for .NaN, where it wins; -0 is
 * less than +0. */
#include "emulator/float_options.h"

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

/* Ordered like the numbers, for values that are no NaN. */
ALWAYS_INLINE int32_t key_f32(uint32_t bits) {
  return (int32_t)(bits & 0x80000000 ? bits ^ 0x7FFFFFFF : bits);
}

ALWAYS_INLINE uint32_t select_f32(uint32_t a, uint32_t b, bool wants_max,
                                  uint32_t flags) {
  if (flags & EMU_FLOAT_FTZ) {
    a = emu_flush_f32(a);
    b = emu_flush_f32(b);
  }
  uint32_t sign = (a ^ b) & 0x80000000;
  if (flags & EMU_FLOAT_XORSIGN) {
    a &= 0x7FFFFFFF;
    b &= 0x7FFFFFFF;
  }
  bool takes_a = wants_max ? key_f32(a) > key_f32(b) : key_f32(a) < key_f32(b);
  uint32_t result = takes_a ? a : b;
  bool a_is_nan = emu_is_nan_f32(a);
  bool b_is_nan = emu_is_nan_f32(b);
  uint32_t other = a_is_nan ? b : a;
  other = a_is_nan && b_is_nan ? EMU_NAN_F32 : other;
  other = flags & EMU_FLOAT_NAN ? EMU_NAN_F32 : other;
  bool has_nan = a_is_nan || b_is_nan;
  result = has_nan ? other : result;
  if ((flags & EMU_FLOAT_XORSIGN) && !emu_is_nan_f32(result))
    result |= sign;
  return result;
}

EMU_DEFINE_2(min_f32, word, word, word, select_f32(a, b, false, 0))
EMU_DEFINE_2(max_f32, word, word, word, select_f32(a, b, true, 0))
EMU_DEFINE_2(min_any_f32, word, word, word,
             select_f32(a, b, false, (uint32_t)insn->immediates[0]))
EMU_DEFINE_2(max_any_f32, word, word, word,
             select_f32(a, b, true, (uint32_t)insn->immediates[0]))
ALWAYS_INLINE uint32_t or_nan(uint32_t bits) {
  return emu_is_nan_f32(bits) ? EMU_NAN_F32 : bits;
}
EMU_DEFINE_1(abs_f32, word, word, or_nan(a & 0x7FFFFFFF))
EMU_DEFINE_1(abs_ftz_f32, word, word, or_nan(emu_flush_f32(a) & 0x7FFFFFFF))
EMU_DEFINE_1(neg_f32, word, word, or_nan(a ^ 0x80000000))
EMU_DEFINE_1(neg_ftz_f32, word, word, or_nan(emu_flush_f32(a) ^ 0x80000000))
/* The sign of a, the magnitude of b. */
EMU_DEFINE_2(copysign_f32, word, word, word,
             (a & 0x80000000) | (b & 0x7FFFFFFF))

enum { SELECT_FLAGS = EMU_FLOAT_FTZ | EMU_FLOAT_NAN | EMU_FLOAT_XORSIGN };

emu_execute_t emu_choose_min_f32(uint32_t flags) {
  if (flags & ~(uint32_t)SELECT_FLAGS)
    return NULL;
  return flags ? min_any_f32 : min_f32;
}
emu_execute_t emu_choose_max_f32(uint32_t flags) {
  if (flags & ~(uint32_t)SELECT_FLAGS)
    return NULL;
  return flags ? max_any_f32 : max_f32;
}
emu_execute_t emu_choose_abs_f32(uint32_t flags) {
  return flags == 0 ? abs_f32 : flags == EMU_FLOAT_FTZ ? abs_ftz_f32 : NULL;
}
emu_execute_t emu_choose_neg_f32(uint32_t flags) {
  return flags == 0 ? neg_f32 : flags == EMU_FLOAT_FTZ ? neg_ftz_f32 : NULL;
}
emu_execute_t emu_choose_copysign_f32(uint32_t flags) {
  return flags ? NULL : copysign_f32;
}

/* ---- f64 -------------------------------------------------------------------
 */

#define SIGN_F64 (UINT64_C(1) << 63)

/* A NaN keeps its sign and payload and becomes quiet. */
static uint64_t quiet(uint64_t bits) { return bits | UINT64_C(1) << 51; }

static int64_t key_f64(uint64_t bits) {
  return (int64_t)(bits & SIGN_F64 ? bits ^ ~SIGN_F64 : bits);
}

static uint64_t select_f64(uint64_t a, uint64_t b, bool wants_max) {
  if (emu_is_nan_f64(a))
    return emu_is_nan_f64(b) ? quiet(b) : b;
  if (emu_is_nan_f64(b))
    return a;
  bool takes_a = wants_max ? key_f64(a) > key_f64(b) : key_f64(a) < key_f64(b);
  return takes_a ? a : b;
}

EMU_DEFINE_2(min_f64, long, long, long, select_f64(a, b, false))
EMU_DEFINE_2(max_f64, long, long, long, select_f64(a, b, true))
EMU_DEFINE_1(abs_f64, long, long, emu_is_nan_f64(a) ? quiet(a) : a & ~SIGN_F64)
EMU_DEFINE_1(neg_f64, long, long, emu_is_nan_f64(a) ? quiet(a) : a ^ SIGN_F64)
EMU_DEFINE_2(copysign_f64, long, long, long, (a & SIGN_F64) | (b & ~SIGN_F64))

emu_execute_t emu_choose_min_f64(uint32_t flags) {
  return flags ? NULL : min_f64;
}
emu_execute_t emu_choose_max_f64(uint32_t flags) {
  return flags ? NULL : max_f64;
}
emu_execute_t emu_choose_abs_f64(uint32_t flags) {
  return flags ? NULL : abs_f64;
}
emu_execute_t emu_choose_neg_f64(uint32_t flags) {
  return flags ? NULL : neg_f64;
}
emu_execute_t emu_choose_copysign_f64(uint32_t flags) {
  return flags ? NULL : copysign_f64;
}
