/* Tests of the reference against the golden cases, whose folder is argument 1.
 * Layer: test. Must not know: anything above the layers that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "npy.h"
#include "support/support.h"
#include "uattn/reference.h"

static const char *golden_folder;

/* A golden case: what its case.json says. */
typedef struct {
  const char *name;
  uattn_problem_t problem;
} golden_case_t;

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

static uattn_npy_array_t read_array(const char *folder, const char *prefix,
                                    const char *name) {
  uattn_string_t path = {0};
  uattn_string_appendf(&path, "%s/%s/%s_%s.npy", golden_folder, folder, prefix,
                       name);
  uattn_npy_array_t array = {0};
  assert_ok(uattn_npy_read(uattn_string_get(&path), &array));
  uattn_string_release(&path);
  return array;
}

/* Always-present operands and results, by the op. */
static uattn_problem_t complete_problem(const golden_case_t *golden) {
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
  uattn_problem_t problem = complete_problem(golden);
  uattn_npy_array_t inputs[UATTN_OPERAND_COUNT] = {0};
  uattn_npy_array_t wanted[UATTN_RESULT_COUNT] = {0};
  uattn_reference_tensors_t tensors = {0};
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    if (problem.has_operand[i]) {
      inputs[i] = read_array(golden->name, "in",
                             uattn_operand_name((uattn_operand_t)i));
      tensors.operands[i] = inputs[i].data;
    }
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    if (problem.has_result[i]) {
      wanted[i] =
          read_array(golden->name, "want", uattn_result_name(problem.kind, i));
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

static void golden_case(void **state) { check_case(*state); }

int main(int argument_count, char **arguments) {
  if (argument_count != 2) {
    fprintf(stderr, "%d arguments: expected the golden folder\n",
            argument_count - 1);
    return 2;
  }
  golden_folder = arguments[1];
  enum { CASE_COUNT = sizeof cases / sizeof *cases };
  struct CMUnitTest tests[CASE_COUNT];
  for (int i = 0; i < CASE_COUNT; ++i) {
    golden_case_t *golden = (golden_case_t *)&cases[i];
    tests[i] =
        (struct CMUnitTest){golden->name, golden_case, NULL, NULL, golden};
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
