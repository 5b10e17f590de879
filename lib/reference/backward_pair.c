/* The terms of one query and one key in the backward op.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "reference/backward_pass.h"

static double number_of_operand(const uattn_reference_work_t *work,
                                uattn_operand_t operand, int64_t index) {
  return (double)((const float *)work->tensors->operands[operand])[index];
}

uattn_query_terms_t uattn_query_terms_read(const uattn_reference_work_t *work,
                                           uattn_row_place_t place,
                                           int64_t head) {
  const uattn_problem_t *problem = work->problem;
  int64_t index = uattn_lse_index(place.batch, problem->q_heads, head,
                                  problem->q_tokens, place.token);
  uattn_query_terms_t terms = {
      .temp = uattn_row_temp(work, place),
      .lse = number_of_operand(work, UATTN_OPERAND_LSE, index)};
  if (problem->z_loss_weight != 0)
    terms.lse_gradient = problem->z_loss_weight * terms.lse;
  if (problem->has_operand[UATTN_OPERAND_DLSE])
    terms.lse_gradient += number_of_operand(work, UATTN_OPERAND_DLSE, index);
  return terms;
}

uattn_pair_t uattn_pair_evaluate(const uattn_reference_work_t *work,
                                 const uattn_query_terms_t *query,
                                 double q_dot_k, double dout_dot_v) {
  uattn_pair_t pair = {.dout_dot_v = dout_dot_v};
  pair.capped = uattn_cap_function_evaluate(
      &work->cap, work->problem->sm_scale * q_dot_k, &pair.cap_slope);
  pair.weight = exp(query->temp * pair.capped - query->lse);
  return pair;
}

double uattn_pair_logit_gradient(const uattn_query_terms_t *query, double delta,
                                 const uattn_pair_t *pair) {
  return pair->weight * (pair->dout_dot_v - delta + query->lse_gradient);
}

double uattn_pair_score_gradient(const uattn_reference_work_t *work,
                                 const uattn_query_terms_t *query,
                                 const uattn_pair_t *pair,
                                 double logit_gradient) {
  return logit_gradient * query->temp * pair->cap_slope *
         work->problem->sm_scale;
}
