/* The backward op in float64: one pass over rows of q for dq and dtemp, one
 * over rows of k for dk and dv, so that no two threads add to one number.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "reference/backward_pass.h"
#include "support/support.h"

static uattn_error_t *allocate_numbers(int64_t rows, int64_t heads,
                                       double **out_numbers) {
  size_t bytes = 0;
  if (uattn_size_multiply((size_t)rows, (size_t)heads, &bytes) &&
      uattn_size_multiply(bytes, sizeof(double), &bytes))
    *out_numbers = uattn_try_allocate(bytes ? bytes : 1);
  return *out_numbers ? NULL
                      : uattn_error_create(UATTN_ERROR_INTERNAL,
                                           "no memory for a number for each of "
                                           "%lld rows and %lld heads",
                                           (long long)rows, (long long)heads);
}

/* dq and dtemp of q_rows, and the deltas of all rows where dk or dv need them.
 */
static uattn_error_t *run_queries(const uattn_backward_t *backward,
                                  bool needs_all_deltas) {
  const uattn_reference_work_t *work = backward->work;
  const uattn_row_set_t *rows = &work->q_rows;
  bool wants_results = work->tensors->results[UATTN_RESULT_DQ] ||
                       work->tensors->results[UATTN_RESULT_DTEMP];
  uattn_error_t *error = NULL;
  if (wants_results)
    error = uattn_backward_run_queries(backward, rows, true);
  if (!error && needs_all_deltas && (!wants_results || rows->chosen)) {
    int64_t tokens = work->problem->q_tokens;
    uattn_row_set_t all = {NULL, work->problem->batch * tokens, tokens, tokens};
    error = uattn_backward_run_queries(backward, &all, false);
  }
  return error;
}

/* The heads' shares in a fixed order. */
static void sum_dtemp(const uattn_backward_t *backward) {
  int64_t row_count = backward->work->q_rows.row_count;
  double *dtemp = backward->work->tensors->results[UATTN_RESULT_DTEMP];
  for (int64_t row = 0; row < row_count; ++row) {
    dtemp[row] = 0;
    for (int64_t head = 0; head < backward->work->problem->q_heads; ++head)
      dtemp[row] += backward->dtemp_shares[head * row_count + row];
  }
}

uattn_error_t *uattn_reference_backward(const uattn_reference_work_t *work) {
  const uattn_problem_t *problem = work->problem;
  double *const *results = work->tensors->results;
  bool wants_kv = results[UATTN_RESULT_DK] || results[UATTN_RESULT_DV];
  uattn_backward_t backward = {.work = work};
  uattn_error_t *error = allocate_numbers(problem->batch * problem->q_tokens,
                                          problem->q_heads, &backward.deltas);
  if (!error && results[UATTN_RESULT_DTEMP])
    error = allocate_numbers(work->q_rows.row_count, problem->q_heads,
                             &backward.dtemp_shares);
  if (!error)
    error = run_queries(&backward, wants_kv);
  if (!error && results[UATTN_RESULT_DTEMP])
    sum_dtemp(&backward);
  if (!error && wants_kv)
    error = uattn_backward_run_keys(&backward);
  free(backward.deltas);
  free(backward.dtemp_shares);
  return error;
}
