/* The backward op's pass over rows of q: delta, dq and dtemp.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "reference/backward_pass.h"
#include "reference/row_operations.h"
#include "reference/visibility.h"
#include "support/parallel_for.h"
#include "support/support.h"

/* A thread's memory. */
typedef struct {
  double *q;           /* [head_dim] */
  double *dout;        /* [head_dim] */
  double *dq;          /* [head_dim] */
  uattn_pair_t *pairs; /* [kv_tokens], of the keys in the list */
  int32_t *keys;       /* [kv_tokens], the rows of k that the query sees */
} query_scratch_t;

typedef struct {
  const uattn_backward_t *backward;
  const uattn_row_set_t *rows;
  bool stores_results;
} query_pass_t;

static size_t query_scratch_bytes(const uattn_problem_t *problem) {
  return sizeof(double) * 3 * (size_t)problem->head_dim +
         (sizeof(uattn_pair_t) + sizeof(int32_t)) * (size_t)problem->kv_tokens;
}

static query_scratch_t query_scratch_view(const uattn_problem_t *problem,
                                          void *memory) {
  query_scratch_t scratch = {.q = memory};
  scratch.dout = scratch.q + problem->head_dim;
  scratch.dq = scratch.dout + problem->head_dim;
  scratch.pairs = (uattn_pair_t *)(scratch.dq + problem->head_dim);
  scratch.keys = (int32_t *)(scratch.pairs + problem->kv_tokens);
  return scratch;
}

static int64_t list_keys(const uattn_reference_work_t *work,
                         uattn_row_place_t place, int32_t *keys) {
  uattn_visibility_t visibility =
      uattn_visibility_of_batch(work->problem, work->tensors, place.batch);
  return uattn_visibility_list_keys(&visibility, place.token, keys);
}

static int64_t kv_head_of(const uattn_problem_t *problem, int64_t head) {
  return head / (problem->q_heads / problem->kv_heads);
}

/* <out_i, dout_i>: of `out` before its rounding, which is what the weights make
 * of v, or as given. Numbers that are not finite are always taken as given. */
static double evaluate_delta(const uattn_reference_work_t *work,
                             const query_scratch_t *scratch, int64_t key_count,
                             uattn_row_place_t place, int64_t head) {
  double given = uattn_row_dot(
      scratch->dout, uattn_q_like_row(work, UATTN_OPERAND_OUT, place, head),
      work->problem->head_dim);
  if (work->uses_given_out || !isfinite(given))
    return given;
  double weighted = 0;
  double weight_sum = 0;
  for (int64_t n = 0; n < key_count; ++n) {
    weighted += scratch->pairs[n].weight * scratch->pairs[n].dout_dot_v;
    weight_sum += scratch->pairs[n].weight;
  }
  return weight_sum == 0 ? given : weighted / weight_sum;
}

static void evaluate_pairs(const uattn_reference_work_t *work,
                           const uattn_query_terms_t *query,
                           const query_scratch_t *scratch, int64_t key_count,
                           int64_t batch, int64_t kv_head) {
  int64_t head_dim = work->problem->head_dim;
  for (int64_t n = 0; n < key_count; ++n) {
    uattn_row_place_t key = {batch, scratch->keys[n]};
    const float *k = uattn_kv_like_row(work, UATTN_OPERAND_K, key, kv_head);
    const float *v = uattn_kv_like_row(work, UATTN_OPERAND_V, key, kv_head);
    scratch->pairs[n] =
        uattn_pair_evaluate(work, query, uattn_row_dot(scratch->q, k, head_dim),
                            uattn_row_dot(scratch->dout, v, head_dim));
  }
}

/* Adds up dq_i and returns the head's share of dtemp_i, which the semantics'
 * row sums A, R and C correct for the rounding of a given out. */
