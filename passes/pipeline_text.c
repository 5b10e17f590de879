/* The text of a pipeline and the pass managers that it fills.
 *
 *   pipeline := anchor '(' list ')'
 *   list     := [ element { ',' element } ]
 *   element  := pass [ '{' options '}' ] | op '(' list ')'
 *
 * MLIR's C API cannot register a pass, so upstream's parser would not know
 * uattn's; upstream's passes are handed to it one element at a time.
 *
 * Layer: passes. Must not know: the command line, how a pass runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/pipeline_text.h"

#include "dialect/dialect.h"
#include "passes/external_pass.h"
#include "passes/pass_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NESTING 64

/* `at` moves through `text`. */
typedef struct {
  const char *what; /* "pipeline" or "pass", for messages */
  const char *text;
  const char *at;
  const uattn_pass_pipeline_t *pipeline;
} reader_t;

/* A pass manager and the op that it runs on. */
typedef struct {
  MlirOpPassManager manager;
  const char *anchor;
} level_t;

/* A pass with its options, as pieces of the text. */
typedef struct {
  char *name;
  const char *start;
  const char *options; /* after the brace, NULL without */
  size_t options_size;
  const char *end;
} element_t;

/* ---- Characters --------------------------------------------------------- */

static uattn_error_t *refuse_at(const reader_t *reader, const char *position,
                                const char *message) {
  return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                            "%s '%s', column %td: %s", reader->what,
                            reader->text, position - reader->text + 1, message);
}

static uattn_error_t *locate(const reader_t *reader, const char *position,
                             uattn_error_t *owned_cause) {
  return uattn_error_annotate(owned_cause, "%s '%s', column %td", reader->what,
                              reader->text, position - reader->text + 1);
}

static void skip_space(reader_t *reader) {
  while (isspace((unsigned char)*reader->at))
    ++reader->at;
}

static bool accept(reader_t *reader, char c) {
  skip_space(reader);
  if (*reader->at != c)
    return false;
  ++reader->at;
  return true;
}

static uattn_error_t *expect(reader_t *reader, char c) {
  if (accept(reader, c))
    return NULL;
  char message[64];
  if (*reader->at)
    snprintf(message, sizeof message, "found '%c', expected '%c'", *reader->at,
             c);
  else
    snprintf(message, sizeof message, "found the end, expected '%c'", c);
  return refuse_at(reader, reader->at, message);
}

/* A pass's or an op's name; NULL where there is none. */
static char *read_name(reader_t *reader) {
  skip_space(reader);
  const char *start = reader->at;
  while (*reader->at && !isspace((unsigned char)*reader->at) &&
         !strchr("(){},=", *reader->at))
    ++reader->at;
  if (reader->at == start)
    return NULL;
  uattn_string_t name = {0};
  uattn_string_append_bytes(&name, start, (size_t)(reader->at - start));
  return uattn_string_take(&name);
}

/* Moves past the brace that closes the one before `at`. */
static uattn_error_t *skip_options(reader_t *reader) {
  const char *open = reader->at - 1;
  size_t depth = 1;
  char quote = '\0';
  for (; *reader->at && depth > 0; ++reader->at) {
    char c = *reader->at;
    if (quote)
      quote = c == quote ? '\0' : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    else if (c == '{')
      ++depth;
    else if (c == '}')
      --depth;
  }
  if (depth == 0)
    return NULL;
  return refuse_at(reader, open, "'{' is not closed: expected '}'");
}

/* What follows the name of a pass. */
static uattn_error_t *read_options(reader_t *reader, element_t *element) {
  element->options = NULL;
  element->options_size = 0;
  uattn_error_t *error = NULL;
  element->end = reader->at;
  if (accept(reader, '{')) {
    element->options = reader->at;
    error = skip_options(reader);
    element->end = reader->at;
    element->options_size = (size_t)(element->end - element->options) - 1;
  }
  return error;
}

/* ---- Passes ------------------------------------------------------------- */

static uattn_error_t *add_own_pass(const reader_t *reader, level_t level,
                                   const uattn_pass_t *pass,
                                   const element_t *element) {
  uattn_pass_options_t *options = NULL;
  uattn_error_t *error =
      uattn_pass_options_parse(pass, element->options ? element->options : "",
                               element->options_size, &options);
  if (error)
    return locate(reader, element->start, error);
  bool verifies = reader->pipeline->verify_mode != UATTN_VERIFY_NO_PASS;
  mlirOpPassManagerAddOwnedPass(
      level.manager, uattn_external_pass_create(pass, options, verifies));
  return NULL;
}

/* Of "...:1:1: error: MESSAGE\n<source>\n^" the message alone. Upstream prints
 * some of its complaints to stderr itself and reports nothing. */
