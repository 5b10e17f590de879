/* Runs a kernel of a .ptx file on the emulator as a description says.
 * Layer: tools. Must not know: attention, artifacts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_ptx.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "launch_type.h"
#include "npy.h"
#include "random_stream.h"
#include "run_progress.h"
#include "run_timeline.h"

#define USAGE_ERROR(...)                                                       \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* One run of a kernel. */
typedef struct {
  const run_command_t *command;
  launch_description_t description;
  uattn_emulator_t *emulator;
  size_t entry;
  uattn_emulator_memory_t *memories;   /* of each buffer */
  void **initial;                      /* what buffers hold before a run */
  void **first;                        /* outputs of the first schedule */
  uattn_emulator_timeline_t *timeline; /* of the first schedule, or NULL */
} kernel_t;

static uattn_error_t *memory_error(const launch_buffer_t *buffer) {
  return uattn_error_create(UATTN_ERROR_INTERNAL,
                            "out of host memory for %zu bytes of buffer %s",
                            buffer->bytes, buffer->name);
}

/* ---- Files -----------------------------------------------------------------
 */

static uattn_error_t *find_entry(kernel_t *kernel) {
  const char *wanted = kernel->description.entry;
  size_t count = uattn_emulator_entry_count(kernel->emulator);
  if (!wanted && count != 1)
    return USAGE_ERROR("`%s` has %zu entries: expected an entry line in `%s`",
                       kernel->command->file, count, kernel->command->launch);
  for (size_t i = 0; i < count; ++i)
    if (!wanted ||
        strcmp(uattn_emulator_entry_name(kernel->emulator, i), wanted) == 0) {
      kernel->entry = i;
      return NULL;
    }
  uattn_string_t names = {0};
  for (size_t i = 0; i < count; ++i)
    uattn_string_appendf(&names, "%s%s", i > 0 ? ", " : "",
                         uattn_emulator_entry_name(kernel->emulator, i));
  uattn_error_t *error = USAGE_ERROR(
      "`%s` has no entry %s: expected one of %s", kernel->command->file, wanted,
      count > 0 ? uattn_string_get(&names) : "none");
  uattn_string_release(&names);
  return error;
}

static uattn_error_t *load(kernel_t *kernel) {
  const run_command_t *command = kernel->command;
  char *text = NULL;
  size_t size = 0;
  uattn_error_t *error = uattn_file_read(command->launch, &text, &size);
  if (!error)
    error =
        launch_description_parse(command->launch, text, &kernel->description);
  free(text);
  text = NULL;
  if (!error)
    error = uattn_file_read(command->file, &text, &size);
  if (!error)
    error = uattn_emulator_create(command->file, text, size, &kernel->emulator);
  free(text);
  return error ? error : find_entry(kernel);
}

static uattn_error_t *read_input(const launch_buffer_t *buffer,
                                 const char *path, void *out_elements) {
  uattn_npy_array_t array = {0};
  uattn_error_t *error = uattn_npy_read(path, &array);
  if (error)
    return error;
  bool is_float = array.dtype == UATTN_DTYPE_F32;
  bool is_same = array.rank == buffer->rank;
  size_t place = 0;
  for (int i = 0; is_same && i < array.rank; ++i)
    is_same = array.shape[i] == buffer->shape[i];
  if (!is_same)
    error = USAGE_ERROR("`%s` has another shape than buffer %s", path,
                        buffer->name);
  else if (is_float != launch_type_is_float(buffer->type))
    error = USAGE_ERROR("`%s` holds %s: buffer %s expects %s", path,
                        is_float ? "floats" : "integers", buffer->name,
                        launch_type_name(buffer->type));
  else if (!launch_type_pack(buffer->type, array.data, array.element_count,
                             out_elements, &place))
    error =
        USAGE_ERROR("`%s`: number %zu does not fit buffer %s of type %s", path,
                    place, buffer->name, launch_type_name(buffer->type));
  uattn_npy_array_release(&array);
  return error;
}

