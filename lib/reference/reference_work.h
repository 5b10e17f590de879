/* What the reference's passes share: the inputs of a run by row.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_REFERENCE_REFERENCE_WORK_H
#define UATTN_REFERENCE_REFERENCE_WORK_H

#include "reference/cap_function.h"
#include "uattn/reference.h"

/* The rows of q or of k on which a run works: all, or the chosen ones. */
typedef struct {
  const int64_t *chosen; /* batch * tokens + token, or NULL: all rows */
  int64_t row_count;
  int64_t tokens;        /* of the op */
  int64_t result_tokens; /* of the results: tokens, or row_count where chosen */
} uattn_row_set_t;

/* Where a row of a set lies. */
typedef struct {
  int64_t batch;
  int64_t token;
} uattn_row_place_t;

typedef struct {
  const uattn_problem_t *problem;
  const uattn_reference_tensors_t *tensors;
  uattn_cap_function_t cap;
  uattn_row_set_t q_rows;
  uattn_row_set_t kv_rows;
  int thread_count;
  bool uses_given_out; /* delta from the rounded out, not from the weights */
} uattn_reference_work_t;

uattn_row_place_t uattn_row_set_place(const uattn_row_set_t *set,
                                      int64_t index);

/* Where lse, dlse and the like hold the number of a row and head. */
int64_t uattn_lse_index(int64_t batch, int64_t q_heads, int64_t head,
                        int64_t tokens, int64_t token);

/* The head_dim numbers of a q-like or k-like operand. */
const float *uattn_q_like_row(const uattn_reference_work_t *work,
                              uattn_operand_t operand, uattn_row_place_t place,
                              int64_t head);
const float *uattn_kv_like_row(const uattn_reference_work_t *work,
                               uattn_operand_t operand, uattn_row_place_t place,
                               int64_t kv_head);

/* temp of a query row; 1 where the op has none. */
double uattn_row_temp(const uattn_reference_work_t *work,
                      uattn_row_place_t place);

UATTN_NODISCARD uattn_error_t *
uattn_reference_forward(const uattn_reference_work_t *work);
UATTN_NODISCARD uattn_error_t *
uattn_reference_backward(const uattn_reference_work_t *work);

#endif /* UATTN_REFERENCE_REFERENCE_WORK_H */
