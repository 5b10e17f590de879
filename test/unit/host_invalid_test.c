/* Tests of what the host layer refuses, and that it then writes nothing.
 * Layer: test. Must not know: anything above the host layer and the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host_fixture.h"

static const host_case_t plain_case = {
    .problem = {.dtype = UATTN_DTYPE_BF16,
                .temp_dtype = UATTN_DTYPE_F32,
                HOST_SIZES(2, 6, 5, 4, 2, 8),
                .sm_scale = 0.125,
                HOST_WITH(TEMP)}};

/* A change that makes a good call bad. */
typedef void (*spoil_t)(host_fixture_t *fixture);

static void expect_message(uattn_op_kind_t kind, spoil_t spoil,
                           const char *message) {
  host_fixture_t fixture = host_fixture_create(&plain_case, kind);
  host_fixture_t spoiled = fixture;
  for (int i = 0; i < uattn_result_count(kind); ++i)
    memset(fixture.tensors.results[i].data, 0xa5,
           host_tensor_bytes(&fixture.tensors.results[i]));
  spoil(&spoiled);
  assert_error(uattn_host_run(&spoiled.problem, &spoiled.tensors, NULL),
               UATTN_ERROR_INVALID_ARGUMENT, message);
  for (int i = 0; i < uattn_result_count(kind); ++i) {
    const unsigned char *bytes = fixture.tensors.results[i].data;
    for (size_t n = 0; n < host_tensor_bytes(&fixture.tensors.results[i]); ++n)
      assert_int_equal(bytes[n], 0xa5);
  }
  host_fixture_destroy(&fixture);
}

