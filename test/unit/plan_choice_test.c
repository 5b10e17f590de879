/* Tests of the choice of a forward plan: what is refused by name, that every
 * choice fits and that none fits better, names and parameters.
 * Layer: test. Must not know: MLIR, how code is emitted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan_fixture.h"

static void targets_are_found_by_name(void **state) {
  (void)state;
  const uattn_target_t *target = h100();
  assert_non_null(target);
  assert_string_equal(target->chip, "sm_90a");
  assert_int_equal(target->smem_bytes_per_cta, 227 * 1024);
  assert_int_equal(target->registers_per_sm, 64 * 1024);
  assert_null(uattn_target_find("sm_90"));
  assert_null(uattn_target_find("sm_100a"));
  assert_null(uattn_target_find(""));
}

/* A machine that no candidate fits. */
static void small_machine_has_no_plan(void **state) {
  (void)state;
  uattn_target_t small = *h100();
  uattn_problem_t problem = forward_problem(128);
  uattn_forward_plan_t plan;
  small.smem_bytes_per_cta = 48 * 1024;
  assert_error(
      uattn_plan_forward(&problem, &small, UATTN_PLAN_COMPILER_UATTN, &plan),
      UATTN_ERROR_UNSUPPORTED, "no forward plan for head_dim 128 fits sm_90a");
  assert_error(
      uattn_plan_forward(&problem, &small, UATTN_PLAN_COMPILER_TRITON, &plan),
      UATTN_ERROR_UNSUPPORTED, "no forward plan for head_dim 128 fits sm_90a");
}

static void every_choice_is_valid_and_repeats(void **state) {
  (void)state;
  uattn_problem_t problem;
  int count = 0;
  for (; covered_problem(count, &problem); ++count) {
    uattn_forward_plan_t plan = chosen_plan(&problem);
    uattn_forward_plan_t again = chosen_plan(&problem);
    assert_ok(uattn_forward_plan_validate(&plan, h100()));
    uattn_forward_cost_t cost =
        uattn_forward_cost(&plan, h100(), UATTN_PLAN_COMPILER_UATTN);
    assert_true(cost.consumer_registers_needed <= plan.consumer_registers);
    assert_true(cost.smem_bytes <= h100()->smem_bytes_per_cta);
    assert_int_equal(plan.consumer_warpgroups, again.consumer_warpgroups);
    assert_int_equal(plan.kv_tile_rows, again.kv_tile_rows);
    assert_int_equal(plan.stage_count, again.stage_count);
    assert_int_equal(plan.head_dim, problem.head_dim);
    assert_int_equal(plan.cap_method, problem.cap.method);
    assert_int_equal(plan.has_temp, problem.has_operand[UATTN_OPERAND_TEMP]);
    assert_int_equal(plan.has_lse, problem.has_result[UATTN_RESULT_LSE]);
    assert_int_equal(plan.dtype, problem.dtype);
    assert_int_equal(plan.masks.has_ranker,
                     problem.has_operand[UATTN_OPERAND_BOUNDS]);
    assert_int_equal(plan.masks.has_segments,
                     problem.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS]);
    assert_int_equal(plan.masks.is_causal, problem.is_causal);
    assert_int_equal(plan.masks.has_window, problem.window_tokens > 0);
    if (plan.has_temp)
      assert_int_equal(plan.temp_dtype, problem.temp_dtype);
  }
  assert_int_equal(count, COVERED_PROBLEMS);
}

