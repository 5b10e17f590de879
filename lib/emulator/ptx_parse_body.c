/* An entry's body: scopes, labels, instructions.
 * Layer: emulator. Must not know: what opcodes mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_parse.h"

#include <string.h>

/* ---- Labels ----------------------------------------------------------------
 */

/* A: B: ... then perhaps .branchtargets, which the last of them names. */
static uattn_error_t *parse_targets(ptx_parser_t *parser, const char *name,
                                    int line) {
  size_t first = parser->operands.count;
  uattn_error_t *error = NULL;
  do {
    const char *label = NULL;
    ptx_advance(parser); /* the directive or a comma */
    error = ptx_expect_name(parser, "a label", &label);
    ptx_operand_t *element =
        ptx_list_add(&parser->operands, sizeof(ptx_operand_t));
    *element = (ptx_operand_t){.kind = PTX_OPERAND_LABEL, .text = label};
  } while (!error && ptx_at_sign(parser, ','));
  ptx_target_list_t list = {.element_count =
                                (uint32_t)(parser->operands.count - first)};
  ptx_operand_t *elements = ptx_list_move(&parser->operands, first,
                                          sizeof(ptx_operand_t), parser->arena);
  list.elements = elements;
  if (!error)
    error = ptx_expect_sign(parser, ';');
  if (!error)
    error = ptx_declare(parser, name, line, PTX_SYMBOL_TARGETS,
                        parser->target_lists.count);
  if (error)
    return error;
  ptx_note_labels(parser, elements, list.element_count, line, true);
  ptx_target_list_t *added =
      ptx_list_add(&parser->target_lists, sizeof(ptx_target_list_t));
  *added = list;
  return NULL;
}

static uattn_error_t *parse_label(ptx_parser_t *parser) {
  int line = parser->token.line;
  const char *name = NULL;
  uattn_error_t *error = ptx_expect_name(parser, "a label", &name);
  if (!error)
    error = ptx_expect_sign(parser, ':');
  if (error)
    return error;
  if (ptx_at_directive(parser, ".branchtargets"))
    return parse_targets(parser, name, line);
  return ptx_declare(parser, name, line, PTX_SYMBOL_LABEL,
                     parser->instructions.count);
}

static bool at_label(const ptx_parser_t *parser) {
  if (parser->token.kind != PTX_TOKEN_NAME)
    return false;
  ptx_lexer_t ahead = parser->lexer;
  ptx_token_t next = ptx_lexer_next(&ahead);
  return next.kind == PTX_TOKEN_SIGN && next.sign == ':';
}

static const ptx_symbol_t *find_label(const ptx_parser_t *parser,
                                      const ptx_label_use_t *use) {
  const uint32_t *enclosing = parser->scopes.data;
  uint32_t scope = use->scope;
  for (; scope != PTX_MODULE_SCOPE; scope = enclosing[scope]) {
    const ptx_symbol_t *symbol =
        ptx_symbols_find(&parser->labels, use->operand->text, scope);
    if (symbol)
      return symbol;
  }
  return NULL;
}

static uattn_error_t *resolve_label(const ptx_parser_t *parser,
                                    const ptx_label_use_t *use) {
  const ptx_symbol_t *symbol = find_label(parser, use);
  if (!symbol)
    return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, use->line,
                     "%s is not declared: expected a register, a variable, a "
                     "parameter or a label",
                     use->operand->text);
  if (symbol->kind == PTX_SYMBOL_LABEL) {
    use->operand->index = symbol->index;
    return NULL;
  }
  if (use->is_target)
    return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, use->line,
                     "the branch target %s is a list of targets: expected the "
                     "label of an instruction",
                     use->operand->text);
  const ptx_target_list_t *list =
      (const ptx_target_list_t *)parser->target_lists.data + symbol->index;
  use->operand->kind = PTX_OPERAND_VECTOR;
  use->operand->elements = list->elements;
  use->operand->element_count = list->element_count;
  return NULL;
}

static uattn_error_t *resolve_labels(const ptx_parser_t *parser) {
  const ptx_label_use_t *uses = parser->label_uses.data;
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < parser->label_uses.count && !error; ++i)
    error = resolve_label(parser, &uses[i]);
  return error;
}

/* ---- Instructions ----------------------------------------------------------
 */

/* @p or @!p */
static uattn_error_t *parse_guard(ptx_parser_t *parser,
                                  ptx_instruction_t *instruction) {
  instruction->guard = -1;
  if (!ptx_accept_sign(parser, '@'))
    return NULL;
  instruction->guard_is_negated = ptx_accept_sign(parser, '!');
  int line = parser->token.line;
  const char *name = NULL;
  uattn_error_t *error = ptx_expect_name(parser, "a predicate", &name);
  if (error)
    return error;
  const ptx_symbol_t *symbol = ptx_find_symbol(parser, name);
  const ptx_register_t *registers = parser->registers.data;
  if (!symbol || symbol->kind != PTX_SYMBOL_REGISTER ||
      registers[symbol->index].type != PTX_TYPE_PRED)
    return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                     "%s guards an instruction: expected a predicate register",
                     name);
  instruction->guard = (int32_t)symbol->index;
  return NULL;
}

