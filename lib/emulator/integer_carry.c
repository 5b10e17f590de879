/* Addition, subtraction and multiply-add with the carry flag.
 * Layer: emulator. Must not know: how instructions are decoded or scheduled.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The flag is a predicate row of the warp: the carry of a sum, and of a
 * difference, a + ~b + 1, the carry too: no borrow. */
#include "emulator/integer.h"
#include "emulator/run_launch.h"

static uint32_t read_carry(const emu_warp_t *warp) {
  return emu_predicate(warp, warp->cta->launch->program->carry);
}

static void write_carry(emu_warp_t *warp, uint32_t lanes, uint32_t carries) {
  emu_set_predicate(warp, warp->cta->launch->program->carry, lanes, carries);
}

/* DEFINE_SUM(NAME, kind, uses carry, sets carry, first addend): NAME is
 * first + last operand + carry; of two operands a and b, or three with c. */
#define DEFINE_SUM(name, kind, wide_t, bits, uses, sets, last_row, first)      \
  static emu_outcome_t name(emu_warp_t *warp, const emu_insn_t *insn,          \
                            uint32_t lanes) {                                  \
    emu_##kind##_t *target = emu_target_##kind(warp, insn->rows[0]);           \
    const emu_##kind##_t *a_row = emu_source_##kind(warp, insn->rows[1]);      \
    const emu_##kind##_t *b_row = emu_source_##kind(warp, insn->rows[2]);      \
    const emu_##kind##_t *last =                                               \
        emu_source_##kind(warp, insn->rows[last_row]);                         \
    uint32_t carries = (uses) ? read_carry(warp) : 0;                          \
    uint32_t next = 0;                                                         \
    EMU_FOR_LANES(lane, lanes) {                                               \
      emu_##kind##_t a = a_row[lane];                                          \
      emu_##kind##_t b = b_row[lane];                                          \
      (void)a;                                                                 \
      (void)b;                                                                 \
      wide_t sum = (wide_t)(first) + last[lane] + (carries >> lane & 1);       \
      target[lane] = (emu_##kind##_t)sum;                                      \
      next |= (uint32_t)(sum >> (bits)&1) << lane;                             \
    }                                                                          \
    if (sets)                                                                  \
      write_carry(warp, lanes, next);                                          \
    return EMU_NEXT;                                                           \
  }

#define SUM32(name, uses, sets, last_row, first)                               \
  DEFINE_SUM(name, word, uint64_t, 32, uses, sets, last_row, first)
#define SUM64(name, uses, sets, last_row, first)                               \
  DEFINE_SUM(name, long, unsigned __int128, 64, uses, sets, last_row, first)

static uint32_t high_u32(uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}
static uint32_t high_s32(uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)((int64_t)EMU_S32(a) * EMU_S32(b)) >> 32);
}
static uint64_t high_u64(uint64_t a, uint64_t b) {
  return (uint64_t)((unsigned __int128)a * b >> 64);
}
static uint64_t high_s64(uint64_t a, uint64_t b) {
  return (uint64_t)((__int128)EMU_S64(a) * EMU_S64(b) >> 64);
}

SUM32(add_cc_32, false, true, 2, a)
SUM32(addc_32, true, false, 2, a)
SUM32(addc_cc_32, true, true, 2, a)
SUM64(add_cc_64, false, true, 2, a)
SUM64(addc_64, true, false, 2, a)
SUM64(addc_cc_64, true, true, 2, a)

SUM32(mad_lo_cc_32, false, true, 3, a *b)
SUM32(mad_hi_cc_u32, false, true, 3, high_u32(a, b))
SUM32(mad_hi_cc_s32, false, true, 3, high_s32(a, b))
SUM32(madc_lo_32, true, false, 3, a *b)
SUM32(madc_hi_u32, true, false, 3, high_u32(a, b))
SUM32(madc_hi_s32, true, false, 3, high_s32(a, b))
SUM32(madc_lo_cc_32, true, true, 3, a *b)
SUM32(madc_hi_cc_u32, true, true, 3, high_u32(a, b))
SUM32(madc_hi_cc_s32, true, true, 3, high_s32(a, b))
SUM64(mad_lo_cc_64, false, true, 3, a *b)
SUM64(mad_hi_cc_u64, false, true, 3, high_u64(a, b))
SUM64(mad_hi_cc_s64, false, true, 3, high_s64(a, b))
SUM64(madc_lo_64, true, false, 3, a *b)
SUM64(madc_hi_u64, true, false, 3, high_u64(a, b))
SUM64(madc_hi_s64, true, false, 3, high_s64(a, b))
SUM64(madc_lo_cc_64, true, true, 3, a *b)
SUM64(madc_hi_cc_u64, true, true, 3, high_u64(a, b))
SUM64(madc_hi_cc_s64, true, true, 3, high_s64(a, b))

