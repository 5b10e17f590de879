/* A function with its values on the emulator, run under one or more schedules.
 * Layer: tools. Must not know: files, the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_emulator.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run_agreement.h"
#include "run_pack.h"
#include "run_progress.h"

typedef struct {
  const run_values_t *values;
  uint32_t function;
  const run_schedules_t *schedules;
  uattn_emulator_program_t *program;
  uattn_tensor_t *arguments;
  uattn_tensor_t *results;
  void **first_results; /* of the first schedule, in the tensors' types */
} emulated_t;

/* Aligned as device memory is. */
static uattn_error_t *allocate_tensor(const char *name, size_t bytes,
                                      void **out_data) {
  enum { ALIGNMENT = 256 };
  size_t rounded = 0;
  if (uattn_size_add(bytes, ALIGNMENT - 1, &rounded))
    *out_data = aligned_alloc(ALIGNMENT, rounded - rounded % ALIGNMENT);
  if (*out_data)
    return NULL;
  return uattn_error_create(UATTN_ERROR_INTERNAL,
                            "out of host memory for %zu bytes of %s", bytes,
                            name);
}

/* Counts fit: run_values_create has checked them. */
static size_t value_bytes(const run_values_t *values, uint32_t value) {
  return values->element_counts[value] *
         uattn_dtype_bytes(values->function->values[value].dtype);
}

static uattn_error_t *make_argument(emulated_t *emulated, uint32_t index) {
  const run_values_t *values = emulated->values;
  const uattn_artifact_value_t *value = &values->function->values[index];
  uattn_tensor_t *tensor = &emulated->arguments[index];
  *tensor = uattn_tensor_dense(NULL, value->dtype, value->rank,
                               values->shapes[index]);
  uattn_error_t *error =
      allocate_tensor(value->name, value_bytes(values, index), &tensor->data);
  if (!error)
    run_pack(values->data[index], value->dtype, values->element_counts[index],
             tensor->data);
  return error;
}

static uattn_error_t *make_results(emulated_t *emulated) {
  const run_values_t *values = emulated->values;
  const uattn_artifact_function_t *function = values->function;
  uattn_error_t *error = uattn_emulator_program_results(
      emulated->program, emulated->function, emulated->arguments,
      function->argument_count, emulated->results);
  for (uint32_t i = 0; i < function->result_count && !error; ++i) {
    uint32_t value = (uint32_t)function->result_values[i];
    error =
        allocate_tensor(function->values[value].name,
                        value_bytes(values, value), &emulated->results[i].data);
  }
  return error;
}

/* Results begin as NaN in every float type. */
static uattn_error_t *run_schedule(emulated_t *emulated, uint64_t seed,
                                   uattn_emulator_timeline_t *timeline,
                                   uattn_emulator_statistics_t *statistics) {
  const uattn_artifact_function_t *function = emulated->values->function;
  for (uint32_t i = 0; i < function->result_count; ++i)
    memset(emulated->results[i].data, 0xff,
           value_bytes(emulated->values, (uint32_t)function->result_values[i]));
  const run_trace_t *trace = emulated->schedules->trace;
  uattn_emulator_trace_t options;
  if (emulated->schedules->schedule_count > 1)
    run_trace_tell_schedule(trace, seed);
  run_progress_t progress = run_progress_begin("emulated");
  uattn_emulator_call_t call = {.struct_size = sizeof call,
                                .arguments = emulated->arguments,
                                .argument_count = function->argument_count,
                                .results = emulated->results,
                                .result_count = function->result_count,
                                .seed = seed,
                                .progress = run_progress_tell,
                                .progress_data = &progress,
                                .trace = run_trace_options(trace, &options),
                                .timeline = timeline};
  if (call.trace)
    call.progress = NULL; /* lines of its own, on the same stderr */
  uattn_error_t *error = uattn_emulator_program_run(
      emulated->program, emulated->function, &call, statistics);
  run_progress_end(&progress);
  return error;
}

