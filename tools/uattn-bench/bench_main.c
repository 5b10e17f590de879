/* uattn-bench: measures what uattn's kernels and its emulator reach.
 * Layer: tools. Must not know: MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "bench_emulated_forward.h"
#include "bench_emulator.h"
#include "bench_function.h"
#include "support/support.h"

static const char help[] =
    "Measures kernels on a GPU and the emulator on this machine.\n\n"
    "usage: uattn-bench forward|backward FILE.mlir|FILE.uattn [options]\n"
    "       uattn-bench emulator [--quick]\n\n"
    "forward: TFLOP/s over allowed pairs, the share of what cuBLAS reaches in\n"
    "the same run, and which unit bounds the kernel. cuBLAS is found by name,\n"
    "or as the file $UATTN_CUBLAS.\n\n"
    "backward: the same of a function with a backward op, which counts 2.5\n"
    "times a forward, its kernels timed together. There is no model of what\n"
    "they take of some units; those are not known.\n\n"
    "  --function=NAME        measure this function; needed where the file "
    "has\n"
    "                         several\n"
    "  --shape=ARG:2x16x4x64  sizes of an argument with dynamic dimensions\n"
    "  --input=F.npy          read the next argument; missing ones are drawn\n"
    "  --seed=N               of the drawn inputs (0)\n\n"
    "emulator: nanoseconds a warp instruction of each class on one thread, of\n"
    "wgmma a million multiplications and additions, of tensor copies a KiB,\n"
    "then a whole forward kernel on all processors.\n\n"
    "  --quick                a tenth of the time, and rougher figures\n\n"
    "  --help                 print this text\n"
    "  --version              print the version\n\n"
    "exit code: 0 right, 2 wrong use, 3 no GPU or a fault of it, 4 internal "
    "or\n"
    "toolchain failure\n";

static uattn_error_t *measure_emulator(int argument_count, char **arguments) {
  bool is_quick = false;
  for (int i = 2; i < argument_count; ++i) {
    if (strcmp(arguments[i], "--quick") != 0)
      return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                                "unknown option %s: expected --quick",
                                arguments[i]);
    is_quick = true;
  }
  uattn_error_t *error = bench_emulator_instructions(is_quick ? 0.02 : 0.2);
  return error ? error : bench_emulator_forward(is_quick ? 128 : 1024);
}

/* The options are uattn-run's, without those that say how it runs. */
static uattn_error_t *check_command(const run_command_t *command) {
  if (command->device != RUN_DEVICE_AUTO || command->output_count > 0 ||
      command->is_checked || command->is_timed || command->launch ||
      command->schedule_seed != 0 || command->schedule_count > 1 ||
      command->launch_count > 1)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "an option of uattn-run is given that uattn-bench does not have: "
        "expected --function, --shape, --input or --seed");
  return NULL;
}

static uattn_error_t *measure_function(int argument_count, char **arguments,
                                       uattn_op_kind_t kind,
                                       int *out_exit_code) {
  run_command_t command = {0};
  uattn_error_t *error =
      run_command_parse(argument_count - 1, arguments + 1, &command);
  if (!error)
    error = check_command(&command);
  command.is_timed = true;
  if (!error)
    error = bench_function(&command, kind, out_exit_code);
  run_command_release(&command);
  return error;
}

static bool has_argument(int count, char **arguments, const char *name) {
  for (int i = 1; i < count; ++i)
    if (strcmp(arguments[i], name) == 0)
      return true;
  return false;
}

static uattn_error_t *measure(int argument_count, char **arguments,
                              int *out_exit_code) {
  const char *what = argument_count > 1 ? arguments[1] : "nothing";
  if (strcmp(what, "emulator") == 0)
    return measure_emulator(argument_count, arguments);
  if (strcmp(what, "forward") == 0)
    return measure_function(argument_count, arguments, UATTN_OP_FORWARD,
                            out_exit_code);
  if (strcmp(what, "backward") == 0)
    return measure_function(argument_count, arguments, UATTN_OP_BACKWARD,
                            out_exit_code);
  return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                            "what to measure is '%s': expected forward, "
                            "backward or emulator",
                            what);
}

int main(int argument_count, char **arguments) {
  int exit_code = 0;
  uattn_error_t *error = NULL;
  if (has_argument(argument_count, arguments, "--help"))
    fputs(help, stdout);
  else if (has_argument(argument_count, arguments, "--version"))
    puts("uattn-bench " UATTN_VERSION);
  else
    error = measure(argument_count, arguments, &exit_code);
  if (!error)
    error = uattn_stdout_flush();
  if (error) {
    fprintf(stderr, "uattn-bench: %s\n", uattn_error_message(error));
    exit_code = uattn_error_exit_code(error);
  }
  uattn_error_destroy(error);
  return exit_code;
}
