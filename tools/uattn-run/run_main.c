/* uattn-run: runs a function of a .mlir or .uattn file and checks it.
 * Layer: tools. Must not know: MLIR, the driver.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "npy.h"
#include "run_bench.h"
#include "run_check.h"
#include "run_choice.h"
#include "run_function.h"
#include "run_launches.h"
#include "run_progress.h"
#include "run_ptx.h"
#include "run_reference.h"
#include "run_timeline.h"
#include "run_values.h"

/* One run of the program. */
typedef struct {
  run_command_t command;
  run_choice_t choice;
  uattn_artifact_t *artifact;
  uint32_t function;
  run_values_t values;
  uattn_emulator_timeline_t *timeline; /* that is asked for */
  void **results;                      /* an array of float or int32_t each */
  int exit_code;                       /* where no error says it */
} run_t;

static uattn_error_t *choose_function(run_t *run) {
  uattn_error_t *error = run_find_function(
      run->artifact, run->command.file, run->command.function, &run->function);
  if (error)
    return error;
  const uattn_artifact_function_t *function =
      &run->artifact->functions[run->function];
  if (run->command.output_count > function->result_count)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "%zu outputs are given: function %s has %" PRIu32 " results",
        run->command.output_count, function->name, function->result_count);
  run->results = uattn_allocate(function->result_count * sizeof(void *));
  return NULL;
}

static uattn_error_t *check(run_t *run) {
  bool is_right = true;
  uattn_error_t *error = NULL;
  if (run->command.is_checked)
    error = run_check_results(&run->values, run->results, &is_right);
  if (!is_right)
    run->exit_code = 1;
  return error;
}

static uattn_error_t *run_on_cuda(run_t *run) {
  const uattn_device_t *device = run->choice.cuda;
  run_cuda_t *cuda = NULL;
  uattn_error_t *error = run_cuda_create(device, run->artifact, run->function,
                                         &run->values, &cuda);
  if (!error)
    error = run_cuda_launch(cuda);
  if (!error)
    error = run_cuda_results(cuda, run->results);
  bool do_agree = true;
  if (!error && run->command.launch_count > 1)
    error = run_launches_compare(cuda, &run->values, run->command.launch_count,
                                 run->results, &do_agree);
  if (!do_agree)
    run->exit_code = 1;
  if (!error)
    error = check(run);
  if (!error && run->command.is_timed)
    error = run_bench_cuda(device, cuda, &run->values);
  run_cuda_destroy(cuda);
  return error;
}

static uattn_error_t *run_on_emulator(run_t *run) {
  const run_schedules_t schedules = {.seed = run->command.schedule_seed,
                                     .schedule_count =
                                         run->command.schedule_count,
                                     .trace = &run->command.trace,
                                     .timeline = run->timeline};
  run_emulated_t emulated = {0};
  uattn_error_t *error =
      run_emulator(run->artifact, run->function, &run->values, &schedules,
                   run->results, &emulated);
  if (error)
    return error;
  if (!emulated.do_schedules_agree)
    run->exit_code = 1;
  if (run->command.is_timed)
    run_bench_emulator(&run->values, &emulated);
  return check(run);
}

/* The results are lent by the values. */
static uattn_error_t *run_on_reference(run_t *run) {
  const uattn_artifact_function_t *function = run->values.function;
  double begin = run_seconds_now();
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; i < function->result_count && !error; ++i) {
    uint32_t value = (uint32_t)function->result_values[i];
    error = run_reference_value(&run->values, value);
    run->results[i] = run->values.data[value];
  }
  if (!error && run->command.is_timed)
    run_bench_reference(&run->values, run_seconds_now() - begin);
  return error ? error : check(run);
}

/* Written when all else is done, each file whole or not at all. */
static uattn_error_t *write_outputs(const run_t *run) {
  const uattn_artifact_function_t *function = run->values.function;
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < run->command.output_count && !error; ++i) {
    int32_t value = function->result_values[i];
    bool is_integer = function->values[value].dtype == UATTN_DTYPE_I32;
    uattn_npy_array_t array = {
        .dtype = is_integer ? UATTN_DTYPE_I32 : UATTN_DTYPE_F32,
        .rank = function->values[value].rank,
        .element_count = run->values.element_counts[value],
        .data = run->results[i]};
    for (int axis = 0; axis < array.rank; ++axis)
      array.shape[axis] = run->values.shapes[value][axis];
    error = uattn_npy_write(run->command.outputs[i], &array);
  }
  return error;
}

static uattn_error_t *run_on_choice(run_t *run) {
  switch (run->choice.device) {
  case RUN_DEVICE_CUDA:
    return run_on_cuda(run);
  case RUN_DEVICE_EMULATOR:
    return run_on_emulator(run);
  default:
    return run_on_reference(run);
  }
}

static uattn_error_t *run_function(run_t *run) {
  uattn_error_t *error = choose_function(run);
  if (!error)
    run_choice_settle(&run->choice, &run->artifact->functions[run->function]);
  if (!error)
    error = run_values_create(&run->artifact->functions[run->function],
                              &run->command, &run->values);
  if (!error)
    error = run_timeline_create(&run->command, &run->timeline);
  if (!error)
    error = run_on_choice(run);
  if (!error)
    error = write_outputs(run);
  if (!error)
    error = run_timeline_write(&run->command, run->timeline);
  return error;
}

static uattn_error_t *run_file(run_t *run) {
  uattn_error_t *error = run_check_file(run->command.file);
  for (size_t i = 0; i < run->command.output_count && !error; ++i)
    error = uattn_file_check_writable(run->command.outputs[i]);
  if (!error && run->command.timeline)
    error = uattn_file_check_writable(run->command.timeline);
  if (error || run->command.launch)
    return error ? error : run_ptx(&run->command, &run->exit_code);
  error = run_choice_make(run->command.device, &run->choice);
  if (!error)
    error =
        run_get_artifact(run->command.file, run->choice.kernels, &run->artifact,
                         &run->exit_code, &run->choice.refusal);
  if (!error && run->exit_code == 0)
    error = run_function(run);
  return error;
}

static uattn_error_t *print_about(const run_command_t *command) {
  uattn_string_t text = {0};
  if (command->asks_help)
    run_command_append_help(&text);
  else
    uattn_string_append(&text, "uattn-run " UATTN_VERSION "\n");
  uattn_error_t *error =
      uattn_file_write("-", uattn_string_get(&text), text.size);
  uattn_string_release(&text);
  return error;
}

static void release(run_t *run) {
  if (run->choice.device != RUN_DEVICE_REFERENCE && run->results)
    for (uint32_t i = 0;
         i < run->artifact->functions[run->function].result_count; ++i)
      free(run->results[i]);
  free(run->results);
  uattn_emulator_timeline_destroy(run->timeline);
  run_values_release(&run->values);
  uattn_artifact_destroy(run->artifact);
  run_choice_release(&run->choice);
  run_command_release(&run->command);
}

int main(int argument_count, char **arguments) {
  run_t run = {0};
  uattn_error_t *error =
      run_command_parse(argument_count, arguments, &run.command);
  if (!error)
    error = run.command.asks_help || run.command.asks_version
                ? print_about(&run.command)
                : run_file(&run);
  if (!error)
    error = uattn_stdout_flush();
  if (error) {
    fprintf(stderr, "uattn-run: %s\n", uattn_error_message(error));
    run.exit_code = uattn_error_exit_code(error);
  }
  uattn_error_destroy(error);
  release(&run);
  return run.exit_code;
}
