/* Declarations of registers and variables.
 * Layer: emulator. Must not know: instructions, where variables will lie.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_parse.h"

#include <string.h>

static ptx_type_t type_of_token(const ptx_token_t *token) {
  if (token->kind != PTX_TOKEN_DOTTED)
    return PTX_TYPE_NONE;
  return ptx_type_parse(token->text + 1, token->size - 1);
}

uattn_error_t *ptx_parse_alignment(ptx_parser_t *parser,
                                   size_t *out_alignment) {
  int line = parser->token.line;
  uint64_t alignment = 0;
  uattn_error_t *error = ptx_parse_count(parser, "the alignment", 1,
                                         PTX_MAX_ALIGNMENT, &alignment);
  if (error)
    return error;
  if ((alignment & (alignment - 1)) != 0)
    return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                     "the alignment is %llu: expected a power of two",
                     (unsigned long long)alignment);
  *out_alignment = (size_t)alignment;
  return NULL;
}

uattn_error_t *ptx_parse_declared_type(ptx_parser_t *parser,
                                       ptx_declared_type_t *out_type) {
  *out_type = (ptx_declared_type_t){.vector_length = 1};
  for (;;) {
    uattn_error_t *error = NULL;
    if (ptx_accept_directive(parser, ".align"))
      error = ptx_parse_alignment(parser, &out_type->alignment);
    else if (ptx_accept_directive(parser, ".v2"))
      out_type->vector_length = 2;
    else if (ptx_accept_directive(parser, ".v4"))
      out_type->vector_length = 4;
    else
      break;
    if (error)
      return error;
  }
  out_type->type = type_of_token(&parser->token);
  if (out_type->type == PTX_TYPE_NONE)
    return ptx_unexpected(parser, "a type");
  ptx_advance(parser);
  out_type->element_bytes =
      ptx_type_bytes(out_type->type) * out_type->vector_length;
  return NULL;
}

uattn_error_t *ptx_parse_array(ptx_parser_t *parser, ptx_array_t *out_array) {
  *out_array = (ptx_array_t){0};
  while (ptx_accept_sign(parser, '[')) {
    if (out_array->rank == PTX_MAX_ARRAY_RANK)
      return ptx_error(
          parser, UATTN_ERROR_UNSUPPORTED, parser->token.line,
          "an array has %d dimensions or more: expected at most %d",
          PTX_MAX_ARRAY_RANK + 1, PTX_MAX_ARRAY_RANK);
    uint64_t count = 0;
    uattn_error_t *error = NULL;
    if (out_array->rank > 0 || !ptx_at_sign(parser, ']'))
      error = ptx_parse_count(parser, "the length of an array", 1,
                              PTX_MAX_VARIABLE_BYTES, &count);
    if (!error)
      error = ptx_expect_sign(parser, ']');
    if (error)
      return error;
    out_array->counts[out_array->rank++] = (size_t)count;
  }
  return NULL;
}

/* ---- Registers -------------------------------------------------------------
 */

static uattn_error_t *add_register(ptx_parser_t *parser, const char *name,
                                   ptx_type_t type, int line) {
  uattn_error_t *error = ptx_declare(parser, name, line, PTX_SYMBOL_REGISTER,
                                     parser->registers.count);
  if (error)
    return error;
  ptx_register_t *added =
      ptx_list_add(&parser->registers, sizeof(ptx_register_t));
  *added = (ptx_register_t){.name = name, .type = type};
  return NULL;
}

static uattn_error_t *check_register_limits(ptx_parser_t *parser,
                                            uint64_t count, int line) {
  uint64_t limit = PTX_MAX_ENTRY_REGISTERS;
  uint64_t wanted = parser->registers.count + count;
  parser->module_registers += count;
  if (wanted <= limit) {
    limit = PTX_MAX_MODULE_REGISTERS;
    wanted = parser->module_registers;
  }
  if (wanted <= limit)
    return NULL;
  return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, line,
                   "%llu registers are declared%s: expected at most %llu",
                   (unsigned long long)wanted,
                   limit == PTX_MAX_MODULE_REGISTERS ? " in all entries"
                                                     : " in one entry",
                   (unsigned long long)limit);
}

/* %r<3>: %r0, %r1, %r2. */
static uattn_error_t *add_numbered(ptx_parser_t *parser, const char *prefix,
                                   uint64_t count, ptx_type_t type, int line) {
  uattn_string_t name = {0};
  uattn_error_t *error = NULL;
  for (uint64_t i = 0; i < count && !error; ++i) {
    name.size = 0;
    uattn_string_appendf(&name, "%s%llu", prefix, (unsigned long long)i);
    const char *kept =
        ptx_names_add(&parser->names, parser->arena, name.data, name.size);
    error = add_register(parser, kept, type, line);
  }
  uattn_string_release(&name);
  return error;
}

static uattn_error_t *parse_register(ptx_parser_t *parser, ptx_type_t type) {
  int line = parser->token.line;
  const char *name = NULL;
  uint64_t count = 1;
  uattn_error_t *error = ptx_expect_name(parser, "a register's name", &name);
  bool is_numbered = !error && ptx_accept_sign(parser, '<');
  if (is_numbered) {
    error = ptx_parse_count(parser, "the number of registers", 0, UINT32_MAX,
                            &count);
    if (!error)
      error = ptx_expect_sign(parser, '>');
  }
  if (!error)
    error = check_register_limits(parser, count, line);
  if (error)
    return error;
  return is_numbered ? add_numbered(parser, name, count, type, line)
                     : add_register(parser, name, type, line);
}