/* Takes the numbers of the first schedule over, in both forms. */
static uattn_error_t *keep_results(emulated_t *emulated, void **out_results) {
  const run_values_t *values = emulated->values;
  const uattn_artifact_function_t *function = values->function;
  for (uint32_t i = 0; i < function->result_count; ++i) {
    uint32_t value = (uint32_t)function->result_values[i];
    size_t count = values->element_counts[value];
    size_t bytes = value_bytes(values, value);
    emulated->first_results[i] = uattn_try_allocate(bytes);
    out_results[i] = uattn_try_allocate(count * 4);
    if (!emulated->first_results[i] || !out_results[i])
      return uattn_error_create(UATTN_ERROR_INTERNAL,
                                "out of host memory for %zu numbers of %s",
                                count, function->values[value].name);
    memcpy(emulated->first_results[i], emulated->results[i].data, bytes);
    memcpy(out_results[i], emulated->results[i].data, bytes);
    run_unpack(out_results[i], function->values[value].dtype, count);
  }
  return NULL;
}

static bool compare_results(const emulated_t *emulated, uint64_t first_seed,
                            uint64_t seed) {
  const run_values_t *values = emulated->values;
  uint32_t count = values->function->result_count;
  void **results = uattn_allocate((count + 1) * sizeof *results);
  for (uint32_t i = 0; i < count; ++i)
    results[i] = emulated->results[i].data;
  bool do_agree =
      run_do_agree(values, &(run_comparison_t){.first = emulated->first_results,
                                               .other = results,
                                               .kind = "schedules",
                                               .noun = "seed",
                                               .first_number = first_seed,
                                               .other_number = seed});
  free(results);
  return do_agree;
}

static uattn_error_t *run_schedules(emulated_t *emulated,
                                    const run_schedules_t *schedules,
                                    void **out_results,
                                    run_emulated_t *out_emulated) {
  double begin = run_seconds_now();
  uattn_error_t *error =
      run_schedule(emulated, schedules->seed, schedules->timeline,
                   &out_emulated->statistics);
  out_emulated->seconds = run_seconds_now() - begin;
  out_emulated->do_schedules_agree = true;
  if (!error)
    error = keep_results(emulated, out_results);
  for (int64_t i = 1; i < schedules->schedule_count && !error; ++i) {
    uint64_t seed = schedules->seed + (uint64_t)i;
    error = uattn_error_annotate(run_schedule(emulated, seed, NULL, NULL),
                                 "schedule seed %" PRIu64, seed);
    if (!error && !compare_results(emulated, schedules->seed, seed))
      out_emulated->do_schedules_agree = false;
  }
  return error;
}

static void release(emulated_t *emulated) {
  const uattn_artifact_function_t *function = emulated->values->function;
  for (uint32_t i = 0; i < function->argument_count; ++i)
    free(emulated->arguments[i].data);
  for (uint32_t i = 0; i < function->result_count; ++i) {
    free(emulated->results[i].data);
    free(emulated->first_results[i]);
  }
  uattn_emulator_program_destroy(emulated->program);
  free(emulated->arguments);
  free(emulated->results);
  free(emulated->first_results);
}

uattn_error_t *run_emulator(const uattn_artifact_t *artifact, size_t function,
                            const run_values_t *values,
                            const run_schedules_t *schedules,
                            void **out_results, run_emulated_t *out_emulated) {
  const uattn_artifact_function_t *facts = values->function;
  emulated_t emulated = {
      .values = values,
      .function = (uint32_t)function,
      .schedules = schedules,
      .arguments =
          uattn_allocate(facts->argument_count * sizeof *emulated.arguments),
      .results = uattn_allocate(facts->result_count * sizeof *emulated.results),
      .first_results = uattn_allocate(facts->result_count * sizeof(void *))};
  uattn_error_t *error =
      uattn_emulator_program_create(artifact, &emulated.program);
  for (uint32_t i = 0; i < facts->argument_count && !error; ++i)
    error = make_argument(&emulated, i);
  if (!error)
    error = make_results(&emulated);
  if (!error)
    error = run_schedules(&emulated, schedules, out_results, out_emulated);
  release(&emulated);
  return error;
}