/* The choice costs no more than any tile of the same warpgroups that fits. */
static void no_tile_that_fits_is_cheaper(void **state) {
  (void)state;
  uattn_problem_t problem;
  for (int i = 0; covered_problem(i, &problem); ++i) {
    uattn_forward_plan_t best = chosen_plan(&problem);
    double cycles = uattn_forward_cost(&best, h100(), UATTN_PLAN_COMPILER_UATTN)
                        .cycles_per_pair;
    uattn_forward_plan_t other = best;
    for (other.kv_tile_rows = UATTN_MIN_KV_TILE_ROWS;
         other.kv_tile_rows <= UATTN_MAX_KV_TILE_ROWS;
         other.kv_tile_rows += UATTN_KV_TILE_STEP) {
      uattn_forward_cost_t cost =
          uattn_forward_cost(&other, h100(), UATTN_PLAN_COMPILER_UATTN);
      bool fits = cost.consumer_registers_needed <= other.consumer_registers &&
                  cost.smem_bytes <= h100()->smem_bytes_per_cta;
      if (fits)
        assert_true(cost.cycles_per_pair >= cycles);
    }
  }
}

/* Triton's kernel obeys such a plan as it is, and no tile of a power of two of
 * rows is cheaper. */
static void choices_for_triton_say_what_its_kernel_does(void **state) {
  (void)state;
  uattn_problem_t problem;
  for (int i = 0; covered_problem(i, &problem); ++i) {
    uattn_forward_plan_t plan =
        plan_chosen_for(&problem, UATTN_PLAN_COMPILER_TRITON);
    assert_ok(uattn_forward_plan_validate(&plan, h100()));
    assert_int_equal(plan.polynomial_period, 0);
    assert_false(plan.has_fixed_maximum && plan.has_temp);
    bool is_power = false;
    double cycles =
        uattn_forward_cost(&plan, h100(), UATTN_PLAN_COMPILER_TRITON)
            .cycles_per_pair;
    uattn_forward_plan_t other = plan;
    for (other.kv_tile_rows = 64; other.kv_tile_rows <= 256;
         other.kv_tile_rows *= 2) {
      uattn_forward_cost_t cost =
          uattn_forward_cost(&other, h100(), UATTN_PLAN_COMPILER_TRITON);
      bool fits = cost.consumer_registers_needed <= other.consumer_registers &&
                  cost.smem_bytes <= h100()->smem_bytes_per_cta;
      is_power |= fits && other.kv_tile_rows == plan.kv_tile_rows;
      if (fits)
        assert_true(cost.cycles_per_pair >= cycles);
    }
    assert_true(is_power);
  }
}

/* The sign of sm_scale matters only to scores that nothing else scales. */
static void scale_sign_is_chosen_without_cap_and_temp_only(void **state) {
  (void)state;
  uattn_problem_t problem;
  for (int i = 0; covered_problem(i, &problem); ++i) {
    uattn_scale_sign_t wanted = problem.sm_scale < 0
                                    ? UATTN_SCALE_SIGN_NEGATIVE
                                    : UATTN_SCALE_SIGN_POSITIVE;
    if (problem.cap.method != UATTN_CAP_NONE ||
        problem.has_operand[UATTN_OPERAND_TEMP])
      wanted = UATTN_SCALE_SIGN_ANY;
    assert_int_equal(chosen_plan(&problem).scale_sign, wanted);
  }
}

/* Only a cap that bounds log2(e) temp cap by 88 spares the maximum, with room
 * for the temps that rankers use; f16 has too few exponents. */
static void a_tight_cap_alone_spares_the_maximum(void **state) {
  (void)state;
  static const struct {
    uattn_cap_method_t method;
    double cap;
    bool has_temp;
    uattn_dtype_t dtype;
    bool wanted;
  } cases[] = {
      {UATTN_CAP_TANH, 60.9, false, UATTN_DTYPE_BF16, true},
      {UATTN_CAP_TANH, 61.1, false, UATTN_DTYPE_BF16, false},
      {UATTN_CAP_SOFT_SIGN, 60.9, false, UATTN_DTYPE_BF16, true},
      {UATTN_CAP_SOFT_SIGN, 61.1, false, UATTN_DTYPE_BF16, false},
      {UATTN_CAP_TANH, 40.6, true, UATTN_DTYPE_BF16, true},
      {UATTN_CAP_TANH, 40.7, true, UATTN_DTYPE_BF16, false},
      {UATTN_CAP_TANH, 1.0, false, UATTN_DTYPE_F16, false},
      {UATTN_CAP_ALSC, 1.0, false, UATTN_DTYPE_BF16, false},
      {UATTN_CAP_NONE, 0.0, false, UATTN_DTYPE_BF16, false},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    uattn_problem_t problem = forward_problem(64);
    problem.cap.method = cases[i].method;
    problem.cap.cap = cases[i].cap;
    problem.cap.alpha = cases[i].method == UATTN_CAP_ALSC ? 8.0 : 0.0;
    problem.has_operand[UATTN_OPERAND_TEMP] = cases[i].has_temp;
    problem.dtype = cases[i].dtype;
    uattn_forward_plan_t plan = chosen_plan(&problem);
    assert_int_equal(plan.has_fixed_maximum, cases[i].wanted);
    /* Polynomials need the time that the maximum took. */
    if (!cases[i].wanted)
      assert_int_equal(plan.polynomial_period, 0);
  }
}

