/* Tests of the host layer's tensors in memory: strides, what is left out, and
 * threads.
 * Layer: test. Must not know: anything above the host layer and the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host_fixture.h"

#include "support/support.h"

/* Every optional operand, in 3 blocks of queries and 4 of keys. */
static host_case_t full_case(uattn_dtype_t dtype) {
  return (host_case_t){.problem = {.dtype = dtype,
                                   .temp_dtype = dtype,
                                   HOST_SIZES(2, 140, 200, 4, 2, 72),
                                   .sm_scale = 0.125,
                                   .cap = {UATTN_CAP_TANH, 5, 0, 0},
                                   .window_tokens = 150,
                                   .q_offset = 20,
                                   .z_loss_weight = 0.01,
                                   HOST_WITH(TEMP),
                                   HOST_WITH(BOUNDS),
                                   HOST_WITH(Q_SEGMENT_IDS),
                                   HOST_WITH(KV_SEGMENT_IDS),
                                   HOST_WITH(DLSE)},
                       .bounds = {{0, 120, 100, 150}, {3, 150, 0, 0}},
                       .segment_rows = 50};
}

static void every_thread_count_gives_the_same_bits(void **state) {
  (void)state;
  host_case_t host_case = full_case(UATTN_DTYPE_F32);
  for (int kind = 0; kind < 2; ++kind) {
    host_fixture_t one = host_fixture_create(&host_case, (uattn_op_kind_t)kind);
    host_fixture_run(&one, 1);
    for (int thread_count = 0; thread_count < 8; ++thread_count) {
      host_fixture_t many =
          host_fixture_create(&host_case, (uattn_op_kind_t)kind);
      host_fixture_run(&many, thread_count);
      assert_same_host_results(&many, &one);
      host_fixture_destroy(&many);
    }
    host_fixture_destroy(&one);
  }
}

/* A tensor laid out anew: the first axis innermost, with gaps, and every other
 * axis backwards. `out_memory` owns what it lies in, filled with 0xa5. */
static uattn_tensor_t spread(const uattn_tensor_t *dense, char **out_memory,
                             size_t *out_bytes) {
  uattn_tensor_t tensor = *dense;
  int64_t element_bytes = (int64_t)uattn_dtype_bytes(dense->dtype);
  int64_t stride = 3;
  int64_t first = 0;
  for (int axis = 0; axis < tensor.rank; ++axis) {
    bool is_backward = axis % 2 == 1;
    tensor.strides[axis] = is_backward ? -stride : stride;
    first += is_backward ? stride * (tensor.shape[axis] - 1) : 0;
    stride *= tensor.shape[axis];
  }
  *out_bytes = (size_t)(stride * element_bytes);
  *out_memory = uattn_allocate(*out_bytes);
  memset(*out_memory, 0xa5, *out_bytes);
  tensor.data = *out_memory + first * element_bytes;
  return tensor;
}

static void copy_numbers(const uattn_tensor_t *from, const uattn_tensor_t *to) {
  for (size_t n = 0; n < host_tensor_size(from); ++n)
    memmove(host_tensor_at(to, n), host_tensor_at(from, n),
            uattn_dtype_bytes(from->dtype));
}

/* What lies between a spread tensor's numbers, which are each third. */
static void assert_gaps_untouched(const uattn_tensor_t *tensor,
                                  const char *memory, size_t bytes) {
  size_t element_bytes = uattn_dtype_bytes(tensor->dtype);
  for (size_t i = 0; i < bytes; ++i)
    if (i / element_bytes % 3 != 0)
      assert_int_equal((unsigned char)memory[i], 0xa5);
}

static void check_spread_tensors(uattn_dtype_t dtype, uattn_op_kind_t kind) {
  host_case_t host_case = full_case(dtype);
  host_fixture_t dense = host_fixture_create(&host_case, kind);
  host_fixture_t strided = dense;
  char *memories[UATTN_OPERAND_COUNT + UATTN_RESULT_COUNT] = {0};
  size_t bytes[UATTN_OPERAND_COUNT + UATTN_RESULT_COUNT] = {0};
  uattn_tensor_t *results = strided.tensors.results;
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    if (dense.problem.has_operand[i]) {
      uattn_tensor_t *operand = &strided.tensors.operands[i];
      *operand = spread(operand, &memories[i], &bytes[i]);
      copy_numbers(&dense.tensors.operands[i], operand);
    }
  for (int i = 0; i < uattn_result_count(kind); ++i)
    results[i] = spread(&results[i], &memories[UATTN_OPERAND_COUNT + i],
                        &bytes[UATTN_OPERAND_COUNT + i]);
  host_fixture_run(&dense, 0);
  host_fixture_run(&strided, 0);
  assert_same_host_results(&strided, &dense);
  for (int i = 0; i < uattn_result_count(kind); ++i)
    assert_gaps_untouched(&results[i], memories[UATTN_OPERAND_COUNT + i],
                          bytes[UATTN_OPERAND_COUNT + i]);
  for (size_t i = 0; i < COUNT_OF(memories); ++i)
    free(memories[i]);
  host_fixture_destroy(&dense);
}

