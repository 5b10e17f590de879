/* Values of integer rows as signed numbers.
 * Layer: emulator. Must not know: instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_INTEGER_H
#define UATTN_EMULATOR_INTEGER_H

#include "emulator/decode.h"

/* The value of the low bits, two's complement. */
#define EMU_S16(value) ((int16_t)(uint16_t)(value))
#define EMU_S32(value) ((int32_t)(value))
#define EMU_S64(value) ((int64_t)(value))

static inline uint32_t emu_clamp_s32(int64_t value) {
  return (uint32_t)(value < INT32_MIN   ? INT32_MIN
                    : value > INT32_MAX ? INT32_MAX
                                        : value);
}

#endif /* UATTN_EMULATOR_INTEGER_H */
