/* Runs the functions of an artifact by executing its kernels' PTX.
 * Layer: emulator. Must not know: instructions, scheduling.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"
#include "emulator/program_memories.h"
#include "emulator/trace.h"
#include "support/support.h"

struct uattn_emulator_program {
  const uattn_artifact_t *artifact;
  uattn_function_facts_t *functions; /* of each function */
  uattn_emulator_t **images;         /* of each image */
  size_t *entries;                   /* of each kernel, in its image */
};

/* The text's name in messages: that of its first kernel. */
static char *image_name(const uattn_artifact_t *artifact, uint32_t image) {
  const char *entry = "image";
  for (uint32_t i = artifact->kernel_count; i-- > 0;)
    if (artifact->kernels[i].image_index == image)
      entry = artifact->kernels[i].entry;
  uattn_string_t name = {0};
  uattn_string_appendf(&name, "%s.ptx", entry);
  return uattn_string_take(&name);
}

static uattn_error_t *load_image(const uattn_artifact_t *artifact,
                                 uint32_t index,
                                 uattn_emulator_t **out_emulator) {
  const char *ptx = artifact->images[index].ptx;
  char *name = image_name(artifact, index);
  uattn_error_t *error =
      ptx && *ptx
          ? uattn_emulator_create(name, ptx, strlen(ptx), out_emulator)
          : uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                               "%s is in the file as a cubin alone: the "
                               "emulator wants its text",
                               name);
  free(name);
  return error;
}

static uattn_error_t *find_entry(const uattn_emulator_t *emulator,
                                 const char *name, size_t *out_entry) {
  for (size_t i = 0; i < uattn_emulator_entry_count(emulator); ++i)
    if (strcmp(uattn_emulator_entry_name(emulator, i), name) == 0) {
      *out_entry = i;
      return NULL;
    }
  return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                            "kernel %s is not in its image", name);
}

static uattn_error_t *load(uattn_emulator_program_t *program) {
  const uattn_artifact_t *artifact = program->artifact;
  uattn_error_t *error =
      uattn_artifact_facts_create(artifact, &program->functions);
  for (uint32_t i = 0; !error && i < artifact->image_count; ++i)
    error = load_image(artifact, i, &program->images[i]);
  for (uint32_t i = 0; !error && i < artifact->kernel_count; ++i)
    error = find_entry(program->images[artifact->kernels[i].image_index],
                       artifact->kernels[i].entry, &program->entries[i]);
  return error;
}

uattn_error_t *
uattn_emulator_program_create(const uattn_artifact_t *artifact,
                              uattn_emulator_program_t **out_program) {
  uattn_emulator_program_t *program = uattn_allocate(sizeof *program);
  program->artifact = artifact;
  program->images =
      uattn_allocate(artifact->image_count * sizeof *program->images);
  program->entries =
      uattn_allocate(artifact->kernel_count * sizeof *program->entries);
  uattn_error_t *error = load(program);
  if (error)
    uattn_emulator_program_destroy(program);
  else
    *out_program = program;
  return error;
}

void uattn_emulator_program_destroy(uattn_emulator_program_t *program) {
  if (!program)
    return;
  uattn_artifact_facts_destroy(program->artifact, program->functions);
  for (uint32_t i = 0; i < program->artifact->image_count; ++i)
    uattn_emulator_destroy(program->images[i]);
  free(program->images);
  free(program->entries);
  free(program);
}

uattn_error_t *
uattn_emulator_program_results(const uattn_emulator_program_t *program,
                               size_t function, const uattn_tensor_t *arguments,
                               size_t argument_count,
                               uattn_tensor_t *out_results) {
  uattn_call_t call = {.arguments = arguments,
                       .argument_count = argument_count};
  uattn_error_t *error =
      uattn_call_begin(program->artifact, program->functions, function, &call);
  if (!error)
    uattn_call_describe_results(&call, out_results);
  return error;
}

/* ---- Running ---------------------------------------------------------------
 */

