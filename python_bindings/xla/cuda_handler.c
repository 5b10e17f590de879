/* The handlers of XLA's CUDA platform: kernels on XLA's stream.
 * Layer: python_bindings. Must not know: MLIR, how kernels are made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "handlers.h"

#include "kernel_registry.h"
#include "op_attributes.h"

/* The function that an artifact of one op holds. */
enum { ONLY_FUNCTION = 0 };

typedef struct {
  ffi_bytes_t name;
  int32_t ordinal;
} wanted_program_t;

/* XLA's own error, where there is one. */
static ffi_error_t *find_ordinal(const ffi_call_frame_t *frame,
                                 int32_t *out_ordinal,
                                 uattn_error_t **out_error) {
  const ffi_api_t *api = frame->api;
  if (api->struct_size < sizeof *api) {
    *out_error = uattn_error_create(
        UATTN_ERROR_UNSUPPORTED,
        "this jaxlib does not tell a handler its device: expected jaxlib 0.10 "
        "or newer");
    return NULL;
  }
  ffi_device_ordinal_get_args_t args = {.struct_size = sizeof args,
                                        .context = frame->context};
  ffi_error_t *foreign = api->device_ordinal_get(&args);
  *out_ordinal = args.device_ordinal;
  return foreign;
}

static ffi_error_t *read_wanted(const ffi_call_frame_t *frame,
                                wanted_program_t *wanted,
                                uattn_error_t **out_error) {
  if (!uattn_xla_find_text(&frame->attributes, "artifact", &wanted->name)) {
    *out_error = uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                                    "attribute artifact is missing: expected "
                                    "the name of a compiled artifact");
    return NULL;
  }
  return find_ordinal(frame, &wanted->ordinal, out_error);
}

static ffi_error_t *give(const ffi_call_frame_t *frame, uattn_error_t *error) {
  return uattn_xla_give_error(
      frame, uattn_error_annotate(error, "uattn.ranker_attention"));
}

ffi_error_t *uattn_xla_cuda_initialize(ffi_call_frame_t *frame) {
  if (uattn_xla_answer_question(frame, FFI_TRAIT_COMMAND_BUFFER_COMPATIBLE))
    return NULL;
  wanted_program_t wanted;
  uattn_error_t *error = NULL;
  ffi_error_t *foreign = read_wanted(frame, &wanted, &error);
  if (foreign)
    return foreign;
  uattn_problem_t problem;
  if (!error)
    error = uattn_xla_read_problem(&frame->attributes, &problem);
  if (!error)
    error = uattn_xla_load_program(wanted.name.data, wanted.name.size,
                                   wanted.ordinal, &problem);
  return give(frame, error);
}

static uattn_error_t *launch(const ffi_call_frame_t *frame,
                             const uattn_program_t *program, void *stream) {
  uattn_tensor_t arguments[UATTN_OPERAND_COUNT], results[UATTN_RESULT_COUNT];
  ffi_values_t written = frame->results;
  uattn_launch_t launch = {.struct_size = sizeof launch,
                           .arguments = arguments,
                           .argument_count = (size_t)frame->arguments.size,
                           .results = results,
                           .stream = stream,
                           .is_place_known = true};
  launch.workspace =
      uattn_xla_take_workspace(&written, &launch.workspace_bytes);
  launch.result_count = (size_t)written.size;
  uattn_error_t *error = uattn_xla_read_tensors(&frame->arguments, "argument",
                                                UATTN_OPERAND_COUNT, arguments);
  if (!error)
    error =
        uattn_xla_read_tensors(&written, "result", UATTN_RESULT_COUNT, results);
  if (!error)
    error = uattn_function_launch(program, ONLY_FUNCTION, &launch);
  return error;
}

ffi_error_t *uattn_xla_cuda_execute(ffi_call_frame_t *frame) {
  if (uattn_xla_answer_question(frame, FFI_TRAIT_COMMAND_BUFFER_COMPATIBLE))
    return NULL;
  wanted_program_t wanted;
  uattn_error_t *error = NULL;
  ffi_error_t *foreign = read_wanted(frame, &wanted, &error);
  ffi_stream_get_args_t stream = {.struct_size = sizeof stream,
                                  .context = frame->context};
  if (!foreign && !error)
    foreign = frame->api->stream_get(&stream);
  if (foreign)
    return foreign;
  const uattn_program_t *program = NULL;
  if (!error) {
    program = uattn_xla_find_program(wanted.name.data, wanted.name.size,
                                     wanted.ordinal);
    if (!program)
      error = uattn_error_create(UATTN_ERROR_INTERNAL,
                                 "the kernels are not loaded: expected XLA to "
                                 "initialize the call before");
  }
  if (!error)
    error = launch(frame, program, stream.stream);
  return give(frame, error);
}
