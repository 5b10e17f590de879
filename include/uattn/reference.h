/* The float64 CPU reference of both ops and the comparison with it.
 * Layer: reference (public). Must not know: tile masks, plans, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_REFERENCE_H
#define UATTN_REFERENCE_H

#include "uattn/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All arrays are dense, in C order, of the shapes that uattn_operand_shape and
 * uattn_result_shape give, and are borrowed for the call. */
typedef struct {
  /* int32_t for bounds and the segment ids; float for all others, holding
   * values that the operand's type can represent. NULL where absent. */
  const void *operands[UATTN_OPERAND_COUNT];
  /* Where results go. A NULL result is not computed, whether the problem has
   * it or not; one that is not NULL is computed whether the problem has it or
   * not (so lse may be had from a problem without it). dtemp needs temp. */
  double *results[UATTN_RESULT_COUNT];
} uattn_reference_tensors_t;

/* All zero (with struct_size set) means: every row, every processor. */
typedef struct {
  size_t struct_size; /* sizeof(uattn_reference_options_t) */
  int thread_count;   /* 0: one for each processor */
  /* Evaluates only these rows of q, each batch * q_tokens + token, any order.
   * The results of q rows then have the shape of a problem with batch 1 and
   * q_tokens = q_row_count. NULL: all rows. */
  const int64_t *q_rows;
  size_t q_row_count;
  /* The same for rows of k, batch * kv_tokens + token, and so for dk, dv. */
  const int64_t *kv_rows;
  size_t kv_row_count;
  /* Backward: forms delta_i = <out_i, dout_i> from the given out, as kernels
   * do, and not from out before its rounding to 16 bits. Gradients are then
   * off by that rounding (some 4e-3 with bf16), but dk and dv of chosen rows
   * cost no pass over all pairs for the deltas. */
  bool uses_given_out;
} uattn_reference_options_t;

/* Computes forward or backward of `problem`, which has no dynamic dimension,
 * in float64. Results are the same for every thread count. Memory beside the
 * results: O(q_tokens + kv_tokens) a thread, and O(batch * q_heads * q_tokens)
 * for the backward. The backward's gradients are exact ones: out serves only
 * with uses_given_out, or where it holds NaN or Inf, and lse as it is given.
 * `options` may be NULL. On error the results hold anything. Thread safe. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_reference_run(const uattn_problem_t *problem,
                    const uattn_reference_tensors_t *tensors,
                    const uattn_reference_options_t *options);

/* Chooses at most `wanted_count` of `row_count` rows: the first, the last and
 * others spread between them, ascending and without repetition. `out_rows` has
 * room for `wanted_count`; returns how many were chosen. */
UATTN_EXPORT size_t uattn_reference_choose_rows(int64_t row_count,
                                                size_t wanted_count,
                                                int64_t *out_rows);

/* What is compared: one result of the op. Borrowed for the call. */
typedef struct {
  int result;              /* uattn_result_t of the problem's kind */
  const float *computed;   /* the whole result */
  const double *reference; /* the same; with `rows` as a run on them gave it */
  /* The q_rows (out, lse, dq, dtemp) or kv_rows (dk, dv) of that run; NULL: all
   * rows. */
  const int64_t *rows;
  size_t row_count;
} uattn_comparison_inputs_t;

/* How far a computed result is from the reference, by the rules of the op's
 * semantics, "Numbers". A row is the head_dim numbers of one batch, token and
 * head, or one number of lse or dtemp. */
typedef struct {
  bool is_within_bound; /* the verdict: error <= bound, and no mismatch */
  /* Relative Frobenius error and its bound; absolute (Frobenius) where the
   * wanted result has norm 0. For lse: the absolute error of the element that
   * is worst against its own bound, and that bound. Infinity where any number
   * mismatches. */
  double error;
  double bound;
  bool is_absolute;
  /* Numbers that are not finite (NaN, or another infinity) where the reference
   * is, or finite where it is not. */
  int64_t mismatch_count;
  /* The worst row, -1 for a head that the result does not have. Its error is
   * relative to the row's norm, or to a thousandth of the root mean square of
   * all rows' norms where that is more; lse: the absolute error. */
  int64_t worst_batch;
  int64_t worst_token;
  int64_t worst_head;
  double worst_row_error;
} uattn_comparison_t;

/* `problem` has no dynamic dimension and has passed uattn_problem_validate.
 * Pure and thread safe. */
UATTN_EXPORT uattn_comparison_t uattn_reference_compare(
    const uattn_problem_t *problem, const uattn_comparison_inputs_t *inputs);

/* Writes one line without a newline as snprintf does, for example
 * "out: relative error 2.1e-03, bound 5.0e-03, worst row batch 0 token 17 head
 * 3 with 4.0e-03: ok". */
UATTN_EXPORT int uattn_comparison_format(const uattn_problem_t *problem,
                                         int result,
                                         const uattn_comparison_t *comparison,
                                         char *buffer, size_t buffer_bytes);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_REFERENCE_H */