uattn_error_t *ptx_parse_registers(ptx_parser_t *parser) {
  int line = parser->token.line;
  ptx_declared_type_t type = {0};
  uattn_error_t *error = ptx_parse_declared_type(parser, &type);
  if (!error && type.vector_length != 1)
    error = ptx_error(parser, UATTN_ERROR_UNSUPPORTED, line,
                      "vector registers are not supported: expected one "
                      "register a component");
  do {
    if (!error)
      error = parse_register(parser, type.type);
  } while (!error && ptx_accept_sign(parser, ','));
  return error ? error : ptx_expect_sign(parser, ';');
}

/* ---- Variables -------------------------------------------------------------
 */

static const struct {
  const char *directive;
  ptx_space_t space;
} spaces[] = {
    {".global", PTX_SPACE_GLOBAL},
    {".shared", PTX_SPACE_SHARED},
    {".local", PTX_SPACE_LOCAL},
    {".const", PTX_SPACE_CONST},
};

static ptx_space_t space_of_token(const ptx_parser_t *parser) {
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; ++i)
    if (ptx_at_directive(parser, spaces[i].directive))
      return spaces[i].space;
  return PTX_SPACE_GENERIC;
}

bool ptx_at_variable(const ptx_parser_t *parser) {
  return space_of_token(parser) != PTX_SPACE_GENERIC;
}

/* An array without its first length has size 0; its rows have theirs. */
static uattn_error_t *size_variable(ptx_parser_t *parser,
                                    const ptx_declared_type_t *type,
                                    const ptx_array_t *array,
                                    ptx_variable_t *variable) {
  size_t bytes = type->element_bytes;
  bool fits = true;
  for (uint32_t i = array->rank; i-- > 0;) {
    if (array->counts[i] == 0)
      fits = fits && bytes <= PTX_MAX_VARIABLE_BYTES;
    fits = fits && uattn_size_multiply(bytes, array->counts[i], &bytes);
  }
  variable->bytes = bytes;
  if (!fits || bytes > PTX_MAX_VARIABLE_BYTES)
    return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, variable->line,
                     "%s is too large: expected at most %zu bytes",
                     variable->name, PTX_MAX_VARIABLE_BYTES);
  return NULL;
}

static uattn_error_t *check_size(ptx_parser_t *parser, const ptx_array_t *array,
                                 const ptx_variable_t *variable) {
  if (variable->bytes > 0 ||
      (variable->is_extern && variable->space == PTX_SPACE_SHARED &&
       array->rank == 1))
    return NULL;
  return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, variable->line,
                   "%s is an array without a length: expected one, or .extern "
                   ".shared",
                   variable->name);
}

/* An .extern may be repeated, and then defined. */
static uattn_error_t *add_variable(ptx_parser_t *parser,
                                   const ptx_variable_t *variable) {
  const ptx_symbol_t *symbol = NULL;
  if (parser->scope == PTX_MODULE_SCOPE)
    symbol = ptx_find_symbol(parser, variable->name);
  if (symbol && symbol->kind == PTX_SYMBOL_VARIABLE) {
    ptx_variable_t *first =
        (ptx_variable_t *)parser->variables.data + symbol->index;
    if (first->space == variable->space &&
        (first->is_extern || variable->is_extern)) {
      if (first->is_extern)
        *first = *variable;
      return NULL;
    }
  }
  uattn_error_t *error =
      ptx_declare(parser, variable->name, variable->line, PTX_SYMBOL_VARIABLE,
                  parser->variables.count);
  if (!error)
    *(ptx_variable_t *)ptx_list_add(&parser->variables,
                                    sizeof(ptx_variable_t)) = *variable;
  return error;
}

static uattn_error_t *parse_variable(ptx_parser_t *parser,
                                     const ptx_declared_type_t *type,
                                     ptx_space_t space, bool is_extern) {
  bool is_global = parser->scope == PTX_MODULE_SCOPE;
  ptx_variable_t variable = {
      .space = space,
      .type = type->type,
      .alignment = type->alignment ? type->alignment : type->element_bytes,
      .is_extern = is_extern,
      .entry = is_global ? -1 : (int32_t)parser->entries.count,
      .line = parser->token.line,
  };
  ptx_array_t array = {0};
  uattn_error_t *error =
      ptx_expect_name(parser, "a variable's name", &variable.name);
  if (!error)
    error = ptx_parse_array(parser, &array);
  if (!error)
    error = size_variable(parser, type, &array, &variable);
  if (!error && ptx_accept_sign(parser, '='))
    error = ptx_parse_initial(parser, type, &array, &variable);
  if (!error)
    error = check_size(parser, &array, &variable);
  return error ? error : add_variable(parser, &variable);
}

uattn_error_t *ptx_parse_variables(ptx_parser_t *parser, bool is_extern) {
  int line = parser->token.line;
  ptx_space_t space = space_of_token(parser);
  if (space == PTX_SPACE_LOCAL && parser->scope == PTX_MODULE_SCOPE)
    return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                     "a .local variable stands outside of entries: expected "
                     "it in a body");
  ptx_advance(parser);
  if (ptx_at_directive(parser, ".attribute"))
    return ptx_error(
        parser, UATTN_ERROR_UNSUPPORTED, line,
        "attributes of variables are not supported: expected none");
  ptx_declared_type_t type = {0};
  uattn_error_t *error = ptx_parse_declared_type(parser, &type);
  if (!error && type.element_bytes == 0)
    error = ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                      "a variable has type pred: expected a type with a size");
  do {
    if (!error)
      error = parse_variable(parser, &type, space, is_extern);
  } while (!error && ptx_accept_sign(parser, ','));
  return error ? error : ptx_expect_sign(parser, ';');
}
