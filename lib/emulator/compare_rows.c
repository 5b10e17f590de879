/* Executes comparisons and selections.
 * Layer: emulator. Must not know: how instructions are decoded.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/compare.h"
#include "emulator/float_format.h"
#include "spec/spec.h"

/* ---- Masks -----------------------------------------------------------------
 * A bit for every lane for which the comparison holds. */

#define MASK(expression)                                                       \
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)                            \
    mask |= (uint32_t)(expression) << lane;                                    \
  break

#define DEFINE_INTEGER(name, type)                                             \
  static uint32_t name(emu_comparison_t comparison, const type *a,             \
                       const type *b) {                                        \
    uint32_t mask = 0;                                                         \
    switch (comparison) {                                                      \
    case EMU_COMPARE_EQ:                                                       \
      MASK(a[lane] == b[lane]);                                                \
    case EMU_COMPARE_NE:                                                       \
      MASK(a[lane] != b[lane]);                                                \
    case EMU_COMPARE_LT:                                                       \
    case EMU_COMPARE_LO:                                                       \
      MASK(a[lane] < b[lane]);                                                 \
    case EMU_COMPARE_LE:                                                       \
    case EMU_COMPARE_LS:                                                       \
      MASK(a[lane] <= b[lane]);                                                \
    case EMU_COMPARE_GT:                                                       \
    case EMU_COMPARE_HI:                                                       \
      MASK(a[lane] > b[lane]);                                                 \
    default: /* GE, HS */                                                      \
      MASK(a[lane] >= b[lane]);                                                \
    }                                                                          \
    return mask;                                                               \
  }
DEFINE_INTEGER(compare_u32, uint32_t)
DEFINE_INTEGER(compare_s32, int32_t)
DEFINE_INTEGER(compare_u64, uint64_t)
DEFINE_INTEGER(compare_s64, int64_t)

#define DEFINE_FLOAT(name, type)                                               \
  static uint32_t name(emu_comparison_t comparison, const type *a,             \
                       const type *b) {                                        \
    uint32_t mask = 0;                                                         \
    switch (comparison) {                                                      \
    case EMU_COMPARE_EQ:                                                       \
      MASK(a[lane] == b[lane]);                                                \
    case EMU_COMPARE_NE:                                                       \
      MASK(a[lane]<b[lane] || a[lane]> b[lane]);                               \
    case EMU_COMPARE_LT:                                                       \
      MASK(a[lane] < b[lane]);                                                 \
    case EMU_COMPARE_LE:                                                       \
      MASK(a[lane] <= b[lane]);                                                \
    case EMU_COMPARE_GT:                                                       \
      MASK(a[lane] > b[lane]);                                                 \
    case EMU_COMPARE_GE:                                                       \
      MASK(a[lane] >= b[lane]);                                                \
    case EMU_COMPARE_EQU:                                                      \
      MASK(!(a[lane] < b[lane] || a[lane] > b[lane]));                         \
    case EMU_COMPARE_NEU:                                                      \
      MASK(a[lane] != b[lane]);                                                \
    case EMU_COMPARE_LTU:                                                      \
      MASK(!(a[lane] >= b[lane]));                                             \
    case EMU_COMPARE_LEU:                                                      \
      MASK(!(a[lane] > b[lane]));                                              \
    case EMU_COMPARE_GTU:                                                      \
      MASK(!(a[lane] <= b[lane]));                                             \
    case EMU_COMPARE_GEU:                                                      \
      MASK(!(a[lane] < b[lane]));                                              \
    case EMU_COMPARE_NUM:                                                      \
      MASK(a[lane] == a[lane] && b[lane] == b[lane]);                          \
    default: /* NAN */                                                         \
      MASK(a[lane] != a[lane] || b[lane] != b[lane]);                          \
    }                                                                          \
    return mask;                                                               \
  }
DEFINE_FLOAT(compare_f32, float)
DEFINE_FLOAT(compare_f64, double)

/* ---- Operands --------------------------------------------------------------
 */