/* Floats of N(0, 1), integers of 0 to 99. */
static uattn_error_t *draw(const launch_buffer_t *buffer, uint64_t seed,
                           size_t index, void *out_elements) {
  float *numbers = uattn_try_allocate(buffer->element_count * sizeof *numbers);
  if (!numbers)
    return memory_error(buffer);
  uint64_t key = uattn_random_key(seed, index, 0);
  int32_t *integers = (int32_t *)(void *)numbers;
  for (size_t i = 0; i < buffer->element_count; ++i)
    if (launch_type_is_float(buffer->type))
      numbers[i] = (float)uattn_random_normal(key, i);
    else
      integers[i] = (int32_t)uattn_random_below(key, i, 100);
  size_t place = 0;
  bool fits = launch_type_pack(buffer->type, numbers, buffer->element_count,
                               out_elements, &place);
  UATTN_CHECK(fits);
  free(numbers);
  return NULL;
}

static uattn_error_t *fill_buffer(kernel_t *kernel, size_t index,
                                  size_t *next_input) {
  const launch_buffer_t *buffer = &kernel->description.buffers[index];
  const run_command_t *command = kernel->command;
  void *data = kernel->initial[index];
  switch (buffer->fill) {
  case LAUNCH_FROM_INPUT:
    if (*next_input == command->input_count)
      return USAGE_ERROR("%s:%d: buffer %s expects an --input, number %zu",
                         command->launch, buffer->line, buffer->name,
                         *next_input + 1);
    return read_input(buffer, command->inputs[(*next_input)++], data);
  case LAUNCH_RANDOM:
    return draw(buffer, command->seed, index, data);
  case LAUNCH_POISON:
    memset(data, 0xff, buffer->bytes);
    break;
  case LAUNCH_ZEROS:
    break; /* as it was allocated */
  }
  return NULL;
}

/* Aligned as device memory is. */
static uattn_error_t *make_buffer(kernel_t *kernel, size_t index) {
  enum { ALIGNMENT = 256 };
  const launch_buffer_t *buffer = &kernel->description.buffers[index];
  size_t rounded = buffer->bytes + ALIGNMENT - 1;
  void *data = aligned_alloc(ALIGNMENT, rounded - rounded % ALIGNMENT);
  kernel->memories[index] = (uattn_emulator_memory_t){
      buffer->name, data, buffer->bytes, buffer->is_read_only};
  kernel->initial[index] = uattn_try_allocate(buffer->bytes);
  kernel->first[index] = uattn_try_allocate(buffer->bytes);
  return data && kernel->initial[index] && kernel->first[index]
             ? NULL
             : memory_error(buffer);
}

static uattn_error_t *make_buffers(kernel_t *kernel) {
  const run_command_t *command = kernel->command;
  size_t count = kernel->description.buffer_count;
  size_t next_input = 0;
  size_t output_count = 0;
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < count && !error; ++i) {
    output_count += kernel->description.buffers[i].is_output;
    error = make_buffer(kernel, i);
    if (!error)
      error = fill_buffer(kernel, i, &next_input);
  }
  if (!error && next_input < command->input_count)
    error = USAGE_ERROR("%zu inputs are given: `%s` has %zu buffers for them",
                        command->input_count, command->launch, next_input);
  if (!error && command->output_count > output_count)
    error = USAGE_ERROR("%zu outputs are given: `%s` has %zu buffers of them",
                        command->output_count, command->launch, output_count);
  return error;
}

/* ---- Running ---------------------------------------------------------------
 */

/* One parameter as it lies in the parameter block. */
typedef union {
  uint8_t map[128];
  uint64_t address;
  uint8_t scalar[8];
} slot_t;

