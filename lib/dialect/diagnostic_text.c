/* Diagnostics as text, with the line of the source that they speak of.
 * Layer: dialect. Must not know: where the text goes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect.h"

#include <stdlib.h>
#include <string.h>

/* The first file position inside a location of any kind; null if none. */
static MlirLocation file_location(MlirLocation location) {
  MlirLocation none = {NULL};
  if (mlirLocationIsAFileLineColRange(location))
    return location;
  if (mlirLocationIsAName(location))
    return file_location(mlirLocationNameGetChildLoc(location));
  if (mlirLocationIsACallSite(location))
    return file_location(mlirLocationCallSiteGetCallee(location));
  if (!mlirLocationIsAFused(location))
    return none;
  unsigned count = mlirLocationFusedGetNumLocations(location);
  MlirLocation *parts = uattn_allocate((count + 1) * sizeof *parts);
  mlirLocationFusedGetLocations(location, parts);
  MlirLocation found = none;
  for (unsigned index = 0; index < count && mlirLocationIsNull(found); ++index)
    found = file_location(parts[index]);
  free(parts);
  return found;
}

uattn_position_t uattn_position_of(MlirLocation location,
                                   const uattn_source_t *source) {
  MlirLocation found = file_location(location);
  if (mlirLocationIsNull(found))
    return (uattn_position_t){.file = mlirStringRefCreateFromCString("")};
  uattn_position_t position = {
      .file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(found)),
      .line = mlirLocationFileLineColRangeGetStartLine(found),
      .column = mlirLocationFileLineColRangeGetStartColumn(found)};
  if (uattn_string_ref_is(position.file, "-"))
    position.file = mlirStringRefCreateFromCString(source->name);
  return position;
}

static const char *severity_name(MlirDiagnosticSeverity severity) {
  switch (severity) {
  case MlirDiagnosticError:
    return "error";
  case MlirDiagnosticWarning:
    return "warning";
  case MlirDiagnosticNote:
    return "note";
  case MlirDiagnosticRemark:
    return "remark";
  }
  return "error";
}

/* The line's start; NULL where the source has no such line. */
static const char *find_line(const uattn_source_t *source, int line,
                             size_t *out_size) {
  const char *end = source->text + source->size;
  const char *at = source->text;
  for (int skipped = 1; skipped < line && at; ++skipped) {
    at = memchr(at, '\n', (size_t)(end - at));
    at = at ? at + 1 : NULL;
  }
  if (!at || line < 1)
    return NULL;
  const char *line_end = memchr(at, '\n', (size_t)(end - at));
  *out_size = (size_t)((line_end ? line_end : end) - at);
  return at;
}

static void append_source_line(uattn_string_t *text,
                               const uattn_position_t *position,
                               const uattn_source_t *source) {
  size_t size = 0;
  const char *line = find_line(source, position->line, &size);
  if (!line || size == 0)
    return;
  uattn_string_append_bytes(text, line, size);
  uattn_string_append(text, "\n");
  for (int column = 1; column < position->column && (size_t)column <= size;
       ++column)
    uattn_string_append(text, line[column - 1] == '\t' ? "\t" : " ");
  uattn_string_append(text, "^\n");
}

void uattn_diagnostic_append(uattn_string_t *text, MlirDiagnostic diagnostic,
                             const uattn_source_t *source) {
  uattn_position_t position =
      uattn_position_of(mlirDiagnosticGetLocation(diagnostic), source);
  if (position.line > 0)
    uattn_string_appendf(text, "%.*s:%d:%d: ", (int)position.file.length,
                         position.file.data, position.line, position.column);
  else
    uattn_string_appendf(text, "%s: ", source->name);
  uattn_string_appendf(
      text, "%s: ", severity_name(mlirDiagnosticGetSeverity(diagnostic)));
  mlirDiagnosticPrint(diagnostic, uattn_string_append_ref, text);
  uattn_string_append(text, "\n");
  if (uattn_string_ref_is(position.file, source->name))
    append_source_line(text, &position, source);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i)
    uattn_diagnostic_append(text, mlirDiagnosticGetNote(diagnostic, i), source);
}
