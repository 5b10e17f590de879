/* Integer addition, division, minimum and the like.
 * Layer: emulator. Must not know: how instructions are decoded or scheduled.
 * SPDX-License-Identifier: Apache-2.0
 *
 * 16-bit values are kept in words with their upper half zero. */
#include "emulator/integer.h"

EMU_DEFINE_2(add_16, word, word, word, (uint16_t)(a + b))
EMU_DEFINE_2(add_32, word, word, word, a + b)
EMU_DEFINE_2(add_64, long, long, long, a + b)
EMU_DEFINE_2(add_16x2, word, word, word,
             (uint16_t)(a + b) | (((a >> 16) + (b >> 16)) << 16))
EMU_DEFINE_2(add_sat_s32, word, word, word,
             emu_clamp_s32((int64_t)EMU_S32(a) + EMU_S32(b)))
EMU_DEFINE_2(sub_16, word, word, word, (uint16_t)(a - b))
EMU_DEFINE_2(sub_32, word, word, word, a - b)
EMU_DEFINE_2(sub_64, long, long, long, a - b)
EMU_DEFINE_2(sub_sat_s32, word, word, word,
             emu_clamp_s32((int64_t)EMU_S32(a) - EMU_S32(b)))

/* Division by zero gives all ones as quotient and remainder, as on an H200; the
 * smallest number by -1 wraps. */
EMU_DEFINE_2(div_u16, word, word, word, b ? a / b : 0xFFFF)
EMU_DEFINE_2(div_u32, word, word, word, b ? a / b : UINT32_MAX)
EMU_DEFINE_2(div_u64, long, long, long, b ? a / b : UINT64_MAX)
EMU_DEFINE_2(div_s16, word, word, word,
             (uint16_t)(b ? EMU_S16(a) / EMU_S16(b) : -1))
EMU_DEFINE_2(div_s32, word, word, word,
             b == 0            ? UINT32_MAX
             : b == UINT32_MAX ? 0 - a
                               : (uint32_t)(EMU_S32(a) / EMU_S32(b)))
EMU_DEFINE_2(div_s64, long, long, long,
             b == 0            ? UINT64_MAX
             : b == UINT64_MAX ? 0 - a
                               : (uint64_t)(EMU_S64(a) / EMU_S64(b)))
EMU_DEFINE_2(rem_u16, word, word, word, b ? a % b : 0xFFFF)
EMU_DEFINE_2(rem_u32, word, word, word, b ? a % b : UINT32_MAX)
EMU_DEFINE_2(rem_u64, long, long, long, b ? a % b : UINT64_MAX)
EMU_DEFINE_2(rem_s16, word, word, word,
             b ? (uint16_t)(EMU_S16(a) % EMU_S16(b)) : 0xFFFF)
EMU_DEFINE_2(rem_s32, word, word, word,
             b == 0            ? UINT32_MAX
             : b == UINT32_MAX ? 0
                               : (uint32_t)(EMU_S32(a) % EMU_S32(b)))
EMU_DEFINE_2(rem_s64, long, long, long,
             b == 0            ? UINT64_MAX
             : b == UINT64_MAX ? 0
                               : (uint64_t)(EMU_S64(a) % EMU_S64(b)))

EMU_DEFINE_1(abs_s16, word, word, EMU_S16(a) < 0 ? (uint16_t)(0 - a) : a)
EMU_DEFINE_1(abs_s32, word, word, EMU_S32(a) < 0 ? 0 - a : a)
EMU_DEFINE_1(abs_s64, long, long, EMU_S64(a) < 0 ? 0 - a : a)
EMU_DEFINE_1(neg_16, word, word, (uint16_t)(0 - a))
EMU_DEFINE_1(neg_32, word, word, 0 - a)
EMU_DEFINE_1(neg_64, long, long, 0 - a)

EMU_DEFINE_2(min_u32, word, word, word, a < b ? a : b)
EMU_DEFINE_2(min_s32, word, word, word, EMU_S32(a) < EMU_S32(b) ? a : b)
EMU_DEFINE_2(min_s16, word, word, word, EMU_S16(a) < EMU_S16(b) ? a : b)
EMU_DEFINE_2(min_u64, long, long, long, a < b ? a : b)
EMU_DEFINE_2(min_s64, long, long, long, EMU_S64(a) < EMU_S64(b) ? a : b)
EMU_DEFINE_2(max_u32, word, word, word, a > b ? a : b)
EMU_DEFINE_2(max_s32, word, word, word, EMU_S32(a) > EMU_S32(b) ? a : b)
EMU_DEFINE_2(max_s16, word, word, word, EMU_S16(a) > EMU_S16(b) ? a : b)
EMU_DEFINE_2(max_u64, long, long, long, a > b ? a : b)
EMU_DEFINE_2(max_s64, long, long, long, EMU_S64(a) > EMU_S64(b) ? a : b)
EMU_DEFINE_2(min_relu_s32, word, word, word,
             EMU_S32(a) < 0 || EMU_S32(b) < 0 ? 0 : (a < b ? a : b))
EMU_DEFINE_2(max_relu_s32, word, word, word,
             EMU_S32(a) > EMU_S32(b) ? (EMU_S32(a) > 0 ? a : 0)
                                     : (EMU_S32(b) > 0 ? b : 0))

