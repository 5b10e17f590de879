/* Number literals of PTX.
 * Layer: emulator. Must not know: tokens, grammar, types of operands.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_PTX_NUMBER_H
#define UATTN_EMULATOR_PTX_NUMBER_H

#include "support/support.h"

typedef struct {
  bool is_float;
  bool is_unsigned; /* U suffix, or more than 63 bits */
  uint64_t bits;    /* of a float: of the literal, or of the double */
  double number;
  int float_bytes; /* 4 for 0f..., 8 for 0d..., 0 for decimals */
} ptx_number_t;

/* Where the number that starts at `text` ends. The text ends with a zero. */
const char *ptx_number_end(const char *text);

/* Reads the whole of `text` as decimal, octal, hexadecimal or binary integer
 * or as a float. NULL, or what is wrong with it. */
const char *ptx_number_parse(const char *text, size_t size,
                             ptx_number_t *out_number);

#endif /* UATTN_EMULATOR_PTX_NUMBER_H */
