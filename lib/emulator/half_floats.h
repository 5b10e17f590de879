/* 16-bit floats as floats, in loops that vectorise.
 * Layer: emulator. Must not know: anything but bits.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_HALF_FLOATS_H
#define UATTN_EMULATOR_HALF_FLOATS_H

#include "emulator/decode.h"

/* Without branches: the exponent is put right by a multiplication, which makes
 * subnormals normal too. */
static inline float emu_f16_float(uint16_t bits) {
  uint32_t magnitude = (uint32_t)(bits & 0x7FFF) << 13;
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
  float scaled = emu_float(magnitude) * 0x1p112f;
  uint32_t infinite = magnitude >= 0x0F800000 ? 0x7F800000u : 0;
  return emu_float((emu_float_bits(scaled) | infinite) | sign);
}

static inline float emu_bf16_float(uint16_t bits) {
  return emu_float((uint32_t)bits << 16);
}

/* Of a register with two. */
static inline float emu_low_half(uint32_t word, bool is_bf16) {
  return is_bf16 ? emu_bf16_float((uint16_t)word)
                 : emu_f16_float((uint16_t)word);
}

static inline float emu_high_half(uint32_t word, bool is_bf16) {
  return emu_low_half(word >> 16, is_bf16);
}

#endif /* UATTN_EMULATOR_HALF_FLOATS_H */
