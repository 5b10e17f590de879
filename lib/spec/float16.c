/* Rounding between float and the 16-bit element types.
 * Layer: spec. Must not know: masks in tiles, plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/spec.h"

#include <string.h>

static uint32_t bits_of(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Drops the low `count` bits, to nearest with ties to an even result. */
static uint32_t round_off(uint32_t bits, int count) {
  uint32_t half = UINT32_C(1) << (count - 1);
  return (bits + half - 1 + ((bits >> count) & 1)) >> count;
}

uint16_t uattn_bf16_from_float(float value) {
  uint32_t bits = bits_of(value);
  if (value != value)
    return (uint16_t)((bits >> 16) | 0x40); /* stays NaN, made quiet */
  return (uint16_t)round_off(bits, 16);
}

float uattn_bf16_to_float(uint16_t bits) {
  return float_of((uint32_t)bits << 16);
}

uint16_t uattn_f16_from_float(float value) {
  uint32_t bits = bits_of(value);
  uint32_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (value != value)
    return (uint16_t)(sign | 0x7e00 | ((magnitude >> 13) & 0x1ff));
  if (magnitude >= 0x47800000) /* 2^16 and above, infinity */
    return (uint16_t)(sign | 0x7c00);
  if (magnitude >= 0x38800000) /* 2^-14: normal; the exponent's bias differs */
    return (uint16_t)(sign | round_off(magnitude - (UINT32_C(112) << 23), 13));
  int exponent = (int)(magnitude >> 23);
  if (exponent < 102) /* below 2^-25, half of the least subnormal */
    return (uint16_t)sign;
  uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
  return (uint16_t)(sign | round_off(mantissa, 126 - exponent));
}

float uattn_f16_to_float(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f;
  uint32_t mantissa = bits & 0x3ff;
  if (exponent == 31)
    return float_of(sign | 0x7f800000 | (mantissa << 13));
  if (exponent > 0)
    return float_of(sign | ((exponent + 112) << 23) | (mantissa << 13));
  float magnitude = (float)mantissa * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

float uattn_round_to_dtype(float value, uattn_dtype_t dtype) {
  if (dtype == UATTN_DTYPE_BF16)
    return uattn_bf16_to_float(uattn_bf16_from_float(value));
  if (dtype == UATTN_DTYPE_F16)
    return uattn_f16_to_float(uattn_f16_from_float(value));
  return value;
}