static char *upstream_message(const uattn_string_t *report) {
  static const char mark[] = "error: ";
  const char *start = strstr(uattn_string_get(report), mark);
  start = start ? start + sizeof mark - 1 : uattn_string_get(report);
  uattn_string_t message = {0};
  uattn_string_append_bytes(&message, start, strcspn(start, "\n"));
  if (message.size == 0)
    uattn_string_append(&message, "the pass refuses its options");
  return uattn_string_take(&message);
}

/* An unknown name is most often a misspelt one of ours. */
static uattn_error_t *refuse_unknown_pass(const reader_t *reader,
                                          const element_t *element) {
  size_t count = 0;
  const uattn_pass_t *table = uattn_pass_table(&count);
  const char **flags = uattn_allocate(count * sizeof *flags);
  for (size_t index = 0; index < count; ++index)
    flags[index] = table[index].flag;
  const char *nearest = uattn_nearest_name(
      mlirStringRefCreateFromCString(element->name), flags, count);
  free(flags);
  uattn_string_t message = {0};
  uattn_string_appendf(&message, "'%s' is no registered pass or pipeline",
                       element->name);
  if (nearest)
    uattn_string_appendf(&message, ": did you mean '%s'?", nearest);
  uattn_error_t *error =
      refuse_at(reader, element->start, uattn_string_get(&message));
  uattn_string_release(&message);
  return error;
}

/* NULL on success, else upstream's message, to be freed. */
static char *try_upstream_pass(MlirOpPassManager manager,
                               const element_t *element) {
  uattn_string_t report = {0};
  MlirStringRef text = mlirStringRefCreate(
      element->start, (size_t)(element->end - element->start));
  MlirLogicalResult result = mlirOpPassManagerAddPipeline(
      manager, text, uattn_string_append_ref, &report);
  char *message = NULL;
  if (mlirLogicalResultIsFailure(result))
    message = upstream_message(&report);
  uattn_string_release(&report);
  return message;
}

static uattn_error_t *add_upstream_pass(const reader_t *reader, level_t level,
                                        const element_t *element) {
  char *message = try_upstream_pass(level.manager, element);
  uattn_error_t *error = NULL;
  if (message && strstr(message, "does not refer to a registered pass"))
    error = refuse_unknown_pass(reader, element);
  else if (message)
    error = refuse_at(reader, element->start, message);
  else if (reader->pipeline->verify_mode == UATTN_VERIFY_EACH_PASS)
    mlirOpPassManagerAddOwnedPass(level.manager,
                                  uattn_external_verifier_create());
  free(message);
  return error;
}

static bool runs_on(const uattn_pass_t *pass, const char *anchor) {
  return strcmp(pass->anchor, anchor) == 0 || strcmp(anchor, "any") == 0;
}

static uattn_error_t *add_pass(const reader_t *reader, level_t level,
                               const element_t *element) {
  const uattn_pass_t *pass = uattn_pass_find(element->name);
  if (!pass)
    return add_upstream_pass(reader, level, element);
  if (runs_on(pass, level.anchor))
    return add_own_pass(reader, level, pass, element);
  uattn_string_t message = {0};
  uattn_string_appendf(&message, "%s stands in %s: expected it in %s",
                       pass->flag, level.anchor, pass->anchor);
  uattn_error_t *error =
      refuse_at(reader, element->start, uattn_string_get(&message));
  uattn_string_release(&message);
  return error;
}

/* ---- Structure ---------------------------------------------------------- */

/* A misspelt op name would nest passes under an op that never comes. */
static uattn_error_t *check_anchor(const reader_t *reader, const char *position,
                                   const char *name) {
  MlirContext context = reader->pipeline->context;
  if (strcmp(name, "any") == 0 ||
      mlirContextGetAllowUnregisteredDialects(context))
    return NULL;
  mlirContextGetOrLoadDialect(context,
                              mlirStringRefCreate(name, strcspn(name, ".")));
  if (mlirContextIsRegisteredOperation(context,
                                       mlirStringRefCreateFromCString(name)))
    return NULL;
  uattn_string_t message = {0};
  uattn_string_appendf(&message, "'%s' is no known op", name);
  uattn_error_t *error =
      refuse_at(reader, position, uattn_string_get(&message));
  uattn_string_release(&message);
  return error;
}

static uattn_error_t *read_list(reader_t *reader, level_t level, int depth);

