/* An entry: its parameters, directives and the tables of its body.
 * Layer: emulator. Must not know: instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_parse.h"

/* ---- Parameters ------------------------------------------------------------
 */

/* .ptr .global .align 1: what a pointer points to, which changes nothing. */
static uattn_error_t *skip_pointer(ptx_parser_t *parser) {
  static const char *const spaces[] = {".global", ".shared", ".local",
                                       ".const"};
  size_t alignment = 0;
  if (!ptx_accept_directive(parser, ".ptr"))
    return NULL;
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; ++i)
    if (ptx_accept_directive(parser, spaces[i]))
      break;
  if (!ptx_accept_directive(parser, ".align"))
    return NULL;
  return ptx_parse_alignment(parser, &alignment);
}

static uattn_error_t *size_parameter(const ptx_parser_t *parser,
                                     const ptx_array_t *array, int line,
                                     ptx_parameter_t *parameter) {
  size_t bytes = parameter->bytes;
  for (uint32_t i = 0; i < array->rank; ++i)
    if (!uattn_size_multiply(bytes, array->counts[i], &bytes))
      bytes = SIZE_MAX;
  if (bytes == 0)
    return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                     "the parameter %s has no size: expected a type and a "
                     "length that give one",
                     parameter->name);
  parameter->bytes = bytes;
  return NULL;
}

static uattn_error_t *place_parameter(ptx_parser_t *parser, int line,
                                      ptx_parameter_t *parameter) {
  size_t offset = parser->entry.param_bytes + parameter->alignment - 1;
  offset -= offset % parameter->alignment;
  if (parameter->bytes > PTX_MAX_PARAM_BYTES ||
      offset + parameter->bytes > PTX_MAX_PARAM_BYTES)
    return ptx_error(
        parser, UATTN_ERROR_INVALID_ARGUMENT, line,
        "the parameters up to %s are too large: expected at most %d "
        "bytes",
        parameter->name, PTX_MAX_PARAM_BYTES);
  parameter->offset = offset;
  parser->entry.param_bytes = offset + parameter->bytes;
  return NULL;
}

static uattn_error_t *parse_parameter(ptx_parser_t *parser,
                                      ptx_list_t *parameters) {
  int line = parser->token.line;
  ptx_declared_type_t type = {0};
  ptx_array_t array = {0};
  ptx_parameter_t parameter = {0};
  if (!ptx_accept_directive(parser, ".param"))
    return ptx_unexpected(parser, "`.param`");
  uattn_error_t *error = ptx_parse_declared_type(parser, &type);
  if (!error)
    error = skip_pointer(parser);
  if (!error)
    error = ptx_expect_name(parser, "a parameter's name", &parameter.name);
  if (!error)
    error = ptx_parse_array(parser, &array);
  if (error)
    return error;
  parameter.type = type.type;
  parameter.bytes = type.element_bytes;
  parameter.alignment = type.alignment ? type.alignment : type.element_bytes;
  error = size_parameter(parser, &array, line, &parameter);
  if (!error)
    error = place_parameter(parser, line, &parameter);
  if (!error)
    error = ptx_declare(parser, parameter.name, line, PTX_SYMBOL_PARAMETER,
                        parameters->count);
  if (!error)
    *(ptx_parameter_t *)ptx_list_add(parameters, sizeof parameter) = parameter;
  return error;
}

static uattn_error_t *parse_parameters(ptx_parser_t *parser) {
  ptx_list_t parameters = {0};
  uattn_error_t *error = NULL;
  if (!ptx_accept_sign(parser, '(') || ptx_accept_sign(parser, ')'))
    return NULL;
  do
    error = parse_parameter(parser, &parameters);
  while (!error && ptx_accept_sign(parser, ','));
  if (!error)
    error = ptx_expect_sign(parser, ')');
  parser->entry.param_count = (uint32_t)parameters.count;
  parser->entry.params =
      ptx_list_move(&parameters, 0, sizeof(ptx_parameter_t), parser->arena);
  ptx_list_release(&parameters);
  return error;
}

/* ---- Directives ------------------------------------------------------------
 */

/* One to three counts, 1 where left out. */
static uattn_error_t *parse_dimensions(ptx_parser_t *parser, const char *what,
                                       uint32_t maximum,
                                       uint32_t out_counts[3]) {
  uattn_error_t *error = NULL;
  for (int i = 0; i < 3 && !error; ++i) {
    uint64_t count = 1;
    if (i == 0 || ptx_accept_sign(parser, ','))
      error = ptx_parse_count(parser, what, 1, maximum, &count);
    out_counts[i] = (uint32_t)count;
  }
  return error;
}

