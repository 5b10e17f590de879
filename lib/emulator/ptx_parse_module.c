/* The top level of a PTX module.
 * Layer: emulator. Must not know: instructions, how they are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_parse.h"

#include <stdlib.h>
#include <string.h>

/* .version 8.3 */
static uattn_error_t *parse_version(ptx_parser_t *parser) {
  if (!ptx_accept_directive(parser, ".version"))
    return ptx_unexpected(parser, "`.version`");
  const ptx_token_t *token = &parser->token;
  int read = 0;
  ptx_module_t *module = parser->module;
  char text[16] = "";
  if (token->kind == PTX_TOKEN_FLOAT && token->size < sizeof text)
    memcpy(text, token->text, token->size);
  if (sscanf(text, "%2d.%2d%n", &module->version_major, &module->version_minor,
             &read) != 2 ||
      (size_t)read != token->size)
    return ptx_unexpected(parser, "a version such as 8.3");
  if (module->version_major > 9)
    return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, token->line,
                     "the PTX version is %s: expected at most 9", text);
  ptx_advance(parser);
  return NULL;
}

/* .target sm_90a, texmode_independent, debug */
static uattn_error_t *parse_target(ptx_parser_t *parser) {
  static const char *const modes[] = {"texmode_unified", "texmode_independent",
                                      "debug"};
  if (!ptx_accept_directive(parser, ".target"))
    return ptx_unexpected(parser, "`.target`");
  do {
    int line = parser->token.line;
    const char *name = NULL;
    bool is_mode = false;
    uattn_error_t *error = ptx_expect_name(parser, "a target", &name);
    if (error)
      return error;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i)
      is_mode |= strcmp(name, modes[i]) == 0;
    if (strncmp(name, "sm_", 3) == 0 && name[3] != '\0')
      parser->module->target = name;
    else if (!is_mode)
      return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, line,
                       "the target %s is not supported: expected sm_..., "
                       "texmode_unified, texmode_independent or debug",
                       name);
  } while (ptx_accept_sign(parser, ','));
  return NULL;
}

static uattn_error_t *parse_address_size(ptx_parser_t *parser) {
  int line = parser->token.line;
  uint64_t bits = 0;
  uattn_error_t *error =
      ptx_parse_count(parser, ".address_size", 1, UINT32_MAX, &bits);
  if (!error && bits != 64)
    error = ptx_error(parser, UATTN_ERROR_UNSUPPORTED, line,
                      "addresses have %llu bits: expected 64",
                      (unsigned long long)bits);
  return error;
}

/* .func (.param .b32 result) name ... */
static uattn_error_t *refuse_function(ptx_parser_t *parser) {
  int line = parser->token.line;
  const char *name = NULL;
  ptx_advance(parser);
  if (ptx_at_sign(parser, '('))
    while (parser->token.kind != PTX_TOKEN_END &&
           parser->token.kind != PTX_TOKEN_INVALID &&
           !ptx_accept_sign(parser, ')'))
      ptx_advance(parser);
  uattn_error_t *error = ptx_expect_name(parser, "a function's name", &name);
  if (error)
    return error;
  return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, line,
                   "the function %s is not supported: expected entries with "
                   "all functions inlined",
                   name);
}

static uattn_error_t *refuse_directive(ptx_parser_t *parser) {
  if (ptx_at_directive(parser, ".func"))
    return refuse_function(parser);
  if (ptx_at_directive(parser, ".alias"))
    return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, parser->token.line,
                     ".alias is not supported: expected entries with all "
                     "functions inlined");
  return ptx_unexpected(parser, "a directive of a module");
}

/* .visible .entry, .extern .shared and so on. All of a module is visible. */
static uattn_error_t *parse_linked(ptx_parser_t *parser) {
  bool is_extern = ptx_accept_directive(parser, ".extern");
  bool is_common = !is_extern && ptx_accept_directive(parser, ".common");
  bool is_linked = is_extern || is_common ||
                   ptx_accept_directive(parser, ".visible") ||
                   ptx_accept_directive(parser, ".weak");
  if (is_common && !ptx_at_variable(parser))
    return ptx_unexpected(parser, "a variable's state space");
  if (ptx_at_directive(parser, ".entry"))
    return ptx_parse_entry(parser);
  if (ptx_at_variable(parser))
    return ptx_parse_variables(parser, is_extern);
  if (is_linked && !ptx_at_directive(parser, ".func"))
    return ptx_unexpected(parser, "`.entry` or a variable's state space");
  return refuse_directive(parser);
}

static uattn_error_t *parse_top(ptx_parser_t *parser) {
  bool is_debug = false;
  uattn_error_t *error = ptx_skip_debug(parser, &is_debug);
  if (error || is_debug)
    return error;
  if (ptx_at_directive(parser, ".target"))
    return parse_target(parser);
  if (ptx_accept_directive(parser, ".address_size"))
    return parse_address_size(parser);
  return parse_linked(parser);
}

static uattn_error_t *parse_module(ptx_parser_t *parser) {
  ptx_advance(parser);
  uattn_error_t *error = parse_version(parser);
  if (!error)
    error = parse_target(parser);
  if (!error && !parser->module->target)
    error = ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, parser->token.line,
                      "no target is given: expected sm_...");
  while (!error && parser->token.kind != PTX_TOKEN_END)
    error = parse_top(parser);
  return error;
}

static void finish_module(ptx_parser_t *parser) {
  ptx_module_t *module = parser->module;
  module->variable_count = (uint32_t)parser->variables.count;
  module->variables = ptx_list_move(&parser->variables, 0,
                                    sizeof(ptx_variable_t), parser->arena);
  module->entry_count = (uint32_t)parser->entries.count;
  module->entries =
      ptx_list_move(&parser->entries, 0, sizeof(ptx_entry_t), parser->arena);
}

static void release_parser(ptx_parser_t *parser) {
  ptx_list_t *lists[] = {&parser->variables,    &parser->entries,
                         &parser->scopes,       &parser->registers,
                         &parser->instructions, &parser->label_uses,
                         &parser->target_lists, &parser->operands};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
    ptx_list_release(lists[i]);
  ptx_names_release(&parser->names);
  ptx_symbols_release(&parser->module_symbols);
  ptx_symbols_release(&parser->entry_symbols);
  ptx_symbols_release(&parser->labels);
}

uattn_error_t *ptx_module_parse(const char *name, const char *text, size_t size,
                                ptx_module_t **out_module) {
  if (size > PTX_MAX_TEXT_BYTES)
    return uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                              "%s: the PTX has %zu bytes: expected at most %d",
                              name, size, PTX_MAX_TEXT_BYTES);
  uattn_arena_t *arena = uattn_arena_create();
  ptx_module_t *module = uattn_arena_allocate(arena, sizeof(ptx_module_t));
  module->arena = arena;
  module->name = uattn_arena_format(arena, "%s", name);
  ptx_parser_t parser = {.name = module->name,
                         .arena = arena,
                         .module = module,
                         .lexer = ptx_lexer_start(text, size),
                         .token = {.text = text}};
  uattn_error_t *error = parse_module(&parser);
  finish_module(&parser);
  release_parser(&parser);
  if (error)
    ptx_module_destroy(module);
  else
    *out_module = module;
  return error;
}

void ptx_module_destroy(ptx_module_t *module) {
  if (module)
    uattn_arena_destroy(module->arena);
}
