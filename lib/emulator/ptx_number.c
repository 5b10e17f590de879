/* Reads PTX number literals exactly.
 * Layer: emulator. Must not know: tokens, grammar, types of operands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Longer decimals gain nothing: 17 digits and an exponent say every double. */
enum { MAX_DECIMAL_BYTES = 400 };

static bool is_part(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool has_prefix(const char *text, size_t size, char letter) {
  return size > 2 && text[0] == '0' && (text[1] | 0x20) == letter;
}

/* Decimal floats reach over their point and over the sign of an exponent. */
const char *ptx_number_end(const char *text) {
  const char *end = text;
  bool is_decimal = text[0] != '0' || isdigit((unsigned char)text[1]) ||
                    text[1] == '.' || (text[1] | 0x20) == 'e';
  for (;; ++end) {
    bool is_exponent_sign = is_decimal && end > text &&
                            (end[-1] | 0x20) == 'e' &&
                            (*end == '+' || *end == '-');
    if (!is_part(*end) && !(is_decimal && *end == '.') && !is_exponent_sign)
      return end;
  }
}

static int digit_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  char lower = (char)(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

static const char *parse_digits(const char *text, size_t size, unsigned base,
                                uint64_t *out_bits) {
  uint64_t bits = 0;
  if (size == 0)
    return "a malformed number";
  for (size_t i = 0; i < size; ++i) {
    unsigned digit = (unsigned)digit_value(text[i]);
    if (digit >= base)
      return "a malformed number";
    if (bits > (UINT64_MAX - digit) / base)
      return "a number of more than 64 bits";
    bits = bits * base + digit;
  }
  *out_bits = bits;
  return NULL;
}

/* 0f and 8 digits, 0d and 16: the bits of the value. */
static const char *parse_exact(const char *text, size_t size,
                               ptx_number_t *number) {
  number->is_float = true;
  number->float_bytes = size == 10 ? 4 : 8;
  const char *problem = parse_digits(text + 2, size - 2, 16, &number->bits);
  if (problem)
    return problem;
  if (number->float_bytes == 4) {
    uint32_t word = (uint32_t)number->bits;
    float value = 0;
    memcpy(&value, &word, sizeof value);
    number->number = (double)value;
  } else {
    memcpy(&number->number, &number->bits, sizeof number->number);
  }
  return NULL;
}

static const char *parse_decimal_float(const char *text, size_t size,
                                       ptx_number_t *number) {
  char copy[MAX_DECIMAL_BYTES + 1];
  if (size > MAX_DECIMAL_BYTES)
    return "a number of more than 400 characters";
  memcpy(copy, text, size);
  copy[size] = '\0';
  number->is_float = true;
  if (!uattn_parse_double(copy, &number->number))
    return "a malformed number";
  memcpy(&number->bits, &number->number, sizeof number->bits);
  return NULL;
}

static const char *parse_integer(const char *text, size_t size,
                                 ptx_number_t *number) {
  if (size > 1 && text[size - 1] == 'U') {
    number->is_unsigned = true;
    --size;
  }
  const char *problem = NULL;
  if (has_prefix(text, size, 'x'))
    problem = parse_digits(text + 2, size - 2, 16, &number->bits);
  else if (has_prefix(text, size, 'b'))
    problem = parse_digits(text + 2, size - 2, 2, &number->bits);
  else
    problem = parse_digits(text, size, text[0] == '0' ? 8 : 10, &number->bits);
  number->is_unsigned |= number->bits > INT64_MAX;
  return problem;
}

const char *ptx_number_parse(const char *text, size_t size,
                             ptx_number_t *out_number) {
  if (has_prefix(text, size, 'x') || has_prefix(text, size, 'b'))
    return parse_integer(text, size, out_number);
  if ((has_prefix(text, size, 'f') && size == 10) ||
      (has_prefix(text, size, 'd') && size == 18))
    return parse_exact(text, size, out_number);
  if (memchr(text, '.', size) || memchr(text, 'e', size) ||
      memchr(text, 'E', size))
    return parse_decimal_float(text, size, out_number);
  return parse_integer(text, size, out_number);
}
