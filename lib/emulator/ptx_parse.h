/* What the parts of the PTX parser share.
 * Layer: emulator (private). Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files: ptx_parse.c has tokens, errors and names; ptx_parse_module.c the top
 * level; ptx_parse_entry.c an entry's head; ptx_parse_body.c statements;
 * ptx_parse_operand.c operands; ptx_parse_variable.c declarations;
 * ptx_parse_initial.c initial values; ptx_parse_expression.c constants;
 * ptx_parse_debug.c what debuggers read.
 *
 * Every function that parses something begins at its first token and ends
 * after its last. */
#ifndef UATTN_EMULATOR_PTX_PARSE_H
#define UATTN_EMULATOR_PTX_PARSE_H

#include "emulator/ptx_lexer.h"
#include "emulator/ptx_symbols.h"
#include "emulator/ptx_syntax.h"

/* Limits against text that a few bytes would blow up; far above what compilers
 * write. */
enum {
  PTX_MAX_SCOPE_DEPTH = 64,
  PTX_MAX_EXPRESSION_DEPTH = 64,
  PTX_MAX_ARRAY_RANK = 8,
  PTX_MAX_ENTRY_REGISTERS = 1 << 17,
  PTX_MAX_MODULE_REGISTERS = 1 << 20,
  PTX_MAX_ALIGNMENT = 1 << 16,
  PTX_MAX_PARAM_BYTES = 32764, /* PTX ISA 8.1 and later */
  PTX_MAX_INITIAL_BYTES = 1 << 26,
  PTX_MAX_TEXT_BYTES = 1 << 28
};
#define PTX_MAX_VARIABLE_BYTES ((size_t)1 << 32)

/* The scope of the module; entries' and inner scopes count from 1. */
enum { PTX_MODULE_SCOPE = 0 };

/* An operand that names a label which may come later. */
typedef struct {
  ptx_operand_t *operand;
  uint32_t scope;
  int line;
  bool is_target; /* in a list of .branchtargets: an instruction's label */
} ptx_label_use_t;

/* What `.branchtargets` lists. */
typedef struct {
  const ptx_operand_t *elements;
  uint32_t element_count;
} ptx_target_list_t;

typedef struct {
  const char *name; /* of the text, for messages */
  uattn_arena_t *arena;
  ptx_module_t *module;
  ptx_lexer_t lexer;
  ptx_token_t token; /* the current one */
  const char *previous_end;
  ptx_names_t names;
  ptx_list_t variables; /* ptx_variable_t */
  ptx_list_t entries;   /* ptx_entry_t */
  size_t module_registers;
  size_t initial_bytes;
  ptx_symbols_t module_symbols;
  /* Of the entry that is parsed. */
  ptx_entry_t entry;
  ptx_symbols_t entry_symbols;
  ptx_symbols_t labels;
  ptx_list_t scopes; /* uint32_t: the enclosing scope of each */
  uint32_t scope;    /* the current one, an index into `scopes` */
  ptx_list_t registers;
  ptx_list_t instructions;
  ptx_list_t label_uses;   /* ptx_label_use_t */
  ptx_list_t target_lists; /* ptx_target_list_t */
  ptx_list_t operands;     /* of nested operands that are not complete */
} ptx_parser_t;

/* ---- Tokens and errors -----------------------------------------------------
 */

void ptx_advance(ptx_parser_t *parser);
bool ptx_at_sign(const ptx_parser_t *parser, int sign);
bool ptx_at_name(const ptx_parser_t *parser, const char *name);
bool ptx_at_directive(const ptx_parser_t *parser, const char *directive);
/* True, and past it, where the current token is that. */
bool ptx_accept_sign(ptx_parser_t *parser, int sign);
bool ptx_accept_directive(ptx_parser_t *parser, const char *directive);
UATTN_NODISCARD uattn_error_t *ptx_expect_sign(ptx_parser_t *parser, int sign);
/* A name, kept once; `what` it should be, for the message. */
UATTN_NODISCARD uattn_error_t *
ptx_expect_name(ptx_parser_t *parser, const char *what, const char **out_name);

/* "name:line: found `x`: expected ..." at the current token. */
UATTN_NODISCARD uattn_error_t *ptx_unexpected(const ptx_parser_t *parser,
                                              const char *expected);
/* "name:line: ...". */
UATTN_NODISCARD uattn_error_t *ptx_error(const ptx_parser_t *parser,
                                         uattn_error_code_t code, int line,
                                         const char *format, ...)
    UATTN_PRINTF(4, 5);

