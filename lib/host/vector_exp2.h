/* Powers of two in float32, in a form that compilers turn into vectors.
 * Layer: host. Must not know: attention.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_VECTOR_EXP2_H
#define UATTN_HOST_VECTOR_EXP2_H

#include <stdint.h>
#include <string.h>

#include "host/host_clones.h"

#define HOST_LOG2_E 1.44269504088896340736f

typedef struct {
  float power;  /* 2^x; infinity from 128 on, 2^-126 below */
  float excess; /* 2^x - 1 without cancellation; for x <= 0 alone */
} uattn_power_t;

/* 2^x = 2^n 2^f with |f| <= 1/2. To 1.2e-7 of both; NaN gives NaN, 0 exactly 1
 * and 0. The coefficients are those of Cephes' exp2f. */
HOST_INLINE uattn_power_t uattn_power_of_two(float x) {
  const float to_integer = 0x1.8p23f; /* the sum's last bit is worth 1 */
  x = x < -126.0f ? -126.0f : x;
  x = x > 128.0f ? 128.0f : x;
  float shifted = x + to_integer;
  float f = x - (shifted - to_integer);
  float tail = 1.535336188319500e-4f;
  tail = tail * f + 1.339887440266574e-3f;
  tail = tail * f + 9.618437357674640e-3f;
  tail = tail * f + 5.550332471162809e-2f;
  tail = tail * f + 2.402264791363012e-1f;
  tail = tail * f + 6.931472028550421e-1f;
  tail *= f;

  uint32_t bits = 0;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127) << 23;
  float scale = 0;
  memcpy(&scale, &bits, sizeof scale);
  return (uattn_power_t){.power = scale * (1.0f + tail),
                         .excess = (scale - 1.0f) + scale * tail};
}

/* 2^x, 0 where that is below the normal numbers. */
HOST_INLINE float uattn_exp2(float x) {
  float power = uattn_power_of_two(x).power;
  return x < -126.0f ? 0.0f : power;
}

#endif /* UATTN_HOST_VECTOR_EXP2_H */
