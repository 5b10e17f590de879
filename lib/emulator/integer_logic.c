/* Logic and shifts, of predicates too.
 * Layer: emulator. Must not know: how instructions are decoded or scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/integer.h"

/* 16-bit values have their upper half zero, which these keep. */
EMU_DEFINE_2(and_words, word, word, word, a &b)
EMU_DEFINE_2(and_longs, long, long, long, a &b)
EMU_DEFINE_2(or_words, word, word, word, a | b)
EMU_DEFINE_2(or_longs, long, long, long, a | b)
EMU_DEFINE_2(xor_words, word, word, word, a ^ b)
EMU_DEFINE_2(xor_longs, long, long, long, a ^ b)
EMU_DEFINE_1(not_16, word, word, (uint16_t)~a)
EMU_DEFINE_1(not_32, word, word, ~a)
EMU_DEFINE_1(not_64, long, long, ~a)
EMU_DEFINE_1(cnot_words, word, word, a == 0)
EMU_DEFINE_1(cnot_longs, long, long, a == 0)

#define DEFINE_PREDICATE(name, expression)                                     \
  static emu_outcome_t name(emu_warp_t *warp, const emu_insn_t *insn,          \
                            uint32_t lanes) {                                  \
    uint32_t a = emu_predicate(warp, insn->rows[1]);                           \
    uint32_t b = emu_predicate(warp, insn->rows[2]);                           \
    emu_set_predicate(warp, insn->rows[0], lanes, (expression));               \
    return EMU_NEXT;                                                           \
  }
DEFINE_PREDICATE(and_predicates, a &b)
DEFINE_PREDICATE(or_predicates, a | b)
DEFINE_PREDICATE(xor_predicates, a ^ b)

static emu_outcome_t not_predicate(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  emu_set_predicate(warp, insn->rows[0], lanes,
                    ~emu_predicate(warp, insn->rows[1]));
  return EMU_NEXT;
}

/* ---- Shifts ----------------------------------------------------------------
 * Distances past the width count as the width. */

EMU_DEFINE_2(shl_16, word, word, word, b > 15 ? 0 : (uint16_t)(a << b))
EMU_DEFINE_2(shl_32, word, word, word, b > 31 ? 0 : a << b)
EMU_DEFINE_2(shl_64, long, long, word, b > 63 ? 0 : a << b)
EMU_DEFINE_2(shr_u16, word, word, word, b > 15 ? 0 : a >> b)
EMU_DEFINE_2(shr_u32, word, word, word, b > 31 ? 0 : a >> b)
EMU_DEFINE_2(shr_u64, long, long, word, b > 63 ? 0 : a >> b)
EMU_DEFINE_2(shr_s16, word, word, word,
             (uint16_t)(EMU_S16(a) >> (b > 15 ? 15 : b)))
EMU_DEFINE_2(shr_s32, word, word, word, EMU_S32(a) >> (b > 31 ? 31 : b))
EMU_DEFINE_2(shr_s64, long, long, word, EMU_S64(a) >> (b > 63 ? 63 : b))

/* The pair b:a shifted by c; the upper word of a shift to the left, the lower
 * one of a shift to the right. */
static uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t distance) {
  uint64_t pair = (uint64_t)b << 32 | a;
  return (uint32_t)(pair << distance >> 32);
}
static uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t distance) {
  uint64_t pair = (uint64_t)b << 32 | a;
  return (uint32_t)(pair >> distance);
}
EMU_DEFINE_3(shf_l_wrap, word, word, word, word, funnel_left(a, b, c & 31))
EMU_DEFINE_3(shf_l_clamp, word, word, word, word,
             funnel_left(a, b, c > 32 ? 32 : c))
EMU_DEFINE_3(shf_r_wrap, word, word, word, word, funnel_right(a, b, c & 31))
EMU_DEFINE_3(shf_r_clamp, word, word, word, word,
             funnel_right(a, b, c > 32 ? 32 : c))

/* ---- lop3 ------------------------------------------------------------------
 */

static uint32_t lookup3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (uint32_t i = 0; i < 8; ++i)
    if (table >> i & 1)
      result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}

static emu_outcome_t lop3(emu_warp_t *warp, const emu_insn_t *insn,
                          uint32_t lanes) {
  uint32_t *target = emu_target_word(warp, insn->rows[0]);
  const uint32_t *a = emu_words(warp, insn->rows[1]);
  const uint32_t *b = emu_words(warp, insn->rows[2]);
  const uint32_t *c = emu_words(warp, insn->rows[3]);
  uint32_t table = emu_words(warp, insn->rows[4])[0];
  EMU_LANE_LOOP(lanes, target[lane] = lookup3(a[lane], b[lane], c[lane], table))
  return EMU_NEXT;
}

const emu_variant_t emu_logic_variants[] = {
    {"and.pred", "ppp", and_predicates},
    {"and.b16", "hhh", and_words},
    {"and.b32", "www", and_words},
    {"and.b64", "lll", and_longs},
    {"or.pred", "ppp", or_predicates},
    {"or.b16", "hhh", or_words},
    {"or.b32", "www", or_words},
    {"or.b64", "lll", or_longs},
    {"xor.pred", "ppp", xor_predicates},
    {"xor.b16", "hhh", xor_words},
    {"xor.b32", "www", xor_words},
    {"xor.b64", "lll", xor_longs},
    {"not.pred", "pp", not_predicate},
    {"not.b16", "hh", not_16},
    {"not.b32", "ww", not_32},
    {"not.b64", "ll", not_64},
    {"cnot.b16", "hh", cnot_words},
    {"cnot.b32", "ww", cnot_words},
    {"cnot.b64", "ll", cnot_longs},
    {"shl.b16", "hhw", shl_16},
    {"shl.b32", "www", shl_32},
    {"shl.b64", "llw", shl_64},
    {"shr.b16", "hhw", shr_u16},
    {"shr.u16", "hhw", shr_u16},
    {"shr.s16", "hhw", shr_s16},
    {"shr.b32", "www", shr_u32},
    {"shr.u32", "www", shr_u32},
    {"shr.s32", "www", shr_s32},
    {"shr.b64", "llw", shr_u64},
    {"shr.u64", "llw", shr_u64},
    {"shr.s64", "llw", shr_s64},
    {"shf.l.wrap.b32", "wwww", shf_l_wrap},
    {"shf.l.clamp.b32", "wwww", shf_l_clamp},
    {"shf.r.wrap.b32", "wwww", shf_r_wrap},
    {"shf.r.clamp.b32", "wwww", shf_r_clamp},
    {"lop3.b32", "wwwww", lop3},
    {NULL, NULL, NULL},
};