static uattn_error_t *fill_slot(const kernel_t *kernel,
                                const launch_argument_t *argument,
                                slot_t *slot) {
  if (argument->kind == LAUNCH_SCALAR) {
    memcpy(slot->scalar, argument->scalar, sizeof slot->scalar);
    return NULL;
  }
  char *data = kernel->memories[argument->buffer].data;
  if (argument->kind == LAUNCH_POINTER) {
    slot->address =
        (uint64_t)(uintptr_t)data + (uint64_t)argument->offset_bytes;
    return NULL;
  }
  uattn_tensor_map_t map = argument->map;
  map.data = data;
  return uattn_error_annotate(uattn_emulator_encode_tensor_map(&map, slot->map),
                              "%s:%d", kernel->command->launch, argument->line);
}

static uattn_error_t *launch_once(const kernel_t *kernel, uint64_t seed,
                                  const slot_t *slots,
                                  uattn_emulator_timeline_t *timeline,
                                  uattn_emulator_statistics_t *statistics) {
  const launch_description_t *description = &kernel->description;
  size_t count = description->argument_count;
  const void **params = uattn_allocate((count + 1) * sizeof *params);
  size_t *param_bytes = uattn_allocate((count + 1) * sizeof *param_bytes);
  for (size_t i = 0; i < count; ++i) {
    params[i] = &slots[i];
    param_bytes[i] = description->arguments[i].bytes;
  }
  const run_trace_t *trace = &kernel->command->trace;
  uattn_emulator_trace_t options;
  if (kernel->command->schedule_count > 1)
    run_trace_tell_schedule(trace, seed);
  run_progress_t progress = run_progress_begin("emulated");
  uattn_emulator_launch_t launch = {.struct_size = sizeof launch,
                                    .dynamic_shared_bytes =
                                        description->shared_bytes,
                                    .params = params,
                                    .param_bytes = param_bytes,
                                    .param_count = count,
                                    .memories = kernel->memories,
                                    .memory_count = description->buffer_count,
                                    .seed = seed,
                                    .progress = run_progress_tell,
                                    .progress_data = &progress,
                                    .trace = run_trace_options(trace, &options),
                                    .timeline = timeline};
  if (launch.trace)
    launch.progress = NULL; /* lines of its own, on the same stderr */
  memcpy(launch.grid, description->grid, sizeof launch.grid);
  memcpy(launch.block, description->block, sizeof launch.block);
  uattn_error_t *error =
      uattn_emulator_run(kernel->emulator, kernel->entry, &launch, statistics);
  run_progress_end(&progress);
  free(params);
  free(param_bytes);
  return error;
}

static uattn_error_t *run_schedule(const kernel_t *kernel, uint64_t seed,
                                   uattn_emulator_timeline_t *timeline,
                                   uattn_emulator_statistics_t *statistics) {
  const launch_description_t *description = &kernel->description;
  slot_t *slots =
      uattn_allocate((description->argument_count + 1) * sizeof *slots);
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < description->buffer_count; ++i)
    memcpy(kernel->memories[i].data, kernel->initial[i],
           description->buffers[i].bytes);
  for (size_t i = 0; i < description->argument_count && !error; ++i)
    error = fill_slot(kernel, &description->arguments[i], &slots[i]);
  if (!error)
    error = launch_once(kernel, seed, slots, timeline, statistics);
  free(slots);
  return error;
}

static bool compare(const kernel_t *kernel, uint64_t seed) {
  bool are_same = true;
  for (size_t i = 0; i < kernel->description.buffer_count; ++i) {
    const launch_buffer_t *buffer = &kernel->description.buffers[i];
    const char *first = kernel->first[i];
    const char *found = kernel->memories[i].data;
    size_t place = 0;
    while (place < buffer->bytes && first[place] == found[place])
      ++place;
    if (place == buffer->bytes)
      continue;
    are_same = false;
    fprintf(stderr,
            "uattn-run: buffer %s differs between schedules: number %zu of "
            "seed %" PRIu64 " is not that of seed %" PRIu64 "\n",
            buffer->name, place / launch_type_bytes(buffer->type), seed,
            kernel->command->schedule_seed);
  }
  return are_same;
}

