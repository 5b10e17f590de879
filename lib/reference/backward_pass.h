/* What the two passes of the backward op share.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_REFERENCE_BACKWARD_PASS_H
#define UATTN_REFERENCE_BACKWARD_PASS_H

#include "reference/reference_work.h"

/* One item of work is this many rows of one head, so that neighbours read the
 * same rows of the other side. */
#define UATTN_BACKWARD_ROWS_PER_ITEM 16

typedef struct {
  const uattn_reference_work_t *work;
  double *deltas; /* delta_i by lse index, of rows that see a key; filled by the
                     pass over queries, read by the pass over keys */
  double *dtemp_shares; /* a head's share of dtemp, [q_heads, rows of q_rows];
                           NULL where dtemp is not wanted */
} uattn_backward_t;

/* What all pairs of one query row and head share. */
typedef struct {
  double temp;
  double lse;
  double lse_gradient; /* e_i: what arrives through z-loss and dlse */
} uattn_query_terms_t;

uattn_query_terms_t uattn_query_terms_read(const uattn_reference_work_t *work,
                                           uattn_row_place_t place,
                                           int64_t head);

/* One query and a key that it sees, before delta is known. */
typedef struct {
  double weight;     /* p_ij */
  double capped;     /* c_ij */
  double cap_slope;  /* cap'(s_ij) */
  double dout_dot_v; /* <dout_i, v_j> */
} uattn_pair_t;

uattn_pair_t uattn_pair_evaluate(const uattn_reference_work_t *work,
                                 const uattn_query_terms_t *query,
                                 double q_dot_k, double dout_dot_v);

/* dt_ij, and ds_ij from it. */
double uattn_pair_logit_gradient(const uattn_query_terms_t *query, double delta,
                                 const uattn_pair_t *pair);
double uattn_pair_score_gradient(const uattn_reference_work_t *work,
                                 const uattn_query_terms_t *query,
                                 const uattn_pair_t *pair,
                                 double logit_gradient);

/* Computes deltas of `rows`; with `stores_results`, where `rows` is the work's
 * q_rows, also dq and the shares of dtemp. */
UATTN_NODISCARD uattn_error_t *
uattn_backward_run_queries(const uattn_backward_t *backward,
                           const uattn_row_set_t *rows, bool stores_results);

/* Computes dk and dv of the work's kv_rows; needs the deltas of all rows. */
UATTN_NODISCARD uattn_error_t *
uattn_backward_run_keys(const uattn_backward_t *backward);

#endif /* UATTN_REFERENCE_BACKWARD_PASS_H */
