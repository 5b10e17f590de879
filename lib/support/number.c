/* Strict decimal numbers, as options and files spell them.
 * Layer: support. Must not know: any concept of attention, MLIR or CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* strtod and strtoll also take leading blanks, hexadecimal, inf and nan. */
static bool has_only(const char *text, const char *allowed) {
  return *text != '\0' && text[strspn(text, allowed)] == '\0';
}

bool uattn_parse_int64(const char *text, int64_t *out_value) {
  if (!has_only(text, "+-0123456789"))
    return false;
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0')
    return false;
  *out_value = value;
  return true;
}

bool uattn_parse_double(const char *text, double *out_value) {
  if (!has_only(text, "+-.eE0123456789"))
    return false;
  char *end = NULL;
  double value = strtod(text, &end);
  if (end == text || *end != '\0' || !isfinite(value))
    return false;
  *out_value = value;
  return true;
}
