/* Operands of instructions.
 * Layer: emulator. Must not know: opcodes, types of operands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_parse.h"

#include <string.h>

/* Registers that the machine fills, and how many follow a number. */
static const struct {
  const char *name;
  bool has_components; /* .x .y .z */
} specials[] = {
    {"%tid", true},
    {"%ntid", true},
    {"%ctaid", true},
    {"%nctaid", true},
    {"%clusterid", true},
    {"%nclusterid", true},
    {"%cluster_ctaid", true},
    {"%cluster_nctaid", true},
    {"%cluster_ctarank", false},
    {"%cluster_nctarank", false},
    {"%is_explicit_cluster", false},
    {"%laneid", false},
    {"%warpid", false},
    {"%nwarpid", false},
    {"%smid", false},
    {"%nsmid", false},
    {"%gridid", false},
    {"%lanemask_eq", false},
    {"%lanemask_le", false},
    {"%lanemask_lt", false},
    {"%lanemask_ge", false},
    {"%lanemask_gt", false},
    {"%clock", false},
    {"%clock_hi", false},
    {"%clock64", false},
    {"%globaltimer", false},
    {"%globaltimer_lo", false},
    {"%globaltimer_hi", false},
    {"%total_smem_size", false},
    {"%aggr_smem_size", false},
    {"%dynamic_smem_size", false},
    {"%reserved_smem_offset_begin", false},
    {"%reserved_smem_offset_end", false},
    {"%reserved_smem_offset_cap", false},
    {"%current_graph_exec", false},
};

/* -1: none. */
static int find_special(const char *name) {
  for (size_t i = 0; i < sizeof specials / sizeof *specials; ++i)
    if (strcmp(specials[i].name, name) == 0)
      return (int)i;
  return -1;
}

static uattn_error_t *parse_special(ptx_parser_t *parser, int special, int line,
                                    ptx_operand_t *out_operand) {
  const char *name = specials[special].name;
  *out_operand = (ptx_operand_t){.kind = PTX_OPERAND_SPECIAL, .text = name};
  if (!specials[special].has_components)
    return NULL;
  static const char *const components[] = {".x", ".y", ".z"};
  for (size_t i = 0; i < sizeof components / sizeof *components; ++i)
    if (ptx_accept_directive(parser, components[i])) {
      out_operand->text =
          uattn_arena_format(parser->arena, "%s%s", name, components[i]);
      return NULL;
    }
  return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                   "%s stands without a component: expected .x, .y or .z after "
                   "it",
                   name);
}

static uattn_error_t *refuse_name(ptx_parser_t *parser, const char *name,
                                  int line) {
  if (strcmp(name, "generic") == 0 && ptx_at_sign(parser, '('))
    return ptx_error(parser, UATTN_ERROR_UNSUPPORTED, line,
                     "the operator generic() is not supported in operands: "
                     "expected cvta");
  return ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                   "%s is not declared: expected a register, a special "
                   "register, a variable or a parameter",
                   name);
}

/* A name; labels are resolved when all are known. */
static uattn_error_t *parse_named(ptx_parser_t *parser,
                                  ptx_operand_t *out_operand) {
  int line = parser->token.line;
  const char *name = NULL;
  uattn_error_t *error = ptx_expect_name(parser, "an operand", &name);
  if (error)
    return error;
  *out_operand = (ptx_operand_t){.text = name};
  if (strcmp(name, "_") == 0) {
    out_operand->kind = PTX_OPERAND_SINK;
    return NULL;
  }
  const ptx_symbol_t *symbol = ptx_find_symbol(parser, name);
  if (!symbol && *name == '%') {
    int special = find_special(name);
    return special < 0 ? refuse_name(parser, name, line)
                       : parse_special(parser, special, line, out_operand);
  }
  if (!symbol && ptx_at_sign(parser, '('))
    return refuse_name(parser, name, line);
  switch (symbol ? symbol->kind : PTX_SYMBOL_LABEL) {
  case PTX_SYMBOL_REGISTER:
    out_operand->kind = PTX_OPERAND_REGISTER;
    break;
  case PTX_SYMBOL_VARIABLE:
    out_operand->kind = PTX_OPERAND_VARIABLE;
    break;
  case PTX_SYMBOL_PARAMETER:
    out_operand->kind = PTX_OPERAND_PARAMETER;
    break;
  default: /* an entry's name is no operand, but may be a label's as well */
    out_operand->kind = PTX_OPERAND_LABEL;
    return NULL;
  }
  out_operand->index = symbol->index;
  return NULL;
}

