/* Integer products: low, high and whole, 24-bit ones, dot products of bytes.
 * Layer: emulator. Must not know: how instructions are decoded or scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/integer.h"

static uint64_t product_u32(uint32_t a, uint32_t b) { return (uint64_t)a * b; }
static int64_t product_s32(uint32_t a, uint32_t b) {
  return (int64_t)EMU_S32(a) * EMU_S32(b);
}
static uint64_t high_u64(uint64_t a, uint64_t b) {
  return (uint64_t)((unsigned __int128)a * b >> 64);
}
static uint64_t high_s64(uint64_t a, uint64_t b) {
  return (uint64_t)((__int128)EMU_S64(a) * EMU_S64(b) >> 64);
}
static int32_t product_s16(uint32_t a, uint32_t b) {
  return EMU_S16(a) * EMU_S16(b);
}
static uint32_t high_u32(uint32_t a, uint32_t b) {
  return (uint32_t)(product_u32(a, b) >> 32);
}
static uint32_t high_s32(uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)product_s32(a, b) >> 32);
}

EMU_DEFINE_2(mul_lo_16, word, word, word, (uint16_t)(a *b))
EMU_DEFINE_2(mul_hi_u16, word, word, word, (a * b) >> 16)
EMU_DEFINE_2(mul_hi_s16, word, word, word, (uint32_t)product_s16(a, b) >> 16)
EMU_DEFINE_2(mul_wide_u16, word, word, word, a *b)
EMU_DEFINE_2(mul_wide_s16, word, word, word, product_s16(a, b))
EMU_DEFINE_2(mul_lo_32, word, word, word, a *b)
EMU_DEFINE_2(mul_hi_u32, word, word, word, high_u32(a, b))
EMU_DEFINE_2(mul_hi_s32, word, word, word, high_s32(a, b))
EMU_DEFINE_2(mul_wide_u32, long, word, word, product_u32(a, b))
EMU_DEFINE_2(mul_wide_s32, long, word, word, product_s32(a, b))
EMU_DEFINE_2(mul_lo_64, long, long, long, a *b)
EMU_DEFINE_2(mul_hi_u64, long, long, long, high_u64(a, b))
EMU_DEFINE_2(mul_hi_s64, long, long, long, high_s64(a, b))

EMU_DEFINE_3(mad_lo_16, word, word, word, word, (uint16_t)(a *b + c))
EMU_DEFINE_3(mad_hi_u16, word, word, word, word, (uint16_t)((a * b >> 16) + c))
EMU_DEFINE_3(mad_hi_s16, word, word, word, word,
             (uint16_t)(((uint32_t)product_s16(a, b) >> 16) + c))
EMU_DEFINE_3(mad_wide_u16, word, word, word, word, a *b + c)
EMU_DEFINE_3(mad_wide_s16, word, word, word, word,
             (uint32_t)product_s16(a, b) + c)
EMU_DEFINE_3(mad_lo_32, word, word, word, word, a *b + c)
EMU_DEFINE_3(mad_hi_u32, word, word, word, word, high_u32(a, b) + c)
EMU_DEFINE_3(mad_hi_s32, word, word, word, word, high_s32(a, b) + c)
EMU_DEFINE_3(mad_hi_sat_s32, word, word, word, word,
             emu_clamp_s32((int64_t)EMU_S32(high_s32(a, b)) + EMU_S32(c)))
EMU_DEFINE_3(mad_wide_u32, long, word, word, long, product_u32(a, b) + c)
EMU_DEFINE_3(mad_wide_s32, long, word, word, long,
             (uint64_t)product_s32(a, b) + c)
EMU_DEFINE_3(mad_lo_64, long, long, long, long, a *b + c)
EMU_DEFINE_3(mad_hi_u64, long, long, long, long, high_u64(a, b) + c)
EMU_DEFINE_3(mad_hi_s64, long, long, long, long, high_s64(a, b) + c)

/* ---- 24 bits ---------------------------------------------------------------
 */