static uattn_error_t *read_element(reader_t *reader, level_t level, int depth) {
  skip_space(reader);
  element_t element = {.start = reader->at};
  element.name = read_name(reader);
  if (!element.name)
    return refuse_at(reader, reader->at, "expected a pass or an op name");
  uattn_error_t *error = NULL;
  if (accept(reader, '(')) {
    level_t nested = {.anchor = element.name};
    error = depth < MAX_NESTING
                ? check_anchor(reader, element.start, element.name)
                : refuse_at(reader, element.start,
                            "nested too deep: expected at most 64 levels");
    if (!error) {
      nested.manager = mlirOpPassManagerGetNestedUnder(
          level.manager, mlirStringRefCreateFromCString(element.name));
      error = read_list(reader, nested, depth + 1);
    }
  } else {
    error = read_options(reader, &element);
    if (!error)
      error = add_pass(reader, level, &element);
  }
  free(element.name);
  return error;
}

/* Up to and with the closing parenthesis. */
static uattn_error_t *read_list(reader_t *reader, level_t level, int depth) {
  if (accept(reader, ')'))
    return NULL;
  uattn_error_t *error = NULL;
  do
    error = read_element(reader, level, depth);
  while (!error && accept(reader, ','));
  return error ? error : expect(reader, ')');
}

uattn_error_t *uattn_pipeline_text_anchor(const char *text, char **out_anchor) {
  reader_t reader = {.what = "pipeline", .text = text, .at = text};
  char *anchor = read_name(&reader);
  uattn_error_t *error = NULL;
  if (!anchor)
    error = refuse_at(&reader, reader.at,
                      "expected an op name, as in builtin.module(...)");
  else
    error = expect(&reader, '(');
  if (error)
    free(anchor);
  else
    *out_anchor = anchor;
  return error;
}

uattn_error_t *uattn_pipeline_text_fill(const char *text,
                                        const uattn_pass_pipeline_t *pipeline) {
  reader_t reader = {"pipeline", text, text, pipeline};
  skip_space(&reader);
  const char *start = reader.at;
  level_t level = {mlirPassManagerGetAsOpPassManager(pipeline->manager),
                   pipeline->anchor};
  uattn_error_t *error = check_anchor(&reader, start, pipeline->anchor);
  if (error)
    return error;
  reader.at = strchr(start, '(') + 1;
  error = read_list(&reader, level, 1);
  if (error)
    return error;
  skip_space(&reader);
  return *reader.at == '\0' ? NULL
                            : refuse_at(&reader, reader.at, "expected the end");
}

/* ---- One pass of a command line ----------------------------------------- */

/* Upstream says "... restricted to 'OP' ..." of a pass for another op; NULL
 * where it says something else. */
static char *restricted_to(const char *message) {
  static const char mark[] = "restricted to '";
  const char *start = strstr(message, mark);
  if (!start)
    return NULL;
  start += sizeof mark - 1;
  uattn_string_t name = {0};
  uattn_string_append_bytes(&name, start, strcspn(start, "'"));
  return uattn_string_take(&name);
}

/* The op that the pass is for where it is not the pipeline's; else NULL. */
static char *other_anchor(const uattn_pass_pipeline_t *pipeline,
                          const element_t *element) {
  const uattn_pass_t *pass = uattn_pass_find(element->name);
  if (pass)
    return runs_on(pass, pipeline->anchor) ? NULL
                                           : uattn_string_copy(pass->anchor);
  uattn_pass_pipeline_t probe = uattn_pass_pipeline_create(
      pipeline->context, pipeline->anchor, UATTN_VERIFY_NO_PASS);
  char *message = try_upstream_pass(
      mlirPassManagerGetAsOpPassManager(probe.manager), element);
  char *anchor = message ? restricted_to(message) : NULL;
  free(message);
  uattn_pass_pipeline_destroy(&probe);
  return anchor;
}

uattn_error_t *
uattn_pipeline_text_add_pass(const char *text,
                             const uattn_pass_pipeline_t *pipeline) {
  reader_t reader = {"pass", text, text, pipeline};
  element_t element = {.start = text};
  element.name = read_name(&reader);
  if (!element.name)
    return refuse_at(&reader, text, "expected a pass");
  uattn_error_t *error = read_options(&reader, &element);
  if (!error && *reader.at)
    error = refuse_at(&reader, reader.at, "expected the end");
  if (!error) {
    char *nested_anchor = other_anchor(pipeline, &element);
    level_t level = {mlirPassManagerGetAsOpPassManager(pipeline->manager),
                     pipeline->anchor};
    if (nested_anchor)
      level = (level_t){
          mlirOpPassManagerGetNestedUnder(
              level.manager, mlirStringRefCreateFromCString(nested_anchor)),
          nested_anchor};
    error = add_pass(&reader, level, &element);
    free(nested_anchor);
  }
  free(element.name);
  return error;
}
