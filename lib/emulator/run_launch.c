/* The public launch: checks what the caller gives and makes a launch of it.
 * Layer: emulator. Must not know: instructions, scheduling.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/run_launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"
#include "emulator/timeline.h"
#include "emulator/trace.h"

/* The driver's limits. */
static const uint32_t most_grid[3] = {INT32_MAX, 65535, 65535};
static const uint32_t most_block[3] = {1024, 1024, 64};

static uattn_error_t *wrong(const char *what, uint64_t found,
                            const char *wanted) {
  return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                            "launch: %s %llu: expected %s", what,
                            (unsigned long long)found, wanted);
}

static uattn_error_t *check_sizes(const uattn_emulator_launch_t *options) {
  for (int axis = 0; axis < 3; ++axis) {
    if (options->grid[axis] == 0 || options->grid[axis] > most_grid[axis])
      return wrong("grid size", options->grid[axis],
                   axis ? "1 to 65535" : "1 to 2147483647");
    if (options->block[axis] == 0 || options->block[axis] > most_block[axis])
      return wrong("block size", options->block[axis],
                   axis == 2 ? "1 to 64" : "1 to 1024");
  }
  uint64_t threads =
      (uint64_t)options->block[0] * options->block[1] * options->block[2];
  if (threads > EMU_THREADS_LIMIT)
    return wrong("threads of a block", threads, "at most 1024");
  if (options->thread_count < 0)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "launch: thread_count %d: expected 0 or more",
                              options->thread_count);
  return NULL;
}

/* .reqntid and .maxntid. */
static uattn_error_t *check_block(const ptx_entry_t *entry,
                                  const uattn_emulator_launch_t *options) {
  bool has_required = entry->reqntid[0] != 0;
  uint64_t most = 1;
  for (int axis = 0; axis < 3; ++axis) {
    uint32_t required = entry->reqntid[axis] ? entry->reqntid[axis] : 1;
    most *= entry->maxntid[axis] ? entry->maxntid[axis] : 1;
    if (has_required && options->block[axis] != required)
      return uattn_error_create(
          UATTN_ERROR_INVALID_ARGUMENT,
          "launch: block size %u on axis %d: expected %u as %s requires",
          options->block[axis], axis, required, entry->name);
  }
  uint64_t threads =
      (uint64_t)options->block[0] * options->block[1] * options->block[2];
  if (entry->maxntid[0] && threads > most)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "launch: %llu threads of a block: %s takes at most %llu",
        (unsigned long long)threads, entry->name, (unsigned long long)most);
  return NULL;
}

static uattn_error_t *check_params(const ptx_entry_t *entry,
                                   const uattn_emulator_launch_t *options) {
  if (options->param_count != entry->param_count)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT, "launch: %zu parameters: %s takes %u",
        options->param_count, entry->name, entry->param_count);
  for (uint32_t i = 0; i < entry->param_count; ++i)
    if (options->param_bytes[i] != entry->params[i].bytes)
      return uattn_error_create(
          UATTN_ERROR_INVALID_ARGUMENT,
          "launch: parameter %u of %zu bytes: %s takes %zu bytes", i,
          options->param_bytes[i], entry->name, entry->params[i].bytes);
  return NULL;
}

static uattn_error_t *check_shared(const emu_program_t *program,
                                   const uattn_emulator_launch_t *options,
                                   size_t *out_bytes) {
  size_t bytes;
  if (uattn_size_add(program->static_shared_bytes,
                     options->dynamic_shared_bytes, &bytes) &&
      bytes <= EMU_SHARED_BYTES_LIMIT) {
    *out_bytes = bytes;
    return NULL;
  }
  return uattn_error_create(
      UATTN_ERROR_INVALID_ARGUMENT,
      "launch: %zu bytes of static and %zu of dynamic shared memory: expected "
      "at most %d together",
      program->static_shared_bytes, options->dynamic_shared_bytes,
      EMU_SHARED_BYTES_LIMIT);
}

static uattn_error_t *check_timeline(const emu_program_t *program,
                                     const uattn_emulator_launch_t *options) {
  const uint32_t *grid = options->grid;
  uint64_t count = (uint64_t)grid[0] * grid[1] * grid[2];
  if (!options->timeline || options->timeline->cta < count)
    return NULL;
  return uattn_error_create(
      UATTN_ERROR_INVALID_ARGUMENT,
      "timeline: CTA %" PRIu64 " of %s: expected one of its %" PRIu64
      ", counted from 0",
      options->timeline->cta, program->entry->name, count);
}

static uattn_error_t *check(const emu_program_t *program,
                            const uattn_emulator_launch_t *options,
                            size_t *out_shared_bytes) {
  uattn_error_t *error = check_sizes(options);
  if (!error)
    error = check_block(program->entry, options);
  if (!error)
    error = check_params(program->entry, options);
  if (!error)
    error = check_shared(program, options, out_shared_bytes);
  if (!error)
    error = check_timeline(program, options);
  return error;
}