/* Sizes, offsets, the window's length and cap parameters are arguments of the
 * launch. */
static void run_time_arguments_change_no_plan(void **state) {
  (void)state;
  uattn_problem_t problem = forward_problem(64);
  problem.cap = (uattn_cap_t){UATTN_CAP_TANH, 30.0, 0.0, 0.0};
  problem.window_tokens = 1;
  uattn_forward_plan_t plan = chosen_plan(&problem);
  problem.window_tokens = 4096;
  problem.batch = 3;
  problem.q_tokens = 1;
  problem.kv_tokens = 100000;
  problem.q_heads = 20;
  problem.kv_heads = 4;
  problem.q_offset = -7;
  problem.sm_scale = -3.0;
  problem.cap.cap = 0.5;
  uattn_forward_plan_t other = chosen_plan(&problem);
  uattn_string_t name = {0}, other_name = {0};
  uattn_forward_kernel_name(&plan, &name);
  uattn_forward_kernel_name(&other, &other_name);
  assert_string_equal(uattn_string_get(&name), uattn_string_get(&other_name));
  assert_int_equal(plan.kv_tile_rows, other.kv_tile_rows);
  assert_int_equal(plan.scale_sign, other.scale_sign);
  uattn_string_release(&name);
  uattn_string_release(&other_name);
}

static void kernel_names_say_what_is_computed(void **state) {
  (void)state;
  uattn_problem_t problem = forward_problem(64);
  uattn_string_t name = {0};
  uattn_forward_plan_t plan = chosen_plan(&problem);
  uattn_forward_kernel_name(&plan, &name);
  assert_string_equal(uattn_string_get(&name),
                      "ranker_attention_fwd_bf16_d64_none");
  problem = forward_problem(128);
  problem.cap = (uattn_cap_t){UATTN_CAP_SOFT_SIGN, 2.0, 0.0, 0.0};
  problem.has_operand[UATTN_OPERAND_TEMP] = true;
  problem.temp_dtype = UATTN_DTYPE_BF16;
  problem.has_result[UATTN_RESULT_LSE] = true;
  plan = chosen_plan(&problem);
  uattn_string_release(&name);
  uattn_forward_kernel_name(&plan, &name);
  assert_string_equal(uattn_string_get(&name),
                      "ranker_attention_fwd_bf16_d128_soft_sign_temp_bf16_lse");
  uattn_string_release(&name);
  problem.dtype = UATTN_DTYPE_F16;
  problem.has_operand[UATTN_OPERAND_TEMP] = false;
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  problem.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS] = true;
  problem.has_operand[UATTN_OPERAND_KV_SEGMENT_IDS] = true;
  problem.is_causal = true;
  problem.window_tokens = 7;
  plan = chosen_plan(&problem);
  uattn_forward_kernel_name(&plan, &name);
  assert_string_equal(uattn_string_get(&name),
                      "ranker_attention_fwd_f16_d128_soft_sign_lse_ranker_"
                      "segments_causal_window");
  uattn_string_release(&name);
}

