/* Binary floating-point formats, and rounding to them.
 * Layer: emulator. Must not know: instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_FLOAT_FORMAT_H
#define UATTN_EMULATOR_FLOAT_FORMAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum {
  EMU_ROUND_NEAREST, /* ties to even */
  EMU_ROUND_ZERO,
  EMU_ROUND_DOWN,
  EMU_ROUND_UP,
  EMU_ROUND_AWAY /* nearest, ties away from zero */
} emu_rounding_t;

/* A format with infinities and NaNs whose exponent's bias is its middle. */
typedef struct {
  int mantissa_bits;
  int exponent_bits;
} emu_format_t;
static const emu_format_t emu_format_f16 = {10, 5};
static const emu_format_t emu_format_bf16 = {7, 8};
static const emu_format_t emu_format_tf32 = {10, 8};
static const emu_format_t emu_format_f32 = {23, 8};

/* The GPU's NaN: all bits but the sign set. */
#define EMU_NAN_F16 0x7FFFu
#define EMU_NAN_BF16 0x7FFFu
#define EMU_NAN_F32 0x7FFFFFFFu

/* The bits of `value` rounded to `format`; subnormals are kept, NaN gives the
 * GPU's. */
uint32_t emu_format_round(double value, const emu_format_t *format,
                          emu_rounding_t rounding);

/* True where `value`, rounded to the format's precision without a limit of the
 * exponent, is below the least normal number: then .ftz flushes it, even where
 * rounding to the format gives that number. */
bool emu_format_is_tiny(double value, const emu_format_t *format,
                        emu_rounding_t rounding);

/* a + b in such a way that rounding it once more, to a format of at most half
 * the precision, gives what rounding the exact sum does. */
double emu_sum_to_odd(double a, double b);
/* a / b in the same way. */
double emu_quotient_to_odd(double a, double b);

/* A 64-bit integer in the same way. */
double emu_integer_to_odd(uint64_t magnitude, bool is_negative);
/* The same rounded to double. */
double emu_integer_to_double(uint64_t magnitude, bool is_negative,
                             emu_rounding_t rounding);

static inline bool emu_is_nan_f32(uint32_t bits) {
  return (bits & 0x7FFFFFFF) > 0x7F800000;
}
static inline bool emu_is_nan_f64(uint64_t bits) {
  return (bits & (UINT64_MAX >> 1)) > UINT64_C(0x7FF0000000000000);
}
/* Subnormal numbers become zeros of their sign. */
static inline uint32_t emu_flush_f32(uint32_t bits) {
  return bits & 0x7F800000 ? bits : bits & 0x80000000;
}

#endif /* UATTN_EMULATOR_FLOAT_FORMAT_H */
