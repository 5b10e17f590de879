/* Running another program.
 * Layer: support. Must not know: which programs, or why.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/support.h"

extern char **environ;

static uattn_error_t *drain(int file, uattn_string_t *messages) {
  char buffer[4096];
  for (;;) {
    ssize_t got = read(file, buffer, sizeof buffer);
    if (got > 0)
      uattn_string_append_bytes(messages, buffer, (size_t)got);
    else if (got == 0)
      return NULL;
    else if (errno != EINTR)
      return uattn_error_create(UATTN_ERROR_INTERNAL,
                                "reading from a program failed: %s",
                                strerror(errno));
  }
}

/* Starts the program with both outputs in `output` (-1: inherited). */
static uattn_error_t *start(const char *const *arguments, int output,
                            pid_t *out_child) {
  posix_spawn_file_actions_t actions;
  UATTN_CHECK(posix_spawn_file_actions_init(&actions) == 0);
  if (output >= 0) {
    UATTN_CHECK(posix_spawn_file_actions_adddup2(&actions, output, 1) == 0);
    UATTN_CHECK(posix_spawn_file_actions_adddup2(&actions, output, 2) == 0);
  }
  int failure = posix_spawn(out_child, arguments[0], &actions, NULL,
                            (char *const *)(uintptr_t)arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure)
    return uattn_error_create(UATTN_ERROR_TOOLCHAIN, "cannot run %s: %s",
                              arguments[0], strerror(failure));
  return NULL;
}

/* A shell's exit code: 128 + n for signal n. */
static uattn_error_t *await(pid_t child, int *out_exit_code) {
  int status = 0;
  pid_t ended = 0;
  do
    ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended < 0) /* a host that ignores SIGCHLD */
    return uattn_error_create(UATTN_ERROR_INTERNAL,
                              "waiting for a program failed: %s",
                              strerror(errno));
  *out_exit_code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return NULL;
}

uattn_error_t *uattn_process_run(const char *const *arguments,
                                 uattn_string_t *out_messages,
                                 int *out_exit_code) {
  int ends[2] = {-1, -1};
  if (out_messages && pipe2(ends, O_CLOEXEC) != 0)
    return uattn_error_create(UATTN_ERROR_INTERNAL, "no pipe: %s",
                              strerror(errno));
  pid_t child = 0;
  uattn_error_t *error = start(arguments, ends[1], &child);
  if (ends[1] >= 0)
    close(ends[1]);
  if (!error) {
    if (out_messages)
      error = drain(ends[0], out_messages);
    uattn_error_t *lost = await(child, out_exit_code);
    if (!error)
      error = lost;
    else
      uattn_error_destroy(lost);
  }
  if (ends[0] >= 0)
    close(ends[0]);
  return error;
}
