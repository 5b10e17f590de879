/* Executes conversions between integers and floats of all sizes.
 * Layer: emulator. Must not know: how instructions are decoded.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/convert.h"
#include "spec/spec.h"

/* ---- Rows ------------------------------------------------------------------
 */

static void load_bits(const emu_warp_t *warp, emu_row_t row,
                      uint64_t out[EMU_LANES]) {
  if (row.kind == EMU_ROW_LONG) {
    memcpy(out, emu_longs(warp, row), EMU_LANES * sizeof *out);
    return;
  }
  const uint32_t *words = emu_words(warp, row);
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    out[lane] = words[lane];
}

/* The low bits of `type`, extended to 64 by its sign. */
static void load_integers(const emu_warp_t *warp, emu_row_t row,
                          ptx_type_t type, uint64_t out[EMU_LANES]) {
  load_bits(warp, row, out);
  int unused = 64 - 8 * (int)ptx_type_bytes(type);
  if (ptx_type_is_signed(type))
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
      out[lane] = (uint64_t)((int64_t)(out[lane] << unused) >> unused);
  else
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
      out[lane] = out[lane] << unused >> unused;
}

/* Values whose low bits are the target's; in a wider register they are extended
 * by its sign. */
static void store_bits(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes,
                       const uint64_t values[EMU_LANES]) {
  const emu_conversion_t *conversion = insn->detail;
  int unused = 64 - 8 * (int)ptx_type_bytes(conversion->target);
  uint64_t kept = UINT64_MAX >> (64 - 8 * conversion->register_bytes);
  uint64_t extended[EMU_LANES];
  uint32_t words[EMU_LANES];
  if (ptx_type_is_signed(conversion->target))
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
      extended[lane] =
          (uint64_t)((int64_t)(values[lane] << unused) >> unused) & kept;
  else
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
      extended[lane] = values[lane] << unused >> unused;
  if (insn->rows[0].kind == EMU_ROW_LONG) {
    emu_set_longs(warp, insn->rows[0], lanes, extended);
    return;
  }
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    words[lane] = (uint32_t)extended[lane];
  emu_set_words(warp, insn->rows[0], lanes, words);
}

/* ---- Integers --------------------------------------------------------------
 */

static uint64_t clamp_integer(uint64_t value, bool is_signed,
                              ptx_type_t target) {
  unsigned bits = 8 * (unsigned)ptx_type_bytes(target);
  bool is_negative = is_signed && (int64_t)value < 0;
  if (!ptx_type_is_signed(target)) {
    uint64_t most = UINT64_MAX >> (64 - bits);
    return is_negative ? 0 : value > most ? most : value;
  }
  uint64_t most = UINT64_MAX >> (65 - bits);
  if (!is_negative)
    return value > most ? most : value;
  int64_t least = -(int64_t)most - 1;
  return (int64_t)value < least ? (uint64_t)least : value;
}

emu_outcome_t emu_convert_integers(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  const emu_conversion_t *conversion = insn->detail;
  uint64_t values[EMU_LANES];
  load_integers(warp, insn->rows[1], conversion->source, values);
  if (conversion->saturates)
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
      values[lane] =
          clamp_integer(values[lane], ptx_type_is_signed(conversion->source),
                        conversion->target);
  store_bits(warp, insn, lanes, values);
  return EMU_NEXT;
}

/* ---- Floats ----------------------------------------------------------------
 */

static double load_float(uint64_t bits, const emu_conversion_t *conversion) {
  switch (conversion->source) {
  case PTX_TYPE_F16:
    return uattn_f16_to_float((uint16_t)bits);
  case PTX_TYPE_BF16:
    return uattn_bf16_to_float((uint16_t)bits);
  case PTX_TYPE_F64:
    return emu_double(bits);
  default:
    break;
  }
  uint32_t word = (uint32_t)bits;
  if (conversion->flushes)
    word = emu_is_nan_f32(word) ? EMU_NAN_F32 : emu_flush_f32(word);
  return emu_float(word);
}

static double round_to_integer(double value, emu_rounding_t rounding) {
  switch (rounding) {
  case EMU_ROUND_ZERO:
    return trunc(value);
  case EMU_ROUND_DOWN:
    return floor(value);
  case EMU_ROUND_UP:
    return ceil(value);
  default:
    return nearbyint(value);
  }
}

/* Out of range gives the nearest that is in it. NaN gives 0, or the highest bit
 * alone where the source or the target has 64 bits. */
static uint64_t integer_of(double value, const emu_conversion_t *conversion) {
  ptx_type_t target = conversion->target;
  unsigned bits = 8 * (unsigned)ptx_type_bytes(target);
  if (value != value)
    return conversion->source == PTX_TYPE_F64 || bits == 64
               ? (uint64_t)1 << (bits - 1)
               : 0;
  if (!ptx_type_is_signed(target)) {
    if (value <= 0)
      return 0;
    return value >= ldexp(1, (int)bits) ? UINT64_MAX >> (64 - bits)
                                        : (uint64_t)value;
  }
  double limit = ldexp(1, (int)bits - 1);
  if (value >= limit)
    return UINT64_MAX >> (65 - bits);
  return value < -limit ? ~(UINT64_MAX >> (65 - bits))
                        : (uint64_t)(int64_t)value;
}

emu_outcome_t emu_convert_to_integer(emu_warp_t *warp, const emu_insn_t *insn,
                                     uint32_t lanes) {
  const emu_conversion_t *conversion = insn->detail;
  uint64_t values[EMU_LANES];
  load_bits(warp, insn->rows[1], values);
  EMU_FOR_LANES(lane, lanes) {
    double value = load_float(values[lane], conversion);
    values[lane] =
        integer_of(round_to_integer(value, conversion->rounding), conversion);
  }
  store_bits(warp, insn, lanes, values);
  return EMU_NEXT;
}

