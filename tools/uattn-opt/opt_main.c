/* uattn-opt: reads a .mlir file, runs passes, writes the result.
 * Layer: tools. Must not know: passes, the dialect.
 * SPDX-License-Identifier: Apache-2.0 */
#include "opt_command.h"
#include "opt_help.h"
#include "opt_process.h"

#include <unistd.h>

static uattn_error_t *print_text(uattn_string_t *text) {
  uattn_error_t *error =
      uattn_file_write("-", uattn_string_get(text), text->size);
  uattn_string_release(text);
  return error;
}

static bool asks_about_itself(const opt_command_t *command) {
  return command->asks_help || command->asks_version || command->asks_list;
}

static uattn_error_t *answer(const opt_command_t *command) {
  uattn_string_t text = {0};
  if (command->asks_help)
    opt_append_help(&text);
  else if (command->asks_version)
    opt_append_version(&text);
  else
    opt_append_pass_list(&text, command->list_is_markdown);
  return print_text(&text);
}

static uattn_error_t *check_terminal(const opt_command_t *command) {
  if (!command->emits_bytecode || command->output[0] != '-' ||
      command->output[1] != '\0' || !isatty(STDOUT_FILENO))
    return NULL;
  return uattn_error_create(
      UATTN_ERROR_INVALID_ARGUMENT,
      "bytecode would go to the terminal: expected -o FILE or a pipe");
}

static uattn_error_t *run(const opt_command_t *command, bool *out_is_right) {
  uattn_string_t result = {0};
  uattn_error_t *error = check_terminal(command);
  if (!error)
    error = opt_process(command, &result, out_is_right);
  if (!error && *out_is_right)
    error = uattn_file_write(command->output, uattn_string_get(&result),
                             result.size);
  uattn_string_release(&result);
  return error;
}

int main(int argument_count, char **arguments) {
  opt_command_t command;
  bool is_right = true;
  uattn_error_t *error = opt_command_parse(argument_count, arguments, &command);
  if (!error)
    error = asks_about_itself(&command) ? answer(&command)
                                        : run(&command, &is_right);
  if (error)
    fprintf(stderr, "uattn-opt: %s\n", uattn_error_message(error));
  int exit_code = error || !is_right ? 1 : 0;
  uattn_error_destroy(error);
  opt_command_release(&command);
  return exit_code;
}
