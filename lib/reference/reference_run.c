/* Checks a run's arguments and hands it to the op's passes.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "reference/reference_work.h"
#include "support/support.h"

#define INVALID(...)                                                           \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static uattn_error_t *check_static(const uattn_problem_t *problem) {
  const int64_t sizes[] = {problem->batch, problem->q_tokens,
                           problem->kv_tokens, problem->q_heads,
                           problem->kv_heads};
  const char *const names[] = {"batch", "q_tokens", "kv_tokens", "q_heads",
                               "kv_heads"};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    if (sizes[i] == UATTN_DIM_DYNAMIC)
      return INVALID("%s is dynamic: the reference expects a number", names[i]);
  return NULL;
}

static uattn_error_t *check_tensors(const uattn_problem_t *problem,
                                    const uattn_reference_tensors_t *tensors) {
  for (int i = 0; i < uattn_operand_count(problem->kind); ++i)
    if (problem->has_operand[i] && !tensors->operands[i])
      return INVALID("operand %s has no data: the reference expects an array",
                     uattn_operand_name((uattn_operand_t)i));
  if (problem->kind == UATTN_OP_BACKWARD &&
      tensors->results[UATTN_RESULT_DTEMP] &&
      !problem->has_operand[UATTN_OPERAND_TEMP])
    return INVALID("dtemp is wanted of an op without temp: expected temp");
  return NULL;
}

static uattn_error_t *check_rows(const char *name, const int64_t *rows,
                                 size_t count, int64_t row_count) {
  for (size_t i = 0; rows && i < count; ++i)
    if (rows[i] < 0 || rows[i] >= row_count)
      return INVALID("%s[%zu] is %" PRId64 ": expected 0 to %" PRId64, name, i,
                     rows[i], row_count - 1);
  return NULL;
}

static uattn_row_set_t make_row_set(const int64_t *chosen, size_t count,
                                    int64_t batch, int64_t tokens) {
  if (!chosen)
    return (uattn_row_set_t){NULL, batch * tokens, tokens, tokens};
  return (uattn_row_set_t){chosen, (int64_t)count, tokens, (int64_t)count};
}

/* Fields past the caller's struct_size are zero. */
static uattn_reference_options_t
read_options(const uattn_reference_options_t *options) {
  uattn_reference_options_t copy = {0};
  if (options)
    memcpy(&copy, options,
           options->struct_size < sizeof copy ? options->struct_size
                                              : sizeof copy);
  return copy;
}

uattn_error_t *uattn_reference_run(const uattn_problem_t *problem,
                                   const uattn_reference_tensors_t *tensors,
                                   const uattn_reference_options_t *options) {
  uattn_reference_options_t set = read_options(options);
  uattn_error_t *error = uattn_problem_validate(problem);
  if (!error)
    error = check_static(problem);
  if (!error)
    error = check_tensors(problem, tensors);
  if (!error && set.thread_count < 0)
    error = INVALID("thread_count is %d: expected 0 or more", set.thread_count);
  if (!error)
    error = check_rows("q_rows", set.q_rows, set.q_row_count,
                       problem->batch * problem->q_tokens);
  if (!error)
    error = check_rows("kv_rows", set.kv_rows, set.kv_row_count,
                       problem->batch * problem->kv_tokens);
  if (error)
    return error;

  uattn_reference_work_t work = {
      .problem = problem,
      .tensors = tensors,
      .cap = uattn_cap_function_prepare(&problem->cap),
      .q_rows = make_row_set(set.q_rows, set.q_row_count, problem->batch,
                             problem->q_tokens),
      .kv_rows = make_row_set(set.kv_rows, set.kv_row_count, problem->batch,
                              problem->kv_tokens),
      .thread_count = set.thread_count,
      .uses_given_out = set.uses_given_out};
  return problem->kind == UATTN_OP_FORWARD ? uattn_reference_forward(&work)
                                           : uattn_reference_backward(&work);
}
