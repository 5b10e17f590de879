/* Tests of running another program: its output, its end, its absence.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "support/support.h"

/* Runs a line of shell; returns the exit code, with the output in `messages`.
 */
static int run_shell(const char *line, uattn_string_t *messages) {
  const char *const arguments[] = {"/bin/sh", "-c", line, NULL};
  int exit_code = -1;
  assert_ok(uattn_process_run(arguments, messages, &exit_code));
  return exit_code;
}

static void both_outputs_are_appended(void **state) {
  (void)state;
  uattn_string_t messages = {0};
  uattn_string_append(&messages, "before ");
  assert_int_equal(run_shell("echo out; echo err >&2", &messages), 0);
  assert_string_equal(uattn_string_get(&messages), "before out\nerr\n");
  uattn_string_release(&messages);
}

/* More than a pipe holds. */
static void long_output_is_whole(void **state) {
  (void)state;
  uattn_string_t messages = {0};
  assert_int_equal(run_shell("head -c 300000 /dev/zero", &messages), 0);
  assert_int_equal(messages.size, 300000);
  uattn_string_release(&messages);
}

static void exit_code_and_signal_are_told(void **state) {
  (void)state;
  uattn_string_t messages = {0};
  assert_int_equal(run_shell("exit 7", &messages), 7);
  assert_int_equal(run_shell("kill -9 $$", &messages), 128 + 9);
  assert_int_equal(run_shell("exit 3", NULL), 3);
  uattn_string_release(&messages);
}

static void arguments_are_not_split(void **state) {
  (void)state;
  uattn_string_t messages = {0};
  const char *const arguments[] = {"/usr/bin/printf", "%s.", "a b", "$HOME",
                                   NULL};
  int exit_code = -1;
  assert_ok(uattn_process_run(arguments, &messages, &exit_code));
  assert_int_equal(exit_code, 0);
  assert_string_equal(uattn_string_get(&messages), "a b.$HOME.");
  uattn_string_release(&messages);
}

static void missing_program_is_named(void **state) {
  (void)state;
  const char *const arguments[] = {"/no/such/program", NULL};
  uattn_string_t messages = {0};
  int exit_code = -1;
  uattn_error_t *error = uattn_process_run(arguments, &messages, &exit_code);
  assert_error(error, UATTN_ERROR_TOOLCHAIN,
               "cannot run /no/such/program: No such file or directory");
  assert_int_equal(exit_code, -1);
  uattn_string_release(&messages);
}

/* Where children vanish unawaited, their success cannot be claimed. */
static void lost_exit_code_is_an_error(void **state) {
  (void)state;
  const char *const arguments[] = {"/bin/true", NULL};
  int exit_code = -1;
  signal(SIGCHLD, SIG_IGN);
  uattn_error_t *error = uattn_process_run(arguments, NULL, &exit_code);
  signal(SIGCHLD, SIG_DFL);
  assert_error(error, UATTN_ERROR_INTERNAL,
               "waiting for a program failed: No child processes");
  assert_int_equal(exit_code, -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_outputs_are_appended),
      cmocka_unit_test(long_output_is_whole),
      cmocka_unit_test(exit_code_and_signal_are_told),
      cmocka_unit_test(arguments_are_not_split),
      cmocka_unit_test(missing_program_is_named),
      cmocka_unit_test(lost_exit_code_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
