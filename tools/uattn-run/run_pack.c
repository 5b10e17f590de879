/* Numbers between their host form, 4 bytes each, and a tensor's element type.
 * Layer: tools. Must not know: devices, files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_pack.h"

#include <string.h>

#include "spec/spec.h"

void run_pack(const void *host, uattn_dtype_t dtype, size_t count, void *out) {
  const float *numbers = host;
  uint16_t *halves = out;
  if (dtype == UATTN_DTYPE_BF16)
    for (size_t i = 0; i < count; ++i)
      halves[i] = uattn_bf16_from_float(numbers[i]);
  else if (dtype == UATTN_DTYPE_F16)
    for (size_t i = 0; i < count; ++i)
      halves[i] = uattn_f16_from_float(numbers[i]);
  else
    memcpy(out, host, count * 4);
}

/* The last element is written first. */
void run_unpack(void *data, uattn_dtype_t dtype, size_t count) {
  float *numbers = data;
  const char *bytes = data;
  if (dtype != UATTN_DTYPE_BF16 && dtype != UATTN_DTYPE_F16)
    return;
  for (size_t i = count; i-- > 0;) {
    uint16_t half = 0;
    memcpy(&half, bytes + 2 * i, sizeof half);
    numbers[i] = dtype == UATTN_DTYPE_BF16 ? uattn_bf16_to_float(half)
                                           : uattn_f16_to_float(half);
  }
}
