/* Tokens of PTX text.
 * Layer: emulator. Must not know: grammar, names, what anything means.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_PTX_LEXER_H
#define UATTN_EMULATOR_PTX_LEXER_H

#include "support/support.h"

typedef enum {
  PTX_TOKEN_END,
  PTX_TOKEN_NAME,    /* mov, %r1, $L__BB0_2, _ */
  PTX_TOKEN_DOTTED,  /* .b32, .m64n64k16, .shared::cta; dot included */
  PTX_TOKEN_INTEGER, /* `bits`, is_unsigned */
  PTX_TOKEN_FLOAT,   /* `number`, `bits`, float_bytes */
  PTX_TOKEN_STRING,  /* with its quotes */
  PTX_TOKEN_SIGN,    /* `sign`: a character, or PTX_SIGN_... */
  PTX_TOKEN_INVALID  /* `problem` says why */
} ptx_token_kind_t;

enum { PTX_SIGN_SHIFT_LEFT = 256, PTX_SIGN_SHIFT_RIGHT };

typedef struct {
  ptx_token_kind_t kind;
  const char *text; /* in the module's text */
  size_t size;
  int line;
  int sign;
  bool is_unsigned; /* U suffix, or more than 63 bits */
  uint64_t bits;    /* of a float: of the literal, or of the double */
  double number;
  int float_bytes; /* as in ptx_operand_t */
  const char *problem;
} ptx_token_t;

/* A value: a copy looks ahead without moving the original. */
typedef struct {
  const char *cursor;
  const char *end; /* a zero is there */
  int line;
  bool is_after_name; /* ".2d" is dotted then, ".5" a number elsewhere */
} ptx_lexer_t;

ptx_lexer_t ptx_lexer_start(const char *text, size_t size);

/* The next token; white space, comments and @@DWARF lines are passed over.
 * After PTX_TOKEN_END and PTX_TOKEN_INVALID the same again. */
ptx_token_t ptx_lexer_next(ptx_lexer_t *lexer);

/* "`mov`", "the end of the text" or the token's problem, for messages. */
void ptx_token_describe(const ptx_token_t *token, uattn_string_t *text);

#endif /* UATTN_EMULATOR_PTX_LEXER_H */