/* mad.lo.s32 */
static uattn_error_t *parse_opcode(ptx_parser_t *parser,
                                   ptx_instruction_t *instruction) {
  ptx_list_t parts = {0};
  const char *part = NULL;
  uattn_error_t *error = ptx_expect_name(parser, "an instruction", &part);
  if (error)
    return error;
  if (strcmp(part, "call") == 0)
    return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, instruction->line,
                     "call is not supported: expected functions to be inlined");
  *(const char **)ptx_list_add(&parts, sizeof part) = part;
  while (parser->token.kind == PTX_TOKEN_DOTTED) {
    part = ptx_names_add(&parser->names, parser->arena, parser->token.text + 1,
                         parser->token.size - 1);
    *(const char **)ptx_list_add(&parts, sizeof part) = part;
    ptx_advance(parser);
  }
  instruction->part_count = (uint32_t)parts.count;
  instruction->parts = ptx_list_move(&parts, 0, sizeof part, parser->arena);
  ptx_list_release(&parts);
  return NULL;
}

static uattn_error_t *parse_operands(ptx_parser_t *parser,
                                     ptx_instruction_t *instruction) {
  size_t first = parser->operands.count;
  uattn_error_t *error = NULL;
  while (!error && !ptx_at_sign(parser, ';')) {
    if (parser->operands.count > first && !ptx_accept_sign(parser, ','))
      error = ptx_unexpected(parser, "`,` or `;`");
    ptx_operand_t operand = {0};
    if (!error)
      error = ptx_parse_operand(parser, &operand);
    *(ptx_operand_t *)ptx_list_add(&parser->operands, sizeof operand) = operand;
  }
  size_t count = parser->operands.count - first;
  ptx_operand_t *operands = ptx_list_move(&parser->operands, first,
                                          sizeof(ptx_operand_t), parser->arena);
  if (error)
    return error;
  instruction->operands = operands;
  instruction->operand_count = (uint32_t)count;
  ptx_note_labels(parser, operands, count, instruction->line, false);
  ptx_advance(parser);
  return NULL;
}

/* The bytes from `start` to `end` with each run of blanks as one. */
static const char *copy_text(ptx_parser_t *parser, const char *start,
                             const char *end) {
  char *copy = uattn_arena_allocate(parser->arena, (size_t)(end - start) + 1);
  char *at = copy;
  for (; start < end; ++start) {
    bool is_blank = *start == '\n' || *start == '\t' || *start == '\r';
    char c = is_blank ? ' ' : *start;
    if (c != ' ' || at == copy || at[-1] != ' ')
      *at++ = c;
  }
  return copy;
}

static uattn_error_t *parse_instruction(ptx_parser_t *parser) {
  ptx_instruction_t instruction = {.line = parser->token.line};
  const char *start = parser->token.text;
  uattn_error_t *error = parse_guard(parser, &instruction);
  if (!error)
    error = parse_opcode(parser, &instruction);
  if (!error)
    error = parse_operands(parser, &instruction);
  if (error)
    return error;
  instruction.text = copy_text(parser, start, parser->previous_end);
  *(ptx_instruction_t *)ptx_list_add(&parser->instructions,
                                     sizeof instruction) = instruction;
  return NULL;
}

/* ---- Statements ------------------------------------------------------------
 */

static uattn_error_t *parse_directive(ptx_parser_t *parser) {
  bool is_debug = false;
  uattn_error_t *error = ptx_skip_debug(parser, &is_debug);
  if (error || is_debug)
    return error;
  if (ptx_accept_directive(parser, ".reg"))
    return ptx_parse_registers(parser);
  if (ptx_at_variable(parser))
    return ptx_parse_variables(parser, false);
  static const char *const unsupported[] = {".param", ".callprototype",
                                            ".calltargets"};
  for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; ++i)
    if (ptx_at_directive(parser, unsupported[i]))
      return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, parser->token.line,
                       "%s in a body serves calls, which are not supported: "
                       "expected functions to be inlined",
                       unsupported[i]);
  if (ptx_accept_directive(parser, ".extern")) {
    if (ptx_at_directive(parser, ".shared"))
      return ptx_parse_variables(parser, true);
    return ptx_unexpected(parser, "`.shared`");
  }
  return ptx_unexpected(parser, "a directive of a body, an instruction, a "
                                "label or `}`");
}

static uattn_error_t *parse_statement(ptx_parser_t *parser) {
  if (parser->token.kind == PTX_TOKEN_DOTTED)
    return parse_directive(parser);
  if (at_label(parser))
    return parse_label(parser);
  if (parser->token.kind == PTX_TOKEN_NAME || ptx_at_sign(parser, '@'))
    return parse_instruction(parser);
  return ptx_unexpected(parser, "an instruction, a label, a directive or `}`");
}

uattn_error_t *ptx_parse_body(ptx_parser_t *parser) {
  uint32_t outer = parser->scope;
  uattn_error_t *error = ptx_expect_sign(parser, '{');
  for (bool is_open = !error; is_open && !error;) {
    if (ptx_at_sign(parser, '{')) {
      error = ptx_open_scope(parser);
      ptx_advance(parser);
    } else if (!ptx_at_sign(parser, '}')) {
      error = parse_statement(parser);
    } else {
      ptx_advance(parser);
      is_open = parser->scope != outer;
      if (is_open)
        ptx_close_scope(parser);
    }
  }
  return error ? error : resolve_labels(parser);
}
