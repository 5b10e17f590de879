/* Quotients and roots of f32 and f64.
 * Layer: emulator. Must not know: how instructions are decoded or scheduled.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Approximate forms are computed right and rounded once, which is within the
 * error that the PTX manual documents. */
#include "emulator/float_options.h"

enum {
  WAYS = EMU_FLOAT_ROUNDING | EMU_FLOAT_APPROX,
  F32_FLAGS = WAYS | EMU_FLOAT_FTZ,
  APPROX_FTZ = EMU_FLOAT_APPROX | EMU_FLOAT_FTZ
};

static uint32_t flush_if(uint32_t bits, uint32_t flags) {
  return flags & EMU_FLOAT_FTZ ? emu_flush_f32(bits) : bits;
}

static uint32_t finish(float result, uint32_t flags) {
  uint32_t bits = flush_if(emu_float_bits(result), flags);
  return emu_is_nan_f32(bits) ? EMU_NAN_F32 : bits;
}

/* div.approx multiplies with the reciprocal, which is flushed to zero for
 * divisors of more than 2^126. */
static float divide(float a, float b, uint32_t flags) {
  if ((flags & EMU_FLOAT_APPROX) && fabsf(b) > 0x1p126f && !isinf(b) &&
      !isnan(a))
    return isinf(a) ? NAN : copysignf(0, a) * copysignf(1, b);
  return a / b;
}

/* Of quotients that come out as the least normal number though they are less,
 * the zero. */
static uint32_t flush_tiny(uint32_t bits, uint32_t a, uint32_t b,
                           uint32_t flags) {
  if (!(flags & EMU_FLOAT_FTZ) || !emu_is_least_f32(bits))
    return bits;
  double exact = emu_quotient_to_odd(emu_float(emu_flush_f32(a)),
                                     emu_float(emu_flush_f32(b)));
  bool is_tiny =
      emu_format_is_tiny(exact, &emu_format_f32, emu_rounding_of(flags));
  return is_tiny ? bits & 0x80000000 : bits;
}

static emu_outcome_t div_f32(emu_warp_t *warp, const emu_insn_t *insn,
                             uint32_t lanes) {
  uint32_t flags = (uint32_t)insn->immediates[0];
  uint32_t results[EMU_LANES];
  const uint32_t *a = emu_words(warp, insn->rows[1]);
  const uint32_t *b = emu_words(warp, insn->rows[2]);
  emu_rounding_begin(flags);
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    results[lane] = finish(divide(emu_float(flush_if(a[lane], flags)),
                                  emu_float(flush_if(b[lane], flags)), flags),
                           flags);
  emu_rounding_end(flags);
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    results[lane] = flush_tiny(results[lane], a[lane], b[lane], flags);
  emu_set_words(warp, insn->rows[0], lanes, results);
  return EMU_NEXT;
}

/* Rounded once where the root and the quotient are of doubles. */
static float reciprocal(float a) { return 1 / a; }
static float reciprocal_root(float a) { return (float)(1 / sqrt((double)a)); }

#define DEFINE_F32(name, function, numerator)                                  \
  static emu_outcome_t name##_f32(emu_warp_t *warp, const emu_insn_t *insn,    \
                                  uint32_t lanes) {                            \
    uint32_t flags = (uint32_t)insn->immediates[0];                            \
    uint32_t results[EMU_LANES];                                               \
    const uint32_t *a = emu_words(warp, insn->rows[1]);                        \
    emu_rounding_begin(flags);                                                 \
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)                          \
      results[lane] =                                                          \
          finish(function(emu_float(flush_if(a[lane], flags))), flags);        \
    emu_rounding_end(flags);                                                   \
    if (numerator)                                                             \
      for (uint32_t lane = 0; lane < EMU_LANES; ++lane)                        \
        results[lane] = flush_tiny(results[lane], numerator, a[lane], flags);  \
    emu_set_words(warp, insn->rows[0], lanes, results);                        \
    return EMU_NEXT;                                                           \
  }
#define ONE_F32 0x3F800000u
/* Roots are never tiny. */
DEFINE_F32(rcp, reciprocal, ONE_F32)
DEFINE_F32(sqrt, sqrtf, 0)
DEFINE_F32(rsqrt, reciprocal_root, 0)

/* Only those of `allowed`, and one of `wanted`. */
static bool fits(uint32_t flags, uint32_t allowed, uint32_t wanted) {
  return !(flags & ~allowed) && (flags & wanted);
}