typedef struct {
  const uattn_emulator_program_t *program;
  const uattn_emulator_call_t *options;
  const uattn_call_t *call;
  emu_program_memories_t memories; /* of the op that runs */
  uint32_t step;                   /* it, where there are memories */
  emu_trace_t *trace;              /* may be NULL */
  uint32_t kernel_count;           /* of the call */
  uint32_t done_count;
  uattn_emulator_statistics_t statistics;
} run_t;

/* One kernel parameter as it lies in the parameter block. */
typedef union {
  uint8_t map[128];
  uint64_t address;
  int32_t i32;
  float f32;
} slot_t;

static uattn_element_t element_of(uattn_dtype_t dtype) {
  switch (dtype) {
  case UATTN_DTYPE_BF16:
    return UATTN_ELEMENT_BF16;
  case UATTN_DTYPE_F16:
    return UATTN_ELEMENT_F16;
  case UATTN_DTYPE_F32:
    return UATTN_ELEMENT_F32;
  case UATTN_DTYPE_I32:
    break;
  }
  return UATTN_ELEMENT_I32;
}

static uattn_error_t *encode_map(const uattn_map_description_t *description,
                                 uint8_t out_bytes[128]) {
  uattn_tensor_map_t map = {.element = element_of(description->dtype),
                            .rank = 4,
                            .data = description->data,
                            .swizzle = UATTN_SWIZZLE_128B};
  memcpy(map.dims, description->sizes, sizeof description->sizes);
  memcpy(map.strides, description->stride_bytes,
         sizeof description->stride_bytes);
  memcpy(map.box, description->box, sizeof description->box);
  return uattn_error_annotate(uattn_emulator_encode_tensor_map(&map, out_bytes),
                              "%s", description->name);
}

static uattn_error_t *fill_slot(uattn_param_kind_t kind,
                                const uattn_param_value_t *value,
                                slot_t *slot) {
  switch (kind) {
  case UATTN_PARAM_TENSOR_MAP:
    return encode_map(&value->map, slot->map);
  case UATTN_PARAM_POINTER:
    slot->address = (uint64_t)(uintptr_t)value->address;
    break;
  case UATTN_PARAM_I32:
    slot->i32 = value->i32;
    break;
  case UATTN_PARAM_F32:
    slot->f32 = value->f32;
    break;
  }
  return NULL;
}

/* The share of the call that is done. */
static void tell_progress(double done, void *user_data) {
  const run_t *run = user_data;
  run->options->progress((run->done_count + done) / run->kernel_count,
                         run->options->progress_data);
}

/* What no kernel has written is NaN in every float type. */
enum { POISON = 0xff };

/* Finds what the kernels of an op may touch, before its first one: the scratch
 * of the op before is no more. */
static void enter_step(run_t *run, uint32_t step) {
  const uattn_call_t *call = run->call;
  if (run->memories.list && run->step == step)
    return;
  emu_program_memories_release(&run->memories);
  emu_program_memories_find(call, step, &run->memories);
  run->step = step;
  size_t begin = uattn_call_values_bytes(call);
  if (call->workspace_bytes > begin)
    memset((char *)call->workspace + begin, POISON,
           call->workspace_bytes - begin);
}

static uattn_error_t *launch_kernel(void *user_data,
                                    const uattn_kernel_launch_t *launch) {
  run_t *run = user_data;
  const uattn_artifact_kernel_t *kernel = launch->kernel;
  enter_step(run, launch->step_index);
  slot_t slots[UATTN_KERNEL_PARAM_LIMIT];
  const void *params[UATTN_KERNEL_PARAM_LIMIT];
  size_t param_bytes[UATTN_KERNEL_PARAM_LIMIT];
  for (uint32_t i = 0; i < kernel->param_count; ++i) {
    params[i] = &slots[i];
    param_bytes[i] = uattn_param_bytes(kernel->params[i].kind);
    uattn_error_t *error =
        fill_slot(kernel->params[i].kind, &launch->params[i], &slots[i]);
    if (error)
      return error;
  }
  uattn_emulator_launch_t options = {
      .struct_size = sizeof options,
      .grid = {launch->cta_count, 1, 1},
      .block = {(uint32_t)kernel->threads, 1, 1},
      .dynamic_shared_bytes = (size_t)kernel->dynamic_smem_bytes,
      .params = params,
      .param_bytes = param_bytes,
      .param_count = kernel->param_count,
      .memories = run->memories.list,
      .memory_count = run->memories.count,
      .seed = run->options->seed,
      .thread_count = run->options->thread_count,
      .progress = run->options->progress ? tell_progress : NULL,
      .progress_data = run,
      .ignores_hazards = run->options->ignores_hazards,

      .timeline = run->options->timeline};
  uattn_emulator_statistics_t statistics = {0};
  uattn_error_t *error =
      emu_run_entry(run->program->images[kernel->image_index],
                    run->program->entries[launch->kernel_index], &options,
                    run->trace, &statistics);
  run->statistics.instructions += statistics.instructions;
  run->statistics.ctas += statistics.ctas;
  ++run->done_count;
  return error;
}

