/* The handler of XLA's CPU platform: computes the op by lib/host.
 * Layer: python_bindings. Must not know: kernels, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "handlers.h"

#include "op_attributes.h"
#include "uattn/host.h"

static uattn_error_t *place_tensors(uattn_problem_t *problem,
                                    const ffi_call_frame_t *frame,
                                    uattn_host_tensors_t *tensors) {
  uattn_tensor_t given[UATTN_OPERAND_COUNT], wanted[UATTN_RESULT_COUNT];
  uattn_error_t *error = uattn_xla_read_tensors(&frame->arguments, "argument",
                                                UATTN_OPERAND_COUNT, given);
  if (!error)
    error = uattn_xla_read_tensors(&frame->results, "result",
                                   UATTN_RESULT_COUNT, wanted);
  if (error)
    return error;
  int64_t given_count = 0, wanted_count = 0;
  for (int i = 0; i < uattn_operand_count(problem->kind); ++i)
    if (problem->has_operand[i] && given_count++ < frame->arguments.size)
      tensors->operands[i] = given[given_count - 1];
  for (int i = 0; i < uattn_result_count(problem->kind); ++i)
    if (problem->has_result[i] && wanted_count++ < frame->results.size)
      tensors->results[i] = wanted[wanted_count - 1];
  if (given_count != frame->arguments.size ||
      wanted_count != frame->results.size)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "%lld arguments and %lld results are given: expected %lld and %lld",
        (long long)frame->arguments.size, (long long)frame->results.size,
        (long long)given_count, (long long)wanted_count);
  return NULL;
}

/* Sizes that disagree between tensors are for lib/host to tell. */
static uattn_error_t *read_sizes(uattn_problem_t *problem,
                                 const uattn_host_tensors_t *tensors) {
  const uattn_tensor_t *q = &tensors->operands[UATTN_OPERAND_Q];
  const uattn_tensor_t *k = &tensors->operands[UATTN_OPERAND_K];
  if (q->rank != 4 || k->rank != 4)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "q has rank %d and k rank %d: expected 4",
                              (int)q->rank, (int)k->rank);
  problem->dtype = q->dtype;
  problem->batch = q->shape[0];
  problem->q_tokens = q->shape[1];
  problem->q_heads = q->shape[2];
  problem->head_dim = q->shape[3];
  problem->kv_tokens = k->shape[1];
  problem->kv_heads = k->shape[2];
  if (problem->has_operand[UATTN_OPERAND_TEMP])
    problem->temp_dtype = tensors->operands[UATTN_OPERAND_TEMP].dtype;
  return NULL;
}

ffi_error_t *uattn_xla_host_execute(ffi_call_frame_t *frame) {
  if (uattn_xla_answer_question(frame, 0))
    return NULL;
  uattn_problem_t problem;
  uattn_host_tensors_t tensors = {0};
  uattn_error_t *error = uattn_xla_read_problem(&frame->attributes, &problem);
  if (!error)
    error = place_tensors(&problem, frame, &tensors);
  if (!error)
    error = read_sizes(&problem, &tensors);
  if (!error)
    error = uattn_host_run(&problem, &tensors, NULL);
  return uattn_xla_give_error(
      frame, uattn_error_annotate(error, "uattn.ranker_attention"));
}