/* Two 16-bit halves at once. */
static uint32_t halves(uint32_t low, uint32_t high) {
  return (uint16_t)low | high << 16;
}
static uint32_t least_s16(uint32_t a, uint32_t b) {
  return EMU_S16(a) < EMU_S16(b) ? a : b;
}
static uint32_t most_s16(uint32_t a, uint32_t b) {
  return EMU_S16(a) > EMU_S16(b) ? a : b;
}
static uint32_t least_u16(uint32_t a, uint32_t b) {
  return (uint16_t)a < (uint16_t)b ? a : b;
}
static uint32_t most_u16(uint32_t a, uint32_t b) {
  return (uint16_t)a > (uint16_t)b ? a : b;
}
#define HALVES(function) halves(function(a, b), function(a >> 16, b >> 16))
#define RELU(function)                                                         \
  halves(most_s16(function(a, b), 0), most_s16(function(a >> 16, b >> 16), 0))
EMU_DEFINE_2(min_s16x2, word, word, word, HALVES(least_s16))
EMU_DEFINE_2(max_s16x2, word, word, word, HALVES(most_s16))
EMU_DEFINE_2(min_u16x2, word, word, word, HALVES(least_u16))
EMU_DEFINE_2(max_u16x2, word, word, word, HALVES(most_u16))
EMU_DEFINE_2(min_relu_s16x2, word, word, word, RELU(least_s16))
EMU_DEFINE_2(max_relu_s16x2, word, word, word, RELU(most_s16))

/* |a - b| + c */
EMU_DEFINE_3(sad_u16, word, word, word, word,
             (uint16_t)(c + (a > b ? a - b : b - a)))
EMU_DEFINE_3(sad_s16, word, word, word, word,
             (uint16_t)(c + (EMU_S16(a) > EMU_S16(b) ? a - b : b - a)))
EMU_DEFINE_3(sad_u32, word, word, word, word, c + (a > b ? a - b : b - a))
EMU_DEFINE_3(sad_s32, word, word, word, word,
             c + (EMU_S32(a) > EMU_S32(b) ? a - b : b - a))
EMU_DEFINE_3(sad_u64, long, long, long, long, c + (a > b ? a - b : b - a))
EMU_DEFINE_3(sad_s64, long, long, long, long,
             c + (EMU_S64(a) > EMU_S64(b) ? a - b : b - a))

const emu_variant_t emu_integer_variants[] = {
    {"add.u16", "hhh", add_16},
    {"add.s16", "hhh", add_16},
    {"add.u32", "www", add_32},
    {"add.s32", "www", add_32},
    {"add.u64", "lll", add_64},
    {"add.s64", "lll", add_64},
    {"add.u16x2", "www", add_16x2},
    {"add.s16x2", "www", add_16x2},
    {"add.sat.s32", "www", add_sat_s32},
    {"sub.u16", "hhh", sub_16},
    {"sub.s16", "hhh", sub_16},
    {"sub.u32", "www", sub_32},
    {"sub.s32", "www", sub_32},
    {"sub.u64", "lll", sub_64},
    {"sub.s64", "lll", sub_64},
    {"sub.sat.s32", "www", sub_sat_s32},
    {"div.u16", "hhh", div_u16},
    {"div.s16", "hhh", div_s16},
    {"div.u32", "www", div_u32},
    {"div.s32", "www", div_s32},
    {"div.u64", "lll", div_u64},
    {"div.s64", "lll", div_s64},
    {"rem.u16", "hhh", rem_u16},
    {"rem.s16", "hhh", rem_s16},
    {"rem.u32", "www", rem_u32},
    {"rem.s32", "www", rem_s32},
    {"rem.u64", "lll", rem_u64},
    {"rem.s64", "lll", rem_s64},
    {"abs.s16", "hh", abs_s16},
    {"abs.s32", "ww", abs_s32},
    {"abs.s64", "ll", abs_s64},
    {"neg.s16", "hh", neg_16},
    {"neg.s32", "ww", neg_32},
    {"neg.s64", "ll", neg_64},
    {"min.u16", "hhh", min_u32},
    {"min.s16", "hhh", min_s16},
    {"min.u32", "www", min_u32},
    {"min.s32", "www", min_s32},
    {"min.relu.s32", "www", min_relu_s32},
    {"min.u64", "lll", min_u64},
    {"min.s64", "lll", min_s64},
    {"min.s16x2", "www", min_s16x2},
    {"min.u16x2", "www", min_u16x2},
    {"min.relu.s16x2", "www", min_relu_s16x2},
    {"max.u16", "hhh", max_u32},
    {"max.s16", "hhh", max_s16},
    {"max.u32", "www", max_u32},
    {"max.s32", "www", max_s32},
    {"max.relu.s32", "www", max_relu_s32},
    {"max.u64", "lll", max_u64},
    {"max.s64", "lll", max_s64},
    {"max.s16x2", "www", max_s16x2},
    {"max.u16x2", "www", max_u16x2},
    {"max.relu.s16x2", "www", max_relu_s16x2},
    {"sad.u16", "hhhh", sad_u16},
    {"sad.s16", "hhhh", sad_s16},
    {"sad.u32", "wwww", sad_u32},
    {"sad.s32", "wwww", sad_s32},
    {"sad.u64", "llll", sad_u64},
    {"sad.s64", "llll", sad_s64},
    {NULL, NULL, NULL},
};
