/* Tests of every rule that a problem obeys: what passes, and each message.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include <float.h>

#include "uattn/problem.h"

static uattn_problem_t forward_problem(void) {
  return (uattn_problem_t){
      .kind = UATTN_OP_FORWARD,
      .batch = 1,
      .q_tokens = 64,
      .kv_tokens = 80,
      .q_heads = 8,
      .kv_heads = 2,
      .head_dim = 128,
      .sm_scale = 0.125,
      .has_operand = {true, true, true},
      .has_result = {true},
  };
}

static uattn_problem_t backward_problem(void) {
  uattn_problem_t problem = forward_problem();
  problem.kind = UATTN_OP_BACKWARD;
  problem.has_operand[UATTN_OPERAND_OUT] = true;
  problem.has_operand[UATTN_OPERAND_LSE] = true;
  problem.has_operand[UATTN_OPERAND_DOUT] = true;
  problem.has_result[UATTN_RESULT_DK] = true;
  problem.has_result[UATTN_RESULT_DV] = true;
  return problem;
}

/* A valid problem `p` of a kind with one change is refused with `message`. */
#define EXPECT_REFUSED(kind, change, message)                                  \
  do {                                                                         \
    uattn_problem_t p = kind##_problem();                                      \
    change;                                                                    \
    assert_error(uattn_problem_validate(&p), UATTN_ERROR_INVALID_ARGUMENT,     \
                 message);                                                     \
  } while (0)

#define EXPECT_VALID(kind, change)                                             \
  do {                                                                         \
    uattn_problem_t p = kind##_problem();                                      \
    change;                                                                    \
    assert_ok(uattn_problem_validate(&p));                                     \
  } while (0)

static void plain_problems_are_valid(void **state) {
  (void)state;
  EXPECT_VALID(forward, );
  EXPECT_VALID(backward, );
}

static void kind_and_types(void **state) {
  (void)state;
  EXPECT_REFUSED(forward, p.kind = (uattn_op_kind_t)2,
                 "op kind is 2: expected forward (0) or backward (1)");
  EXPECT_VALID(forward, p.dtype = UATTN_DTYPE_F16);
  EXPECT_REFUSED(forward, p.dtype = UATTN_DTYPE_F32,
                 "q has element type f32: expected bf16 or f16");
  EXPECT_VALID(forward, p.temp_dtype = UATTN_DTYPE_I32);
  static const uattn_dtype_t temp_dtypes[] = {UATTN_DTYPE_F32, UATTN_DTYPE_BF16,
                                              UATTN_DTYPE_F16};
  for (size_t i = 0; i < COUNT_OF(temp_dtypes); ++i)
    EXPECT_VALID(forward, p.temp_dtype = temp_dtypes[i];
                 p.has_operand[UATTN_OPERAND_TEMP] = true);
  EXPECT_REFUSED(forward, p.temp_dtype = UATTN_DTYPE_I32;
                 p.has_operand[UATTN_OPERAND_TEMP] = true,
                 "temp has element type i32: expected f32, bf16 or f16");
}

static void sizes_are_positive_31_bit_or_dynamic(void **state) {
  (void)state;
  EXPECT_VALID(forward, p.batch = p.q_tokens = p.kv_tokens = p.q_heads =
                            p.kv_heads = UATTN_DIM_DYNAMIC);
  EXPECT_VALID(forward, p.q_tokens = INT32_MAX);
  EXPECT_REFUSED(forward, p.batch = 0, "batch is 0: expected 1 to 2147483647");
  EXPECT_REFUSED(forward, p.q_tokens = INT64_C(1) << 31,
                 "q_tokens is 2147483648: expected 1 to 2147483647");
  EXPECT_REFUSED(forward, p.kv_tokens = -2,
                 "kv_tokens is -2: expected 1 to 2147483647");
  EXPECT_REFUSED(forward, p.q_heads = 0,
                 "q_heads is 0: expected 1 to 2147483647");
  EXPECT_REFUSED(forward, p.kv_heads = 0,
                 "kv_heads is 0: expected 1 to 2147483647");
}

static void head_dim_is_one_of_four(void **state) {
  (void)state;
  for (int64_t head_dim = 64; head_dim <= 256; head_dim += 64)
    EXPECT_VALID(forward, p.head_dim = head_dim);
  EXPECT_REFUSED(forward, p.head_dim = 72,
                 "head_dim is 72: expected 64, 128, 192 or 256");
  EXPECT_REFUSED(forward, p.head_dim = 320,
                 "head_dim is 320: expected 64, 128, 192 or 256");
  EXPECT_REFUSED(forward, p.head_dim = 0,
                 "head_dim is 0: expected 64, 128, 192 or 256");
  EXPECT_REFUSED(forward, p.head_dim = UATTN_DIM_DYNAMIC,
                 "head_dim is dynamic: expected 64, 128, 192 or 256");
}

