/* The golden cases: the op's worked examples, with float64 results.
 * Layer: test. Must not know: what is tested by them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden_cases.h"

#include "support/support.h"

static const char *golden_folder;

#define SIZES(b, sq, skv, h, hkv, d)                                           \
  .batch = (b), .q_tokens = (sq), .kv_tokens = (skv), .q_heads = (h),          \
  .kv_heads = (hkv), .head_dim = (d)
#define NO_CAP                                                                 \
  { UATTN_CAP_NONE, 0, 0, 0 }
#define TANH_CAP                                                               \
  { UATTN_CAP_TANH, 30, 0, 0 }
#define SOFT_SIGN_CAP                                                          \
  { UATTN_CAP_SOFT_SIGN, 30, 0, 0 }
#define ALSC_CAP                                                               \
  { UATTN_CAP_ALSC, 30, 4, 0.5 }
#define WITH(operand) .has_operand[UATTN_OPERAND_##operand] = true
#define BACKWARD .kind = UATTN_OP_BACKWARD

static const golden_case_t cases[] = {
    {"fwd_none_full",
     {SIZES(1, 128, 128, 4, 2, 64), .sm_scale = 0.125, .cap = NO_CAP}},
    {"fwd_alsc_ranker_temp",
     {SIZES(2, 200, 200, 4, 2, 64), .sm_scale = 0.125, .cap = ALSC_CAP,
      WITH(TEMP), WITH(BOUNDS)}},
    {"fwd_cross_length_offset",
     {SIZES(1, 70, 230, 5, 1, 64), .sm_scale = 0.125, .cap = TANH_CAP,
      .is_causal = true, .q_offset = 160}},
    {"fwd_d192_ratio5",
     {SIZES(1, 90, 90, 5, 1, 192), .sm_scale = 0.07216878235340118,
      .cap = SOFT_SIGN_CAP}},
    {"fwd_d256",
     {SIZES(1, 90, 90, 2, 1, 256), .sm_scale = 0.0625, .cap = ALSC_CAP,
      WITH(TEMP), WITH(BOUNDS)}},
    {"fwd_fp16_padding_rows",
     {SIZES(2, 150, 150, 2, 1, 64), .dtype = UATTN_DTYPE_F16, .sm_scale = 0.125,
      .cap = SOFT_SIGN_CAP, WITH(BOUNDS)}},
    {"fwd_softsign_segments_window",
     {SIZES(1, 192, 192, 2, 2, 64), .sm_scale = 0.125, .cap = SOFT_SIGN_CAP,
      .is_causal = true, .window_tokens = 48, WITH(Q_SEGMENT_IDS),
      WITH(KV_SEGMENT_IDS)}},
    {"fwd_tanh_causal_d128",
     {SIZES(1, 160, 160, 2, 1, 128), .sm_scale = 0.0883883461356163,
      .cap = TANH_CAP, .is_causal = true}},
    {"fwd_window_alone",
     {SIZES(1, 200, 200, 2, 1, 64), .sm_scale = 0.125, .cap = NO_CAP,
      .window_tokens = 50}},
    {"bwd_alsc_ranker_temp_zloss",
     {BACKWARD, SIZES(1, 200, 200, 4, 2, 64), .sm_scale = 0.125,
      .cap = ALSC_CAP, .z_loss_weight = (double)0.001f, WITH(TEMP),
      WITH(BOUNDS)}},
    {"bwd_fp16_dead_rows",
     {BACKWARD, SIZES(2, 130, 130, 2, 1, 64), .dtype = UATTN_DTYPE_F16,
      .sm_scale = 0.125, .cap = TANH_CAP, WITH(BOUNDS)}},
    {"bwd_none_full_gqa4",
     {BACKWARD, SIZES(1, 128, 128, 4, 1, 64), .sm_scale = 0.125,
      .cap = NO_CAP}},
    {"bwd_softsign_dlse",
     {BACKWARD, SIZES(1, 130, 130, 2, 1, 64), .sm_scale = 0.125,
      .cap = SOFT_SIGN_CAP, WITH(TEMP), WITH(BOUNDS), WITH(DLSE)}},
    {"bwd_tanh_causal_window",
     {BACKWARD, SIZES(1, 192, 192, 2, 2, 64), .sm_scale = 0.125,
      .cap = TANH_CAP, .is_causal = true, .window_tokens = 70}}};

uattn_npy_array_t golden_read(const golden_case_t *golden, const char *prefix,
                              const char *name) {
  uattn_string_t path = {0};
  uattn_string_appendf(&path, "%s/%s/%s_%s.npy", golden_folder, golden->name,
                       prefix, name);
  uattn_npy_array_t array = {0};
  assert_ok(uattn_npy_read(uattn_string_get(&path), &array));
  uattn_string_release(&path);
  return array;
}

uattn_problem_t golden_problem(const golden_case_t *golden) {
  uattn_problem_t problem = golden->problem;
  bool is_backward = problem.kind == UATTN_OP_BACKWARD;
  for (int i = UATTN_OPERAND_Q; i <= UATTN_OPERAND_V; ++i)
    problem.has_operand[i] = true;
  for (int i = UATTN_OPERAND_OUT; i <= UATTN_OPERAND_DOUT; ++i)
    problem.has_operand[i] = is_backward;
  problem.has_result[0] = problem.has_result[1] = true;
  problem.has_result[UATTN_RESULT_DV] = is_backward;
  problem.has_result[UATTN_RESULT_DTEMP] =
      is_backward && problem.has_operand[UATTN_OPERAND_TEMP];
  problem.temp_dtype = UATTN_DTYPE_F32;
  return problem;
}

static void (*check_golden)(const golden_case_t *golden);

static void golden_case(void **state) { check_golden(*state); }

int golden_main(int argument_count, char **arguments,
                void (*check)(const golden_case_t *golden)) {
  if (argument_count != 2) {
    fprintf(stderr, "%d arguments: expected the golden folder\n",
            argument_count - 1);
    return 2;
  }
  golden_folder = arguments[1];
  check_golden = check;
  enum { CASE_COUNT = sizeof cases / sizeof *cases };
  struct CMUnitTest tests[CASE_COUNT];
  for (int i = 0; i < CASE_COUNT; ++i) {
    golden_case_t *golden = (golden_case_t *)&cases[i];
    tests[i] =
        (struct CMUnitTest){golden->name, golden_case, NULL, NULL, golden};
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
