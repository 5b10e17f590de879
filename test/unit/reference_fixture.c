/* A small problem with inputs and results for the reference's tests.
 * Layer: test. Must not know: anything above the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference_fixture.h"

#include "spec/spec.h"
#include "support/support.h"

static size_t shape_size(int rank, const int64_t shape[4]) {
  size_t size = 1;
  for (int dim = 0; dim < rank; ++dim)
    size *= (size_t)shape[dim];
  return size;
}

size_t fixture_operand_size(const fixture_t *fixture, uattn_operand_t operand) {
  int64_t shape[4] = {0};
  return shape_size(uattn_operand_shape(&fixture->problem, operand, shape),
                    shape);
}

size_t fixture_result_size(const fixture_t *fixture, int result) {
  int64_t shape[4] = {0};
  return shape_size(uattn_result_shape(&fixture->problem, result, shape),
                    shape);
}

static bool is_integer(uattn_operand_t operand) {
  return operand == UATTN_OPERAND_BOUNDS ||
         operand == UATTN_OPERAND_Q_SEGMENT_IDS ||
         operand == UATTN_OPERAND_KV_SEGMENT_IDS;
}

/* Numbers without a pattern that attention could see. */
static void fill(float *numbers, size_t size, uattn_operand_t operand) {
  uint32_t state = 12345u + 777u * (uint32_t)operand;
  for (size_t i = 0; i < size; ++i) {
    state = state * 1664525u + 1013904223u;
    int32_t draw = (int32_t)(state >> 24); /* 0 to 255 */
    numbers[i] = operand == UATTN_OPERAND_TEMP ? 0.5f + (float)(draw / 4) / 64
                                               : (float)(draw - 128) / 64;
  }
}

fixture_t fixture_create(uattn_problem_t problem) {
  fixture_t fixture = {.problem = problem};
  uattn_problem_t *own = &fixture.problem;
  bool is_backward = own->kind == UATTN_OP_BACKWARD;
  if (own->head_dim == 0)
    own->head_dim = 64;
  own->temp_dtype = UATTN_DTYPE_F32;
  for (int i = UATTN_OPERAND_Q; i <= UATTN_OPERAND_V; ++i)
    own->has_operand[i] = true;
  for (int i = UATTN_OPERAND_OUT; i <= UATTN_OPERAND_DOUT; ++i)
    own->has_operand[i] = is_backward;
  for (int i = 0; i < uattn_result_count(own->kind); ++i)
    own->has_result[i] = !is_backward || i != UATTN_RESULT_DTEMP ||
                         own->has_operand[UATTN_OPERAND_TEMP];
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i) {
    uattn_operand_t operand = (uattn_operand_t)i;
    if (!own->has_operand[i])
      continue;
    size_t size = fixture_operand_size(&fixture, operand);
    if (is_integer(operand)) {
      fixture.integers[i] = uattn_allocate(size * sizeof(int32_t));
    } else {
      fixture.numbers[i] = uattn_allocate(size * sizeof(float));
      fill(fixture.numbers[i], size, operand);
    }
  }
  for (int i = 0; i < uattn_result_count(own->kind); ++i)
    fixture.results[i] =
        uattn_allocate(fixture_result_size(&fixture, i) * sizeof(double));
  return fixture;
}

void fixture_destroy(fixture_t *fixture) {
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i) {
    free(fixture->numbers[i]);
    free(fixture->integers[i]);
  }
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    free(fixture->results[i]);
}

void fixture_run(fixture_t *fixture, const uattn_reference_options_t *options) {
  uattn_reference_tensors_t tensors = {0};
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    tensors.operands[i] = fixture->integers[i]
                              ? (const void *)fixture->integers[i]
                              : (const void *)fixture->numbers[i];
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    if (fixture->problem.has_result[i])
      tensors.results[i] = fixture->results[i];
  assert_ok(uattn_reference_run(&fixture->problem, &tensors, options));
}

fixture_t fixture_forward_of(const fixture_t *backward) {
  uattn_problem_t problem = backward->problem;
  problem.kind = UATTN_OP_FORWARD;
  problem.z_loss_weight = 0;
  problem.is_deterministic = false;
  problem.has_operand[UATTN_OPERAND_DLSE] = false;
  memset(problem.has_result, 0, sizeof problem.has_result);
  fixture_t forward = fixture_create(problem);
  for (int i = 0; i < UATTN_FORWARD_OPERAND_COUNT; ++i) {
    size_t size = fixture_operand_size(&forward, (uattn_operand_t)i);
    if (forward.numbers[i])
      memcpy(forward.numbers[i], backward->numbers[i], size * sizeof(float));
    if (forward.integers[i])
      memcpy(forward.integers[i], backward->integers[i],
             size * sizeof(int32_t));
  }
  return forward;
}

void fixture_fill_forward_results(fixture_t *backward,
                                  uattn_dtype_t out_dtype) {
  fixture_t forward = fixture_forward_of(backward);
  fixture_run(&forward, NULL);
  size_t out_size = fixture_result_size(&forward, UATTN_RESULT_OUT);
  for (size_t i = 0; i < out_size; ++i)
    backward->numbers[UATTN_OPERAND_OUT][i] = uattn_round_to_dtype(
        (float)forward.results[UATTN_RESULT_OUT][i], out_dtype);
  size_t lse_size = fixture_result_size(&forward, UATTN_RESULT_LSE);
  for (size_t i = 0; i < lse_size; ++i)
    backward->numbers[UATTN_OPERAND_LSE][i] =
        (float)forward.results[UATTN_RESULT_LSE][i];
  fixture_destroy(&forward);
}