/* `shift`: of the half of a pair. */
static void load_floats(const emu_warp_t *warp, emu_row_t row,
                        const emu_compare_t *compare, uint32_t shift,
                        float out[EMU_LANES]) {
  const uint32_t *words = emu_words(warp, row);
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
    uint32_t bits = words[lane] >> shift;
    uint16_t half = (uint16_t)bits;
    switch (compare->type) {
    case PTX_TYPE_F16:
    case PTX_TYPE_F16X2:
      if (compare->flushes && !(half & 0x7C00))
        half &= 0x8000;
      out[lane] = uattn_f16_to_float(half);
      break;
    case PTX_TYPE_BF16:
    case PTX_TYPE_BF16X2:
      out[lane] = uattn_bf16_to_float(half);
      break;
    default:
      out[lane] = emu_float(compare->flushes ? emu_flush_f32(bits) : bits);
    }
  }
}

static void load_s16(const emu_warp_t *warp, emu_row_t row,
                     int32_t out[EMU_LANES]) {
  const uint32_t *words = emu_words(warp, row);
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    out[lane] = (int16_t)words[lane];
}

static uint32_t compare_floats(const emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t shift) {
  const emu_compare_t *compare = insn->detail;
  float a[EMU_LANES];
  float b[EMU_LANES];
  load_floats(warp, insn->rows[2], compare, shift, a);
  load_floats(warp, insn->rows[3], compare, shift, b);
  return compare_f32(compare->comparison, a, b);
}

static uint32_t compare_doubles(const emu_warp_t *warp,
                                const emu_insn_t *insn) {
  const emu_compare_t *compare = insn->detail;
  double a[EMU_LANES];
  double b[EMU_LANES];
  memcpy(a, emu_longs(warp, insn->rows[2]), sizeof a);
  memcpy(b, emu_longs(warp, insn->rows[3]), sizeof b);
  return compare_f64(compare->comparison, a, b);
}

static uint32_t compare_values(const emu_warp_t *warp, const emu_insn_t *insn) {
  const emu_compare_t *compare = insn->detail;
  emu_comparison_t comparison = compare->comparison;
  switch (compare->type) {
  case PTX_TYPE_S16: {
    int32_t a[EMU_LANES];
    int32_t b[EMU_LANES];
    load_s16(warp, insn->rows[2], a);
    load_s16(warp, insn->rows[3], b);
    return compare_s32(comparison, a, b);
  }
  case PTX_TYPE_S32:
    return compare_s32(comparison,
                       (const int32_t *)emu_words(warp, insn->rows[2]),
                       (const int32_t *)emu_words(warp, insn->rows[3]));
  case PTX_TYPE_S64:
    return compare_s64(comparison,
                       (const int64_t *)emu_longs(warp, insn->rows[2]),
                       (const int64_t *)emu_longs(warp, insn->rows[3]));
  case PTX_TYPE_B64:
  case PTX_TYPE_U64:
    return compare_u64(comparison, emu_longs(warp, insn->rows[2]),
                       emu_longs(warp, insn->rows[3]));
  case PTX_TYPE_F64:
    return compare_doubles(warp, insn);
  case PTX_TYPE_F16:
  case PTX_TYPE_BF16:
  case PTX_TYPE_F32:
    return compare_floats(warp, insn, 0);
  default:
    return compare_u32(comparison, emu_words(warp, insn->rows[2]),
                       emu_words(warp, insn->rows[3]));
  }
}

static uint32_t combine(const emu_warp_t *warp, const emu_insn_t *insn,
                        uint32_t mask) {
  const emu_compare_t *compare = insn->detail;
  if (compare->operation == EMU_BOOL_NONE)
    return mask;
  uint32_t c = emu_predicate(warp, insn->rows[4]);
  return compare->operation == EMU_BOOL_AND  ? mask & c
         : compare->operation == EMU_BOOL_OR ? mask | c
                                             : mask ^ c;
}

/* ---- Instructions ----------------------------------------------------------
 */

static emu_outcome_t setp(emu_warp_t *warp, const emu_insn_t *insn,
                          uint32_t lanes) {
  uint32_t mask = compare_values(warp, insn);
  uint32_t p = combine(warp, insn, mask);
  uint32_t q = combine(warp, insn, ~mask);
  emu_set_predicate(warp, insn->rows[0], lanes, p);
  emu_set_predicate(warp, insn->rows[1], lanes, q);
  return EMU_NEXT;
}

