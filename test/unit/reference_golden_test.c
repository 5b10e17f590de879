/* Tests of the reference against the golden cases, whose folder is argument 1.
 * Layer: test. Must not know: anything above the layers that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden_cases.h"

#include "support/support.h"
#include "uattn/reference.h"

/* The wanted numbers are float64 stored as float32: a rounding of 6e-8,
 * and the backward takes an lse that has been rounded so. */
static void assert_as_stored(const char *name, const double *found,
                             const uattn_npy_array_t *wanted) {
  const float *numbers = wanted->data;
  double squares = 0;
  double differences = 0;
  for (size_t i = 0; i < wanted->element_count; ++i) {
    if (!isfinite(numbers[i])) {
      assert_true(found[i] == (double)numbers[i]);
      continue;
    }
    double difference = found[i] - (double)numbers[i];
    squares += (double)numbers[i] * (double)numbers[i];
    differences += difference * difference;
  }
  assert_true(squares > 0);
  double error = sqrt(differences / squares);
  if (!(error <= 1e-5))
    fail_msg("%s: relative error %.2e: expected at most 1e-5", name, error);
}

static void check_case(const golden_case_t *golden) {
  uattn_problem_t problem = golden_problem(golden);
  uattn_npy_array_t inputs[UATTN_OPERAND_COUNT] = {0};
  uattn_npy_array_t wanted[UATTN_RESULT_COUNT] = {0};
  uattn_reference_tensors_t tensors = {0};
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    if (problem.has_operand[i]) {
      inputs[i] =
          golden_read(golden, "in", uattn_operand_name((uattn_operand_t)i));
      tensors.operands[i] = inputs[i].data;
    }
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    if (problem.has_result[i]) {
      wanted[i] =
          golden_read(golden, "want", uattn_result_name(problem.kind, i));
      tensors.results[i] =
          uattn_allocate(sizeof(double) * wanted[i].element_count);
    }
  assert_ok(uattn_reference_run(&problem, &tensors, NULL));
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    if (problem.has_result[i]) {
      assert_as_stored(uattn_result_name(problem.kind, i), tensors.results[i],
                       &wanted[i]);
      uattn_comparison_t comparison = uattn_reference_compare(
          &problem,
          &(uattn_comparison_inputs_t){.result = i,
                                       .computed = wanted[i].data,
                                       .reference = tensors.results[i]});
      assert_true(comparison.is_within_bound);
    }
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    uattn_npy_array_release(&inputs[i]);
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i) {
    uattn_npy_array_release(&wanted[i]);
    free(tensors.results[i]);
  }
}

int main(int argument_count, char **arguments) {
  return golden_main(argument_count, arguments, check_case);
}
