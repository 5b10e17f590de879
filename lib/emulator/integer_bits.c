/* Bit fields, bit counts and byte permutation.
 * Layer: emulator. Must not know: how instructions are decoded or scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/integer.h"

/* ---- Fields ----------------------------------------------------------------
 * Position and length are the low bytes of their operands. */

static uint64_t low_bits(uint64_t count) {
  return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* `width` bits of `value` count; signed fields are filled with the field's
 * highest bit, or the value's where the field ends past it. */
static uint64_t extract(uint64_t value, uint32_t position, uint32_t length,
                        uint32_t width, bool is_signed) {
  position &= 255;
  length &= 255;
  uint32_t end = position + length - 1;
  uint32_t top = end < width - 1 ? end : width - 1;
  bool sign = is_signed && length && (value >> top & 1);
  uint64_t field = position < width ? value >> position : 0;
  uint32_t valid = position < width ? width - position : 0;
  if (length < valid)
    valid = length;
  field &= low_bits(valid);
  return sign ? field | ~low_bits(valid) : field;
}

static uint64_t insert(uint64_t field, uint64_t value, uint32_t position,
                       uint32_t length, uint32_t width) {
  position &= 255;
  length &= 255;
  if (position >= width)
    return value;
  uint64_t mask = low_bits(length) << position & low_bits(width);
  return (value & ~mask) | (field << position & mask);
}

EMU_DEFINE_3(bfe_u32, word, word, word, word, extract(a, b, c, 32, false))
EMU_DEFINE_3(bfe_s32, word, word, word, word, extract(a, b, c, 32, true))
EMU_DEFINE_3(bfe_u64, long, long, word, word, extract(a, b, c, 64, false))
EMU_DEFINE_3(bfe_s64, long, long, word, word, extract(a, b, c, 64, true))

static emu_outcome_t bfi_32(emu_warp_t *warp, const emu_insn_t *insn,
                            uint32_t lanes) {
  uint32_t *target = emu_target_word(warp, insn->rows[0]);
  const uint32_t *a = emu_words(warp, insn->rows[1]);
  const uint32_t *b = emu_words(warp, insn->rows[2]);
  const uint32_t *c = emu_words(warp, insn->rows[3]);
  const uint32_t *d = emu_words(warp, insn->rows[4]);
  EMU_LANE_LOOP(lanes, target[lane] = (uint32_t)insert(a[lane], b[lane],
                                                       c[lane], d[lane], 32))
  return EMU_NEXT;
}

static emu_outcome_t bfi_64(emu_warp_t *warp, const emu_insn_t *insn,
                            uint32_t lanes) {
  uint64_t *target = emu_target_long(warp, insn->rows[0]);
  const uint64_t *a = emu_longs(warp, insn->rows[1]);
  const uint64_t *b = emu_longs(warp, insn->rows[2]);
  const uint32_t *c = emu_words(warp, insn->rows[3]);
  const uint32_t *d = emu_words(warp, insn->rows[4]);
  EMU_LANE_LOOP(lanes,
                target[lane] = insert(a[lane], b[lane], c[lane], d[lane], 64))
  return EMU_NEXT;
}

/* The low `b` bits, sign- or zero-extended. */
static uint32_t extend(uint32_t value, uint32_t length, bool is_signed) {
  return (uint32_t)extract(value, 0, length > 32 ? 32 : length, 32, is_signed);
}
EMU_DEFINE_2(szext_wrap_u32, word, word, word, extend(a, b & 31, false))
EMU_DEFINE_2(szext_wrap_s32, word, word, word, extend(a, b & 31, true))
EMU_DEFINE_2(szext_clamp_u32, word, word, word, extend(a, b, false))
EMU_DEFINE_2(szext_clamp_s32, word, word, word, extend(a, b, true))

/* `length` ones from bit `position` on. */
static uint32_t mask_of(uint32_t position, uint32_t length) {
  return (uint32_t)insert(UINT64_MAX, 0, position > 32 ? 32 : position,
                          length > 32 ? 32 : length, 32);
}
EMU_DEFINE_2(bmsk_wrap, word, word, word, mask_of(a & 31, b & 31))
EMU_DEFINE_2(bmsk_clamp, word, word, word, mask_of(a, b))

/* ---- Counting and finding --------------------------------------------------
 */

EMU_DEFINE_1(popc_32, word, word, __builtin_popcount(a))
EMU_DEFINE_1(popc_64, word, long, __builtin_popcountll(a))
EMU_DEFINE_1(clz_32, word, word, a ? __builtin_clz(a) : 32)
EMU_DEFINE_1(clz_64, word, long, a ? __builtin_clzll(a) : 64)

static uint64_t reverse(uint64_t value, uint32_t width) {
  uint64_t result = 0;
  for (uint32_t i = 0; i < width; ++i)
    result |= (value >> i & 1) << (width - 1 - i);
  return result;
}
EMU_DEFINE_1(brev_32, word, word, reverse(a, 32))
EMU_DEFINE_1(brev_64, long, long, reverse(a, 64))

/* The highest bit that differs from the sign (of unsigned values: that is
 * set), from below; of ..shiftamt from above. All ones where there is none. */
static uint32_t find(uint64_t value, uint32_t width, bool is_signed,
                     bool from_above) {
  if (is_signed && (value >> (width - 1) & 1))
    value = ~value & low_bits(width);
  if (!value)
    return UINT32_MAX;
  uint32_t bit = 63 - (uint32_t)__builtin_clzll(value);
  return from_above ? width - 1 - bit : bit;
}
EMU_DEFINE_1(bfind_u32, word, word, find(a, 32, false, false))
EMU_DEFINE_1(bfind_s32, word, word, find(a, 32, true, false))
EMU_DEFINE_1(bfind_u64, word, long, find(a, 64, false, false))
EMU_DEFINE_1(bfind_s64, word, long, find(a, 64, true, false))
EMU_DEFINE_1(bfind_shiftamt_u32, word, word, find(a, 32, false, true))
EMU_DEFINE_1(bfind_shiftamt_s32, word, word, find(a, 32, true, true))
EMU_DEFINE_1(bfind_shiftamt_u64, word, long, find(a, 64, false, true))
EMU_DEFINE_1(bfind_shiftamt_s64, word, long, find(a, 64, true, true))

/* The `offset`th set bit from bit `base` on, upwards or downwards. */
static uint32_t find_nth(uint32_t mask, uint32_t base, uint32_t offset) {
  int32_t wanted = EMU_S32(offset);
  int32_t step = wanted < 0 ? -1 : 1;
  int64_t left = (int64_t)wanted * step;
  if (base > 31)
    return UINT32_MAX;
  if (wanted == 0)
    return mask >> base & 1 ? base : UINT32_MAX;
  for (int32_t bit = (int32_t)base; bit >= 0 && bit < 32; bit += step)
    if ((mask >> bit & 1) && --left == 0)
      return (uint32_t)bit;
  return UINT32_MAX;
}
EMU_DEFINE_3(fns, word, word, word, word, find_nth(a, b, c))

/* ---- prmt ------------------------------------------------------------------
 */

static uint32_t byte_of(uint64_t pair, uint32_t index) {
  return (uint32_t)(pair >> (8 * (index & 7))) & 255;
}

static uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
  uint64_t pair = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t selector = selectors >> (4 * i);
    uint32_t byte = byte_of(pair, selector);
    if (selector & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/* Modes with their own pattern of selectors: that of byte i is base + factor *
 * i, or a table's. */
static uint32_t permute_pattern(uint32_t a, uint32_t b,
                                const uint8_t pattern[4]) {
  uint64_t pair = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i)
    result |= byte_of(pair, pattern[i]) << (8 * i);
  return result;
}
static const uint8_t f4e_patterns[4][4] = {
    {0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}};
static const uint8_t b4e_patterns[4][4] = {
    {0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}};
static const uint8_t rc8_patterns[4][4] = {
    {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
static const uint8_t ecl_patterns[4][4] = {
    {0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}};
static const uint8_t ecr_patterns[4][4] = {
    {0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}};
static const uint8_t rc16_patterns[4][4] = {
    {0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}};
EMU_DEFINE_3(prmt, word, word, word, word, permute(a, b, c))
EMU_DEFINE_3(prmt_f4e, word, word, word, word,
             permute_pattern(a, b, f4e_patterns[c & 3]))
EMU_DEFINE_3(prmt_b4e, word, word, word, word,
             permute_pattern(a, b, b4e_patterns[c & 3]))
EMU_DEFINE_3(prmt_rc8, word, word, word, word,
             permute_pattern(a, b, rc8_patterns[c & 3]))
EMU_DEFINE_3(prmt_ecl, word, word, word, word,
             permute_pattern(a, b, ecl_patterns[c & 3]))
EMU_DEFINE_3(prmt_ecr, word, word, word, word,
             permute_pattern(a, b, ecr_patterns[c & 3]))
EMU_DEFINE_3(prmt_rc16, word, word, word, word,
             permute_pattern(a, b, rc16_patterns[c & 3]))

const emu_variant_t emu_bit_variants[] = {
    {"bfe.u32", "wwww", bfe_u32},
    {"bfe.s32", "wwww", bfe_s32},
    {"bfe.u64", "llww", bfe_u64},
    {"bfe.s64", "llww", bfe_s64},
    {"bfi.b32", "wwwww", bfi_32},
    {"bfi.b64", "lllww", bfi_64},
    {"szext.wrap.u32", "www", szext_wrap_u32},
    {"szext.wrap.s32", "www", szext_wrap_s32},
    {"szext.clamp.u32", "www", szext_clamp_u32},
    {"szext.clamp.s32", "www", szext_clamp_s32},
    {"bmsk.wrap.b32", "www", bmsk_wrap},
    {"bmsk.clamp.b32", "www", bmsk_clamp},
    {"popc.b32", "ww", popc_32},
    {"popc.b64", "wl", popc_64},
    {"clz.b32", "ww", clz_32},
    {"clz.b64", "wl", clz_64},
    {"brev.b32", "ww", brev_32},
    {"brev.b64", "ll", brev_64},
    {"bfind.u32", "ww", bfind_u32},
    {"bfind.s32", "ww", bfind_s32},
    {"bfind.u64", "wl", bfind_u64},
    {"bfind.s64", "wl", bfind_s64},
    {"bfind.shiftamt.u32", "ww", bfind_shiftamt_u32},
    {"bfind.shiftamt.s32", "ww", bfind_shiftamt_s32},
    {"bfind.shiftamt.u64", "wl", bfind_shiftamt_u64},
    {"bfind.shiftamt.s64", "wl", bfind_shiftamt_s64},
    {"fns.b32", "wwww", fns},
    {"prmt.b32", "wwww", prmt},
    {"prmt.b32.f4e", "wwww", prmt_f4e},
    {"prmt.b32.b4e", "wwww", prmt_b4e},
    {"prmt.b32.rc8", "wwww", prmt_rc8},
    {"prmt.b32.ecl", "wwww", prmt_ecl},
    {"prmt.b32.ecr", "wwww", prmt_ecr},
    {"prmt.b32.rc16", "wwww", prmt_rc16},
    {NULL, NULL, NULL},
};
