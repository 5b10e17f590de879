/* Which keys a query row may see, row by row from the op's definition.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_REFERENCE_VISIBILITY_H
#define UATTN_REFERENCE_VISIBILITY_H

#include "uattn/reference.h"

/* The masks of one batch. Borrows the operands. */
typedef struct {
  const uattn_problem_t *problem;
  const int32_t *bounds;         /* 4 numbers, or NULL */
  const int32_t *q_segment_ids;  /* by row of q, or NULL */
  const int32_t *kv_segment_ids; /* by row of k, or NULL */
} uattn_visibility_t;

uattn_visibility_t
uattn_visibility_of_batch(const uattn_problem_t *problem,
                          const uattn_reference_tensors_t *tensors,
                          int64_t batch);

bool uattn_visibility_sees(const uattn_visibility_t *visibility, int64_t q_row,
                           int64_t kv_row);

/* Writes the rows of k that `q_row` sees, ascending; returns their number.
 * `out_rows` has room for kv_tokens. */
int64_t uattn_visibility_list_keys(const uattn_visibility_t *visibility,
                                   int64_t q_row, int32_t *out_rows);

/* Writes the rows of q that see `kv_row`; room for q_tokens. */
int64_t uattn_visibility_list_queries(const uattn_visibility_t *visibility,
                                      int64_t kv_row, int32_t *out_rows);

#endif /* UATTN_REFERENCE_VISIBILITY_H */