emu_execute_t emu_choose_div_f32(uint32_t flags) {
  return fits(flags, F32_FLAGS | EMU_FLOAT_FULL, WAYS | EMU_FLOAT_FULL)
             ? div_f32
             : NULL;
}
emu_execute_t emu_choose_rcp_f32(uint32_t flags) {
  return fits(flags, F32_FLAGS, WAYS) ? rcp_f32 : NULL;
}
emu_execute_t emu_choose_sqrt_f32(uint32_t flags) {
  return fits(flags, F32_FLAGS, WAYS) ? sqrt_f32 : NULL;
}
emu_execute_t emu_choose_rsqrt_f32(uint32_t flags) {
  return fits(flags, APPROX_FTZ, EMU_FLOAT_APPROX) ? rsqrt_f32 : NULL;
}

/* ---- f64 -------------------------------------------------------------------
 */

static emu_outcome_t div_f64(emu_warp_t *warp, const emu_insn_t *insn,
                             uint32_t lanes) {
  uint32_t flags = (uint32_t)insn->immediates[0];
  uint64_t *target = emu_target_long(warp, insn->rows[0]);
  const uint64_t *a = emu_longs(warp, insn->rows[1]);
  const uint64_t *b = emu_longs(warp, insn->rows[2]);
  emu_rounding_begin(flags);
  EMU_LANE_LOOP(lanes, target[lane] = emu_double_bits(emu_double(a[lane]) /
                                                      emu_double(b[lane])))
  emu_rounding_end(flags);
  return EMU_NEXT;
}

static double reciprocal_f64(double a) { return 1 / a; }
static double reciprocal_root_f64(double a) { return 1 / sqrt(a); }

#define DEFINE_F64(name, function)                                             \
  static emu_outcome_t name##_f64(emu_warp_t *warp, const emu_insn_t *insn,    \
                                  uint32_t lanes) {                            \
    uint32_t flags = (uint32_t)insn->immediates[0];                            \
    uint64_t *target = emu_target_long(warp, insn->rows[0]);                   \
    const uint64_t *a = emu_longs(warp, insn->rows[1]);                        \
    emu_rounding_begin(flags);                                                 \
    EMU_LANE_LOOP(lanes, target[lane] =                                        \
                             emu_double_bits(function(emu_double(a[lane]))))   \
    emu_rounding_end(flags);                                                   \
    return EMU_NEXT;                                                           \
  }
DEFINE_F64(rcp, reciprocal_f64)
DEFINE_F64(sqrt, sqrt)
DEFINE_F64(rsqrt, reciprocal_root_f64)

/* .approx.ftz reads and writes the upper word alone. */
#define UPPER_WORD UINT64_C(0xFFFFFFFF00000000)
static uint64_t flush_upper(uint64_t bits) {
  bool is_subnormal = (bits & UINT64_C(0x7FF0000000000000)) == 0;
  return is_subnormal ? bits & UINT64_C(1) << 63 : bits & UPPER_WORD;
}
static uint64_t finish_upper(double value) {
  return value != value ? UINT64_C(0x7FFFFFFF00000000)
                        : flush_upper(emu_double_bits(value));
}
EMU_DEFINE_1(rcp_approx_f64, long, long,
             finish_upper(reciprocal_f64(emu_double(flush_upper(a)))))
EMU_DEFINE_1(rsqrt_approx_f64, long, long,
             finish_upper(reciprocal_root_f64(emu_double(flush_upper(a)))))

emu_execute_t emu_choose_div_f64(uint32_t flags) {
  return fits(flags, EMU_FLOAT_ROUNDING, EMU_FLOAT_ROUNDING) ? div_f64 : NULL;
}
emu_execute_t emu_choose_rcp_f64(uint32_t flags) {
  if (flags == APPROX_FTZ)
    return rcp_approx_f64;
  return fits(flags, EMU_FLOAT_ROUNDING, EMU_FLOAT_ROUNDING) ? rcp_f64 : NULL;
}
emu_execute_t emu_choose_sqrt_f64(uint32_t flags) {
  return fits(flags, EMU_FLOAT_ROUNDING, EMU_FLOAT_ROUNDING) ? sqrt_f64 : NULL;
}
emu_execute_t emu_choose_rsqrt_f64(uint32_t flags) {
  if (flags == APPROX_FTZ)
    return rsqrt_approx_f64;
  return flags == EMU_FLOAT_APPROX ? rsqrt_f64 : NULL;
}
