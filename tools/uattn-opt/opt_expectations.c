/* Diagnostics that a source announces in comments, and those that come.
 * Layer: tools. Must not know: passes, the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "opt_expectations.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  MlirDiagnosticSeverity severity;
  int line; /* of the diagnostic, 0 for one without a position */
  int comment_line;
  MlirStringRef text;
  bool is_below; /* waits for the next line without an expectation */
  bool has_come;
} expectation_t;

struct opt_expectations {
  const uattn_source_t *source;
  expectation_t *list;
  size_t count;
  bool is_wrong;
};

static const struct {
  const char *mark;
  const char *name;
  MlirDiagnosticSeverity severity;
} kinds[] = {
    {"expected-error", "error", MlirDiagnosticError},
    {"expected-warning", "warning", MlirDiagnosticWarning},
    {"expected-note", "note", MlirDiagnosticNote},
    {"expected-remark", "remark", MlirDiagnosticRemark},
};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

static const char *severity_name(MlirDiagnosticSeverity severity) {
  for (size_t index = 0; index < KIND_COUNT; ++index)
    if (kinds[index].severity == severity)
      return kinds[index].name;
  return "diagnostic";
}

/* ---- Reading the comments ----------------------------------------------- */

static expectation_t *append(opt_expectations_t *expectations) {
  expectation_t *grown =
      realloc(expectations->list,
              (expectations->count + 1) * sizeof *expectations->list);
  UATTN_CHECK(grown);
  expectations->list = grown;
  expectation_t *added = &grown[expectations->count++];
  memset(added, 0, sizeof *added);
  return added;
}

static const char *find(const char *start, const char *end, const char *text) {
  return memmem(start, (size_t)(end - start), text, strlen(text));
}

/* The last "}}" of the line ends the message. */
static const char *find_last(const char *start, const char *end,
                             const char *text) {
  const char *last = NULL;
  for (const char *at = find(start, end, text); at;
       at = find(at + 1, end, text))
    last = at;
  return last;
}

static void malformed(opt_expectations_t *expectations, int line,
                      uattn_string_t *report) {
  uattn_string_appendf(report,
                       "%s:%d: error: malformed expectation: expected "
                       "expected-error @below {{text}}\n",
                       expectations->source->name, line);
  expectations->is_wrong = true;
}

/* Where the diagnostic is, from "@below" and the like; `above_line` is the
 * last line without an expectation. False where the designator is unknown. */
static bool read_designator(const char **at, const char *end, int above_line,
                            expectation_t *expectation) {
  expectation->line = expectation->comment_line;
  while (*at < end && **at == ' ')
    ++*at;
  if (*at == end || **at != '@')
    return true;
  const char *start = *at + 1;
  const char *stop = start;
  while (stop < end && *stop != ' ' && *stop != '{')
    ++stop;
  MlirStringRef word = mlirStringRefCreate(start, (size_t)(stop - start));
  *at = stop;
  char number[16] = "";
  int64_t offset = 0;
  if (word.length > 1 && word.length < sizeof number)
    memcpy(number, word.data + 1, word.length - 1);
  if (uattn_string_ref_is(word, "below"))
    expectation->is_below = true;
  else if (uattn_string_ref_is(word, "above"))
    expectation->line = above_line;
  else if (uattn_string_ref_is(word, "unknown"))
    expectation->line = 0;
  else if (word.length > 1 && (*start == '+' || *start == '-') &&
           uattn_parse_int64(number, &offset) && offset < INT32_MAX)
    expectation->line += (int)(*start == '+' ? offset : -offset);
  else
    return false;
  return true;
}

static bool read_comment(opt_expectations_t *expectations, size_t kind,
                         const char *at, const char *end, int line,
                         int above_line) {
  expectation_t expectation = {.severity = kinds[kind].severity,
                               .comment_line = line};
  at += strlen(kinds[kind].mark);
  if (!read_designator(&at, end, above_line, &expectation))
    return false;
  const char *open = find(at, end, "{{");
  const char *close = open ? find_last(open + 2, end, "}}") : NULL;
  if (!close || strspn(at, " ") != (size_t)(open - at))
    return false;
  expectation.text = mlirStringRefCreate(open + 2, (size_t)(close - open - 2));
  *append(expectations) = expectation;
  return true;
}

