/* What every unit test includes: cmocka and what it needs before it.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_UNIT_TEST_H
#define UATTN_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uattn/error.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Takes `error`: it has this code and exactly this message. */
static inline void assert_error(uattn_error_t *error, uattn_error_code_t code,
                                const char *message) {
  assert_non_null(error);
  assert_string_equal(uattn_error_message(error), message);
  assert_int_equal(uattn_error_code(error), code);
  uattn_error_destroy(error);
}

/* Takes `error`: it is none. */
static inline void assert_ok(uattn_error_t *error) {
  if (error)
    print_error("unexpected error: %s\n", uattn_error_message(error));
  assert_null(error);
}

/* Our own invariants abort: runs `body` in a child that must do so. */
static inline void assert_aborts(void (*body)(void)) {
  fflush(NULL);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    if (!freopen("/dev/null", "w", stderr))
      _exit(2);
    body();
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

#endif /* UATTN_UNIT_TEST_H */