static const emu_format_t *format_of(ptx_type_t type) {
  switch (type) {
  case PTX_TYPE_F16:
  case PTX_TYPE_F16X2:
    return &emu_format_f16;
  case PTX_TYPE_BF16:
  case PTX_TYPE_BF16X2:
    return &emu_format_bf16;
  case PTX_TYPE_TF32:
    return &emu_format_tf32;
  default:
    return &emu_format_f32;
  }
}

/* The upper bits of an f64 NaN, quiet; what is no f64 has lost them before. */
static uint64_t narrow_nan(double value, const emu_format_t *format) {
  uint64_t bits = emu_double_bits(value);
  uint64_t exponent = (UINT64_C(1) << format->exponent_bits) - 1;
  uint64_t mantissa = bits << 12 >> (64 - format->mantissa_bits);
  return (bits >> 63) << (format->exponent_bits + format->mantissa_bits) |
         exponent << format->mantissa_bits |
         UINT64_C(1) << (format->mantissa_bits - 1) | mantissa;
}

/* The bits of the target's (or half a target's) type. */
static uint64_t round_float(double value, const emu_conversion_t *conversion) {
  if (conversion->rounds_to_integer)
    value = round_to_integer(value, conversion->rounding);
  if (conversion->saturates)
    value = value > 0 ? (value < 1 ? value : 1) : 0;
  if (conversion->is_relu && value <= 0)
    value = 0;
  if (conversion->target == PTX_TYPE_F64)
    return emu_double_bits(value) | (uint64_t)(value != value) << 51;
  const emu_format_t *format = format_of(conversion->target);
  if (value != value && conversion->source == PTX_TYPE_F64)
    return narrow_nan(value, format);
  uint32_t bits = emu_format_round(value, format, conversion->rounding);
  uint32_t infinity = (1u << format->exponent_bits) - 1;
  infinity <<= format->mantissa_bits;
  uint32_t sign = 1u << (format->exponent_bits + format->mantissa_bits);
  if (conversion->is_finite && (bits & ~sign) == infinity)
    --bits;
  if (conversion->target == PTX_TYPE_F32 && conversion->flushes)
    bits = emu_format_is_tiny(value, format, conversion->rounding) ? bits & sign
                                                                   : bits;
  return conversion->target == PTX_TYPE_TF32 ? bits << 13 : bits;
}

emu_outcome_t emu_convert_from_integer(emu_warp_t *warp, const emu_insn_t *insn,
                                       uint32_t lanes) {
  const emu_conversion_t *conversion = insn->detail;
  uint64_t values[EMU_LANES];
  load_integers(warp, insn->rows[1], conversion->source, values);
  EMU_FOR_LANES(lane, lanes) {
    bool is_negative =
        ptx_type_is_signed(conversion->source) && (int64_t)values[lane] < 0;
    uint64_t magnitude = is_negative ? 0 - values[lane] : values[lane];
    double wide =
        emu_integer_to_double(magnitude, is_negative, conversion->rounding);
    if (conversion->target == PTX_TYPE_F64)
      values[lane] = round_float(wide, conversion);
    else
      values[lane] =
          round_float(emu_integer_to_odd(magnitude, is_negative), conversion);
  }
  store_bits(warp, insn, lanes, values);
  return EMU_NEXT;
}

/* Two conversions move bits, NaN included, as on an H200. */
static uint64_t convert_float(uint64_t bits,
                              const emu_conversion_t *conversion) {
  bool widens_bf16 = conversion->source == PTX_TYPE_BF16 &&
                     conversion->target == PTX_TYPE_F32 &&
                     !conversion->flushes && !conversion->saturates;
  bool cuts_nan = conversion->target == PTX_TYPE_TF32 &&
                  conversion->rounding == EMU_ROUND_AWAY &&
                  emu_is_nan_f32((uint32_t)bits);
  if (widens_bf16)
    return (bits & 0xFFFF) << 16;
  if (cuts_nan)
    return bits & 0xFFFFE000;
  return round_float(load_float(bits, conversion), conversion);
}

emu_outcome_t emu_convert_floats(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes) {
  uint64_t values[EMU_LANES];
  load_bits(warp, insn->rows[1], values);
  EMU_FOR_LANES(lane, lanes)
  values[lane] = convert_float(values[lane], insn->detail);
  store_bits(warp, insn, lanes, values);
  return EMU_NEXT;
}

/* f32 to bf16, to nearest, without a branch. */
static uint32_t nearest_bf16(uint32_t bits) {
  uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  return emu_is_nan_f32(bits) ? EMU_NAN_BF16 : rounded;
}

emu_outcome_t emu_convert_pair(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t lanes) {
  const emu_conversion_t *conversion = insn->detail;
  uint32_t *target = emu_target_word(warp, insn->rows[0]);
  const uint32_t *high = emu_words(warp, insn->rows[1]);
  const uint32_t *low = emu_words(warp, insn->rows[2]);
  bool is_plain = conversion->target == PTX_TYPE_BF16X2 &&
                  conversion->rounding == EMU_ROUND_NEAREST &&
                  !conversion->is_relu && !conversion->is_finite;
  if (is_plain) {
    EMU_LANE_LOOP(lanes, target[lane] = nearest_bf16(low[lane]) |
                                        nearest_bf16(high[lane]) << 16)
    return EMU_NEXT;
  }
  EMU_FOR_LANES(lane, lanes) {
    uint64_t upper =
        round_float(load_float(high[lane], conversion), conversion);
    uint64_t lower = round_float(load_float(low[lane], conversion), conversion);
    target[lane] = (uint32_t)(lower | upper << 16);
  }
  return EMU_NEXT;
}
