/* How far a computed result is from the reference, and whether that will do.
 * Layer: reference. Must not know: how either was computed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "spec/spec.h"
#include "uattn/reference.h"

/* How a result lies in memory. */
typedef struct {
  bool is_lse;    /* head before token, and its own bound */
  bool has_heads; /* false for dtemp, which counts as 1 head */
  int64_t tokens;
  int64_t heads;
  int64_t row_size; /* head_dim or 1 */
  uattn_dtype_t dtype;
} result_layout_t;

/* One row's part in the sums; only where both numbers are finite. */
typedef struct {
  double difference_squares;
  double wanted_squares;
  int64_t mismatch_count;
  double lse_difference; /* absolute; lse only, as the bound for it */
  double lse_bound;
} row_error_t;

static result_layout_t layout_of_result(const uattn_problem_t *problem,
                                        int result) {
  bool is_forward = problem->kind == UATTN_OP_FORWARD;
  result_layout_t layout = {.has_heads = true,
                            .tokens = problem->q_tokens,
                            .heads = problem->q_heads,
                            .row_size = problem->head_dim,
                            .dtype = uattn_result_dtype(problem, result)};
  if (is_forward && result == UATTN_RESULT_LSE) {
    layout.is_lse = true;
    layout.row_size = 1;
  } else if (!is_forward && result == UATTN_RESULT_DTEMP) {
    layout.has_heads = false;
    layout.heads = 1;
    layout.row_size = 1;
  } else if (!is_forward && result != UATTN_RESULT_DQ) {
    layout.tokens = problem->kv_tokens;
    layout.heads = problem->kv_heads;
  }
  return layout;
}

static double relative_bound(const uattn_problem_t *problem) {
  bool is_bf16 = problem->dtype == UATTN_DTYPE_BF16;
  if (problem->kind == UATTN_OP_FORWARD)
    return is_bf16 ? 5e-3 : 1e-3;
  return is_bf16 ? 1.2e-2 : 3e-3;
}

static double lse_bound(double wanted) { return 2e-3 + 1e-3 * fabs(wanted); }

/* The first number of a row in an array of `tokens` tokens a batch. */
static int64_t row_start(const result_layout_t *layout, int64_t tokens,
                         int64_t batch, int64_t token, int64_t head) {
  if (layout->is_lse)
    return (batch * layout->heads + head) * tokens + token;
  return ((batch * tokens + token) * layout->heads + head) * layout->row_size;
}

/* Whether one number is finite and the other is not; for lse also whether only
 * one is -inf. A wanted number counts as what its type would hold. */
static bool is_mismatch(const result_layout_t *layout, float computed,
                        double wanted) {
  float stored = uattn_round_to_dtype((float)wanted, layout->dtype);
  if ((isfinite(stored) != 0) != (isfinite(computed) != 0))
    return true;
  return layout->is_lse && (stored == -INFINITY) != (computed == -INFINITY);
}

static row_error_t measure_row(const result_layout_t *layout,
                               const float *computed, const double *wanted) {
  row_error_t error = {.lse_bound = lse_bound(0)};
  for (int64_t d = 0; d < layout->row_size; ++d) {
    if (is_mismatch(layout, computed[d], wanted[d])) {
      ++error.mismatch_count;
    } else if (isfinite(computed[d])) {
      double difference = (double)computed[d] - wanted[d];
      error.difference_squares += difference * difference;
      error.wanted_squares += wanted[d] * wanted[d];
      error.lse_difference = fabs(difference);
      error.lse_bound = lse_bound(wanted[d]);
    }
  }
  return error;
}

/* What a visit of all rows of one result needs. */
typedef struct {
  result_layout_t layout;
  const uattn_comparison_inputs_t *inputs;
  int64_t row_count; /* of tokens of all batches, or of the chosen rows */
} row_visit_t;

static row_error_t measure_visited(const row_visit_t *visit, int64_t row,
                                   int64_t head, int64_t *out_batch,
                                   int64_t *out_token) {
  const result_layout_t *layout = &visit->layout;
  const int64_t *chosen = visit->inputs->rows;
  int64_t place = chosen ? chosen[row] : row;
  int64_t batch = place / layout->tokens;
  int64_t token = place % layout->tokens;
  if (out_batch)
    *out_batch = batch;
  if (out_token)
    *out_token = token;
  int64_t start = row_start(layout, layout->tokens, batch, token, head);
  int64_t wanted_start =
      chosen ? row_start(layout, visit->row_count, 0, row, head) : start;
  return measure_row(layout, visit->inputs->computed + start,
                     visit->inputs->reference + wanted_start);
}

