/* Size arithmetic that reports overflow instead of wrapping.
 * Layer: support. Must not know: any concept of attention, MLIR or CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

bool uattn_size_add(size_t a, size_t b, size_t *out) {
  if (a > SIZE_MAX - b)
    return false;
  *out = a + b;
  return true;
}

bool uattn_size_multiply(size_t a, size_t b, size_t *out) {
  if (a != 0 && b > SIZE_MAX / a)
    return false;
  *out = a * b;
  return true;
}

int64_t uattn_ceil_divide(int64_t value, int64_t divisor) {
  UATTN_CHECK(value >= 0 && divisor > 0);
  return value / divisor + (value % divisor != 0);
}
