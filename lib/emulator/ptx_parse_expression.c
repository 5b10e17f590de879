/* Constants: integer expressions and floating literals.
 * Layer: emulator. Must not know: operands' types, registers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_parse.h"

#include <string.h>

/* How tightly an operator binds; 0: no operator. C's order. */
enum { BINDS_OR = 1, BINDS_SUM = 5, BINDS_FACTOR = 6 };

static int binding_of(const ptx_parser_t *parser) {
  if (parser->token.kind != PTX_TOKEN_SIGN)
    return 0;
  switch (parser->token.sign) {
  case '|':
    return BINDS_OR;
  case '^':
    return 2;
  case '&':
    return 3;
  case PTX_SIGN_SHIFT_LEFT:
  case PTX_SIGN_SHIFT_RIGHT:
    return 4;
  case '+':
  case '-':
    return BINDS_SUM;
  case '*':
  case '/':
  case '%':
    return BINDS_FACTOR;
  default:
    return 0;
  }
}

static uattn_error_t *parse_binary(ptx_parser_t *parser, int binding, int depth,
                                   ptx_constant_t *out_value);

static uattn_error_t *check_depth(const ptx_parser_t *parser, int depth) {
  if (depth < PTX_MAX_EXPRESSION_DEPTH)
    return NULL;
  return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, parser->token.line,
                   "an expression is nested %d deep: expected at most %d",
                   depth + 1, PTX_MAX_EXPRESSION_DEPTH);
}

static uattn_error_t *parse_literal(ptx_parser_t *parser,
                                    ptx_constant_t *out_value) {
  if (ptx_at_name(parser, "WARP_SZ")) {
    *out_value = (ptx_constant_t){.bits = 32};
  } else if (parser->token.kind == PTX_TOKEN_INTEGER) {
    *out_value = (ptx_constant_t){.bits = parser->token.bits,
                                  .is_unsigned = parser->token.is_unsigned};
  } else {
    return ptx_unexpected(parser, "an integer");
  }
  ptx_token_t literal = parser->token;
  ptx_advance(parser);
  if (!ptx_at_sign(parser, '('))
    return NULL;
  return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, literal.line,
                   "the mask operator %.*s() is not supported: expected a "
                   "number alone",
                   literal.size > 60 ? 60 : (int)literal.size, literal.text);
}

static uattn_error_t *parse_unary(ptx_parser_t *parser, int depth,
                                  ptx_constant_t *out_value) {
  uattn_error_t *error = check_depth(parser, depth);
  if (error)
    return error;
  if (ptx_accept_sign(parser, '(')) {
    error = parse_binary(parser, BINDS_OR, depth + 1, out_value);
    return error ? error : ptx_expect_sign(parser, ')');
  }
  bool is_negative = ptx_at_sign(parser, '-');
  bool is_inverted = ptx_at_sign(parser, '~');
  if (!is_negative && !is_inverted && !ptx_at_sign(parser, '+'))
    return parse_literal(parser, out_value);
  ptx_advance(parser);
  error = parse_unary(parser, depth + 1, out_value);
  if (!error && is_negative)
    out_value->bits = 0 - out_value->bits;
  if (!error && is_inverted)
    out_value->bits = ~out_value->bits;
  return error;
}

/* Of values that are not both below 2^63 and signed, the quotient is unsigned;
 * INT64_MIN / -1 wraps. */
static uint64_t divide(ptx_constant_t a, ptx_constant_t b, bool is_remainder) {
  if (a.is_unsigned || b.is_unsigned)
    return is_remainder ? a.bits % b.bits : a.bits / b.bits;
  int64_t x = (int64_t)a.bits;
  int64_t y = (int64_t)b.bits;
  if (y == -1)
    return is_remainder ? 0 : 0 - a.bits;
  return (uint64_t)(is_remainder ? x % y : x / y);
}

static uint64_t shift_right(ptx_constant_t a, uint64_t amount) {
  bool fills = !a.is_unsigned && (int64_t)a.bits < 0;
  if (amount > 63)
    return fills ? UINT64_MAX : 0;
  uint64_t filling = fills && amount > 0 ? UINT64_MAX << (64 - amount) : 0;
  return a.bits >> amount | filling;
}

