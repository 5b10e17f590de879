/* The forward op in float64, a query row and head at a time.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "reference/reference_work.h"
#include "reference/row_operations.h"
#include "reference/visibility.h"
#include "support/parallel_for.h"
#include "support/support.h"

/* One item of work is this many rows of one head, so that neighbours read the
 * same keys. */
enum { ROWS_PER_ITEM = 16 };

/* A thread's memory. */
typedef struct {
  double *q;       /* [head_dim] */
  double *out;     /* [head_dim] */
  double *weights; /* [kv_tokens], of the keys in the list */
  int32_t *keys;   /* [kv_tokens], the rows of k that the query sees */
} forward_scratch_t;

static size_t forward_scratch_bytes(const uattn_problem_t *problem) {
  return sizeof(double) * (size_t)(2 * problem->head_dim + problem->kv_tokens) +
         sizeof(int32_t) * (size_t)problem->kv_tokens;
}

static forward_scratch_t forward_scratch_view(const uattn_problem_t *problem,
                                              void *memory) {
  forward_scratch_t scratch = {.q = memory};
  scratch.out = scratch.q + problem->head_dim;
  scratch.weights = scratch.out + problem->head_dim;
  scratch.keys = (int32_t *)(scratch.weights + problem->kv_tokens);
  return scratch;
}

/* Turns the logits t into exp(t - max) and returns lse; `*out_sum` is the sum
 * of the weights. A NaN among the logits reaches both. */
static double softmax_weights(double *weights, int64_t count, double *out_sum) {
  double max = weights[0];
  for (int64_t n = 1; n < count; ++n)
    if (weights[n] > max)
      max = weights[n];
  double sum = 0;
  for (int64_t n = 0; n < count; ++n) {
    weights[n] = exp(weights[n] - max);
    sum += weights[n];
  }
  *out_sum = sum;
  return max + log(sum);
}

/* Leaves out_i in the scratch and returns lse_i. */
static double evaluate_row(const uattn_reference_work_t *work,
                           const forward_scratch_t *scratch,
                           uattn_row_place_t place, int64_t head) {
  const uattn_problem_t *problem = work->problem;
  int64_t head_dim = problem->head_dim;
  int64_t kv_head = head / (problem->q_heads / problem->kv_heads);
  memset(scratch->out, 0, sizeof(double) * (size_t)head_dim);

  uattn_visibility_t visibility =
      uattn_visibility_of_batch(problem, work->tensors, place.batch);
  int64_t key_count =
      uattn_visibility_list_keys(&visibility, place.token, scratch->keys);
  if (key_count == 0)
    return -INFINITY;

  uattn_row_widen(uattn_q_like_row(work, UATTN_OPERAND_Q, place, head),
                  head_dim, scratch->q);
  double temp = uattn_row_temp(work, place);
  for (int64_t n = 0; n < key_count; ++n) {
    uattn_row_place_t key = {place.batch, scratch->keys[n]};
    const float *k = uattn_kv_like_row(work, UATTN_OPERAND_K, key, kv_head);
    double logit = problem->sm_scale * uattn_row_dot(scratch->q, k, head_dim);
    scratch->weights[n] =
        temp * uattn_cap_function_evaluate(&work->cap, logit, NULL);
  }

  double sum = 0;
  double lse = softmax_weights(scratch->weights, key_count, &sum);
  for (int64_t n = 0; n < key_count; ++n) {
    uattn_row_place_t key = {place.batch, scratch->keys[n]};
    const float *v = uattn_kv_like_row(work, UATTN_OPERAND_V, key, kv_head);
    uattn_row_add_scaled(scratch->out, scratch->weights[n] / sum, v, head_dim);
  }
  return lse;
}

static int64_t items_per_head(const uattn_reference_work_t *work) {
  return uattn_ceil_divide(work->q_rows.row_count, ROWS_PER_ITEM);
}

static void forward_item(const void *context, void *memory, int64_t item) {
  const uattn_reference_work_t *work = context;
  const uattn_problem_t *problem = work->problem;
  forward_scratch_t scratch = forward_scratch_view(problem, memory);
  double *out = work->tensors->results[UATTN_RESULT_OUT];
  double *lse = work->tensors->results[UATTN_RESULT_LSE];
  int64_t head = item / items_per_head(work);
  int64_t first = item % items_per_head(work) * ROWS_PER_ITEM;
  int64_t tokens = work->q_rows.result_tokens;

  for (int64_t row = first;
       row < first + ROWS_PER_ITEM && row < work->q_rows.row_count; ++row) {
    double row_lse = evaluate_row(
        work, &scratch, uattn_row_set_place(&work->q_rows, row), head);
    if (out)
      memcpy(out + (row * problem->q_heads + head) * problem->head_dim,
             scratch.out, sizeof(double) * (size_t)problem->head_dim);
    if (lse)
      lse[uattn_lse_index(row / tokens, problem->q_heads, head, tokens,
                          row % tokens)] = row_lse;
  }
}

uattn_error_t *uattn_reference_forward(const uattn_reference_work_t *work) {
  return uattn_parallel_for(
      work->problem->q_heads * items_per_head(work), work->thread_count,
      forward_scratch_bytes(work->problem), forward_item, work);
}