/* Which parameters, in which order, by the enum's names. */
static void assert_params(const uattn_forward_plan_t *plan,
                          const uattn_forward_param_t *wanted, int count) {
  uattn_plan_param_t params[UATTN_FORWARD_PARAM_COUNT];
  uattn_forward_layout_t layout = uattn_forward_layout(plan);
  assert_int_equal(uattn_forward_params(plan, params), count);
  for (int i = 0; i < count; ++i) {
    assert_int_equal(params[i].what, wanted[i]);
    switch (params[i].what) {
    case UATTN_FORWARD_PARAM_Q:
      assert_int_equal(params[i].box_rows, layout.q_tile_rows);
      break;
    case UATTN_FORWARD_PARAM_K:
    case UATTN_FORWARD_PARAM_V:
      assert_int_equal(params[i].box_rows, plan->kv_tile_rows);
      break;
    case UATTN_FORWARD_PARAM_OUT:
    case UATTN_FORWARD_PARAM_K_DIAGONAL:
    case UATTN_FORWARD_PARAM_V_DIAGONAL:
      assert_int_equal(params[i].box_rows, UATTN_WARPGROUP_ROWS);
      break;
    default:
      assert_int_equal(params[i].box_rows, 0);
    }
    uattn_plan_param_kind_t kind = UATTN_PLAN_PARAM_F32;
    if (params[i].what <= UATTN_FORWARD_PARAM_V_DIAGONAL)
      kind = UATTN_PLAN_PARAM_TENSOR_MAP;
    else if (params[i].what <= UATTN_FORWARD_PARAM_KV_SEGMENT_IDS)
      kind = UATTN_PLAN_PARAM_POINTER;
    else if (params[i].what <= UATTN_FORWARD_PARAM_WINDOW_TOKENS)
      kind = UATTN_PLAN_PARAM_I32;
    assert_int_equal(params[i].kind, kind);
  }
}

#define SIZES                                                                  \
  UATTN_FORWARD_PARAM_Q_TOKENS, UATTN_FORWARD_PARAM_KV_TOKENS,                 \
      UATTN_FORWARD_PARAM_Q_HEADS, UATTN_FORWARD_PARAM_KV_HEADS,               \
      UATTN_FORWARD_PARAM_Q_TILES
#define MAPS                                                                   \
  UATTN_FORWARD_PARAM_Q, UATTN_FORWARD_PARAM_K, UATTN_FORWARD_PARAM_V,         \
      UATTN_FORWARD_PARAM_OUT

static void parameters_follow_the_variant(void **state) {
  (void)state;
  const uattn_forward_param_t plain[] = {MAPS, SIZES,
                                         UATTN_FORWARD_PARAM_POST_SCALE};
  const uattn_forward_param_t capped[] = {MAPS, SIZES,
                                          UATTN_FORWARD_PARAM_PRE_SCALE,
                                          UATTN_FORWARD_PARAM_POST_SCALE};
  const uattn_forward_param_t alsc[] = {
      MAPS, SIZES, UATTN_FORWARD_PARAM_PRE_SCALE, UATTN_FORWARD_PARAM_PRE_BIAS,
      UATTN_FORWARD_PARAM_POST_SCALE};
  const uattn_forward_param_t all[] = {MAPS,
                                       UATTN_FORWARD_PARAM_LSE,
                                       UATTN_FORWARD_PARAM_TEMP,
                                       SIZES,
                                       UATTN_FORWARD_PARAM_PRE_SCALE,
                                       UATTN_FORWARD_PARAM_PRE_BIAS,
                                       UATTN_FORWARD_PARAM_POST_SCALE,
                                       UATTN_FORWARD_PARAM_LSE_SHIFT};
  uattn_problem_t problem = forward_problem(64);
  uattn_forward_plan_t plan = chosen_plan(&problem);
  assert_params(&plan, plain, COUNT_OF(plain));
  plan.cap_method = UATTN_CAP_TANH;
  assert_params(&plan, capped, COUNT_OF(capped));
  plan.cap_method = UATTN_CAP_SOFT_SIGN;
  assert_params(&plan, capped, COUNT_OF(capped));
  plan.cap_method = UATTN_CAP_ALSC;
  assert_params(&plan, alsc, COUNT_OF(alsc));
  plan.has_lse = plan.has_temp = true;
  assert_params(&plan, all, COUNT_OF(all));
}

