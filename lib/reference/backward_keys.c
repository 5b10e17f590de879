/* The backward op's pass over rows of k: dk and dv.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "reference/backward_pass.h"
#include "reference/row_operations.h"
#include "reference/visibility.h"
#include "support/parallel_for.h"
#include "support/support.h"

/* A thread's memory. */
typedef struct {
  double *k;        /* [head_dim] */
  double *v;        /* [head_dim] */
  double *dk;       /* [head_dim] */
  double *dv;       /* [head_dim] */
  int32_t *queries; /* [q_tokens], the rows of q that see the key */
} key_scratch_t;

static size_t key_scratch_bytes(const uattn_problem_t *problem) {
  return sizeof(double) * 4 * (size_t)problem->head_dim +
         sizeof(int32_t) * (size_t)problem->q_tokens;
}

static key_scratch_t key_scratch_view(const uattn_problem_t *problem,
                                      void *memory) {
  key_scratch_t scratch = {.k = memory};
  scratch.v = scratch.k + problem->head_dim;
  scratch.dk = scratch.v + problem->head_dim;
  scratch.dv = scratch.dk + problem->head_dim;
  scratch.queries = (int32_t *)(scratch.dv + problem->head_dim);
  return scratch;
}

/* Adds what one query row and head gives to dk_j and dv_j. */
static void add_query(const uattn_backward_t *backward,
                      const key_scratch_t *scratch, uattn_row_place_t place,
                      int64_t head) {
  const uattn_reference_work_t *work = backward->work;
  const uattn_problem_t *problem = work->problem;
  int64_t head_dim = problem->head_dim;
  const float *q = uattn_q_like_row(work, UATTN_OPERAND_Q, place, head);
  const float *dout = uattn_q_like_row(work, UATTN_OPERAND_DOUT, place, head);
  double delta = backward->deltas[uattn_lse_index(
      place.batch, problem->q_heads, head, problem->q_tokens, place.token)];
  uattn_query_terms_t query = uattn_query_terms_read(work, place, head);
  uattn_pair_t pair =
      uattn_pair_evaluate(work, &query, uattn_row_dot(scratch->k, q, head_dim),
                          uattn_row_dot(scratch->v, dout, head_dim));
  double logit_gradient = uattn_pair_logit_gradient(&query, delta, &pair);
  uattn_row_add_scaled(
      scratch->dk,
      uattn_pair_score_gradient(work, &query, &pair, logit_gradient), q,
      head_dim);
  uattn_row_add_scaled(scratch->dv, pair.weight, dout, head_dim);
}

/* Leaves dk_j and dv_j in the scratch. */
static void evaluate_key(const uattn_backward_t *backward,
                         const key_scratch_t *scratch, uattn_row_place_t place,
                         int64_t kv_head) {
  const uattn_reference_work_t *work = backward->work;
  const uattn_problem_t *problem = work->problem;
  size_t row_bytes = sizeof(double) * (size_t)problem->head_dim;
  int64_t group = problem->q_heads / problem->kv_heads;
  memset(scratch->dk, 0, row_bytes);
  memset(scratch->dv, 0, row_bytes);
  uattn_row_widen(uattn_kv_like_row(work, UATTN_OPERAND_K, place, kv_head),
                  problem->head_dim, scratch->k);
  uattn_row_widen(uattn_kv_like_row(work, UATTN_OPERAND_V, place, kv_head),
                  problem->head_dim, scratch->v);

  uattn_visibility_t visibility =
      uattn_visibility_of_batch(problem, work->tensors, place.batch);
  int64_t query_count =
      uattn_visibility_list_queries(&visibility, place.token, scratch->queries);
  for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head)
    for (int64_t n = 0; n < query_count; ++n)
      add_query(backward, scratch,
                (uattn_row_place_t){place.batch, scratch->queries[n]}, head);
}

static int64_t items_per_head(const uattn_row_set_t *rows) {
  return uattn_ceil_divide(rows->row_count, UATTN_BACKWARD_ROWS_PER_ITEM);
}

static void key_item(const void *context, void *memory, int64_t item) {
  const uattn_backward_t *backward = context;
  const uattn_reference_work_t *work = backward->work;
  const uattn_problem_t *problem = work->problem;
  const uattn_row_set_t *rows = &work->kv_rows;
  key_scratch_t scratch = key_scratch_view(problem, memory);
  double *dk = work->tensors->results[UATTN_RESULT_DK];
  double *dv = work->tensors->results[UATTN_RESULT_DV];
  size_t row_bytes = sizeof(double) * (size_t)problem->head_dim;
  int64_t kv_head = item / items_per_head(rows);
  int64_t first = item % items_per_head(rows) * UATTN_BACKWARD_ROWS_PER_ITEM;
  int64_t last = first + UATTN_BACKWARD_ROWS_PER_ITEM;

  for (int64_t row = first; row < last && row < rows->row_count; ++row) {
    int64_t start = (row * problem->kv_heads + kv_head) * problem->head_dim;
    evaluate_key(backward, &scratch, uattn_row_set_place(rows, row), kv_head);
    if (dk)
      memcpy(dk + start, scratch.dk, row_bytes);
    if (dv)
      memcpy(dv + start, scratch.dv, row_bytes);
  }
}

uattn_error_t *uattn_backward_run_keys(const uattn_backward_t *backward) {
  const uattn_reference_work_t *work = backward->work;
  return uattn_parallel_for(
      work->problem->kv_heads * items_per_head(&work->kv_rows),
      work->thread_count, key_scratch_bytes(work->problem), key_item, backward);
}