static double accumulate_gradients(const uattn_reference_work_t *work,
                                   const uattn_query_terms_t *query,
                                   const query_scratch_t *scratch,
                                   int64_t key_count, double delta,
                                   int64_t batch, int64_t kv_head) {
  double capped_gradient_sum = 0; /* A */
  double gradient_sum = 0;        /* R */
  double capped_sum = 0;          /* C */
  for (int64_t n = 0; n < key_count; ++n) {
    const uattn_pair_t *pair = &scratch->pairs[n];
    uattn_row_place_t key = {batch, scratch->keys[n]};
    double logit_gradient = uattn_pair_logit_gradient(query, delta, pair);
    uattn_row_add_scaled(
        scratch->dq,
        uattn_pair_score_gradient(work, query, pair, logit_gradient),
        uattn_kv_like_row(work, UATTN_OPERAND_K, key, kv_head),
        work->problem->head_dim);
    capped_gradient_sum += logit_gradient * pair->capped;
    gradient_sum += logit_gradient;
    capped_sum += pair->weight * pair->capped;
  }
  return capped_gradient_sum -
         (gradient_sum - query->lse_gradient) * capped_sum;
}

/* Stores delta_i, leaves dq_i in the scratch and returns the head's share of
 * dtemp_i; the last two only where the pass stores results. */
static double evaluate_query(const query_pass_t *pass,
                             const query_scratch_t *scratch,
                             uattn_row_place_t place, int64_t head) {
  const uattn_reference_work_t *work = pass->backward->work;
  const uattn_problem_t *problem = work->problem;
  int64_t kv_head = kv_head_of(problem, head);
  memset(scratch->dq, 0, sizeof(double) * (size_t)problem->head_dim);
  int64_t key_count = list_keys(work, place, scratch->keys);
  if (key_count == 0)
    return 0;

  uattn_query_terms_t query = uattn_query_terms_read(work, place, head);
  uattn_row_widen(uattn_q_like_row(work, UATTN_OPERAND_Q, place, head),
                  problem->head_dim, scratch->q);
  uattn_row_widen(uattn_q_like_row(work, UATTN_OPERAND_DOUT, place, head),
                  problem->head_dim, scratch->dout);
  if (pass->stores_results || !work->uses_given_out)
    evaluate_pairs(work, &query, scratch, key_count, place.batch, kv_head);
  double delta = evaluate_delta(work, scratch, key_count, place, head);
  pass->backward->deltas[uattn_lse_index(place.batch, problem->q_heads, head,
                                         problem->q_tokens, place.token)] =
      delta;
  if (!pass->stores_results)
    return 0;
  return accumulate_gradients(work, &query, scratch, key_count, delta,
                              place.batch, kv_head);
}

static int64_t items_per_head(const uattn_row_set_t *rows) {
  return uattn_ceil_divide(rows->row_count, UATTN_BACKWARD_ROWS_PER_ITEM);
}

static void query_item(const void *context, void *memory, int64_t item) {
  const query_pass_t *pass = context;
  const uattn_reference_work_t *work = pass->backward->work;
  const uattn_problem_t *problem = work->problem;
  const uattn_row_set_t *rows = pass->rows;
  query_scratch_t scratch = query_scratch_view(problem, memory);
  double *dq =
      pass->stores_results ? work->tensors->results[UATTN_RESULT_DQ] : NULL;
  double *shares = pass->stores_results ? pass->backward->dtemp_shares : NULL;
  int64_t head = item / items_per_head(rows);
  int64_t first = item % items_per_head(rows) * UATTN_BACKWARD_ROWS_PER_ITEM;
  int64_t last = first + UATTN_BACKWARD_ROWS_PER_ITEM;

  for (int64_t row = first; row < last && row < rows->row_count; ++row) {
    double share =
        evaluate_query(pass, &scratch, uattn_row_set_place(rows, row), head);
    if (dq)
      memcpy(dq + (row * problem->q_heads + head) * problem->head_dim,
             scratch.dq, sizeof(double) * (size_t)problem->head_dim);
    if (shares)
      shares[head * rows->row_count + row] = share;
  }
}

uattn_error_t *uattn_backward_run_queries(const uattn_backward_t *backward,
                                          const uattn_row_set_t *rows,
                                          bool stores_results) {
  const uattn_problem_t *problem = backward->work->problem;
  query_pass_t pass = {backward, rows, stores_results};
  return uattn_parallel_for(problem->q_heads * items_per_head(rows),
                            backward->work->thread_count,
                            query_scratch_bytes(problem), query_item, &pass);
}
