/* The command line of uattn-opt as plain data.
 * Layer: tools. Must not know: IR, how the work is done.
 * SPDX-License-Identifier: Apache-2.0 */
#include "opt_command.h"

#include "dialect/dialect.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum { OPTION_SWITCH, OPTION_TEXT } option_kind_t;

typedef struct {
  const char *name;
  option_kind_t kind;
  size_t offset; /* of a bool or a const char * in opt_command_t */
  const char *value_name;
  const char *summary;
} option_t;

#define SWITCH(name, field, summary)                                           \
  { name, OPTION_SWITCH, offsetof(opt_command_t, field), NULL, summary }
#define TEXT(name, field, value_name, summary)                                 \
  { name, OPTION_TEXT, offsetof(opt_command_t, field), value_name, summary }

static const option_t options[] = {
    TEXT("o", output, "FILE", "write to FILE; - (default) is stdout"),
    TEXT("pass-pipeline", pipeline, "TEXT",
         "run builtin.module(pass{options},op.name(pass),...)"),
    SWITCH("split-input-file", splits_input,
           "take the pieces between lines '// -----' apart"),
    SWITCH("verify-diagnostics", verifies_diagnostics,
           "compare diagnostics with // expected-error @below {{text}}"),
    SWITCH("verify-each", verifies_each,
           "verify after every pass (default; --verify-each=false)"),
    SWITCH("allow-unregistered-dialect", allows_unregistered,
           "accept ops of unknown dialects"),
    SWITCH("mlir-print-ir-before-all", prints_before_all,
           "print the IR before every pass, to stderr"),
    SWITCH("mlir-print-ir-after-all", prints_after_all,
           "print the IR after every pass, to stderr"),
    SWITCH("mlir-print-ir-after-change", prints_after_change,
           "print the IR after passes that changed it"),
    SWITCH("mlir-print-ir-after-failure", prints_after_failure,
           "print the IR after a pass that failed"),
    SWITCH("mlir-print-ir-module-scope", prints_module_scope,
           "print the whole module, also for nested passes"),
    SWITCH("mlir-timing", prints_timing, "print the time of every pass"),
    SWITCH("mlir-disable-threading", disables_threading,
           "run on one thread; IR printing does so anyway"),
    SWITCH("mlir-print-debuginfo", prints_locations,
           "write locations in the output"),
    SWITCH("mlir-print-op-generic", prints_generic,
           "write ops in their generic form"),
    SWITCH("emit-bytecode", emits_bytecode, "write MLIR bytecode"),
    SWITCH("help", asks_help, "print this text"),
    SWITCH("list-passes", asks_list, "list uattn's passes"),
    SWITCH("markdown", list_is_markdown,
           "with --list-passes: as documentation, with examples"),
    SWITCH("version", asks_version, "print the versions"),
};
#define OPTION_COUNT (sizeof options / sizeof *options)

#define USAGE_ERROR(...)                                                       \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static const char *dashes(const option_t *option) {
  return option->name[1] ? "--" : "-";
}

static const option_t *find_option(const char *name, size_t size) {
  for (size_t index = 0; index < OPTION_COUNT; ++index)
    if (strlen(options[index].name) == size &&
        memcmp(options[index].name, name, size) == 0)
      return &options[index];
  return NULL;
}

static uattn_error_t *set_switch(const option_t *option, const char *value,
                                 opt_command_t *command) {
  bool is_on = !value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
  if (!is_on && strcmp(value, "false") != 0 && strcmp(value, "0") != 0)
    return USAGE_ERROR("option %s%s is '%s': expected true or false",
                       dashes(option), option->name, value);
  *(bool *)((char *)command + option->offset) = is_on;
  return NULL;
}