/* What a mask does not need is not passed. */
static void parameters_follow_the_masks(void **state) {
  (void)state;
  const uattn_forward_param_t causal[] = {MAPS, SIZES,
                                          UATTN_FORWARD_PARAM_Q_OFFSET,
                                          UATTN_FORWARD_PARAM_POST_SCALE};
  const uattn_forward_param_t window[] = {
      MAPS, SIZES, UATTN_FORWARD_PARAM_Q_OFFSET,
      UATTN_FORWARD_PARAM_WINDOW_TOKENS, UATTN_FORWARD_PARAM_POST_SCALE};
  const uattn_forward_param_t segments[] = {
      MAPS, UATTN_FORWARD_PARAM_Q_SEGMENT_IDS,
      UATTN_FORWARD_PARAM_KV_SEGMENT_IDS, SIZES,
      UATTN_FORWARD_PARAM_POST_SCALE};
  const uattn_forward_param_t ranker[] = {MAPS,
                                          UATTN_FORWARD_PARAM_K_DIAGONAL,
                                          UATTN_FORWARD_PARAM_V_DIAGONAL,
                                          UATTN_FORWARD_PARAM_BOUNDS,
                                          SIZES,
                                          UATTN_FORWARD_PARAM_Q_OFFSET,
                                          UATTN_FORWARD_PARAM_POST_SCALE};
  const uattn_forward_param_t all[] = {MAPS,
                                       UATTN_FORWARD_PARAM_K_DIAGONAL,
                                       UATTN_FORWARD_PARAM_V_DIAGONAL,
                                       UATTN_FORWARD_PARAM_BOUNDS,
                                       UATTN_FORWARD_PARAM_Q_SEGMENT_IDS,
                                       UATTN_FORWARD_PARAM_KV_SEGMENT_IDS,
                                       SIZES,
                                       UATTN_FORWARD_PARAM_Q_OFFSET,
                                       UATTN_FORWARD_PARAM_WINDOW_TOKENS,
                                       UATTN_FORWARD_PARAM_POST_SCALE};
  uattn_problem_t problem = forward_problem(128);
  uattn_forward_plan_t plan = chosen_plan(&problem);
  plan.masks = (uattn_mask_kinds_t){.is_causal = true};
  assert_params(&plan, causal, COUNT_OF(causal));
  plan.masks = (uattn_mask_kinds_t){.has_window = true};
  assert_params(&plan, window, COUNT_OF(window));
  plan.masks = (uattn_mask_kinds_t){.has_segments = true};
  assert_params(&plan, segments, COUNT_OF(segments));
  plan.masks = (uattn_mask_kinds_t){.has_ranker = true};
  assert_params(&plan, ranker, COUNT_OF(ranker));
  plan.masks = (uattn_mask_kinds_t){true, true, true, true};
  assert_params(&plan, all, COUNT_OF(all));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(targets_are_found_by_name),
      cmocka_unit_test(small_machine_has_no_plan),
      cmocka_unit_test(every_choice_is_valid_and_repeats),
      cmocka_unit_test(no_tile_that_fits_is_cheaper),
      cmocka_unit_test(choices_for_triton_say_what_its_kernel_does),
      cmocka_unit_test(scale_sign_is_chosen_without_cap_and_temp_only),
      cmocka_unit_test(a_tight_cap_alone_spares_the_maximum),
      cmocka_unit_test(run_time_arguments_change_no_plan),
      cmocka_unit_test(kernel_names_say_what_is_computed),
      cmocka_unit_test(parameters_follow_the_variant),
      cmocka_unit_test(parameters_follow_the_masks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
