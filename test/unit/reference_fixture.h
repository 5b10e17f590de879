/* A small problem with inputs and results for the reference's tests.
 * Layer: test. Must not know: anything above the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_REFERENCE_FIXTURE_H
#define UATTN_REFERENCE_FIXTURE_H

#include "unit_test.h"

#include "uattn/reference.h"

/* Owns arrays for every operand that the problem has and for every result,
 * wanted or not. */
typedef struct {
  uattn_problem_t problem;
  float *numbers[UATTN_OPERAND_COUNT];    /* NULL for integers */
  int32_t *integers[UATTN_OPERAND_COUNT]; /* NULL for numbers */
  double *results[UATTN_RESULT_COUNT];
} fixture_t;

/* Completes `problem`: head_dim 64 where it is 0, q, k, v, temp's type, and for
 * the backward out, lse and dout. Numbers are multiples of 1/64 in (-2, 2),
 * temp in [0.5, 1.5); integers are 0. */
fixture_t fixture_create(uattn_problem_t problem);
void fixture_destroy(fixture_t *fixture);

size_t fixture_operand_size(const fixture_t *fixture, uattn_operand_t operand);
size_t fixture_result_size(const fixture_t *fixture, int result);

/* Runs the reference into the fixture's results; `options` may be NULL. */
void fixture_run(fixture_t *fixture, const uattn_reference_options_t *options);

/* A fixture of the forward op with copies of a backward's operands. */
fixture_t fixture_forward_of(const fixture_t *backward);

/* Puts the forward's results, as float and `dtype`, into out and lse. */
void fixture_fill_forward_results(fixture_t *backward, uattn_dtype_t out_dtype);

#endif /* UATTN_REFERENCE_FIXTURE_H */
