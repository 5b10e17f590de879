/* Draws the inputs of an op that the user has not given, from a seed.
 * Layer: tools. Must not know: devices, files, MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#include "draw_inputs.h"

#include <math.h>
#include <stdlib.h>

#include "random_stream.h"
#include "spec/spec.h"
#include "support/support.h"
#include "uattn/reference.h"

/* Stream of the token layout, beside those of the operands. */
enum { LAYOUT_STREAM = UATTN_OPERAND_COUNT };

/* Where one batch's kinds of tokens end; history begins at position 0. */
typedef struct {
  int64_t history_end;
  int64_t candidate_end; /* dead rows follow */
} token_layout_t;

static uint64_t stream_key(const uattn_draw_options_t *options,
                           uint64_t stream) {
  return uattn_random_key(options->seed, options->op_index, stream);
}

/* The positions that q or k has: 0 to this. */
static int64_t position_end(const uattn_problem_t *problem) {
  int64_t end = problem->q_offset + problem->q_tokens;
  if (end < problem->kv_tokens || end > INT32_MAX)
    end = problem->kv_tokens;
  return end;
}

/* Up to an eighth of the positions and at most 9 are dead, half to three
 * quarters of the others are history. */
static token_layout_t draw_layout(const uattn_problem_t *problem,
                                  const uattn_draw_options_t *options,
                                  int64_t batch) {
  uint64_t key = stream_key(options, LAYOUT_STREAM);
  uint64_t index = 2 * (uint64_t)batch;
  int64_t end = position_end(problem);
  int64_t most_dead = end / 8 < 9 ? end / 8 : 9;
  token_layout_t layout;
  layout.candidate_end =
      end - (most_dead > 0 ? 1 + uattn_random_below(key, index, most_dead) : 0);
  int64_t least_history = uattn_ceil_divide(layout.candidate_end, 2);
  layout.history_end =
      least_history +
      uattn_random_below(key, index + 1, layout.candidate_end / 4 + 1);
  return layout;
}

static int32_t segment_id(const token_layout_t *layout, int64_t position) {
  if (position < 0 || position >= layout->candidate_end)
    return 0;
  return position < layout->history_end ? 1 : -1;
}

/* One batch's row of bounds or segment ids. */
static void draw_integers(const uattn_problem_t *problem,
                          uattn_operand_t operand, const token_layout_t *layout,
                          int64_t size, int32_t *out_row) {
  if (operand == UATTN_OPERAND_BOUNDS) {
    out_row[0] = 0;
    out_row[1] = (int32_t)layout->history_end;
    out_row[2] = (int32_t)layout->history_end;
    out_row[3] = (int32_t)layout->candidate_end;
    return;
  }
  int64_t offset =
      operand == UATTN_OPERAND_Q_SEGMENT_IDS ? problem->q_offset : 0;
  for (int64_t row = 0; row < size; ++row)
    out_row[row] = segment_id(layout, offset + row);
}

/* Of out and lse: as if every key had the same weight, but for the spread of
 * the scores. */
static double draw_number(const uattn_problem_t *problem,
                          uattn_operand_t operand, uint64_t key,
                          uint64_t index) {
  switch (operand) {
  case UATTN_OPERAND_OUT:
    return uattn_random_normal(key, index) / sqrt((double)problem->kv_tokens);
  case UATTN_OPERAND_LSE:
    return log((double)problem->kv_tokens) + 0.5;
  case UATTN_OPERAND_TEMP:
    return 0.5 + uattn_random_uniform(key, index);
  case UATTN_OPERAND_DLSE:
    return 0.1 * uattn_random_normal(key, index);
  default:
    return uattn_random_normal(key, index);
  }
}

/* The number of elements; `*out_row_size` is that of one batch. */
static size_t operand_elements(const uattn_problem_t *problem,
                               uattn_operand_t operand, int64_t *out_row_size) {
  int64_t shape[4] = {0};
  int rank = uattn_operand_shape(problem, operand, shape);
  size_t count = 1;
  for (int dim = 1; dim < rank; ++dim)
    if (!uattn_size_multiply(count, (size_t)shape[dim], &count))
      return SIZE_MAX;
  *out_row_size = (int64_t)count;
  return uattn_size_multiply(count, (size_t)shape[0], &count) ? count
                                                              : SIZE_MAX;
}

void uattn_draw_operand(const uattn_problem_t *problem, uattn_operand_t operand,
                        const uattn_draw_options_t *options, void *out_data) {
  int64_t row_size = 0;
  size_t count = operand_elements(problem, operand, &row_size);
  uattn_dtype_t dtype = uattn_operand_dtype(problem, operand);
  if (dtype == UATTN_DTYPE_I32) {
    for (int64_t batch = 0; batch < problem->batch; ++batch) {
      token_layout_t layout = draw_layout(problem, options, batch);
      draw_integers(problem, operand, &layout, row_size,
                    (int32_t *)out_data + batch * row_size);
    }
    return;
  }
  uint64_t key = stream_key(options, (uint64_t)operand);
  for (size_t i = 0; i < count; ++i)
    ((float *)out_data)[i] = uattn_round_to_dtype(
        (float)draw_number(problem, operand, key, i), dtype);
}