static uattn_error_t *parse_number(ptx_parser_t *parser, const char *what,
                                   uint32_t *out_number) {
  uint64_t number = 0;
  uattn_error_t *error = ptx_parse_count(parser, what, 1, 65535, &number);
  *out_number = (uint32_t)number;
  return error;
}

/* One of the directives between the parameters and the body; each is a limit
 * or a hint, or asks for a cluster, of one CTA here. */
static uattn_error_t *parse_directive(ptx_parser_t *parser) {
  ptx_entry_t *entry = &parser->entry;
  uint32_t ignored[3];
  bool is_debug = false;
  int line = parser->token.line;
  if (ptx_accept_directive(parser, ".reqntid"))
    return parse_dimensions(parser, ".reqntid", 1024, entry->reqntid);
  if (ptx_accept_directive(parser, ".maxntid"))
    return parse_dimensions(parser, ".maxntid", 1024, entry->maxntid);
  if (ptx_accept_directive(parser, ".maxnreg"))
    return parse_number(parser, ".maxnreg", &entry->maxnreg);
  if (ptx_accept_directive(parser, ".minnctapersm"))
    return parse_number(parser, ".minnctapersm", ignored);
  if (ptx_accept_directive(parser, ".maxnctapersm"))
    return parse_number(parser, ".maxnctapersm", ignored);
  if (ptx_accept_directive(parser, ".maxclusterrank"))
    return parse_number(parser, ".maxclusterrank", ignored);
  if (ptx_accept_directive(parser, ".noreturn") ||
      ptx_accept_directive(parser, ".explicitcluster") ||
      ptx_accept_directive(parser, ".blocksareclusters"))
    return NULL;
  if (ptx_accept_directive(parser, ".reqnctapercluster")) {
    uattn_error_t *error =
        parse_dimensions(parser, ".reqnctapercluster", 65535, ignored);
    if (error || (ignored[0] == 1 && ignored[1] == 1 && ignored[2] == 1))
      return error;
    return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, line,
                     "%s wants clusters of %u x %u x %u: expected 1 x 1 x 1",
                     entry->name, ignored[0], ignored[1], ignored[2]);
  }
  uattn_error_t *error = ptx_skip_debug(parser, &is_debug);
  if (error || is_debug)
    return error;
  return ptx_unexpected(parser, "a directive of an entry, `{` or `;`");
}

/* ---- Entry -----------------------------------------------------------------
 */

static void begin_entry(ptx_parser_t *parser) {
  parser->scopes.count = 0;
  *(uint32_t *)ptx_list_add(&parser->scopes, sizeof(uint32_t)) =
      PTX_MODULE_SCOPE;
  parser->scope = PTX_MODULE_SCOPE;
}

/* An entry's tables; what has been parsed goes to the module. */
static void end_entry(ptx_parser_t *parser) {
  ptx_entry_t *entry = &parser->entry;
  entry->register_count = (uint32_t)parser->registers.count;
  entry->registers = ptx_list_move(&parser->registers, 0,
                                   sizeof(ptx_register_t), parser->arena);
  entry->instruction_count = (uint32_t)parser->instructions.count;
  entry->instructions = ptx_list_move(&parser->instructions, 0,
                                      sizeof(ptx_instruction_t), parser->arena);
  parser->label_uses.count = 0;
  parser->target_lists.count = 0;
  ptx_symbols_release(&parser->entry_symbols);
  ptx_symbols_release(&parser->labels);
  parser->scope = PTX_MODULE_SCOPE;
}

/* A declaration without a body may come before the definition, and again. */
static uattn_error_t *finish_entry(ptx_parser_t *parser) {
  if (ptx_accept_sign(parser, ';')) {
    end_entry(parser);
    return NULL;
  }
  uattn_error_t *error = ptx_parse_body(parser);
  end_entry(parser);
  if (!error)
    error = ptx_declare(parser, parser->entry.name, parser->entry.line,
                        PTX_SYMBOL_ENTRY, parser->entries.count);
  if (!error)
    *(ptx_entry_t *)ptx_list_add(&parser->entries, sizeof(ptx_entry_t)) =
        parser->entry;
  return error;
}

uattn_error_t *ptx_parse_entry(ptx_parser_t *parser) {
  ptx_advance(parser);
  parser->entry = (ptx_entry_t){.line = parser->token.line};
  begin_entry(parser);
  uattn_error_t *error =
      ptx_expect_name(parser, "an entry's name", &parser->entry.name);
  if (!error)
    error = ptx_open_scope(parser);
  if (!error)
    error = parse_parameters(parser);
  while (!error && !ptx_at_sign(parser, '{') && !ptx_at_sign(parser, ';'))
    error = parse_directive(parser);
  return error ? error : finish_entry(parser);
}
