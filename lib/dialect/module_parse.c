/* From a file's content to a module, with locations that name the file.
 * Layer: dialect. Must not know: any op of the dialect.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect.h"

#include <string.h>

/* MLIR's parser is recursive and would overflow the stack on hostile text. */
#define MAX_NESTING 1000

static bool is_bytecode(const uattn_source_t *source) {
  static const char magic[] = {'M', 'L', (char)0xef, 'R'};
  return source->size >= sizeof magic &&
         memcmp(source->text, magic, sizeof magic) == 0;
}

/* ---- Nesting ------------------------------------------------------------ */

/* The character after a string, a comment or one other character. */
static const char *skip_token(const char *at, const char *end) {
  if (*at == '"') {
    for (++at; at < end && *at != '"' && *at != '\n'; ++at)
      if (*at == '\\' && at + 1 < end)
        ++at;
  } else if (*at == '/' && at + 1 < end && at[1] == '/') {
    while (at < end && *at != '\n')
      ++at;
  }
  return at < end ? at + 1 : end;
}

/* +1 for an opening bracket, -1 for a closing one. "->", "<=" and ">=" are
 * none. */
static int nesting_step(const char *at, const char *start, const char *end) {
  bool equals = at + 1 < end && at[1] == '=';
  switch (*at) {
  case '(':
  case '[':
  case '{':
    return 1;
  case ')':
  case ']':
  case '}':
    return -1;
  case '<':
    return equals ? 0 : 1;
  case '>':
    return equals || (at > start && at[-1] == '-') ? 0 : -1;
  default:
    return 0;
  }
}

static bool nests_too_deep(const uattn_source_t *source, int *out_line,
                           int *out_column) {
  const char *end = source->text + source->size;
  const char *line_start = source->text;
  int depth = 0;
  int line = 1;
  for (const char *at = source->text; at < end;) {
    int step = nesting_step(at, source->text, end);
    depth = depth + step < 0 ? 0 : depth + step;
    if (depth > MAX_NESTING) {
      *out_line = line;
      *out_column = (int)(at - line_start) + 1;
      return true;
    }
    const char *next = skip_token(at, end);
    if (next > at && next[-1] == '\n') {
      ++line;
      line_start = next;
    }
    at = next;
  }
  return false;
}

/* ---- Locations ---------------------------------------------------------- */

/* The C API's parser calls every buffer "-". */
static MlirLocation named(MlirLocation location, MlirStringRef name) {
  if (!mlirLocationIsAFileLineColRange(location) ||
      !uattn_string_ref_is(
          mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location)),
          "-"))
    return location;
  return mlirLocationFileLineColRangeGet(
      mlirLocationGetContext(location), name,
      (unsigned)mlirLocationFileLineColRangeGetStartLine(location),
      (unsigned)mlirLocationFileLineColRangeGetStartColumn(location),
      (unsigned)mlirLocationFileLineColRangeGetEndLine(location),
      (unsigned)mlirLocationFileLineColRangeGetEndColumn(location));
}

static void name_block_arguments(MlirOperation op, MlirStringRef name) {
  for (MlirRegion region = mlirOperationGetFirstRegion(op);
       !mlirRegionIsNull(region); region = mlirRegionGetNextInOperation(region))
    for (MlirBlock block = mlirRegionGetFirstBlock(region);
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); ++i) {
        MlirValue argument = mlirBlockGetArgument(block, i);
        mlirBlockArgumentSetLocation(
            argument, named(mlirValueGetLocation(argument), name));
      }
}

static MlirWalkResult name_visited(MlirOperation op, void *user_data) {
  MlirStringRef name = *(const MlirStringRef *)user_data;
  mlirOperationSetLocation(op, named(mlirOperationGetLocation(op), name));
  name_block_arguments(op, name);
  return MlirWalkResultAdvance;
}

MlirModule uattn_module_parse(MlirContext context,
                              const uattn_source_t *source) {
  MlirStringRef name = mlirStringRefCreateFromCString(source->name);
  MlirStringRef text = mlirStringRefCreate(source->text, source->size);
  if (is_bytecode(source))
    return mlirModuleCreateParse(context, text);
  int line = 0;
  int column = 0;
  if (nests_too_deep(source, &line, &column)) {
    uattn_emit_error_at(mlirLocationFileLineColGet(
                            context, name, (unsigned)line, (unsigned)column),
                        "brackets nest deeper than %d: expected at most that",
                        MAX_NESTING);
    return (MlirModule){NULL};
  }
  MlirModule module = mlirModuleCreateParse(context, text);
  if (!mlirModuleIsNull(module))
    mlirOperationWalk(mlirModuleGetOperation(module), name_visited, &name,
                      MlirWalkPreOrder);
  return module;
}