/* Constants of the module, and its variables as they are at the start. */
static uint8_t *make_space(const emu_program_t *program, ptx_space_t space,
                           size_t bytes) {
  const ptx_module_t *module = program->module;
  uint8_t *memory = uattn_allocate(bytes + 1);
  uint64_t base = space == PTX_SPACE_GLOBAL ? EMU_GLOBAL_WINDOW : 0;
  for (uint32_t i = 0; i < module->variable_count; ++i) {
    const ptx_variable_t *variable = &module->variables[i];
    if (variable->space == space && variable->initial)
      memcpy(memory + (program->variable_offsets[i] - base), variable->initial,
             variable->bytes);
  }
  return memory;
}

static void fill(emu_launch_t *launch, const emu_program_t *program,
                 const uattn_emulator_launch_t *options) {
  const ptx_entry_t *entry = program->entry;
  launch->program = program;
  memcpy(launch->grid, options->grid, sizeof launch->grid);
  memcpy(launch->block, options->block, sizeof launch->block);
  launch->thread_count =
      options->block[0] * options->block[1] * options->block[2];
  launch->cta_count = (uint64_t)options->grid[0] * options->grid[1];
  launch->cta_count *= options->grid[2];
  launch->seed = options->seed;
  launch->checks_hazards = !options->ignores_hazards;
  launch->params = uattn_allocate(entry->param_bytes + 1);
  for (uint32_t i = 0; i < entry->param_count; ++i)
    memcpy(launch->params + entry->params[i].offset, options->params[i],
           entry->params[i].bytes);
  launch->globals =
      make_space(program, PTX_SPACE_GLOBAL, program->global_bytes);
  launch->consts = make_space(program, PTX_SPACE_CONST, program->const_bytes);
  if (options->timeline) {
    launch->recorded_cta = options->timeline->cta;
    launch->recorder = emu_recorder_create(
        program, (launch->thread_count + EMU_LANES - 1) / EMU_LANES);
  }
}

static void release(emu_launch_t *launch) {
  emu_recorder_destroy(launch->recorder);
  free(launch->params);
  free(launch->memories);
  free(launch->globals);
  free(launch->consts);
}

/* The caller's options as far as it knows them. */
static uattn_emulator_launch_t
copy_options(const uattn_emulator_launch_t *launch) {
  uattn_emulator_launch_t options = {0};
  size_t bytes = launch->struct_size < sizeof options ? launch->struct_size
                                                      : sizeof options;
  memcpy(&options, launch, bytes);
  return options;
}

static uattn_error_t *run_traced(emu_launch_t *launch, emu_run_t *run,
                                 emu_trace_t *trace) {
  run->thread_count = 1;
  uattn_error_t *error = emu_trace_begin(trace, launch);
  if (!error)
    error = emu_launch_run(launch, run);
  return emu_trace_end(trace, error);
}

uattn_error_t *emu_run_entry(const uattn_emulator_t *emulator, size_t entry,
                             const uattn_emulator_launch_t *options,
                             emu_trace_t *trace,
                             uattn_emulator_statistics_t *out_statistics) {
  const emu_program_t *program = emulator->programs[entry];
  emu_launch_t emulated = {0};
  uattn_error_t *error = check(program, options, &emulated.shared_bytes);
  if (!error)
    error = emu_memories_create(options->memories, options->memory_count,
                                &emulated.memories, &emulated.memory_count);
  if (error)
    return error;
  fill(&emulated, program, options);
  emu_run_t run = {.thread_count = options->thread_count,
                   .progress = options->progress,
                   .progress_data = options->progress_data};
  error = trace ? run_traced(&emulated, &run, trace)
                : emu_launch_run(&emulated, &run);
  if (!error && emulated.recorder)
    emu_timeline_add(options->timeline, program->entry->name,
                     emulated.cta_count, emulated.recorder);
  release(&emulated);
  if (out_statistics)
    *out_statistics = run.statistics;
  return error;
}

uattn_error_t *uattn_emulator_run(const uattn_emulator_t *emulator,
                                  size_t entry,
                                  const uattn_emulator_launch_t *launch,
                                  uattn_emulator_statistics_t *out_statistics) {
  uattn_emulator_launch_t options = copy_options(launch);
  if (entry >= emulator->module->entry_count)
    return wrong("entry", entry, "one of the module's");
  emu_trace_t *trace = NULL;
  uattn_error_t *error = emu_trace_create(options.trace, &trace);
  if (trace) {
    emu_trace_expect(trace, emulator->programs[entry]);
    error = emu_trace_check(trace);
  }
  if (!error)
    error = emu_run_entry(emulator, entry, &options, trace, out_statistics);
  if (trace && !error)
    error = emu_trace_check_places(trace);
  emu_trace_destroy(trace);
  return error;
}