/* + and - and what they add, in brackets or after a variable. */
static uattn_error_t *parse_offset(ptx_parser_t *parser, int64_t *offset) {
  uattn_error_t *error = NULL;
  while (!error && (ptx_at_sign(parser, '+') || ptx_at_sign(parser, '-'))) {
    bool is_minus = ptx_at_sign(parser, '-');
    ptx_constant_t value = {0};
    ptx_advance(parser);
    error = ptx_parse_constant_factor(parser, &value);
    uint64_t sum = is_minus ? (uint64_t)*offset - value.bits
                            : (uint64_t)*offset + value.bits;
    *offset = (int64_t)sum;
  }
  return error;
}

static bool at_number(const ptx_parser_t *parser) {
  return parser->token.kind == PTX_TOKEN_INTEGER ||
         parser->token.kind == PTX_TOKEN_FLOAT || ptx_at_sign(parser, '(') ||
         ptx_at_sign(parser, '~') || ptx_at_sign(parser, '+') ||
         ptx_at_name(parser, "WARP_SZ");
}

/* ! of a predicate, - of a register or of a number. */
static uattn_error_t *parse_signed(ptx_parser_t *parser,
                                   ptx_operand_t *out_operand) {
  ptx_lexer_t ahead = parser->lexer;
  bool is_register = ptx_lexer_next(&ahead).kind == PTX_TOKEN_NAME;
  if (ptx_at_sign(parser, '-') && !is_register)
    return ptx_parse_number(parser, out_operand);
  ptx_advance(parser);
  if (ptx_at_name(parser, "WARP_SZ"))
    return ptx_unexpected(parser, "a register");
  int line = parser->token.line;
  uattn_error_t *error = parse_named(parser, out_operand);
  if (!error && out_operand->kind != PTX_OPERAND_REGISTER)
    error = ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                      "%s is negated: expected a register",
                      out_operand->text ? out_operand->text : "an operand");
  out_operand->is_negated = true;
  return error;
}

/* Whatever has no brackets, braces or bars. */
static uattn_error_t *parse_simple(ptx_parser_t *parser,
                                   ptx_operand_t *out_operand) {
  if (ptx_at_sign(parser, '!') || ptx_at_sign(parser, '-'))
    return parse_signed(parser, out_operand);
  if (at_number(parser))
    return ptx_parse_number(parser, out_operand);
  uattn_error_t *error = parse_named(parser, out_operand);
  if (!error && (out_operand->kind == PTX_OPERAND_VARIABLE ||
                 out_operand->kind == PTX_OPERAND_PARAMETER))
    error = parse_offset(parser, &out_operand->offset);
  return error;
}

/* Inside of another operand labels make no sense. */
static uattn_error_t *parse_inner(ptx_parser_t *parser,
                                  ptx_operand_t *out_operand) {
  int line = parser->token.line;
  uattn_error_t *error = parse_simple(parser, out_operand);
  if (!error && out_operand->kind == PTX_OPERAND_LABEL)
    error = refuse_name(parser, out_operand->text, line);
  return error;
}

/* Takes the elements that have gathered in the list since `first`. */
static void take_elements(ptx_parser_t *parser, size_t first,
                          ptx_operand_kind_t kind, ptx_operand_t *out_operand) {
  *out_operand = (ptx_operand_t){.kind = kind};
  out_operand->element_count = (uint32_t)(parser->operands.count - first);
  out_operand->elements = ptx_list_move(&parser->operands, first,
                                        sizeof(ptx_operand_t), parser->arena);
}