static uint64_t product_u24(uint32_t a, uint32_t b) {
  return product_u32(a & 0xFFFFFF, b & 0xFFFFFF);
}
static int64_t product_s24(uint32_t a, uint32_t b) {
  return (int64_t)(EMU_S32(a << 8) >> 8) * (EMU_S32(b << 8) >> 8);
}
/* "hi" are bits 16 to 47 of the 48-bit product. */
EMU_DEFINE_2(mul24_lo_u32, word, word, word, product_u24(a, b))
EMU_DEFINE_2(mul24_lo_s32, word, word, word, product_s24(a, b))
EMU_DEFINE_2(mul24_hi_u32, word, word, word, product_u24(a, b) >> 16)
EMU_DEFINE_2(mul24_hi_s32, word, word, word, product_s24(a, b) >> 16)
EMU_DEFINE_3(mad24_lo_u32, word, word, word, word, product_u24(a, b) + c)
EMU_DEFINE_3(mad24_lo_s32, word, word, word, word,
             (uint64_t)product_s24(a, b) + c)
EMU_DEFINE_3(mad24_hi_u32, word, word, word, word,
             (product_u24(a, b) >> 16) + c)
EMU_DEFINE_3(mad24_hi_s32, word, word, word, word,
             (uint64_t)(product_s24(a, b) >> 16) + c)
EMU_DEFINE_3(mad24_hi_sat_s32, word, word, word, word,
             emu_clamp_s32(EMU_S32(product_s24(a, b) >> 16) +
                           (int64_t)EMU_S32(c)))

/* ---- Dot products ----------------------------------------------------------
 */

static int32_t byte_of(uint32_t bytes, uint32_t index, bool is_signed) {
  uint8_t byte = (uint8_t)(bytes >> (8 * index));
  return is_signed ? (int8_t)byte : byte;
}
static uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool signed_a,
                     bool signed_b) {
  for (uint32_t i = 0; i < 4; ++i)
    c += (uint32_t)(byte_of(a, i, signed_a) * byte_of(b, i, signed_b));
  return c;
}
static uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, bool signed_a,
                     bool signed_b, uint32_t first_byte) {
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t half = (uint16_t)(a >> (16 * i));
    int32_t value = signed_a ? EMU_S16(half) : (int32_t)half;
    c += (uint32_t)(value * byte_of(b, first_byte + i, signed_b));
  }
  return c;
}
EMU_DEFINE_3(dp4a_uu, word, word, word, word, dot4(a, b, c, false, false))
EMU_DEFINE_3(dp4a_us, word, word, word, word, dot4(a, b, c, false, true))
EMU_DEFINE_3(dp4a_su, word, word, word, word, dot4(a, b, c, true, false))
EMU_DEFINE_3(dp4a_ss, word, word, word, word, dot4(a, b, c, true, true))
EMU_DEFINE_3(dp2a_lo_uu, word, word, word, word, dot2(a, b, c, false, false, 0))
EMU_DEFINE_3(dp2a_lo_us, word, word, word, word, dot2(a, b, c, false, true, 0))
EMU_DEFINE_3(dp2a_lo_su, word, word, word, word, dot2(a, b, c, true, false, 0))
EMU_DEFINE_3(dp2a_lo_ss, word, word, word, word, dot2(a, b, c, true, true, 0))
EMU_DEFINE_3(dp2a_hi_uu, word, word, word, word, dot2(a, b, c, false, false, 2))
EMU_DEFINE_3(dp2a_hi_us, word, word, word, word, dot2(a, b, c, false, true, 2))
EMU_DEFINE_3(dp2a_hi_su, word, word, word, word, dot2(a, b, c, true, false, 2))
EMU_DEFINE_3(dp2a_hi_ss, word, word, word, word, dot2(a, b, c, true, true, 2))

