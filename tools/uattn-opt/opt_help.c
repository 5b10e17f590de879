/* What uattn-opt says of itself and of the passes, read from the pass table.
 * Layer: tools. Must not know: how a pass or the tool works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "opt_help.h"

#include "opt_command.h"
#include "passes/pass.h"
#include "uattn/base.h"

#include <llvm-c/Core.h>

static const char *option_form(uattn_pass_option_kind_t kind) {
  switch (kind) {
  case UATTN_PASS_OPTION_STRING:
    return "TEXT";
  case UATTN_PASS_OPTION_INTEGER:
    return "N";
  case UATTN_PASS_OPTION_BOOLEAN:
    return "true|false";
  }
  return "";
}

static void append_pass(uattn_string_t *text, const uattn_pass_t *pass) {
  uattn_string_appendf(text, "  --%-30s %s\n", pass->flag, pass->summary);
  for (size_t index = 0; index < pass->option_count; ++index) {
    const uattn_pass_option_t *option = &pass->options[index];
    char head[64];
    snprintf(head, sizeof head, "%s=%s", option->name,
             option_form(option->kind));
    uattn_string_appendf(text, "      %-28s %s", head, option->summary);
    if (option->default_value[0])
      uattn_string_appendf(text, " (default %s)", option->default_value);
    uattn_string_append(text, "\n");
  }
}

static void append_passes(uattn_string_t *text) {
  size_t count = 0;
  const uattn_pass_t *table = uattn_pass_table(&count);
  for (size_t index = 0; index < count; ++index)
    append_pass(text, &table[index]);
}

void opt_append_help(uattn_string_t *text) {
  uattn_string_append(
      text, "usage: uattn-opt FILE [option|pass]...\n"
            "\n"
            "Reads MLIR with the uattn dialect, text or bytecode, from FILE or "
            "- (stdin, the\n"
            "default), runs passes in the order of the command line and writes "
            "the result.\n"
            "Exit code 0: right; 1: wrong IR, a failed pass or a mistake in "
            "the command.\n"
            "\noptions:\n");
  opt_command_append_options(text);
  uattn_string_append(text, "\npasses of uattn, as --NAME or --NAME=\"option="
                            "value option=value\":\n");
  append_passes(text);
  uattn_string_append(
      text, "\nAll passes and pipelines of MLIR go by their names as well, "
            "as in\n--canonicalize, --cse or --convert-scf-to-cf.\n");
}

void opt_append_version(uattn_string_t *text) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  uattn_version_t version = uattn_version();
  uattn_string_appendf(text, "uattn-opt %s, ABI %d.%d, LLVM %u.%u.%u\n",
                       UATTN_VERSION, version.abi_major, version.abi_minor,
                       major, minor, patch);
}

static void append_example(uattn_string_t *text, const char *title,
                           const char *ir) {
  uattn_string_appendf(text, "\n%s:\n\n```mlir\n%s```\n", title, ir);
}

static void append_documentation(uattn_string_t *text,
                                 const uattn_pass_t *pass) {
  uattn_string_appendf(text,
                       "\n## `--%s`\n\n%s\n\nRuns on `%s`. Requires: %s. "
                       "Ensures: %s.\n",
                       pass->flag, pass->summary, pass->anchor, pass->requires,
                       pass->ensures);
  if (pass->option_count > 0)
    uattn_string_append(text, "\n| option | default | meaning |\n"
                              "| --- | --- | --- |\n");
  for (size_t index = 0; index < pass->option_count; ++index) {
    const uattn_pass_option_t *option = &pass->options[index];
    const char *value = option->default_value;
    uattn_string_appendf(text, "| `%s` | %s%s%s | %s |\n", option->name,
                         value[0] ? "`" : "", value, value[0] ? "`" : "",
                         option->summary);
  }
  append_example(text, "Before", pass->before);
  append_example(text, "After", pass->after);
}

void opt_append_pass_list(uattn_string_t *text, bool is_markdown) {
  if (!is_markdown) {
    append_passes(text);
    return;
  }
  size_t count = 0;
  const uattn_pass_t *table = uattn_pass_table(&count);
  uattn_string_append(text, "# Passes of uattn\n");
  for (size_t index = 0; index < count; ++index)
    append_documentation(text, &table[index]);
}