static void add_element(ptx_parser_t *parser, ptx_operand_t element) {
  ptx_operand_t *added = ptx_list_add(&parser->operands, sizeof(ptx_operand_t));
  *added = element;
}

/* { a, b, ... } */
static uattn_error_t *parse_vector(ptx_parser_t *parser,
                                   ptx_operand_t *out_operand) {
  size_t first = parser->operands.count;
  uattn_error_t *error = NULL;
  do {
    ptx_operand_t element = {0};
    ptx_advance(parser); /* the brace or a comma */
    error = parse_inner(parser, &element);
    add_element(parser, element);
  } while (!error && ptx_at_sign(parser, ','));
  if (!error)
    error = ptx_expect_sign(parser, '}');
  take_elements(parser, first, PTX_OPERAND_VECTOR, out_operand);
  return error;
}

/* [base + offset, ...] */
static uattn_error_t *parse_address(ptx_parser_t *parser,
                                    ptx_operand_t *out_operand) {
  size_t first = parser->operands.count;
  ptx_operand_t element = {0};
  int64_t offset = 0;
  ptx_advance(parser); /* the bracket */
  int line = parser->token.line;
  uattn_error_t *error = parse_inner(parser, &element);
  if (!error && (element.is_negated || element.kind == PTX_OPERAND_FLOAT ||
                 element.kind == PTX_OPERAND_SINK))
    error = ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                      "an address has no base: expected a register, a "
                      "variable, a parameter or an integer");
  if (!error)
    error = parse_offset(parser, &offset);
  offset += element.offset;
  element.offset = 0;
  add_element(parser, element);
  while (!error && ptx_accept_sign(parser, ',')) {
    error = ptx_at_sign(parser, '{') ? parse_vector(parser, &element)
                                     : parse_inner(parser, &element);
    add_element(parser, element);
  }
  if (!error)
    error = ptx_expect_sign(parser, ']');
  take_elements(parser, first, PTX_OPERAND_ADDRESS, out_operand);
  out_operand->offset = offset;
  return error;
}

/* p|q, of registers and sinks. */
static uattn_error_t *parse_pair(ptx_parser_t *parser,
                                 ptx_operand_t *out_operand) {
  size_t first = parser->operands.count;
  ptx_operand_t second = {0};
  ptx_advance(parser); /* the bar */
  int line = parser->token.line;
  uattn_error_t *error = parse_inner(parser, &second);
  if (!error && second.kind != PTX_OPERAND_REGISTER &&
      second.kind != PTX_OPERAND_SINK)
    error = ptx_error(parser, UATTN_ERROR_INVALID_ARGUMENT, line,
                      "the second of a pair is no register: expected one");
  add_element(parser, *out_operand);
  add_element(parser, second);
  take_elements(parser, first, PTX_OPERAND_PAIR, out_operand);
  return error;
}

uattn_error_t *ptx_parse_operand(ptx_parser_t *parser,
                                 ptx_operand_t *out_operand) {
  if (ptx_at_sign(parser, '{'))
    return parse_vector(parser, out_operand);
  if (ptx_at_sign(parser, '['))
    return parse_address(parser, out_operand);
  uattn_error_t *error = parse_simple(parser, out_operand);
  bool is_first_of_pair = out_operand->kind == PTX_OPERAND_REGISTER ||
                          out_operand->kind == PTX_OPERAND_SINK;
  if (!error && is_first_of_pair && ptx_at_sign(parser, '|'))
    error = parse_pair(parser, out_operand);
  return error;
}

void ptx_note_labels(ptx_parser_t *parser, ptx_operand_t *operands,
                     size_t count, int line, bool are_targets) {
  for (size_t i = 0; i < count; ++i) {
    if (operands[i].kind != PTX_OPERAND_LABEL)
      continue;
    ptx_label_use_t *use =
        ptx_list_add(&parser->label_uses, sizeof(ptx_label_use_t));
    *use = (ptx_label_use_t){.operand = &operands[i],
                             .scope = parser->scope,
                             .line = line,
                             .is_target = are_targets};
  }
}