/* How bad a row is, for finding the worst: lse against its own bound, others
 * relative to the row's norm, which `norm_floor` keeps from vanishing. */
static double row_badness(const result_layout_t *layout,
                          const row_error_t *error, double norm_floor) {
  if (error->mismatch_count > 0)
    return INFINITY;
  if (layout->is_lse)
    return error->lse_difference / error->lse_bound;
  double difference = sqrt(error->difference_squares);
  double norm = fmax(sqrt(error->wanted_squares), norm_floor);
  return difference > 0 ? difference / norm : 0;
}

static row_error_t measure_all(const row_visit_t *visit) {
  row_error_t total = {0};
  for (int64_t row = 0; row < visit->row_count; ++row)
    for (int64_t head = 0; head < visit->layout.heads; ++head) {
      row_error_t error = measure_visited(visit, row, head, NULL, NULL);
      total.difference_squares += error.difference_squares;
      total.wanted_squares += error.wanted_squares;
      total.mismatch_count += error.mismatch_count;
    }
  return total;
}

/* Fills in the worst row and returns its parts. */
static row_error_t find_worst_row(const row_visit_t *visit, double norm_floor,
                                  uattn_comparison_t *comparison) {
  const result_layout_t *layout = &visit->layout;
  row_error_t worst = {0};
  double worst_badness = -1;
  for (int64_t row = 0; row < visit->row_count; ++row)
    for (int64_t head = 0; head < layout->heads; ++head) {
      int64_t batch = 0;
      int64_t token = 0;
      row_error_t error = measure_visited(visit, row, head, &batch, &token);
      double badness = row_badness(layout, &error, norm_floor);
      if (badness <= worst_badness)
        continue;
      worst = error;
      worst_badness = badness;
      comparison->worst_batch = batch;
      comparison->worst_token = token;
      comparison->worst_head = layout->has_heads ? head : -1;
      comparison->worst_row_error = badness;
    }
  return worst;
}

/* The error and bound of a whole result without mismatches. */
static void judge_aggregate(const row_error_t *total, double bound,
                            uattn_comparison_t *comparison) {
  double difference = sqrt(total->difference_squares);
  double norm = sqrt(total->wanted_squares);
  comparison->is_absolute = norm == 0;
  comparison->bound = comparison->is_absolute ? 1e-6 : bound;
  comparison->error = comparison->is_absolute ? difference : difference / norm;
}

static void judge_lse(const row_error_t *worst,
                      uattn_comparison_t *comparison) {
  comparison->is_absolute = true;
  comparison->bound = worst->lse_bound;
  comparison->error = worst->lse_difference;
  comparison->worst_row_error = worst->lse_difference;
}

uattn_comparison_t
uattn_reference_compare(const uattn_problem_t *problem,
                        const uattn_comparison_inputs_t *inputs) {
  row_visit_t visit = {.layout = layout_of_result(problem, inputs->result),
                       .inputs = inputs};
  const result_layout_t *layout = &visit.layout;
  visit.row_count = inputs->rows ? (int64_t)inputs->row_count
                                 : problem->batch * layout->tokens;
  uattn_comparison_t comparison = {
      .worst_batch = -1, .worst_token = -1, .worst_head = -1};

  row_error_t total = measure_all(&visit);
  double mean_square =
      total.wanted_squares / (double)(visit.row_count * layout->heads);
  row_error_t worst =
      find_worst_row(&visit, 1e-3 * sqrt(mean_square), &comparison);
  if (layout->is_lse)
    judge_lse(&worst, &comparison);
  else
    judge_aggregate(&total, relative_bound(problem), &comparison);

  comparison.mismatch_count = total.mismatch_count;
  if (total.mismatch_count > 0 || visit.row_count == 0) {
    comparison.error = INFINITY;
    comparison.worst_row_error = INFINITY;
  }
  comparison.is_within_bound = comparison.error <= comparison.bound;
  return comparison;
}