/* `value` is NULL where the option stood alone: the next argument is it. */
static uattn_error_t *set_option(const option_t *option, const char *value,
                                 char **arguments, int *index,
                                 opt_command_t *command) {
  if (option->kind == OPTION_SWITCH)
    return set_switch(option, value, command);
  if (!value)
    value = arguments[*index + 1];
  else
    --*index; /* undone below */
  if (!value)
    return USAGE_ERROR("option %s%s has no value: expected %s", dashes(option),
                       option->name, option->value_name);
  ++*index;
  *(const char **)((char *)command + option->offset) = value;
  return NULL;
}

/* "name=options" becomes "name{options}", the form that pipelines have. */
static void add_pass(const char *argument, opt_command_t *command) {
  uattn_string_t text = {0};
  size_t name_size = strcspn(argument, "={");
  uattn_string_append_bytes(&text, argument, name_size);
  const char *rest = argument + name_size;
  if (*rest == '=' && rest[1] == '{')
    uattn_string_append(&text, rest + 1);
  else if (*rest == '=')
    uattn_string_appendf(&text, "{%s}", rest + 1);
  else
    uattn_string_append(&text, rest);
  command->passes[command->pass_count++] = uattn_string_take(&text);
}

static uattn_error_t *read_argument(char **arguments, int *index,
                                    opt_command_t *command) {
  const char *argument = arguments[*index];
  if (argument[0] != '-' || argument[1] == '\0') {
    if (command->input)
      return USAGE_ERROR("two inputs are given, '%s' and '%s': expected one",
                         command->input, argument);
    command->input = argument;
    return NULL;
  }
  argument += strspn(argument, "-");
  if (*argument == '\0')
    return USAGE_ERROR("'%s' names no option: expected one", arguments[*index]);
  size_t size = strcspn(argument, "=");
  const option_t *option = find_option(argument, size);
  if (option)
    return set_option(option, argument[size] ? argument + size + 1 : NULL,
                      arguments, index, command);
  add_pass(argument, command);
  return NULL;
}

static uattn_error_t *check_together(const opt_command_t *command) {
  if (command->pipeline && command->pass_count > 0)
    return USAGE_ERROR("--pass-pipeline and the pass --%s are given: expected "
                       "one kind alone",
                       command->passes[0]);
  if (command->emits_bytecode && command->splits_input)
    return USAGE_ERROR("--emit-bytecode and --split-input-file are given: "
                       "expected one of them, bytecode holds one module");
  if (command->list_is_markdown && !command->asks_list)
    return USAGE_ERROR("--markdown is given without --list-passes: expected "
                       "both");
  return NULL;
}

uattn_error_t *opt_command_parse(int argument_count, char **arguments,
                                 opt_command_t *out_command) {
  *out_command = (opt_command_t){.output = "-", .verifies_each = true};
  out_command->passes =
      uattn_allocate((size_t)argument_count * sizeof *out_command->passes);
  uattn_error_t *error = NULL;
  for (int index = 1; index < argument_count && !error; ++index)
    error = read_argument(arguments, &index, out_command);
  if (!error)
    error = check_together(out_command);
  if (!out_command->input)
    out_command->input = "-";
  return error;
}

void opt_command_release(opt_command_t *command) {
  for (size_t index = 0; index < command->pass_count; ++index)
    free(command->passes[index]);
  free(command->passes);
}

const char *opt_command_nearest_option(const char *name) {
  const char *names[OPTION_COUNT];
  for (size_t index = 0; index < OPTION_COUNT; ++index)
    names[index] = options[index].name;
  return uattn_nearest_name(mlirStringRefCreate(name, strcspn(name, "={")),
                            names, OPTION_COUNT);
}

void opt_command_append_options(uattn_string_t *text) {
  for (size_t index = 0; index < OPTION_COUNT; ++index) {
    const option_t *option = &options[index];
    char head[64];
    snprintf(head, sizeof head, "%s%s%s%s", dashes(option), option->name,
             option->value_name ? (option->name[1] ? "=" : " ") : "",
             option->value_name ? option->value_name : "");
    uattn_string_appendf(text, "  %-32s %s\n", head, option->summary);
  }
}
