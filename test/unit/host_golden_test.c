/* Tests of the host layer against the golden cases, whose folder is argument 1.
 * Layer: test. Must not know: anything above the layers that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden_cases.h"
#include "host_fixture.h"

#include "support/support.h"

/* A dense tensor of a problem's type with an array's numbers. */
static uattn_tensor_t store(const uattn_npy_array_t *array, uattn_dtype_t dtype,
                            int rank, const int64_t shape[4]) {
  uattn_tensor_t tensor = uattn_tensor_dense(NULL, dtype, rank, shape);
  assert_int_equal(host_tensor_size(&tensor), array->element_count);
  tensor.data = uattn_allocate(host_tensor_bytes(&tensor));
  for (size_t n = 0; n < array->element_count; ++n)
    host_tensor_set(&tensor, n,
                    dtype == UATTN_DTYPE_I32
                        ? (double)((const int32_t *)array->data)[n]
                        : (double)((const float *)array->data)[n]);
  return tensor;
}

static host_fixture_t load_case(const golden_case_t *golden,
                                uattn_dtype_t dtype) {
  host_fixture_t fixture = {.problem = golden_problem(golden)};
  int64_t shape[4] = {0};
  fixture.problem.dtype = dtype;
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i) {
    uattn_operand_t operand = (uattn_operand_t)i;
    if (!fixture.problem.has_operand[i])
      continue;
    uattn_npy_array_t array =
        golden_read(golden, "in", uattn_operand_name(operand));
    int rank = uattn_operand_shape(&fixture.problem, operand, shape);
    fixture.tensors.operands[i] = store(
        &array, uattn_operand_dtype(&fixture.problem, operand), rank, shape);
    uattn_npy_array_release(&array);
  }
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i) {
    uattn_tensor_t *result = &fixture.tensors.results[i];
    if (!fixture.problem.has_result[i])
      continue;
    int rank = uattn_result_shape(&fixture.problem, i, shape);
    *result = uattn_tensor_dense(NULL, uattn_result_dtype(&fixture.problem, i),
                                 rank, shape);
    result->data = uattn_allocate(host_tensor_bytes(result));
  }
  return fixture;
}

static void check_result(const golden_case_t *golden,
                         const host_fixture_t *fixture, int result) {
  const uattn_tensor_t *tensor = &fixture->tensors.results[result];
  uattn_problem_t problem = golden_problem(golden);
  const char *name = uattn_result_name(problem.kind, result);
  uattn_npy_array_t wanted = golden_read(golden, "want", name);
  float *found = uattn_allocate(sizeof *found * wanted.element_count);
  double *reference = uattn_allocate(sizeof *reference * wanted.element_count);
  for (size_t n = 0; n < wanted.element_count; ++n) {
    found[n] = (float)host_tensor_number(tensor, n);
    reference[n] = (double)((const float *)wanted.data)[n];
  }
  uattn_comparison_t comparison = uattn_reference_compare(
      &problem, &(uattn_comparison_inputs_t){.result = result,
                                             .computed = found,
                                             .reference = reference});
  /* A gradient shows that the given out is rounded to 16 bits; the forward's
   * results in float32 show no rounding but float32's. */
  bool is_exact =
      problem.kind == UATTN_OP_FORWARD && tensor->dtype == UATTN_DTYPE_F32;
  if (!comparison.is_within_bound || (is_exact && comparison.error > 1e-5))
    fail_msg("%s: error %.2e of %.2e", name, comparison.error,
             comparison.bound);
  uattn_npy_array_release(&wanted);
  free(found);
  free(reference);
}

static void check_case(const golden_case_t *golden) {
  uattn_dtype_t dtypes[] = {golden->problem.dtype, UATTN_DTYPE_F32};
  for (size_t n = 0; n < COUNT_OF(dtypes); ++n) {
    host_fixture_t fixture = load_case(golden, dtypes[n]);
    host_fixture_run(&fixture, 0);
    for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
      if (fixture.problem.has_result[i])
        check_result(golden, &fixture, i);
    host_fixture_destroy(&fixture);
  }
}

int main(int argument_count, char **arguments) {
  return golden_main(argument_count, arguments, check_case);
}
