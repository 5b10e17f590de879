/* Passes over what only debuggers and optimisers read.
 * Layer: emulator. Must not know: declarations, instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_parse.h"

static uattn_error_t *expect_kind(ptx_parser_t *parser, ptx_token_kind_t kind,
                                  const char *expected) {
  if (parser->token.kind != kind)
    return ptx_unexpected(parser, expected);
  ptx_advance(parser);
  return NULL;
}

static uattn_error_t *expect_integers(ptx_parser_t *parser, int count) {
  uattn_error_t *error = NULL;
  for (int i = 0; i < count && !error; ++i)
    error = expect_kind(parser, PTX_TOKEN_INTEGER, "an integer");
  return error;
}

/* .file 1 "name" [, time, size] */
static uattn_error_t *skip_file(ptx_parser_t *parser) {
  uattn_error_t *error = expect_integers(parser, 1);
  if (!error)
    error = expect_kind(parser, PTX_TOKEN_STRING, "a file's name in quotes");
  while (!error && ptx_accept_sign(parser, ','))
    error = expect_integers(parser, 1);
  return error;
}

/* function_name label [+ 4] , inlined_at 1 2 3 */
static uattn_error_t *skip_inlined(ptx_parser_t *parser) {
  const char *name = NULL;
  uattn_error_t *error = ptx_expect_name(parser, "a label", &name);
  if (!error && ptx_accept_sign(parser, '+'))
    error = expect_integers(parser, 1);
  if (!error)
    error = ptx_expect_sign(parser, ',');
  if (!error && !ptx_at_name(parser, "inlined_at"))
    error = ptx_unexpected(parser, "`inlined_at`");
  if (error)
    return error;
  ptx_advance(parser);
  return expect_integers(parser, 3);
}

/* .loc 1 2 3 [, function_name ...] */
static uattn_error_t *skip_location(ptx_parser_t *parser) {
  uattn_error_t *error = expect_integers(parser, 3);
  if (error || !ptx_accept_sign(parser, ','))
    return error;
  if (!ptx_at_name(parser, "function_name"))
    return ptx_unexpected(parser, "`function_name`");
  ptx_advance(parser);
  return skip_inlined(parser);
}

/* .section .name { whatever } */
static uattn_error_t *skip_section(ptx_parser_t *parser) {
  uattn_error_t *error =
      expect_kind(parser, PTX_TOKEN_DOTTED, "a section's name");
  if (!error && !ptx_at_sign(parser, '{'))
    error = ptx_unexpected(parser, "`{`");
  int depth = 0;
  while (!error) {
    if (parser->token.kind == PTX_TOKEN_END ||
        parser->token.kind == PTX_TOKEN_INVALID)
      return ptx_unexpected(parser, "`}` at the end of the section");
    depth += ptx_at_sign(parser, '{') ? 1 : 0;
    depth -= ptx_at_sign(parser, '}') ? 1 : 0;
    ptx_advance(parser);
    if (depth == 0)
      break;
  }
  return error;
}

/* .pragma "hint" [, "hint"] ; Hints change no result. */
static uattn_error_t *skip_pragma(ptx_parser_t *parser) {
  uattn_error_t *error = NULL;
  do
    error = expect_kind(parser, PTX_TOKEN_STRING, "a pragma in quotes");
  while (!error && ptx_accept_sign(parser, ','));
  return error ? error : ptx_expect_sign(parser, ';');
}

uattn_error_t *ptx_skip_debug(ptx_parser_t *parser, bool *out_is_debug) {
  *out_is_debug = true;
  if (ptx_accept_directive(parser, ".loc"))
    return skip_location(parser);
  if (ptx_accept_directive(parser, ".file"))
    return skip_file(parser);
  if (ptx_accept_directive(parser, ".section"))
    return skip_section(parser);
  if (ptx_accept_directive(parser, ".pragma"))
    return skip_pragma(parser);
  *out_is_debug = false;
  return NULL;
}
