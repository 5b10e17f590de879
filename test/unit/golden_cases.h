/* The golden cases: the op's worked examples, with float64 results.
 * Layer: test. Must not know: what is tested by them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_GOLDEN_CASES_H
#define UATTN_GOLDEN_CASES_H

#include "unit_test.h"

#include "npy.h"
#include "uattn/problem.h"

/* A golden case: what its case.json says. */
typedef struct {
  const char *name;
  uattn_problem_t problem;
} golden_case_t;

/* The case's problem, with the operands and results that its op always has. */
uattn_problem_t golden_problem(const golden_case_t *golden);

/* An operand ("in") or a wanted result ("want"), float32 or int32, dense. */
uattn_npy_array_t golden_read(const golden_case_t *golden, const char *prefix,
                              const char *name);

/* A test program's main, whose argument 1 is the folder of the cases. */
int golden_main(int argument_count, char **arguments,
                void (*check)(const golden_case_t *golden));

#endif /* UATTN_GOLDEN_CASES_H */
