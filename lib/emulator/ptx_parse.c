/* What all parts of the PTX parser use: tokens, errors, scopes.
 * Layer: emulator. Must not know: grammar.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_parse.h"

#include <string.h>

void ptx_advance(ptx_parser_t *parser) {
  parser->previous_end = parser->token.text + parser->token.size;
  parser->token = ptx_lexer_next(&parser->lexer);
}

bool ptx_at_sign(const ptx_parser_t *parser, int sign) {
  return parser->token.kind == PTX_TOKEN_SIGN && parser->token.sign == sign;
}

static bool is_token(const ptx_parser_t *parser, ptx_token_kind_t kind,
                     const char *text) {
  const ptx_token_t *token = &parser->token;
  return token->kind == kind && strlen(text) == token->size &&
         memcmp(token->text, text, token->size) == 0;
}

bool ptx_at_name(const ptx_parser_t *parser, const char *name) {
  return is_token(parser, PTX_TOKEN_NAME, name);
}

bool ptx_at_directive(const ptx_parser_t *parser, const char *directive) {
  return is_token(parser, PTX_TOKEN_DOTTED, directive);
}

bool ptx_accept_sign(ptx_parser_t *parser, int sign) {
  bool is_there = ptx_at_sign(parser, sign);
  if (is_there)
    ptx_advance(parser);
  return is_there;
}

bool ptx_accept_directive(ptx_parser_t *parser, const char *directive) {
  bool is_there = ptx_at_directive(parser, directive);
  if (is_there)
    ptx_advance(parser);
  return is_there;
}

uattn_error_t *ptx_expect_sign(ptx_parser_t *parser, int sign) {
  if (ptx_accept_sign(parser, sign))
    return NULL;
  const char expected[] = {'`', (char)sign, '`', '\0'};
  return ptx_unexpected(parser, expected);
}

uattn_error_t *ptx_expect_name(ptx_parser_t *parser, const char *what,
                               const char **out_name) {
  if (parser->token.kind != PTX_TOKEN_NAME)
    return ptx_unexpected(parser, what);
  *out_name = ptx_names_add(&parser->names, parser->arena, parser->token.text,
                            parser->token.size);
  ptx_advance(parser);
  return NULL;
}

uattn_error_t *ptx_unexpected(const ptx_parser_t *parser,
                              const char *expected) {
  uattn_string_t found = {0};
  ptx_token_describe(&parser->token, &found);
  uattn_error_t *error =
      ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, parser->token.line,
                "found %s: expected %s", uattn_string_get(&found), expected);
  uattn_string_release(&found);
  return error;
}

uattn_error_t *ptx_error(const ptx_parser_t *parser, uattn_error_code_t code,
                         int line, const char *format, ...) {
  uattn_string_t message = {0};
  va_list arguments;
  va_start(arguments, format);
  uattn_string_appendv(&message, format, arguments);
  va_end(arguments);
  uattn_error_t *error = uattn_error_create(code, "%s:%d: %s", parser->name,
                                            line, uattn_string_get(&message));
  uattn_string_release(&message);
  return error;
}

/* An entry's names and the module's are in tables of their own, so that the
 * first can go with the entry. */
static ptx_symbols_t *symbols_of(ptx_parser_t *parser) {
  return parser->scope == PTX_MODULE_SCOPE ? &parser->module_symbols
                                           : &parser->entry_symbols;
}

static uint32_t enclosing_scope(const ptx_parser_t *parser, uint32_t scope) {
  return ((const uint32_t *)parser->scopes.data)[scope];
}

const ptx_symbol_t *ptx_find_symbol(const ptx_parser_t *parser,
                                    const char *name) {
  uint32_t scope = parser->scope;
  for (; scope != PTX_MODULE_SCOPE; scope = enclosing_scope(parser, scope)) {
    const ptx_symbol_t *symbol =
        ptx_symbols_find(&parser->entry_symbols, name, scope);
    if (symbol)
      return symbol;
  }
  return ptx_symbols_find(&parser->module_symbols, name, PTX_MODULE_SCOPE);
}

uattn_error_t *ptx_declare(ptx_parser_t *parser, const char *name, int line,
                           ptx_symbol_kind_t kind, size_t index) {
  bool is_label = kind == PTX_SYMBOL_LABEL || kind == PTX_SYMBOL_TARGETS;
  ptx_symbols_t *symbols = is_label ? &parser->labels : symbols_of(parser);
  if (ptx_symbols_find(symbols, name, parser->scope))
    return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                     "%s is declared twice: expected a new name", name);
  ptx_symbols_add(symbols, (ptx_symbol_t){.name = name,
                                          .scope = parser->scope,
                                          .kind = kind,
                                          .index = (uint32_t)index});
  return NULL;
}

static uint32_t scope_depth(const ptx_parser_t *parser) {
  uint32_t depth = 0;
  uint32_t scope = parser->scope;
  for (; scope != PTX_MODULE_SCOPE; scope = enclosing_scope(parser, scope))
    ++depth;
  return depth;
}

uattn_error_t *ptx_open_scope(ptx_parser_t *parser) {
  if (scope_depth(parser) == PTX_MAX_SCOPE_DEPTH)
    return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, parser->token.line,
                     "scopes are nested %d deep: expected at most %d",
                     PTX_MAX_SCOPE_DEPTH + 1, PTX_MAX_SCOPE_DEPTH);
  *(uint32_t *)ptx_list_add(&parser->scopes, sizeof(uint32_t)) = parser->scope;
  parser->scope = (uint32_t)parser->scopes.count - 1;
  return NULL;
}

void ptx_close_scope(ptx_parser_t *parser) {
  parser->scope = enclosing_scope(parser, parser->scope);
}