static uattn_error_t *allocate_operand(const uattn_problem_t *problem,
                                       uattn_operand_t operand,
                                       size_t element_bytes, void **out_data) {
  int64_t row_size = 0;
  size_t bytes = operand_elements(problem, operand, &row_size);
  *out_data = NULL;
  if (uattn_size_multiply(bytes, element_bytes, &bytes))
    *out_data = uattn_try_allocate(bytes);
  return *out_data ? NULL
                   : uattn_error_create(UATTN_ERROR_INTERNAL,
                                        "no memory for drawing %s",
                                        uattn_operand_name(operand));
}

/* The forward op whose results a backward op takes. */
static uattn_problem_t forward_of(const uattn_problem_t *problem) {
  uattn_problem_t forward = *problem;
  forward.kind = UATTN_OP_FORWARD;
  forward.z_loss_weight = 0;
  forward.is_deterministic = false;
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    forward.has_operand[i] =
        i < UATTN_FORWARD_OPERAND_COUNT && problem->has_operand[i];
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    forward.has_result[i] = i < UATTN_FORWARD_RESULT_COUNT;
  return forward;
}

/* Allocates an operand and fills it with a forward result, rounded. */
static uattn_error_t *store_forward_result(const uattn_problem_t *problem,
                                           uattn_operand_t operand,
                                           const double *result,
                                           void **out_data) {
  uattn_error_t *error =
      allocate_operand(problem, operand, sizeof(float), out_data);
  if (error)
    return error;
  int64_t row_size = 0;
  size_t count = operand_elements(problem, operand, &row_size);
  uattn_dtype_t dtype = uattn_operand_dtype(problem, operand);
  for (size_t i = 0; i < count; ++i)
    ((float *)*out_data)[i] = uattn_round_to_dtype((float)result[i], dtype);
  return NULL;
}

/* Draws out and lse, those of them that are missing. */
static uattn_error_t *draw_forward_results(const uattn_problem_t *problem,
                                           const uattn_draw_options_t *options,
                                           void *operands[]) {
  static const uattn_operand_t taken[] = {UATTN_OPERAND_OUT, UATTN_OPERAND_LSE};
  uattn_problem_t forward = forward_of(problem);
  uattn_reference_tensors_t tensors = {0};
  for (int i = 0; i < UATTN_FORWARD_OPERAND_COUNT; ++i)
    tensors.operands[i] = operands[i];
  uattn_error_t *error = NULL;
  bool is_any_missing = false;
  for (int i = 0; i < UATTN_FORWARD_RESULT_COUNT && !error; ++i)
    if (!operands[taken[i]]) {
      void *memory = NULL;
      error = allocate_operand(problem, taken[i], sizeof(double), &memory);
      tensors.results[i] = memory;
      is_any_missing = true;
    }
  if (!error && is_any_missing)
    error = uattn_reference_run(
        &forward, &tensors,
        &(uattn_reference_options_t){.struct_size =
                                         sizeof(uattn_reference_options_t),
                                     .thread_count = options->thread_count});
  for (int i = 0; i < UATTN_FORWARD_RESULT_COUNT; ++i) {
    if (!error && tensors.results[i])
      error = store_forward_result(problem, taken[i], tensors.results[i],
                                   &operands[taken[i]]);
    free(tensors.results[i]);
  }
  return error;
}

static bool is_forward_result(int operand) {
  return operand == UATTN_OPERAND_OUT || operand == UATTN_OPERAND_LSE;
}

uattn_error_t *uattn_draw_missing_inputs(const uattn_problem_t *problem,
                                         const uattn_draw_options_t *options,
                                         void *operands[UATTN_OPERAND_COUNT]) {
  bool is_given[UATTN_OPERAND_COUNT];
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    is_given[i] = operands[i] != NULL;
  uattn_error_t *error = NULL;
  for (int i = 0; i < uattn_operand_count(problem->kind) && !error; ++i) {
    uattn_operand_t operand = (uattn_operand_t)i;
    if (is_given[i] || !problem->has_operand[i] || is_forward_result(i))
      continue;
    error = allocate_operand(problem, operand, 4, &operands[i]);
    if (!error)
      uattn_draw_operand(problem, operand, options, operands[i]);
  }
  if (!error && problem->kind == UATTN_OP_BACKWARD)
    error = draw_forward_results(problem, options, operands);
  for (int i = 0; error && i < UATTN_OPERAND_COUNT; ++i)
    if (!is_given[i]) {
      free(operands[i]);
      operands[i] = NULL;
    }
  return error;
}