#define DEFINE_DIFFERENCE(name, kind, wide_t, bits, uses, sets)                \
  static emu_outcome_t name(emu_warp_t *warp, const emu_insn_t *insn,          \
                            uint32_t lanes) {                                  \
    emu_##kind##_t *target = emu_target_##kind(warp, insn->rows[0]);           \
    const emu_##kind##_t *a = emu_source_##kind(warp, insn->rows[1]);          \
    const emu_##kind##_t *b = emu_source_##kind(warp, insn->rows[2]);          \
    uint32_t carries = (uses) ? read_carry(warp) : EMU_ALL_LANES;              \
    uint32_t next = 0;                                                         \
    EMU_FOR_LANES(lane, lanes) {                                               \
      wide_t difference =                                                      \
          (wide_t)a[lane] + (emu_##kind##_t) ~b[lane] + (carries >> lane & 1); \
      target[lane] = (emu_##kind##_t)difference;                               \
      next |= (uint32_t)(difference >> (bits)&1) << lane;                      \
    }                                                                          \
    if (sets)                                                                  \
      write_carry(warp, lanes, next);                                          \
    return EMU_NEXT;                                                           \
  }
DEFINE_DIFFERENCE(sub_cc_32, word, uint64_t, 32, false, true)
DEFINE_DIFFERENCE(subc_32, word, uint64_t, 32, true, false)
DEFINE_DIFFERENCE(subc_cc_32, word, uint64_t, 32, true, true)
DEFINE_DIFFERENCE(sub_cc_64, long, unsigned __int128, 64, false, true)
DEFINE_DIFFERENCE(subc_64, long, unsigned __int128, 64, true, false)
DEFINE_DIFFERENCE(subc_cc_64, long, unsigned __int128, 64, true, true)

const emu_variant_t emu_carry_variants[] = {
    {"add.cc.u32", "www", add_cc_32},
    {"add.cc.s32", "www", add_cc_32},
    {"add.cc.u64", "lll", add_cc_64},
    {"add.cc.s64", "lll", add_cc_64},
    {"addc.u32", "www", addc_32},
    {"addc.s32", "www", addc_32},
    {"addc.u64", "lll", addc_64},
    {"addc.s64", "lll", addc_64},
    {"addc.cc.u32", "www", addc_cc_32},
    {"addc.cc.s32", "www", addc_cc_32},
    {"addc.cc.u64", "lll", addc_cc_64},
    {"addc.cc.s64", "lll", addc_cc_64},
    {"sub.cc.u32", "www", sub_cc_32},
    {"sub.cc.s32", "www", sub_cc_32},
    {"sub.cc.u64", "lll", sub_cc_64},
    {"sub.cc.s64", "lll", sub_cc_64},
    {"subc.u32", "www", subc_32},
    {"subc.s32", "www", subc_32},
    {"subc.u64", "lll", subc_64},
    {"subc.s64", "lll", subc_64},
    {"subc.cc.u32", "www", subc_cc_32},
    {"subc.cc.s32", "www", subc_cc_32},
    {"subc.cc.u64", "lll", subc_cc_64},
    {"subc.cc.s64", "lll", subc_cc_64},
    {"mad.lo.cc.u32", "wwww", mad_lo_cc_32},
    {"mad.lo.cc.s32", "wwww", mad_lo_cc_32},
    {"mad.hi.cc.u32", "wwww", mad_hi_cc_u32},
    {"mad.hi.cc.s32", "wwww", mad_hi_cc_s32},
    {"mad.lo.cc.u64", "llll", mad_lo_cc_64},
    {"mad.lo.cc.s64", "llll", mad_lo_cc_64},
    {"mad.hi.cc.u64", "llll", mad_hi_cc_u64},
    {"mad.hi.cc.s64", "llll", mad_hi_cc_s64},
    {"madc.lo.u32", "wwww", madc_lo_32},
    {"madc.lo.s32", "wwww", madc_lo_32},
    {"madc.hi.u32", "wwww", madc_hi_u32},
    {"madc.hi.s32", "wwww", madc_hi_s32},
    {"madc.lo.cc.u32", "wwww", madc_lo_cc_32},
    {"madc.lo.cc.s32", "wwww", madc_lo_cc_32},
    {"madc.hi.cc.u32", "wwww", madc_hi_cc_u32},
    {"madc.hi.cc.s32", "wwww", madc_hi_cc_s32},
    {"madc.lo.u64", "llll", madc_lo_64},
    {"madc.lo.s64", "llll", madc_lo_64},
    {"madc.hi.u64", "llll", madc_hi_u64},
    {"madc.hi.s64", "llll", madc_hi_s64},
    {"madc.lo.cc.u64", "llll", madc_lo_cc_64},
    {"madc.lo.cc.s64", "llll", madc_lo_cc_64},
    {"madc.hi.cc.u64", "llll", madc_hi_cc_u64},
    {"madc.hi.cc.s64", "llll", madc_hi_cc_s64},
    {NULL, NULL, NULL},
};