const emu_variant_t emu_wide_variants[] = {
    {"mul.lo.u16", "hhh", mul_lo_16},
    {"mul.lo.s16", "hhh", mul_lo_16},
    {"mul.hi.u16", "hhh", mul_hi_u16},
    {"mul.hi.s16", "hhh", mul_hi_s16},
    {"mul.wide.u16", "whh", mul_wide_u16},
    {"mul.wide.s16", "whh", mul_wide_s16},
    {"mul.lo.u32", "www", mul_lo_32},
    {"mul.lo.s32", "www", mul_lo_32},
    {"mul.hi.u32", "www", mul_hi_u32},
    {"mul.hi.s32", "www", mul_hi_s32},
    {"mul.wide.u32", "lww", mul_wide_u32},
    {"mul.wide.s32", "lww", mul_wide_s32},
    {"mul.lo.u64", "lll", mul_lo_64},
    {"mul.lo.s64", "lll", mul_lo_64},
    {"mul.hi.u64", "lll", mul_hi_u64},
    {"mul.hi.s64", "lll", mul_hi_s64},
    {"mad.lo.u16", "hhhh", mad_lo_16},
    {"mad.lo.s16", "hhhh", mad_lo_16},
    {"mad.hi.u16", "hhhh", mad_hi_u16},
    {"mad.hi.s16", "hhhh", mad_hi_s16},
    {"mad.wide.u16", "whhw", mad_wide_u16},
    {"mad.wide.s16", "whhw", mad_wide_s16},
    {"mad.lo.u32", "wwww", mad_lo_32},
    {"mad.lo.s32", "wwww", mad_lo_32},
    {"mad.hi.u32", "wwww", mad_hi_u32},
    {"mad.hi.s32", "wwww", mad_hi_s32},
    {"mad.hi.sat.s32", "wwww", mad_hi_sat_s32},
    {"mad.wide.u32", "lwwl", mad_wide_u32},
    {"mad.wide.s32", "lwwl", mad_wide_s32},
    {"mad.lo.u64", "llll", mad_lo_64},
    {"mad.lo.s64", "llll", mad_lo_64},
    {"mad.hi.u64", "llll", mad_hi_u64},
    {"mad.hi.s64", "llll", mad_hi_s64},
    {"mul24.lo.u32", "www", mul24_lo_u32},
    {"mul24.lo.s32", "www", mul24_lo_s32},
    {"mul24.hi.u32", "www", mul24_hi_u32},
    {"mul24.hi.s32", "www", mul24_hi_s32},
    {"mad24.lo.u32", "wwww", mad24_lo_u32},
    {"mad24.lo.s32", "wwww", mad24_lo_s32},
    {"mad24.hi.u32", "wwww", mad24_hi_u32},
    {"mad24.hi.s32", "wwww", mad24_hi_s32},
    {"mad24.hi.sat.s32", "wwww", mad24_hi_sat_s32},
    {"dp4a.u32.u32", "wwww", dp4a_uu},
    {"dp4a.u32.s32", "wwww", dp4a_us},
    {"dp4a.s32.u32", "wwww", dp4a_su},
    {"dp4a.s32.s32", "wwww", dp4a_ss},
    {"dp2a.lo.u32.u32", "wwww", dp2a_lo_uu},
    {"dp2a.lo.u32.s32", "wwww", dp2a_lo_us},
    {"dp2a.lo.s32.u32", "wwww", dp2a_lo_su},
    {"dp2a.lo.s32.s32", "wwww", dp2a_lo_ss},
    {"dp2a.hi.u32.u32", "wwww", dp2a_hi_uu},
    {"dp2a.hi.u32.s32", "wwww", dp2a_hi_us},
    {"dp2a.hi.s32.u32", "wwww", dp2a_hi_su},
    {"dp2a.hi.s32.s32", "wwww", dp2a_hi_ss},
    {NULL, NULL, NULL},
};