static void spread_tensors_equal_dense_ones(void **state) {
  (void)state;
  static const uattn_dtype_t dtypes[] = {UATTN_DTYPE_F32, UATTN_DTYPE_BF16,
                                         UATTN_DTYPE_F16};
  for (size_t i = 0; i < COUNT_OF(dtypes); ++i) {
    check_spread_tensors(dtypes[i], UATTN_OP_FORWARD);
    check_spread_tensors(dtypes[i], UATTN_OP_BACKWARD);
  }
}

/* An operand whose numbers are the same along an axis, and a view of it that
 * holds them once. */
static void repeat_along(uattn_tensor_t *tensor, int axis) {
  uattn_tensor_t view = *tensor;
  view.strides[axis] = 0;
  copy_numbers(&view, tensor);
}

static void operands_may_repeat(void **state) {
  (void)state;
  static const int axes[UATTN_OPERAND_COUNT] = {
      [UATTN_OPERAND_Q] = 2,    [UATTN_OPERAND_K] = 1,
      [UATTN_OPERAND_V] = 0,    [UATTN_OPERAND_TEMP] = 1,
      [UATTN_OPERAND_LSE] = 1,  [UATTN_OPERAND_OUT] = 3,
      [UATTN_OPERAND_DOUT] = 3, [UATTN_OPERAND_DLSE] = 2};
  host_case_t host_case = full_case(UATTN_DTYPE_F32);
  for (int kind = 0; kind < 2; ++kind) {
    host_fixture_t dense =
        host_fixture_create(&host_case, (uattn_op_kind_t)kind);
    host_fixture_t repeated =
        host_fixture_create(&host_case, (uattn_op_kind_t)kind);
    for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
      if (dense.problem.has_operand[i]) {
        repeat_along(&dense.tensors.operands[i], axes[i]);
        repeated.tensors.operands[i].strides[axes[i]] = 0;
      }
    host_fixture_run(&dense, 0);
    host_fixture_run(&repeated, 0);
    assert_same_host_results(&repeated, &dense);
    host_fixture_destroy(&dense);
    host_fixture_destroy(&repeated);
  }
}

/* Each result alone, and an lse that the problem does not speak of. */
static void results_are_had_one_by_one(void **state) {
  (void)state;
  host_case_t host_case = full_case(UATTN_DTYPE_F32);
  for (int kind = 0; kind < 2; ++kind) {
    host_fixture_t all = host_fixture_create(&host_case, (uattn_op_kind_t)kind);
    host_fixture_run(&all, 0);
    for (int only = 0; only < uattn_result_count(all.problem.kind); ++only) {
      host_fixture_t one =
          host_fixture_create(&host_case, (uattn_op_kind_t)kind);
      one.problem
          .has_result[kind == 0 ? UATTN_RESULT_LSE : UATTN_RESULT_DTEMP] =
          false;
      for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
        if (i != only) {
          free(one.tensors.results[i].data);
          one.tensors.results[i].data = NULL;
        }
      host_fixture_run(&one, 0);
      assert_same_host_results(&one, &all);
      host_fixture_destroy(&one);
    }
    host_fixture_destroy(&all);
  }
}

static void no_result_is_no_error(void **state) {
  (void)state;
  host_case_t host_case = full_case(UATTN_DTYPE_F32);
  host_fixture_t fixture = host_fixture_create(&host_case, UATTN_OP_FORWARD);
  host_fixture_t without = fixture;
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    without.tensors.results[i].data = NULL;
  assert_ok(uattn_host_run(&without.problem, &without.tensors, NULL));
  host_fixture_destroy(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_thread_count_gives_the_same_bits),
      cmocka_unit_test(spread_tensors_equal_dense_ones),
      cmocka_unit_test(operands_may_repeat),
      cmocka_unit_test(results_are_had_one_by_one),
      cmocka_unit_test(no_result_is_no_error)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
