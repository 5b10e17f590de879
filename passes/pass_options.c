/* Values of a pass's options: parsed from text, copied, read by name.
 * Layer: passes. Must not know: pipelines, the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/pass_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* `values[i]` belongs to `pass->options[i]`; NULL where it was not given. */
struct uattn_pass_options {
  const uattn_pass_t *pass;
  char **values;
};

/* ---- Reading ------------------------------------------------------------ */

static const char *value_of(const uattn_pass_options_t *options,
                            const char *name, uattn_pass_option_kind_t kind) {
  for (size_t index = 0; index < options->pass->option_count; ++index) {
    const uattn_pass_option_t *option = &options->pass->options[index];
    if (strcmp(option->name, name) != 0)
      continue;
    UATTN_CHECK(option->kind == kind);
    const char *value = options->values[index];
    return value ? value : option->default_value;
  }
  UATTN_CHECK(!"the pass has an option of that name");
  return "";
}

const char *uattn_pass_options_get_string(const uattn_pass_options_t *options,
                                          const char *name) {
  return value_of(options, name, UATTN_PASS_OPTION_STRING);
}

int64_t uattn_pass_options_get_integer(const uattn_pass_options_t *options,
                                       const char *name) {
  int64_t value = 0;
  UATTN_CHECK(uattn_parse_int64(
      value_of(options, name, UATTN_PASS_OPTION_INTEGER), &value));
  return value;
}

bool uattn_pass_options_get_boolean(const uattn_pass_options_t *options,
                                    const char *name) {
  return strcmp(value_of(options, name, UATTN_PASS_OPTION_BOOLEAN), "true") ==
         0;
}

/* ---- Life --------------------------------------------------------------- */

static uattn_pass_options_t *create(const uattn_pass_t *pass) {
  uattn_pass_options_t *options = uattn_allocate(sizeof *options);
  options->pass = pass;
  options->values =
      uattn_allocate((pass->option_count + 1) * sizeof *options->values);
  return options;
}

uattn_pass_options_t *
uattn_pass_options_copy(const uattn_pass_options_t *options) {
  uattn_pass_options_t *copy = create(options->pass);
  for (size_t index = 0; index < options->pass->option_count; ++index)
    copy->values[index] = uattn_string_copy(options->values[index]);
  return copy;
}

void uattn_pass_options_destroy(uattn_pass_options_t *options) {
  if (!options)
    return;
  for (size_t index = 0; index < options->pass->option_count; ++index)
    free(options->values[index]);
  free(options->values);
  free(options);
}

/* ---- Parsing ------------------------------------------------------------ */

typedef struct {
  const char *start;
  size_t size;
} span_t;

static char *span_copy(span_t span) {
  uattn_string_t text = {0};
  uattn_string_append_bytes(&text, span.start, span.size);
  uattn_string_append(&text, "");
  char *copy = uattn_string_copy(uattn_string_get(&text));
  uattn_string_release(&text);
  return copy;
}

/* The length of the value that starts at `text`: up to white space outside of
 * quotes and braces. */
static size_t value_size(const char *text, size_t size) {
  size_t depth = 0;
  char quote = '\0';
  size_t index = 0;
  for (; index < size; ++index) {
    char c = text[index];
    if (quote) {
      if (c == quote)
        quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && depth > 0) {
      --depth;
    } else if (depth == 0 && isspace((unsigned char)c)) {
      break;
    }
  }
  return index;
}

static span_t without_quotes(span_t value) {
  if (value.size < 2)
    return value;
  char first = value.start[0];
  char last = value.start[value.size - 1];
  bool is_quoted = (first == last && (first == '\'' || first == '"')) ||
                   (first == '{' && last == '}');
  return is_quoted ? (span_t){value.start + 1, value.size - 2} : value;
}

static uattn_error_t *refuse_name(const uattn_pass_t *pass, span_t name) {
  uattn_string_t known = {0};
  for (size_t index = 0; index < pass->option_count; ++index)
    uattn_string_appendf(&known, "%s%s", index > 0 ? ", " : "",
                         pass->options[index].name);
  uattn_error_t *error = uattn_error_create(
      UATTN_ERROR_INVALID_ARGUMENT, "%s has no option '%.*s': expected %s",
      pass->flag, (int)name.size, name.start,
      known.size > 0 ? uattn_string_get(&known) : "none");
  uattn_string_release(&known);
  return error;
}

static uattn_error_t *check_value(const uattn_pass_t *pass,
                                  const uattn_pass_option_t *option,
                                  const char *value) {
  int64_t number = 0;
  const char *wanted = NULL;
  if (option->kind == UATTN_PASS_OPTION_INTEGER &&
      !uattn_parse_int64(value, &number))
    wanted = "an integer";
  if (option->kind == UATTN_PASS_OPTION_BOOLEAN && strcmp(value, "true") != 0 &&
      strcmp(value, "false") != 0)
    wanted = "true or false";
  if (!wanted)
    return NULL;
  return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                            "option %s of %s is '%s': expected %s",
                            option->name, pass->flag, value, wanted);
}

/* Stores one `name[=value]`; `has_value` tells "x=" from "x". */
static uattn_error_t *store(uattn_pass_options_t *options, span_t name,
                            span_t value, bool has_value) {
  const uattn_pass_t *pass = options->pass;
  size_t index = 0;
  while (index < pass->option_count &&
         (strlen(pass->options[index].name) != name.size ||
          memcmp(pass->options[index].name, name.start, name.size) != 0))
    ++index;
  if (index == pass->option_count)
    return refuse_name(pass, name);
  const uattn_pass_option_t *option = &pass->options[index];
  if (options->values[index])
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "option %s of %s is given twice: expected once",
                              option->name, pass->flag);
  if (!has_value && option->kind != UATTN_PASS_OPTION_BOOLEAN)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "option %s of %s has no value: expected %s=...",
                              option->name, pass->flag, option->name);
  options->values[index] =
      has_value ? span_copy(without_quotes(value)) : uattn_string_copy("true");
  return check_value(pass, option, options->values[index]);
}

static uattn_error_t *parse(uattn_pass_options_t *options, const char *text,
                            size_t size) {
  uattn_error_t *error = NULL;
  size_t at = 0;
  while (!error) {
    while (at < size && isspace((unsigned char)text[at]))
      ++at;
    if (at == size)
      break;
    size_t end = at;
    while (end < size && text[end] != '=' && !isspace((unsigned char)text[end]))
      ++end;
    span_t name = {text + at, end - at};
    bool has_value = end < size && text[end] == '=';
    span_t value = {text + end + has_value, 0};
    if (has_value)
      value.size = value_size(value.start, size - end - 1);
    at = end + has_value + value.size;
    error = store(options, name, value, has_value);
  }
  return error;
}

uattn_error_t *uattn_pass_options_parse(const uattn_pass_t *pass,
                                        const char *text, size_t size,
                                        uattn_pass_options_t **out_options) {
  uattn_pass_options_t *options = create(pass);
  uattn_error_t *error = parse(options, text, size);
  if (error)
    uattn_pass_options_destroy(options);
  else
    *out_options = options;
  return error;
}