static uattn_error_t *run_schedules(const kernel_t *kernel,
                                    int *out_exit_code) {
  const run_command_t *command = kernel->command;
  uattn_emulator_statistics_t statistics = {0};
  double begin = run_seconds_now();
  uattn_error_t *error = run_schedule(kernel, command->schedule_seed,
                                      kernel->timeline, &statistics);
  double seconds = run_seconds_now() - begin;
  if (!error && command->is_timed)
    printf("{\"entry\": \"%s\", \"device\": \"emulator\", \"wall_ms\": %.3f, "
           "\"warp_instructions\": %" PRIu64 ", \"ctas\": %" PRIu64 "}\n",
           uattn_emulator_entry_name(kernel->emulator, kernel->entry),
           seconds * 1e3, statistics.instructions, statistics.ctas);
  for (size_t i = 0; i < kernel->description.buffer_count && !error; ++i)
    memcpy(kernel->first[i], kernel->memories[i].data,
           kernel->description.buffers[i].bytes);
  for (int64_t i = 1; i < command->schedule_count && !error; ++i) {
    uint64_t seed = command->schedule_seed + (uint64_t)i;
    error = uattn_error_annotate(run_schedule(kernel, seed, NULL, NULL),
                                 "schedule seed %" PRIu64, seed);
    if (!error && !compare(kernel, seed))
      *out_exit_code = 1;
  }
  return error;
}

/* ---- Outputs ---------------------------------------------------------------
 */

static uattn_error_t *write_output(const launch_buffer_t *buffer,
                                   const void *elements, const char *path) {
  uattn_npy_array_t array = {
      .dtype = launch_type_is_float(buffer->type) ? UATTN_DTYPE_F32
                                                  : UATTN_DTYPE_I32,
      .rank = buffer->rank,
      .element_count = buffer->element_count,
      .data = uattn_try_allocate(buffer->element_count * 4)};
  if (!array.data)
    return memory_error(buffer);
  memcpy(array.shape, buffer->shape, sizeof buffer->shape);
  size_t place = 0;
  uattn_error_t *error =
      launch_type_unpack(buffer->type, elements, buffer->element_count,
                         array.data, &place)
          ? uattn_npy_write(path, &array)
          : USAGE_ERROR("`%s`: number %zu of buffer %s does not fit int32",
                        path, place, buffer->name);
  free(array.data);
  return error;
}

static uattn_error_t *write_outputs(const kernel_t *kernel) {
  size_t next = 0;
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < kernel->description.buffer_count && !error; ++i)
    if (kernel->description.buffers[i].is_output &&
        next < kernel->command->output_count)
      error = write_output(&kernel->description.buffers[i], kernel->first[i],
                           kernel->command->outputs[next++]);
  return error;
}

static void release(kernel_t *kernel) {
  for (size_t i = 0; i < kernel->description.buffer_count; ++i) {
    if (kernel->memories)
      free(kernel->memories[i].data);
    if (kernel->initial)
      free(kernel->initial[i]);
    if (kernel->first)
      free(kernel->first[i]);
  }
  free(kernel->memories);
  free(kernel->initial);
  free(kernel->first);
  uattn_emulator_timeline_destroy(kernel->timeline);
  uattn_emulator_destroy(kernel->emulator);
  launch_description_release(&kernel->description);
}

uattn_error_t *run_ptx(const run_command_t *command, int *out_exit_code) {
  kernel_t kernel = {.command = command};
  uattn_error_t *error = load(&kernel);
  if (!error) {
    size_t count = kernel.description.buffer_count + 1;
    kernel.memories = uattn_allocate(count * sizeof *kernel.memories);
    kernel.initial = uattn_allocate(count * sizeof *kernel.initial);
    kernel.first = uattn_allocate(count * sizeof *kernel.first);
    error = make_buffers(&kernel);
  }
  if (!error)
    error = run_timeline_create(command, &kernel.timeline);
  if (!error)
    error = run_schedules(&kernel, out_exit_code);
  if (!error)
    error = write_outputs(&kernel);
  if (!error)
    error = run_timeline_write(command, kernel.timeline);
  release(&kernel);
  return error;
}