static void kv_heads_divide_q_heads(void **state) {
  (void)state;
  EXPECT_VALID(forward, p.q_heads = 20; p.kv_heads = 4);
  EXPECT_VALID(forward, p.q_heads = 7; p.kv_heads = 7);
  EXPECT_VALID(forward, p.q_heads = UATTN_DIM_DYNAMIC; p.kv_heads = 3);
  EXPECT_REFUSED(forward, p.kv_heads = 3,
                 "q has 8 heads, not a multiple of the 3 kv heads");
  EXPECT_REFUSED(forward, p.kv_heads = 16,
                 "q has 8 heads, not a multiple of the 16 kv heads");
}

static void required_operands_are_there(void **state) {
  (void)state;
  EXPECT_REFUSED(forward, p.has_operand[UATTN_OPERAND_Q] = false,
                 "operand q is missing: expected it always");
  EXPECT_REFUSED(forward, p.has_operand[UATTN_OPERAND_K] = false,
                 "operand k is missing: expected it always");
  EXPECT_REFUSED(forward, p.has_operand[UATTN_OPERAND_V] = false,
                 "operand v is missing: expected it always");
  EXPECT_REFUSED(backward, p.has_operand[UATTN_OPERAND_OUT] = false,
                 "operand out is missing: expected it always");
  EXPECT_REFUSED(backward, p.has_operand[UATTN_OPERAND_LSE] = false,
                 "operand lse is missing: expected it always");
  EXPECT_REFUSED(backward, p.has_operand[UATTN_OPERAND_DOUT] = false,
                 "operand dout is missing: expected it always");
}

static void backward_operands_are_not_the_forwards(void **state) {
  (void)state;
  EXPECT_VALID(backward, p.has_operand[UATTN_OPERAND_DLSE] = true);
  EXPECT_REFUSED(forward, p.has_operand[UATTN_OPERAND_DLSE] = true,
                 "operand dlse is given to the forward op: expected it on the "
                 "backward op alone");
  EXPECT_REFUSED(forward, p.has_operand[UATTN_OPERAND_OUT] = true,
                 "operand out is given to the forward op: expected it on the "
                 "backward op alone");
}

static void segment_ids_come_in_pairs(void **state) {
  (void)state;
  EXPECT_VALID(forward, p.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS] = true;
               p.has_operand[UATTN_OPERAND_KV_SEGMENT_IDS] = true);
  EXPECT_REFUSED(forward, p.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS] = true,
                 "operand q_segment_ids is given without kv_segment_ids: "
                 "expected both or neither");
  EXPECT_REFUSED(forward, p.has_operand[UATTN_OPERAND_KV_SEGMENT_IDS] = true,
                 "operand kv_segment_ids is given without q_segment_ids: "
                 "expected both or neither");
}

static void results_fit_the_op(void **state) {
  (void)state;
  EXPECT_VALID(forward, p.has_result[UATTN_RESULT_LSE] = true);
  EXPECT_REFUSED(forward, p.has_result[UATTN_RESULT_OUT] = false,
                 "result out is missing: expected it always");
  EXPECT_REFUSED(forward, p.has_result[UATTN_RESULT_DV] = true,
                 "the forward op has a result 2: expected out and lse alone");
  EXPECT_REFUSED(backward, p.has_result[UATTN_RESULT_DK] = false,
                 "result dk is missing: expected it always");
  EXPECT_REFUSED(backward, p.has_result[UATTN_RESULT_DV] = false,
                 "result dv is missing: expected it always");
  EXPECT_VALID(backward, p.has_result[UATTN_RESULT_DTEMP] = true;
               p.has_operand[UATTN_OPERAND_TEMP] = true);
  EXPECT_REFUSED(
      backward, p.has_result[UATTN_RESULT_DTEMP] = true,
      "result dtemp is asked for without operand temp: expected temp too");
}

#define CAP(...) p.cap = (uattn_cap_t)__VA_ARGS__