/* Defines a test whose `fixture` is changed by a statement. */
#define REFUSES(test, kind, statement, message)                                \
  static void spoil_##test(host_fixture_t *fixture) { statement; }             \
  static void test(void **state) {                                             \
    (void)state;                                                               \
    expect_message(kind, spoil_##test, message);                               \
  }
#define OPERAND(name) fixture->tensors.operands[UATTN_OPERAND_##name]
#define RESULT(name) fixture->tensors.results[UATTN_RESULT_##name]

REFUSES(integer_numbers, UATTN_OP_FORWARD,
        fixture->problem.dtype = UATTN_DTYPE_I32,
        "q has element type i32: expected bf16, f16 or f32")
REFUSES(no_head_dim, UATTN_OP_FORWARD, fixture->problem.head_dim = 0,
        "head_dim is 0: expected 1 to 2147483647")
REFUSES(dynamic_head_dim, UATTN_OP_FORWARD,
        fixture->problem.head_dim = UATTN_DIM_DYNAMIC,
        "head_dim is -1: expected 1 to 2147483647")
REFUSES(dynamic_batch, UATTN_OP_FORWARD,
        fixture->problem.batch = UATTN_DIM_DYNAMIC,
        "batch is dynamic: expected a number")
REFUSES(dynamic_kv_tokens, UATTN_OP_BACKWARD,
        fixture->problem.kv_tokens = UATTN_DIM_DYNAMIC,
        "kv_tokens is dynamic: expected a number")
REFUSES(heads_that_do_not_divide, UATTN_OP_FORWARD,
        fixture->problem.kv_heads = 3,
        "q has 4 heads, not a multiple of the 3 kv heads")
REFUSES(other_type, UATTN_OP_FORWARD, OPERAND(K).dtype = UATTN_DTYPE_F16,
        "operand k has element type f16: wanted bf16")
REFUSES(other_temp_type, UATTN_OP_FORWARD,
        OPERAND(TEMP).dtype = UATTN_DTYPE_BF16,
        "operand temp has element type bf16: wanted f32")
REFUSES(other_rank, UATTN_OP_FORWARD, OPERAND(V).rank = 3,
        "operand v has 3 dimensions: wanted 4")
REFUSES(other_size, UATTN_OP_BACKWARD, OPERAND(LSE).shape[2] = 7,
        "operand lse has size 7 in dimension 2: wanted 6")
REFUSES(missing_operand, UATTN_OP_BACKWARD, OPERAND(DOUT).data = NULL,
        "operand dout has no data: wanted an address")
REFUSES(surplus_operand, UATTN_OP_FORWARD, OPERAND(BOUNDS) = OPERAND(TEMP),
        "operand bounds has data: wanted none, the problem is without it")
REFUSES(surplus_backward_operand, UATTN_OP_FORWARD, OPERAND(OUT) = OPERAND(Q),
        "operand out has data: wanted none, the problem is without it")
REFUSES(other_result_type, UATTN_OP_FORWARD,
        RESULT(LSE).dtype = UATTN_DTYPE_BF16,
        "result lse has element type bf16: wanted f32")
REFUSES(other_result_size, UATTN_OP_BACKWARD, RESULT(DK).shape[1] = 6,
        "result dk has size 6 in dimension 1: wanted 5")
REFUSES(surplus_result, UATTN_OP_FORWARD, RESULT(DV) = RESULT(OUT),
        "result 2 has data: the forward op has out and lse alone")
REFUSES(dtemp_without_temp, UATTN_OP_BACKWARD,
        fixture->problem.has_operand[UATTN_OPERAND_TEMP] = false;
        fixture->problem.has_result[UATTN_RESULT_DTEMP] = false;
        OPERAND(TEMP).data = NULL,
        "dtemp is wanted of an op without temp: expected temp")
REFUSES(repeating_result, UATTN_OP_BACKWARD, RESULT(DQ).strides[1] = 0,
        "result dq has stride 0 in dimension 1 of size 6: wanted another, its "
        "elements must lie apart")
REFUSES(far_stride, UATTN_OP_FORWARD, OPERAND(Q).strides[0] = INT64_MAX / 2 + 1,
        "operand q has strides beyond 2^63 bytes")
REFUSES(least_stride, UATTN_OP_FORWARD, OPERAND(Q).strides[0] = INT64_MIN,
        "operand q has strides beyond 2^63 bytes")

static void misaligned_data_is_refused(void **state) {
  (void)state;
  host_fixture_t fixture = host_fixture_create(&plain_case, UATTN_OP_FORWARD);
  host_fixture_t spoiled = fixture;
  spoiled.tensors.operands[UATTN_OPERAND_Q].data = (void *)(uintptr_t)0x1001;
  assert_error(uattn_host_run(&spoiled.problem, &spoiled.tensors, NULL),
               UATTN_ERROR_INVALID_ARGUMENT,
               "operand q lies at 0x1001: wanted a multiple of 2 bytes");
  host_fixture_destroy(&fixture);
}

static void negative_thread_count_is_refused(void **state) {
  (void)state;
  host_fixture_t fixture = host_fixture_create(&plain_case, UATTN_OP_FORWARD);
  uattn_host_options_t options = {.struct_size = sizeof options,
                                  .thread_count = -2};
  assert_error(uattn_host_run(&fixture.problem, &fixture.tensors, &options),
               UATTN_ERROR_INVALID_ARGUMENT,
               "thread_count is -2: expected 0 or more");
  options.struct_size = sizeof options.struct_size; /* before the field */
  assert_ok(uattn_host_run(&fixture.problem, &fixture.tensors, &options));
  host_fixture_destroy(&fixture);
}

/* More rows than an index counts, of operands that repeat. */
static void uncountable_rows_are_refused(void **state) {
  (void)state;
  static uint16_t number;
  static float lse;
  uattn_problem_t problem = {
      .kind = UATTN_OP_BACKWARD,
      HOST_SIZES(INT32_MAX, INT32_MAX, 1, INT32_MAX, 1, 1)};
  host_fixture_t fixture = {.problem = problem};
  uattn_problem_t *own = &fixture.problem;
  static const uattn_operand_t operands[] = {
      UATTN_OPERAND_Q,   UATTN_OPERAND_K,   UATTN_OPERAND_V,
      UATTN_OPERAND_OUT, UATTN_OPERAND_LSE, UATTN_OPERAND_DOUT};
  for (size_t i = 0; i < COUNT_OF(operands); ++i) {
    uattn_tensor_t *operand = &fixture.tensors.operands[operands[i]];
    own->has_operand[operands[i]] = true;
    operand->dtype = uattn_operand_dtype(own, operands[i]);
    operand->rank = uattn_operand_shape(own, operands[i], operand->shape);
    operand->data = operand->dtype == UATTN_DTYPE_F32 ? (void *)&lse : &number;
  }
  for (int i = UATTN_RESULT_DQ; i <= UATTN_RESULT_DV; ++i)
    own->has_result[i] = true;
  uattn_tensor_t *dk = &fixture.tensors.results[UATTN_RESULT_DK];
  *dk = fixture.tensors.operands[UATTN_OPERAND_K];
  for (int axis = 0; axis < 4; ++axis)
    dk->strides[axis] = 1;
  assert_error(uattn_host_run(own, &fixture.tensors, NULL),
               UATTN_ERROR_INVALID_ARGUMENT,
               "batch 2147483647, 2147483647 heads and 2147483647 tokens are "
               "more rows than 64 bits can count");
  assert_int_equal(number, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integer_numbers),
      cmocka_unit_test(no_head_dim),
      cmocka_unit_test(dynamic_head_dim),
      cmocka_unit_test(dynamic_batch),
      cmocka_unit_test(dynamic_kv_tokens),
      cmocka_unit_test(heads_that_do_not_divide),
      cmocka_unit_test(other_type),
      cmocka_unit_test(other_temp_type),
      cmocka_unit_test(other_rank),
      cmocka_unit_test(other_size),
      cmocka_unit_test(missing_operand),
      cmocka_unit_test(surplus_operand),
      cmocka_unit_test(surplus_backward_operand),
      cmocka_unit_test(other_result_type),
      cmocka_unit_test(other_result_size),
      cmocka_unit_test(surplus_result),
      cmocka_unit_test(dtemp_without_temp),
      cmocka_unit_test(repeating_result),
      cmocka_unit_test(far_stride),
      cmocka_unit_test(least_stride),
      cmocka_unit_test(misaligned_data_is_refused),
      cmocka_unit_test(negative_thread_count_is_refused),
      cmocka_unit_test(uncountable_rows_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