static uint64_t apply(int sign, ptx_constant_t a, ptx_constant_t b) {
  switch (sign) {
  case '|':
    return a.bits | b.bits;
  case '^':
    return a.bits ^ b.bits;
  case '&':
    return a.bits & b.bits;
  case PTX_SIGN_SHIFT_LEFT:
    return b.bits > 63 ? 0 : a.bits << b.bits;
  case PTX_SIGN_SHIFT_RIGHT:
    return shift_right(a, b.bits);
  case '+':
    return a.bits + b.bits;
  case '-':
    return a.bits - b.bits;
  case '*':
    return a.bits * b.bits;
  default:
    return divide(a, b, sign == '%');
  }
}

/* Operators that bind at least as tightly as `binding`. */
static uattn_error_t *parse_binary(ptx_parser_t *parser, int binding, int depth,
                                   ptx_constant_t *out_value) {
  uattn_error_t *error = parse_unary(parser, depth, out_value);
  while (!error && binding_of(parser) >= binding) {
    int sign = parser->token.sign;
    int line = parser->token.line;
    int tighter = binding_of(parser) + 1;
    ptx_constant_t right = {0};
    ptx_advance(parser);
    error = parse_binary(parser, tighter, depth + 1, &right);
    if (error)
      break;
    if ((sign == '/' || sign == '%') && right.bits == 0)
      return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                       "a constant is divided by zero: expected another "
                       "divisor");
    out_value->bits = apply(sign, *out_value, right);
    if (sign != PTX_SIGN_SHIFT_LEFT && sign != PTX_SIGN_SHIFT_RIGHT)
      out_value->is_unsigned |= right.is_unsigned;
  }
  return error;
}

uattn_error_t *ptx_parse_constant(ptx_parser_t *parser,
                                  ptx_constant_t *out_value) {
  return parse_binary(parser, BINDS_OR, 0, out_value);
}

uattn_error_t *ptx_parse_constant_factor(ptx_parser_t *parser,
                                         ptx_constant_t *out_value) {
  return parse_binary(parser, BINDS_FACTOR, 0, out_value);
}

uattn_error_t *ptx_parse_count(ptx_parser_t *parser, const char *what,
                               uint64_t minimum, uint64_t maximum,
                               uint64_t *out_value) {
  int line = parser->token.line;
  ptx_constant_t value = {0};
  uattn_error_t *error = ptx_parse_constant(parser, &value);
  if (error)
    return error;
  if (value.bits < minimum || value.bits > maximum)
    return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                     "%s is %lld: expected %llu to %llu", what,
                     (long long)value.bits, (unsigned long long)minimum,
                     (unsigned long long)maximum);
  *out_value = value.bits;
  return NULL;
}

/* The sign is the highest bit of an exact literal, and of a double. */
static void negate_float(ptx_operand_t *operand) {
  operand->number = -operand->number;
  operand->bits ^=
      operand->float_bytes == 4 ? (uint64_t)1 << 31 : (uint64_t)1 << 63;
}

uattn_error_t *ptx_parse_number(ptx_parser_t *parser,
                                ptx_operand_t *out_operand) {
  ptx_lexer_t ahead = parser->lexer;
  bool is_negative = ptx_at_sign(parser, '-');
  ptx_token_t literal = is_negative ? ptx_lexer_next(&ahead) : parser->token;
  if (literal.kind != PTX_TOKEN_FLOAT) {
    ptx_constant_t value = {0};
    uattn_error_t *error = ptx_parse_constant(parser, &value);
    *out_operand =
        (ptx_operand_t){.kind = PTX_OPERAND_INTEGER, .bits = value.bits};
    return error;
  }
  if (is_negative)
    ptx_advance(parser);
  ptx_advance(parser);
  *out_operand = (ptx_operand_t){.kind = PTX_OPERAND_FLOAT,
                                 .bits = literal.bits,
                                 .number = literal.number,
                                 .float_bytes = literal.float_bytes};
  if (is_negative)
    negate_float(out_operand);
  return NULL;
}
