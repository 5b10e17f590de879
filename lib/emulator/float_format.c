/* Rounding to binary floating-point formats, bit by bit.
 * Layer: emulator. Must not know: instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/float_format.h"

enum { DOUBLE_MANTISSA_BITS = 52, DOUBLE_BIAS = 1023, DOUBLE_EXPONENT = 0x7FF };

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double from_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* `significand` without its low `drop` bits. */
static uint64_t drop_bits(uint64_t significand, int drop, bool is_negative,
                          emu_rounding_t rounding) {
  uint64_t kept = significand >> drop;
  uint64_t rest = significand & ((UINT64_C(1) << drop) - 1);
  uint64_t half = UINT64_C(1) << (drop - 1);
  switch (rounding) {
  case EMU_ROUND_NEAREST:
    return kept + (rest > half || (rest == half && (kept & 1)));
  case EMU_ROUND_AWAY:
    return kept + (rest >= half);
  case EMU_ROUND_ZERO:
    return kept;
  case EMU_ROUND_DOWN:
    return kept + (is_negative && rest);
  case EMU_ROUND_UP:
    break;
  }
  return kept + (!is_negative && rest);
}

static bool overflows_to_infinity(bool is_negative, emu_rounding_t rounding) {
  switch (rounding) {
  case EMU_ROUND_ZERO:
    return false;
  case EMU_ROUND_DOWN:
    return is_negative;
  case EMU_ROUND_UP:
    return !is_negative;
  default:
    return true;
  }
}

uint32_t emu_format_round(double value, const emu_format_t *format,
                          emu_rounding_t rounding) {
  uint64_t bits = bits_of(value);
  bool is_negative = bits >> 63 != 0;
  int mantissa = format->mantissa_bits;
  uint64_t infinity = (UINT64_C(1) << format->exponent_bits) - 1;
  infinity <<= mantissa;
  uint64_t sign = (uint64_t)is_negative << (mantissa + format->exponent_bits);
  if (value != value)
    return (uint32_t)(infinity | ((UINT64_C(1) << mantissa) - 1));
  uint64_t significand = bits & ((UINT64_C(1) << DOUBLE_MANTISSA_BITS) - 1);
  int field = (int)(bits >> DOUBLE_MANTISSA_BITS) & DOUBLE_EXPONENT;
  if (field == DOUBLE_EXPONENT)
    return (uint32_t)(sign | infinity);
  if (field)
    significand |= UINT64_C(1) << DOUBLE_MANTISSA_BITS;
  int exponent = (field ? field : 1) - DOUBLE_BIAS;
  int bias = (1 << (format->exponent_bits - 1)) - 1;
  int drop = DOUBLE_MANTISSA_BITS - mantissa;
  bool is_subnormal = exponent < 1 - bias;
  if (is_subnormal)
    drop += 1 - bias - exponent;
  uint64_t kept =
      drop_bits(significand, drop < 60 ? drop : 60, is_negative, rounding);
  /* A carry out of the mantissa ends up in the exponent, where it belongs. */
  uint64_t magnitude =
      is_subnormal ? kept
                   : kept + ((uint64_t)(exponent + bias - 1) << mantissa);
  if (exponent > bias || magnitude >= infinity)
    magnitude =
        overflows_to_infinity(is_negative, rounding) ? infinity : infinity - 1;
  return (uint32_t)(sign | magnitude);
}

bool emu_format_is_tiny(double value, const emu_format_t *format,
                        emu_rounding_t rounding) {
  enum { SCALE = 8 }; /* far enough from subnormal numbers */
  uint32_t bits = emu_format_round(ldexp(value, SCALE), format, rounding);
  uint32_t sign = 1u << (format->mantissa_bits + format->exponent_bits);
  return (bits & ~sign) < (1u + SCALE) << format->mantissa_bits;
}

/* The odd one of `rounded` and its neighbour on the side of what is left. */
static double make_odd(double rounded, double rest) {
  uint64_t bits = bits_of(rounded);
  if (rest == 0 || (bits & 1))
    return rounded;
  return from_bits((rest > 0) == (rounded > 0) ? bits + 1 : bits - 1);
}

double emu_sum_to_odd(double a, double b) {
  double sum = a + b;
  if (!isfinite(sum))
    return sum;
  double part = sum - a;
  return make_odd(sum, (a - (sum - part)) + (b - part));
}

double emu_quotient_to_odd(double a, double b) {
  double quotient = a / b;
  if (!isfinite(quotient) || quotient == 0)
    return quotient;
  double rest = fma(-quotient, b, a);
  return make_odd(quotient, b < 0 ? -rest : rest);
}

double emu_integer_to_odd(uint64_t magnitude, bool is_negative) {
  double high = (double)(uint32_t)(magnitude >> 32) * 0x1p32;
  double value = emu_sum_to_odd(high, (double)(uint32_t)magnitude);
  return is_negative ? -value : value;
}

double emu_integer_to_double(uint64_t magnitude, bool is_negative,
                             emu_rounding_t rounding) {
  int length = magnitude ? 64 - __builtin_clzll(magnitude) : 0;
  int drop = length - (DOUBLE_MANTISSA_BITS + 1);
  double value =
      drop > 0
          ? ldexp((double)drop_bits(magnitude, drop, is_negative, rounding),
                  drop)
          : (double)magnitude;
  return is_negative ? -value : value;
}