/* True where the line holds an expectation. */
static bool read_line(opt_expectations_t *expectations, const char *start,
                      const char *end, int line, int above_line,
                      uattn_string_t *report) {
  for (size_t kind = 0; kind < KIND_COUNT; ++kind) {
    const char *at = find(start, end, kinds[kind].mark);
    if (!at)
      continue;
    if (!read_comment(expectations, kind, at, end, line, above_line))
      malformed(expectations, line, report);
    return true;
  }
  return false;
}

static void settle_below(opt_expectations_t *expectations, int line) {
  for (size_t index = 0; index < expectations->count; ++index) {
    expectation_t *expectation = &expectations->list[index];
    if (!expectation->is_below)
      continue;
    expectation->line = line;
    expectation->is_below = false;
  }
}

opt_expectations_t *opt_expectations_create(const uattn_source_t *source,
                                            uattn_string_t *report) {
  opt_expectations_t *expectations = uattn_allocate(sizeof *expectations);
  expectations->source = source;
  const char *end = source->text + source->size;
  int line = 1;
  int above_line = 0;
  for (const char *start = source->text; start < end; ++line) {
    const char *line_end = memchr(start, '\n', (size_t)(end - start));
    if (!line_end)
      line_end = end;
    if (!read_line(expectations, start, line_end, line, above_line, report)) {
      settle_below(expectations, line);
      above_line = line;
    }
    start = line_end + 1;
  }
  settle_below(expectations, line);
  return expectations;
}

void opt_expectations_destroy(opt_expectations_t *expectations) {
  if (!expectations)
    return;
  free(expectations->list);
  free(expectations);
}

/* ---- Comparing ---------------------------------------------------------- */

static bool fulfils(const expectation_t *expectation,
                    MlirDiagnosticSeverity severity, int line,
                    const uattn_string_t *message) {
  const char *text = uattn_string_get(message);
  return !expectation->has_come && expectation->severity == severity &&
         expectation->line == line &&
         memmem(text, message->size, expectation->text.data,
                expectation->text.length);
}

static void take_one(opt_expectations_t *expectations,
                     MlirDiagnostic diagnostic, uattn_string_t *report) {
  MlirDiagnosticSeverity severity = mlirDiagnosticGetSeverity(diagnostic);
  uattn_position_t position = uattn_position_of(
      mlirDiagnosticGetLocation(diagnostic), expectations->source);
  bool is_here = position.line == 0 ||
                 uattn_string_ref_is(position.file, expectations->source->name);
  uattn_string_t message = {0};
  mlirDiagnosticPrint(diagnostic, uattn_string_append_ref, &message);
  bool has_matched = false;
  for (size_t index = 0; is_here && index < expectations->count; ++index) {
    expectation_t *expectation = &expectations->list[index];
    if (!fulfils(expectation, severity, position.line, &message))
      continue;
    expectation->has_come = true;
    has_matched = true;
    break;
  }
  if (!has_matched) {
    uattn_string_appendf(report, "%.*s:%d:%d: error: unexpected %s: %s\n",
                         (int)position.file.length, position.file.data,
                         position.line, position.column,
                         severity_name(severity), uattn_string_get(&message));
    expectations->is_wrong = true;
  }
  uattn_string_release(&message);
}

void opt_expectations_take(opt_expectations_t *expectations,
                           MlirDiagnostic diagnostic, uattn_string_t *report) {
  take_one(expectations, diagnostic, report);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i)
    take_one(expectations, mlirDiagnosticGetNote(diagnostic, i), report);
}

bool opt_expectations_finish(opt_expectations_t *expectations,
                             uattn_string_t *report) {
  for (size_t index = 0; index < expectations->count; ++index) {
    const expectation_t *expectation = &expectations->list[index];
    if (expectation->has_come)
      continue;
    uattn_string_appendf(
        report, "%s:%d: error: expected %s \"%.*s\" was not produced\n",
        expectations->source->name, expectation->comment_line,
        severity_name(expectation->severity), (int)expectation->text.length,
        expectation->text.data);
    expectations->is_wrong = true;
  }
  return !expectations->is_wrong;
}