/* Pairs of halves: p is of the lower ones, q of the upper ones. */
static emu_outcome_t setp_pairs(emu_warp_t *warp, const emu_insn_t *insn,
                                uint32_t lanes) {
  uint32_t low = combine(warp, insn, compare_floats(warp, insn, 0));
  uint32_t high = combine(warp, insn, compare_floats(warp, insn, 16));
  emu_set_predicate(warp, insn->rows[0], lanes, low);
  emu_set_predicate(warp, insn->rows[1], lanes, high);
  return EMU_NEXT;
}

static bool is_pair(const emu_compare_t *compare) {
  return compare->type == PTX_TYPE_F16X2 || compare->type == PTX_TYPE_BF16X2;
}

emu_execute_t emu_choose_setp(const emu_compare_t *compare) {
  return is_pair(compare) ? setp_pairs : setp;
}

static emu_outcome_t set(emu_warp_t *warp, const emu_insn_t *insn,
                         uint32_t lanes) {
  uint32_t mask = combine(warp, insn, compare_values(warp, insn));
  uint32_t value = (uint32_t)insn->immediates[0];
  uint32_t *target = emu_target_word(warp, insn->rows[0]);
  EMU_LANE_LOOP(lanes, target[lane] = mask >> lane & 1 ? value : 0)
  return EMU_NEXT;
}

static emu_outcome_t set_pairs(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t lanes) {
  uint32_t low = combine(warp, insn, compare_floats(warp, insn, 0));
  uint32_t high = combine(warp, insn, compare_floats(warp, insn, 16));
  uint32_t value = (uint32_t)insn->immediates[0];
  uint32_t *target = emu_target_word(warp, insn->rows[0]);
  EMU_LANE_LOOP(lanes, target[lane] = (low >> lane & 1 ? value : 0) |
                                      (high >> lane & 1 ? value << 16 : 0))
  return EMU_NEXT;
}

emu_execute_t emu_choose_set(const emu_compare_t *compare) {
  return is_pair(compare) ? set_pairs : set;
}

emu_outcome_t emu_execute_selp_word(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes) {
  uint32_t *target = emu_target_word(warp, insn->rows[0]);
  const uint32_t *a = emu_words(warp, insn->rows[1]);
  const uint32_t *b = emu_words(warp, insn->rows[2]);
  uint32_t mask = emu_predicate(warp, insn->rows[3]);
  EMU_LANE_LOOP(lanes, target[lane] = mask >> lane & 1 ? a[lane] : b[lane])
  return EMU_NEXT;
}

emu_outcome_t emu_execute_selp_long(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes) {
  uint64_t *target = emu_target_long(warp, insn->rows[0]);
  const uint64_t *a = emu_longs(warp, insn->rows[1]);
  const uint64_t *b = emu_longs(warp, insn->rows[2]);
  uint32_t mask = emu_predicate(warp, insn->rows[3]);
  EMU_LANE_LOOP(lanes, target[lane] = mask >> lane & 1 ? a[lane] : b[lane])
  return EMU_NEXT;
}

/* c >= 0; a NaN is not. -0 is. */
static uint32_t not_negative(const emu_warp_t *warp, const emu_insn_t *insn) {
  const uint32_t *c = emu_words(warp, insn->rows[3]);
  bool is_float = insn->immediates[0] == PTX_TYPE_F32;
  uint32_t mask = 0;
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    mask |=
        (uint32_t)(is_float ? emu_float(c[lane]) >= 0 : (int32_t)c[lane] >= 0)
        << lane;
  return mask;
}

emu_outcome_t emu_execute_slct(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t lanes) {
  uint32_t mask = not_negative(warp, insn);
  if (insn->rows[0].kind == EMU_ROW_LONG) {
    uint64_t *target = emu_target_long(warp, insn->rows[0]);
    const uint64_t *a = emu_longs(warp, insn->rows[1]);
    const uint64_t *b = emu_longs(warp, insn->rows[2]);
    EMU_LANE_LOOP(lanes, target[lane] = mask >> lane & 1 ? a[lane] : b[lane])
  } else {
    uint32_t *target = emu_target_word(warp, insn->rows[0]);
    const uint32_t *a = emu_words(warp, insn->rows[1]);
    const uint32_t *b = emu_words(warp, insn->rows[2]);
    EMU_LANE_LOOP(lanes, target[lane] = mask >> lane & 1 ? a[lane] : b[lane])
  }
  return EMU_NEXT;
}
