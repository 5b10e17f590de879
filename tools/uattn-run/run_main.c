/* uattn-run: runs a function of a .mlir or .uattn file and checks it.
 * Layer: tools. Must not know: MLIR, the driver.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "npy.h"
#include "run_bench.h"
#include "run_check.h"
#include "run_command.h"
#include "run_compile.h"
#include "run_cuda.h"
#include "run_reference.h"
#include "run_values.h"

/* One run of the program. */
typedef struct {
  run_command_t command;
  uattn_device_t *device; /* NULL: the reference runs */
  uattn_artifact_t *artifact;
  uint32_t function;
  run_values_t values;
  void **results; /* an array of float or int32_t each */
  int exit_code;  /* where no error says it */
} run_t;

/* `auto` falls back on the reference and says why. */
static uattn_error_t *choose_device(run_t *run) {
  if (run->command.device == RUN_DEVICE_REFERENCE)
    return NULL;
  bool is_auto = run->command.device == RUN_DEVICE_AUTO;
  uattn_error_t *error = run_cuda_open(is_auto, &run->device);
  if (!is_auto)
    return error;
  if (error)
    fprintf(stderr, "uattn-run: running the reference: %s\n",
            uattn_error_message(error));
  else
    fprintf(stderr, "uattn-run: running on %s\n",
            uattn_device_name(run->device));
  uattn_error_destroy(error);
  return NULL;
}

static uattn_error_t *name_functions(const uattn_artifact_t *artifact,
                                     const char *file) {
  uattn_string_t names = {0};
  for (uint32_t i = 0; i < artifact->function_count; ++i)
    uattn_string_appendf(&names, "%s%s", i > 0 ? ", " : "",
                         artifact->functions[i].name);
  uattn_error_t *error = uattn_error_create(
      UATTN_ERROR_INVALID_ARGUMENT,
      "`%s` has %" PRIu32 " functions: expected --function=NAME of one of %s",
      file, artifact->function_count, uattn_string_get(&names));
  uattn_string_release(&names);
  return error;
}

static uattn_error_t *choose_function(run_t *run) {
  const uattn_artifact_t *artifact = run->artifact;
  const char *name = run->command.function;
  int64_t found = name ? uattn_artifact_find_function(artifact, name) : 0;
  if (artifact->function_count == 0)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "`%s` has no function: expected one",
                              run->command.file);
  if (!name && artifact->function_count > 1)
    return name_functions(artifact, run->command.file);
  if (found < 0)
    return uattn_error_annotate(name_functions(artifact, run->command.file),
                                "no function %s", name);
  run->function = (uint32_t)found;
  const uattn_artifact_function_t *function = &artifact->functions[found];
  if (run->command.output_count > function->result_count)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "%zu outputs are given: function %s has %" PRIu32 " results",
        run->command.output_count, function->name, function->result_count);
  run->results = uattn_allocate(function->result_count * sizeof(void *));
  return NULL;
}

static uattn_error_t *check_and_time(run_t *run, run_cuda_t *cuda) {
  bool is_right = true;
  uattn_error_t *error = NULL;
  if (run->command.is_checked)
    error = run_check_results(&run->values, run->results, &is_right);
  if (!error && run->command.is_timed && cuda)
    error = run_bench_cuda(run->device, cuda, &run->values);
  if (!is_right)
    run->exit_code = 1;
  return error;
}

static uattn_error_t *run_on_device(run_t *run) {
  run_cuda_t *cuda = NULL;
  uattn_error_t *error = run_cuda_create(run->device, run->artifact,
                                         run->function, &run->values, &cuda);
  if (!error)
    error = run_cuda_launch(cuda);
  if (!error)
    error = run_cuda_results(cuda, run->results);
  if (!error)
    error = check_and_time(run, cuda);
  run_cuda_destroy(cuda);
  return error;
}

static double seconds_now(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The results are lent by the values. */
static uattn_error_t *run_on_reference(run_t *run) {
  const uattn_artifact_function_t *function = run->values.function;
  double begin = seconds_now();
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; i < function->result_count && !error; ++i) {
    uint32_t value = (uint32_t)function->result_values[i];
    error = run_reference_value(&run->values, value);
    run->results[i] = run->values.data[value];
  }
  if (!error && run->command.is_timed)
    run_bench_reference(&run->values, seconds_now() - begin);
  return error ? error : check_and_time(run, NULL);
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

static uattn_error_t *run_function(run_t *run) {
  uattn_error_t *error = choose_function(run);
  if (!error)
    error = run_values_create(&run->artifact->functions[run->function],
                              &run->command, &run->values);
  if (!error)
    error = run->device ? run_on_device(run) : run_on_reference(run);
  if (!error)
    error = write_outputs(run);
  return error;
}

static uattn_error_t *run_file(run_t *run) {
  uattn_error_t *error = run_check_file(run->command.file);
  if (!error)
    error = choose_device(run);
  if (!error)
    error = run_get_artifact(run->command.file, run->device != NULL,
                             &run->artifact, &run->exit_code);
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
  if (run->device && run->results)
    for (uint32_t i = 0;
         i < run->artifact->functions[run->function].result_count; ++i)
      free(run->results[i]);
  free(run->results);
  run_values_release(&run->values);
  uattn_artifact_destroy(run->artifact);
  uattn_device_close(run->device);
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
  if (error) {
    fprintf(stderr, "uattn-run: %s\n", uattn_error_message(error));
    run.exit_code = uattn_error_exit_code(error);
  }
  uattn_error_destroy(error);
  release(&run);
  return run.exit_code;
}