static uattn_error_t *copy_result(void *user_data, void *target,
                                  const void *source, size_t bytes) {
  (void)user_data;
  memmove(target, source, bytes);
  return NULL;
}

static uattn_error_t *make_workspace(uattn_call_t *call) {
  enum { ALIGNMENT = 256 };
  uattn_error_t *error =
      uattn_call_workspace_bytes(call, &call->workspace_bytes);
  if (error || call->workspace_bytes == 0)
    return error;
  size_t bytes = call->workspace_bytes; /* a multiple of the alignment */
  call->workspace = aligned_alloc(ALIGNMENT, bytes);
  if (!call->workspace)
    return uattn_error_create(
        UATTN_ERROR_INTERNAL,
        "out of host memory for %zu bytes between kernels", bytes);
  memset(call->workspace, POISON, bytes);
  return NULL;
}

/* Says what a trace asks for and the call's kernels do not have, before they
 * run. */
static uattn_error_t *check_trace(const run_t *run, const uattn_call_t *call) {
  const uattn_emulator_program_t *program = run->program;
  for (uint32_t i = 0; i < call->function->step_count; ++i) {
    const uattn_artifact_step_t *step = &call->function->steps[i];
    for (uint32_t k = 0; k < step->kernel_count; ++k) {
      uint32_t kernel = step->first_kernel + k;
      uint32_t image = program->artifact->kernels[kernel].image_index;
      emu_trace_expect(
          run->trace,
          program->images[image]->programs[program->entries[kernel]]);
    }
  }
  return emu_trace_check(run->trace);
}

static uattn_error_t *run_call(run_t *run, uattn_call_t *call) {
  const uattn_call_device_t device = {
      .launch = launch_kernel, .copy = copy_result, .user_data = run};
  run->call = call;
  for (uint32_t i = 0; i < call->function->step_count; ++i)
    run->kernel_count += call->function->steps[i].kernel_count;
  uattn_error_t *error = run->trace ? check_trace(run, call) : NULL;
  if (!error)
    error = make_workspace(call);
  if (!error)
    error = uattn_call_check(call);
  if (!error)
    error = uattn_call_enqueue(call, &device);
  emu_program_memories_release(&run->memories);
  free(call->workspace);
  return error;
}

uattn_error_t *
uattn_emulator_program_run(const uattn_emulator_program_t *program,
                           size_t function, const uattn_emulator_call_t *call,
                           uattn_emulator_statistics_t *out_statistics) {
  uattn_emulator_call_t known = {0};
  memcpy(&known, call,
         call->struct_size < sizeof known ? call->struct_size : sizeof known);
  uattn_call_t checked = {.arguments = known.arguments,
                          .argument_count = known.argument_count,
                          .results = known.results,
                          .result_count = known.result_count,
                          .sm_scale = known.sm_scale,
                          .cap = known.cap};
  run_t run = {.program = program, .options = &known};
  uattn_error_t *error = uattn_call_begin(program->artifact, program->functions,
                                          function, &checked);
  if (!error)
    error = emu_trace_create(known.trace, &run.trace);
  if (!error)
    error = run_call(&run, &checked);
  if (!error && run.trace)
    error = emu_trace_check_places(run.trace);
  emu_trace_destroy(run.trace);
  if (out_statistics)
    *out_statistics = run.statistics;
  return error;
}
