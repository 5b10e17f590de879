/* Initial values of variables as bytes.
 * Layer: emulator. Must not know: where variables will lie.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_parse.h"

#include <stdlib.h>
#include <string.h>

/* The values of one variable, in the order of memory. */
typedef struct {
  ptx_parser_t *parser;
  const ptx_variable_t *variable;
  uint32_t rank; /* a vector is one more dimension */
  size_t counts[PTX_MAX_ARRAY_RANK + 1];
  size_t strides[PTX_MAX_ARRAY_RANK + 1]; /* bytes */
  uint8_t *data;
  size_t size;
  size_t capacity;
} initial_t;

/* Zeros up to `size` bytes. */
static uattn_error_t *reach(initial_t *initial, size_t size) {
  ptx_parser_t *parser = initial->parser;
  if (size <= initial->size)
    return NULL;
  if (size > PTX_MAX_INITIAL_BYTES - parser->initial_bytes)
    return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, parser->token.line,
                     "initial values take too much: expected at most %d bytes",
                     PTX_MAX_INITIAL_BYTES);
  if (size > initial->capacity) {
    size_t capacity =
        size > 2 * initial->capacity ? size : 2 * initial->capacity;
    initial->data = realloc(initial->data, capacity);
    UATTN_CHECK(initial->data);
    initial->capacity = capacity;
  }
  memset(initial->data + initial->size, 0, size - initial->size);
  initial->size = size;
  return NULL;
}

static uattn_error_t *refuse_address(const initial_t *initial) {
  const ptx_token_t *token = &initial->parser->token;
  return ptx_error(initial->parser, UATTN_ERROR_UNSUPPORTED, token->line,
                   "an initial value of %s is the address `%.*s`, which is not "
                   "supported: expected a number",
                   initial->variable->name,
                   token->size > 60 ? 60 : (int)token->size, token->text);
}

/* Little-endian, as the host. */
static uattn_error_t *parse_value(initial_t *initial, uint64_t *out_bits) {
  ptx_parser_t *parser = initial->parser;
  ptx_type_t type = initial->variable->type;
  if (parser->token.kind == PTX_TOKEN_NAME && !ptx_at_name(parser, "WARP_SZ"))
    return refuse_address(initial);
  if (!ptx_type_is_float(type)) {
    ptx_constant_t value = {0};
    uattn_error_t *error = ptx_parse_constant(parser, &value);
    *out_bits = value.bits;
    return error;
  }
  ptx_operand_t number = {0};
  int line = parser->token.line;
  uattn_error_t *error = ptx_parse_number(parser, &number);
  if (error)
    return error;
  if (number.kind != PTX_OPERAND_FLOAT)
    return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                     "an initial value of %s is an integer: expected a "
                     "floating-point number",
                     initial->variable->name);
  if (type == PTX_TYPE_F64) {
    memcpy(out_bits, &number.number, sizeof number.number);
  } else if (number.float_bytes == 4) {
    *out_bits = number.bits;
  } else {
    float rounded = (float)number.number;
    memcpy(out_bits, &rounded, sizeof rounded);
  }
  return NULL;
}

static uattn_error_t *parse_element(initial_t *initial, size_t at) {
  size_t bytes = ptx_type_bytes(initial->variable->type);
  uint64_t bits = 0;
  uattn_error_t *error = parse_value(initial, &bits);
  if (!error)
    error = reach(initial, at + bytes);
  if (!error)
    memcpy(initial->data + at, &bits, bytes);
  return error;
}

/* One pair of braces; its first byte is at `at`. Their depth is the rank. */
static uattn_error_t *parse_braces(initial_t *initial, uint32_t dimension,
                                   size_t at) {
  ptx_parser_t *parser = initial->parser;
  uattn_error_t *error = ptx_expect_sign(parser, '{');
  if (error || ptx_accept_sign(parser, '}'))
    return error;
  size_t count = initial->counts[dimension]; /* 0: as many as there are */
  for (size_t i = 0; !error; ++i, at += initial->strides[dimension]) {
    if (count > 0 && i == count)
      return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, parser->token.line,
                       "%s has too many initial values: expected %zu between "
                       "these braces",
                       initial->variable->name, count);
    error = reach(initial, at + initial->strides[dimension]);
    if (!error)
      error = dimension + 1 == initial->rank
                  ? parse_element(initial, at)
                  : parse_braces(initial, dimension + 1, at);
    if (error || !ptx_accept_sign(parser, ','))
      break;
  }
  return error ? error : ptx_expect_sign(parser, '}');
}

static void set_dimensions(initial_t *initial, const ptx_declared_type_t *type,
                           const ptx_array_t *array) {
  initial->rank = array->rank;
  memcpy(initial->counts, array->counts, sizeof array->counts);
  if (type->vector_length > 1)
    initial->counts[initial->rank++] = type->vector_length;
  size_t stride = ptx_type_bytes(type->type);
  for (uint32_t i = initial->rank; i-- > 0; stride *= initial->counts[i])
    initial->strides[i] = stride;
}

static uattn_error_t *check_allowed(ptx_parser_t *parser,
                                    const ptx_variable_t *variable) {
  bool has_space =
      variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST;
  if (!has_space || variable->is_extern)
    return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, variable->line,
                     "%s has an initial value: expected one for .global and "
                     ".const alone, without .extern",
                     variable->name);
  ptx_type_t type = variable->type;
  bool has_type =
      !ptx_type_is_float(type) || type == PTX_TYPE_F32 || type == PTX_TYPE_F64;
  if (!has_type || type == PTX_TYPE_B128)
    return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, variable->line,
                     "%s has an initial value: expected an integer type of up "
                     "to 64 bits, f32 or f64",
                     variable->name);
  return NULL;
}

uattn_error_t *ptx_parse_initial(ptx_parser_t *parser,
                                 const ptx_declared_type_t *type,
                                 const ptx_array_t *array,
                                 ptx_variable_t *variable) {
  initial_t initial = {.parser = parser, .variable = variable};
  uattn_error_t *error = check_allowed(parser, variable);
  if (error)
    return error;
  set_dimensions(&initial, type, array);
  error = reach(&initial, variable->bytes);
  if (!error)
    error = initial.rank == 0 ? parse_element(&initial, 0)
                              : parse_braces(&initial, 0, 0);
  if (!error && initial.size > 0) {
    uint8_t *copy = uattn_arena_allocate(parser->arena, initial.size);
    memcpy(copy, initial.data, initial.size);
    variable->initial = copy;
    variable->bytes = initial.size;
    parser->initial_bytes += initial.size;
  }
  free(initial.data);
  return error;
}