static void cap_parameters_belong_to_the_method(void **state) {
  (void)state;
  EXPECT_VALID(forward, CAP({UATTN_CAP_TANH, 30, 0, 0}));
  EXPECT_VALID(forward, CAP({UATTN_CAP_SOFT_SIGN, 80, 0, 0}));
  EXPECT_VALID(forward, CAP({UATTN_CAP_ALSC, 50, 2, -0.5}));
  EXPECT_REFUSED(forward, CAP({(uattn_cap_method_t)9, 0, 0, 0}),
                 "cap method is 9: expected none, tanh, soft_sign or alsc");
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_NONE, 30, 0, 0}),
                 "cap none has cap 30, which it does not use: expected 0");
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_NONE, 0, 1.5, 0}),
                 "cap none has alpha 1.5, which it does not use: expected 0");
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_TANH, 30, 2, 0}),
                 "cap tanh has alpha 2, which it does not use: expected 0");
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_SOFT_SIGN, 30, 0, NAN}),
                 "cap soft_sign has beta nan, which it does not use: "
                 "expected 0");
}

static void cap_parameters_are_finite(void **state) {
  (void)state;
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_TANH, 0, 0, 0}),
                 "cap tanh has cap 0: expected a finite number above 0");
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_SOFT_SIGN, -1, 0, 0}),
                 "cap soft_sign has cap -1: expected a finite number above 0");
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_ALSC, INFINITY, 1, 1}),
                 "cap alsc has cap inf: expected a finite number above 0");
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_TANH, NAN, 0, 0}),
                 "cap tanh has cap nan: expected a finite number above 0");
  /* Zero as an f32. */
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_TANH, 1e-60, 0, 0}),
                 "cap tanh has cap 1e-60: expected a finite number above 0");
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_ALSC, 50, NAN, 0}),
                 "cap alsc has alpha nan: expected a finite number");
  EXPECT_REFUSED(forward, CAP({UATTN_CAP_ALSC, 50, 1, INFINITY}),
                 "cap alsc has beta inf: expected a finite number");
}

static void scale_is_a_finite_f32(void **state) {
  (void)state;
  EXPECT_VALID(forward, p.sm_scale = 0);
  EXPECT_VALID(forward, p.sm_scale = -FLT_MAX);
  EXPECT_REFUSED(forward, p.sm_scale = NAN,
                 "sm_scale is nan: expected a finite f32 number");
  EXPECT_REFUSED(forward, p.sm_scale = 1e39,
                 "sm_scale is 1e+39: expected a finite f32 number");
}

static void window_and_offset_are_in_range(void **state) {
  (void)state;
  EXPECT_VALID(forward, p.window_tokens = 1; p.is_causal = true);
  EXPECT_VALID(forward, p.window_tokens = INT64_MAX);
  EXPECT_VALID(forward, p.q_offset = -(INT64_C(1) << 62));
  EXPECT_REFUSED(forward, p.window_tokens = -1,
                 "window_len is -1: expected above 0");
  EXPECT_REFUSED(forward, p.q_offset = (INT64_C(1) << 62) + 1,
                 "q_offset is 4611686018427387905: expected -2^62 to 2^62");
  EXPECT_REFUSED(forward, p.q_offset = INT64_MIN,
                 "q_offset is -9223372036854775808: expected -2^62 to 2^62");
}

static void backward_attributes_are_not_the_forwards(void **state) {
  (void)state;
  EXPECT_VALID(backward, p.z_loss_weight = 1e-4; p.is_deterministic = true);
  EXPECT_REFUSED(backward, p.z_loss_weight = INFINITY,
                 "z_loss_weight is inf: expected a finite f32 number");
  EXPECT_REFUSED(forward, p.z_loss_weight = 0.5,
                 "z_loss_weight is 0.5 on the forward op: expected it on the "
                 "backward op alone");
  EXPECT_REFUSED(forward, p.is_deterministic = true,
                 "deterministic is set on the forward op: expected it on the "
                 "backward op alone");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_problems_are_valid),
      cmocka_unit_test(kind_and_types),
      cmocka_unit_test(sizes_are_positive_31_bit_or_dynamic),
      cmocka_unit_test(head_dim_is_one_of_four),
      cmocka_unit_test(kv_heads_divide_q_heads),
      cmocka_unit_test(required_operands_are_there),
      cmocka_unit_test(backward_operands_are_not_the_forwards),
      cmocka_unit_test(segment_ids_come_in_pairs),
      cmocka_unit_test(results_fit_the_op),
      cmocka_unit_test(cap_parameters_belong_to_the_method),
      cmocka_unit_test(cap_parameters_are_finite),
      cmocka_unit_test(scale_is_a_finite_f32),
      cmocka_unit_test(window_and_offset_are_in_range),
      cmocka_unit_test(backward_attributes_are_not_the_forwards),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
