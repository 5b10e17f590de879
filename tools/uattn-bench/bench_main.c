/* uattn-bench: measures parts of uattn that have no kernel of their own.
 * Layer: tools. Must not know: MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "bench_emulator.h"
#include "bench_forward.h"
#include "support/support.h"

static const char help[] =
    "Measures what the emulator costs on this machine.\n\n"
    "usage: uattn-bench emulator [--quick]\n\n"
    "  --quick                a tenth of the time, and rougher figures\n"
    "  --help                 print this text\n"
    "  --version              print the version\n\n"
    "Prints a table: nanoseconds a warp instruction of each class on one\n"
    "thread, of wgmma a million multiplications and additions, of tensor\n"
    "copies a KiB, then a whole forward kernel on all processors.\n\n"
    "exit code: 0 right, 2 wrong use, 4 internal or toolchain failure\n";

static uattn_error_t *read_options(int argument_count, char **arguments,
                                   bool *out_is_quick) {
  if (argument_count < 2)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "nothing to measure is given: expected emulator");
  if (strcmp(arguments[1], "emulator") != 0)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "found '%s': expected emulator", arguments[1]);
  for (int i = 2; i < argument_count; ++i) {
    if (strcmp(arguments[i], "--quick") != 0)
      return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                                "unknown option %s: expected --quick",
                                arguments[i]);
    *out_is_quick = true;
  }
  return NULL;
}

static bool has_argument(int count, char **arguments, const char *name) {
  for (int i = 1; i < count; ++i)
    if (strcmp(arguments[i], name) == 0)
      return true;
  return false;
}

static uattn_error_t *measure(int argument_count, char **arguments) {
  bool is_quick = false;
  uattn_error_t *error = read_options(argument_count, arguments, &is_quick);
  if (!error)
    error = bench_emulator_instructions(is_quick ? 0.02 : 0.2);
  if (!error)
    error = bench_emulator_forward(is_quick ? 128 : 1024);
  return error;
}

int main(int argument_count, char **arguments) {
  if (has_argument(argument_count, arguments, "--help")) {
    fputs(help, stdout);
    return 0;
  }
  if (has_argument(argument_count, arguments, "--version")) {
    puts("uattn-bench " UATTN_VERSION);
    return 0;
  }
  uattn_error_t *error = measure(argument_count, arguments);
  int exit_code = uattn_error_exit_code(error);
  if (error)
    fprintf(stderr, "uattn-bench: %s\n", uattn_error_message(error));
  uattn_error_destroy(error);
  return exit_code;
}
