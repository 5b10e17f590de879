/* Cuts PTX text into tokens, whatever bytes it holds.
 * Layer: emulator. Must not know: grammar, names, what anything means.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_lexer.h"

#include <string.h>

#include "emulator/ptx_number.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_start(char c) {
  return is_letter(c) || c == '_' || c == '$' || c == '%';
}

static bool is_name_part(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

ptx_lexer_t ptx_lexer_start(const char *text, size_t size) {
  return (ptx_lexer_t){.cursor = text, .end = text + size, .line = 1};
}

static bool starts_with(const ptx_lexer_t *lexer, const char *prefix) {
  size_t size = strlen(prefix);
  return (size_t)(lexer->end - lexer->cursor) >= size &&
         memcmp(lexer->cursor, prefix, size) == 0;
}

static void skip_line(ptx_lexer_t *lexer) {
  while (lexer->cursor < lexer->end && *lexer->cursor != '\n')
    ++lexer->cursor;
}

/* At the slash of an opening; false where the comment never ends, with the
 * lexer where it was. */
static bool skip_block_comment(ptx_lexer_t *lexer) {
  int line = lexer->line;
  const char *at = lexer->cursor + 2;
  for (; lexer->end - at >= 2; ++at) {
    if (at[0] == '*' && at[1] == '/') {
      lexer->cursor = at + 2;
      lexer->line = line;
      return true;
    }
    line += *at == '\n';
  }
  return false;
}

/* False at a comment that never ends. */
static bool skip_blank(ptx_lexer_t *lexer) {
  while (lexer->cursor < lexer->end) {
    char c = *lexer->cursor;
    if (c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '\f' ||
        c == '\v') {
      lexer->line += c == '\n';
      ++lexer->cursor;
    } else if (starts_with(lexer, "//") || starts_with(lexer, "@@DWARF")) {
      skip_line(lexer);
    } else if (!starts_with(lexer, "/*")) {
      return true;
    } else if (!skip_block_comment(lexer)) {
      return false;
    }
  }
  return true;
}

static void lex_name(ptx_lexer_t *lexer, ptx_token_t *token) {
  token->kind = PTX_TOKEN_NAME;
  do
    ++lexer->cursor;
  while (is_name_part(*lexer->cursor));
}

/* Letters, digits and double colons after the dot. */
static void lex_dotted(ptx_lexer_t *lexer, ptx_token_t *token) {
  token->kind = PTX_TOKEN_DOTTED;
  ++lexer->cursor;
  for (;;) {
    if (is_name_part(*lexer->cursor))
      ++lexer->cursor;
    else if (starts_with(lexer, "::") && is_name_part(lexer->cursor[2]))
      lexer->cursor += 2;
    else
      break;
  }
  if (lexer->cursor - token->text == 1) {
    token->kind = PTX_TOKEN_INVALID;
    token->problem = "a dot without a name";
  }
}

static void lex_string(ptx_lexer_t *lexer, ptx_token_t *token) {
  token->kind = PTX_TOKEN_STRING;
  ++lexer->cursor;
  while (lexer->cursor < lexer->end && *lexer->cursor != '"' &&
         *lexer->cursor != '\n')
    lexer->cursor +=
        starts_with(lexer, "\\") && lexer->end - lexer->cursor > 1 ? 2 : 1;
  if (lexer->cursor < lexer->end && *lexer->cursor == '"') {
    ++lexer->cursor;
    return;
  }
  token->kind = PTX_TOKEN_INVALID;
  token->problem = "a string without its closing quote";
}

static void lex_number(ptx_lexer_t *lexer, ptx_token_t *token) {
  lexer->cursor = ptx_number_end(token->text);
  ptx_number_t number = {0};
  token->problem = ptx_number_parse(
      token->text, (size_t)(lexer->cursor - token->text), &number);
  if (token->problem) {
    token->kind = PTX_TOKEN_INVALID;
    return;
  }
  token->kind = number.is_float ? PTX_TOKEN_FLOAT : PTX_TOKEN_INTEGER;
  token->is_unsigned = number.is_unsigned;
  token->bits = number.bits;
  token->number = number.number;
  token->float_bytes = number.float_bytes;
}

static void lex_sign(ptx_lexer_t *lexer, ptx_token_t *token) {
  if (starts_with(lexer, "<<")) {
    token->sign = PTX_SIGN_SHIFT_LEFT;
    lexer->cursor += 2;
  } else if (starts_with(lexer, ">>")) {
    token->sign = PTX_SIGN_SHIFT_RIGHT;
    lexer->cursor += 2;
  } else {
    token->sign = (unsigned char)*lexer->cursor++;
  }
  token->kind = PTX_TOKEN_SIGN;
  if (token->sign < 256 && !strchr("{}()[]<>,;:@!|+-*/%&^~=?", token->sign)) {
    token->kind = PTX_TOKEN_INVALID;
    token->problem = "a character that starts nothing";
  }
}

static void lex_token(ptx_lexer_t *lexer, ptx_token_t *token) {
  char c = *lexer->cursor;
  char next = lexer->end - lexer->cursor > 1 ? lexer->cursor[1] : '\0';
  if (c == '\0') {
    ++lexer->cursor;
    token->kind = PTX_TOKEN_INVALID;
    token->problem = "a zero byte";
  } else if (is_digit(c) ||
             (c == '.' && is_digit(next) && !lexer->is_after_name)) {
    lex_number(lexer, token);
  } else if (c == '%' && !is_name_part(next)) {
    lex_sign(lexer, token); /* the remainder */
  } else if (is_name_start(c)) {
    lex_name(lexer, token);
  } else if (c == '.') {
    lex_dotted(lexer, token);
  } else if (c == '"') {
    lex_string(lexer, token);
  } else {
    lex_sign(lexer, token);
  }
}

ptx_token_t ptx_lexer_next(ptx_lexer_t *lexer) {
  bool is_complete = skip_blank(lexer);
  ptx_token_t token = {
      .kind = PTX_TOKEN_END, .text = lexer->cursor, .line = lexer->line};
  if (!is_complete) {
    token.kind = PTX_TOKEN_INVALID;
    token.problem = "a comment without its end";
    token.size = 2;
    return token;
  }
  if (lexer->cursor >= lexer->end)
    return token;
  lex_token(lexer, &token);
  token.size = (size_t)(lexer->cursor - token.text);
  lexer->is_after_name =
      token.kind == PTX_TOKEN_NAME || token.kind == PTX_TOKEN_DOTTED;
  if (token.kind == PTX_TOKEN_INVALID)
    lexer->cursor = token.text;
  return token;
}

/* Up to 60 bytes in backquotes, those that do not print as \xNN. */
static void append_quoted(uattn_string_t *text, const char *bytes,
                          size_t size) {
  enum { SHOWN = 60 };
  uattn_string_append(text, "`");
  for (size_t i = 0; i < size && i < SHOWN; ++i) {
    unsigned char c = (unsigned char)bytes[i];
    if (c >= ' ' && c < 127)
      uattn_string_append_bytes(text, &bytes[i], 1);
    else
      uattn_string_appendf(text, "\\x%02X", c);
  }
  uattn_string_append(text, size > SHOWN ? "...`" : "`");
}

void ptx_token_describe(const ptx_token_t *token, uattn_string_t *text) {
  if (token->kind == PTX_TOKEN_END) {
    uattn_string_append(text, "the end of the text");
    return;
  }
  append_quoted(text, token->text, token->size);
  if (token->kind == PTX_TOKEN_INVALID)
    uattn_string_appendf(text, ", %s", token->problem);
}