/* ---- Scopes ----------------------------------------------------------------
 */

/* What `name` stands for in the current scope or those around it; NULL: none.
 * Labels are apart. */
const ptx_symbol_t *ptx_find_symbol(const ptx_parser_t *parser,
                                    const char *name);
/* Declares in the current scope; declared already: an error. */
UATTN_NODISCARD uattn_error_t *ptx_declare(ptx_parser_t *parser,
                                           const char *name, int line,
                                           ptx_symbol_kind_t kind,
                                           size_t index);
UATTN_NODISCARD uattn_error_t *ptx_open_scope(ptx_parser_t *parser);
void ptx_close_scope(ptx_parser_t *parser);

/* ---- Grammar ---------------------------------------------------------------
 */

typedef struct {
  uint64_t bits;
  bool is_unsigned;
} ptx_constant_t;

/* Integers with * / % + - << >> & ^ | ~ and parentheses. `_factor` stops
 * before + and -. */
UATTN_NODISCARD uattn_error_t *ptx_parse_constant(ptx_parser_t *parser,
                                                  ptx_constant_t *out_value);
UATTN_NODISCARD uattn_error_t *
ptx_parse_constant_factor(ptx_parser_t *parser, ptx_constant_t *out_value);
/* A constant from `minimum` to `maximum`; `what`, for the message. */
UATTN_NODISCARD uattn_error_t *
ptx_parse_count(ptx_parser_t *parser, const char *what, uint64_t minimum,
                uint64_t maximum, uint64_t *out_value);
/* An integer or floating literal with its signs, as an operand. */
UATTN_NODISCARD uattn_error_t *ptx_parse_number(ptx_parser_t *parser,
                                                ptx_operand_t *out_operand);

UATTN_NODISCARD uattn_error_t *ptx_parse_operand(ptx_parser_t *parser,
                                                 ptx_operand_t *out_operand);
/* Remembers the uses of labels in operands that no longer move. */
void ptx_note_labels(ptx_parser_t *parser, ptx_operand_t *operands,
                     size_t count, int line, bool are_targets);

/* After `.reg`. */
UATTN_NODISCARD uattn_error_t *ptx_parse_registers(ptx_parser_t *parser);
/* At `.global`, `.shared`, `.local` or `.const`. */
bool ptx_at_variable(const ptx_parser_t *parser);
UATTN_NODISCARD uattn_error_t *ptx_parse_variables(ptx_parser_t *parser,
                                                   bool is_extern);

/* `.align 16 .v4 .b8`; alignment 0 where none is given. */
typedef struct {
  ptx_type_t type;
  size_t element_bytes; /* of all of a vector */
  uint32_t vector_length;
  size_t alignment;
} ptx_declared_type_t;
UATTN_NODISCARD uattn_error_t *ptx_parse_alignment(ptx_parser_t *parser,
                                                   size_t *out_alignment);
UATTN_NODISCARD uattn_error_t *
ptx_parse_declared_type(ptx_parser_t *parser, ptx_declared_type_t *out_type);

/* `[2][3]`; the first may be `[]`, 0 then. */
typedef struct {
  uint32_t rank; /* 0: no array */
  size_t counts[PTX_MAX_ARRAY_RANK];
} ptx_array_t;
UATTN_NODISCARD uattn_error_t *ptx_parse_array(ptx_parser_t *parser,
                                               ptx_array_t *out_array);
/* After `=`. Sets the variable's initial bytes, and its size where the array
 * has none. */
UATTN_NODISCARD uattn_error_t *
ptx_parse_initial(ptx_parser_t *parser, const ptx_declared_type_t *type,
                  const ptx_array_t *array, ptx_variable_t *variable);

/* At `.entry`. */
UATTN_NODISCARD uattn_error_t *ptx_parse_entry(ptx_parser_t *parser);
/* At the brace of an entry's body. */
UATTN_NODISCARD uattn_error_t *ptx_parse_body(ptx_parser_t *parser);

/* Passes over `.loc`, `.file`, `.section` and `.pragma`; `*out_is_debug` is
 * false, and nothing passed, at anything else. */
UATTN_NODISCARD uattn_error_t *ptx_skip_debug(ptx_parser_t *parser,
                                              bool *out_is_debug);

#endif /* UATTN_EMULATOR_PTX_PARSE_H */
