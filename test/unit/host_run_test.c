/* Tests of the host layer against the reference, over masks, caps and types.
 * Layer: test. Must not know: anything above the host layer and the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host_fixture.h"

#define CAP(method, ...) .cap = {UATTN_CAP_##method, __VA_ARGS__}
#define NO_CAP .cap = {UATTN_CAP_NONE, 0, 0, 0}
#define F32 .dtype = UATTN_DTYPE_F32, .temp_dtype = UATTN_DTYPE_F32
#define BF16 .dtype = UATTN_DTYPE_BF16, .temp_dtype = UATTN_DTYPE_F32
#define F16 .dtype = UATTN_DTYPE_F16, .temp_dtype = UATTN_DTYPE_F32
#define SEGMENTS HOST_WITH(Q_SEGMENT_IDS), HOST_WITH(KV_SEGMENT_IDS)

static const host_case_t cases[] = {
    {.name = "no mask, GQA",
     .problem = {F32, HOST_SIZES(2, 130, 130, 4, 2, 64), .sm_scale = 0.125,
                 NO_CAP}},
    {.name = "whole blocks",
     .problem = {F32, HOST_SIZES(1, 128, 192, 2, 2, 64), .sm_scale = 0.125,
                 CAP(TANH, 5, 0, 0), HOST_WITH(TEMP)}},
    {.name = "causal, other lengths, MQA",
     .problem = {F32, HOST_SIZES(1, 100, 170, 4, 1, 64), .sm_scale = 0.125,
                 CAP(TANH, 5, 0, 0), HOST_WITH(TEMP), .is_causal = true,
                 .q_offset = 70}},
    {.name = "window alone",
     .problem = {BF16, HOST_SIZES(1, 200, 200, 2, 1, 64), .sm_scale = 0.125,
                 CAP(SOFT_SIGN, 3, 0, 0), .window_tokens = 50,
                 HOST_WITH(DLSE)}},
    {.name = "causal window",
     .problem = {F16, HOST_SIZES(2, 150, 150, 2, 2, 128), .sm_scale = 0.088,
                 CAP(SOFT_SIGN, 30, 0, 0), .is_causal = true,
                 .window_tokens = 70}},
    {.name = "window of one, other lengths",
     .problem = {F32, HOST_SIZES(1, 90, 200, 2, 1, 64), .sm_scale = 0.125,
                 NO_CAP, .is_causal = true, .window_tokens = 1,
                 .q_offset = 64}},
    {.name = "rows before the first key",
     .problem = {F32, HOST_SIZES(1, 150, 70, 2, 1, 64), .sm_scale = 0.125,
                 NO_CAP, .is_causal = true, .window_tokens = 40,
                 .q_offset = -60}},
    {.name = "odd bounds, dead rows at the end",
     .problem = {F32, HOST_SIZES(2, 150, 150, 4, 2, 64), .sm_scale = 0.125,
                 CAP(ALSC, 30, 4, 0.5), HOST_WITH(TEMP), HOST_WITH(BOUNDS),
                 HOST_WITH(DLSE), .z_loss_weight = 0.01},
     .bounds = {{0, 91, 91, 143}, {3, 50, 57, 149}}},
    {.name = "overlapping bounds",
     .problem = {BF16, HOST_SIZES(2, 150, 150, 2, 1, 64), .sm_scale = 0.125,
                 CAP(ALSC, 30, 4, 0.5), HOST_WITH(TEMP), HOST_WITH(BOUNDS)},
     .bounds = {{3, 80, 61, 129}, {60, 140, 2, 70}}},
    {.name = "bounds out of range, a batch without keys",
     .problem = {F16, HOST_SIZES(2, 140, 140, 2, 2, 64), .sm_scale = 0.125,
                 CAP(TANH, 30, 0, 0), HOST_WITH(TEMP), HOST_WITH(BOUNDS),
                 .z_loss_weight = 0.01},
     .bounds = {{INT32_MIN, 66, 70, INT32_MAX}, {5, 5, 90, 20}}},
    {.name = "candidates alone",
     .problem = {F32, HOST_SIZES(1, 150, 150, 2, 1, 64), .sm_scale = 0.125,
                 NO_CAP, HOST_WITH(TEMP), HOST_WITH(BOUNDS), HOST_WITH(DLSE)},
     .bounds = {{9, 3, 20, 140}}},
    {.name = "bounds, causal window and offset",
     .problem = {F32, HOST_SIZES(1, 120, 160, 2, 1, 64), .sm_scale = 0.125,
                 CAP(SOFT_SIGN, 30, 0, 0), HOST_WITH(TEMP), HOST_WITH(BOUNDS),
                 .is_causal = true, .window_tokens = 33, .q_offset = 35},
     .bounds = {{10, 101, 95, 158}}},
    {.name = "candidates beyond the keys",
     .problem = {F32, HOST_SIZES(1, 150, 100, 2, 1, 64), .sm_scale = 0.125,
                 NO_CAP, HOST_WITH(BOUNDS)},
     .bounds = {{0, 40, 40, 150}}},
    {.name = "candidates beyond the keys, no history",
     .problem = {F32, HOST_SIZES(1, 150, 100, 2, 1, 64), .sm_scale = 0.125,
                 NO_CAP, HOST_WITH(BOUNDS)},
     .bounds = {{0, 0, 40, 150}}},
    {.name = "bounds and positions below 0",
     .problem = {F32, HOST_SIZES(1, 150, 120, 2, 1, 64), .sm_scale = 0.125,
                 NO_CAP, HOST_WITH(BOUNDS), .q_offset = -30},
     .bounds = {{-100, 60, 60, 115}}},
    {.name = "segments in runs, causal",
     .problem = {F32, HOST_SIZES(2, 200, 200, 2, 1, 64), .sm_scale = 0.125,
                 NO_CAP, .is_causal = true, SEGMENTS, HOST_WITH(TEMP)},
     .segment_rows = 67},
    {.name = "scattered segments with bounds",
     .problem = {BF16, HOST_SIZES(1, 150, 150, 2, 1, 64), .sm_scale = 0.125,
                 CAP(ALSC, 30, 4, 0.5), HOST_WITH(TEMP), SEGMENTS,
                 HOST_WITH(BOUNDS)},
     .bounds = {{0, 91, 91, 143}},
     .segment_rows = 1},
    {.name = "segments of other lengths",
     .problem = {F32, HOST_SIZES(1, 100, 260, 2, 1, 64), .sm_scale = 0.125,
                 NO_CAP, SEGMENTS},
     .segment_rows = 40},
    {.name = "head of 256",
     .problem = {F32, HOST_SIZES(1, 90, 70, 4, 2, 256), .sm_scale = 0.0625,
                 CAP(ALSC, 30, 4, 0.5), HOST_WITH(TEMP)}},
    {.name = "head of 128, bf16 temp",
     .problem = {.dtype = UATTN_DTYPE_BF16,
                 .temp_dtype = UATTN_DTYPE_BF16,
                 HOST_SIZES(1, 90, 70, 4, 2, 128),
                 .sm_scale = 0.088,
                 NO_CAP,
                 HOST_WITH(TEMP)}},
    {.name = "head of 40, f16 temp",
     .problem = {.dtype = UATTN_DTYPE_F32,
                 .temp_dtype = UATTN_DTYPE_F16,
                 HOST_SIZES(2, 70, 70, 3, 3, 40),
                 .sm_scale = 0.158,
                 CAP(TANH, 5, 0, 0),
                 HOST_WITH(TEMP),
                 .is_causal = true}},
    {.name = "head of 1",
     .problem = {F32, HOST_SIZES(1, 70, 70, 2, 1, 1), .sm_scale = 1, NO_CAP}},
    {.name = "head of 203",
     .problem = {F16, HOST_SIZES(1, 70, 70, 2, 1, 203), .sm_scale = 0.07,
                 NO_CAP}},
    {.name = "temp of both signs and 0",
     .problem = {F32, HOST_SIZES(1, 150, 150, 2, 1, 64), .sm_scale = 0.125,
                 CAP(ALSC, 30, 4, 0.5), HOST_WITH(TEMP), HOST_WITH(DLSE)},
     .temp_begin = -2,
     .temp_end = 2},
    {.name = "wide logits",
     .problem = {F32, HOST_SIZES(1, 130, 130, 2, 1, 64), .sm_scale = 2,
                 CAP(TANH, 50, 0, 0), HOST_WITH(TEMP)}},
    {.name = "small logits, tanh",
     .problem = {F32, HOST_SIZES(1, 130, 130, 2, 1, 64), .sm_scale = 1e-5,
                 CAP(TANH, 30, 0, 0), HOST_WITH(TEMP)}},
    {.name = "small logits, alsc",
     .problem = {F32, HOST_SIZES(1, 130, 130, 2, 1, 64), .sm_scale = 1e-5,
                 CAP(ALSC, 30, 4, 0.5), HOST_WITH(TEMP)}},
    {.name = "alsc far from its middle",
     .problem = {F32, HOST_SIZES(1, 130, 130, 2, 1, 64), .sm_scale = 0.125,
                 CAP(ALSC, 10, 3, -2), HOST_WITH(TEMP)}},
    {.name = "alsc with a negative alpha",
     .problem = {F32, HOST_SIZES(1, 130, 130, 2, 1, 64), .sm_scale = 0.125,
                 CAP(ALSC, 10, -3, 0.25), HOST_WITH(TEMP)}},
    {.name = "one query of many keys",
     .problem = {F32, HOST_SIZES(2, 1, 300, 8, 2, 64), .sm_scale = 0.125,
                 NO_CAP, .is_causal = true, .q_offset = 299, HOST_WITH(TEMP)}},
    {.name = "one key of many queries",
     .problem = {F32, HOST_SIZES(2, 150, 1, 4, 2, 64), .sm_scale = 0.125,
                 NO_CAP, HOST_WITH(DLSE)}},
    {.name = "one pair",
     .problem = {F32, HOST_SIZES(1, 1, 1, 1, 1, 64), .sm_scale = 1, NO_CAP}},
    {.name = "z-loss and dlse",
     .problem = {F32, HOST_SIZES(1, 130, 130, 2, 1, 64), .sm_scale = 0.125,
                 NO_CAP, HOST_WITH(TEMP), HOST_WITH(DLSE),
                 .z_loss_weight = 0.1}},
    {.name = "greatest window and offset",
     .problem = {F32, HOST_SIZES(1, 70, 70, 1, 1, 64), .sm_scale = 0.125,
                 NO_CAP, .is_causal = true, .window_tokens = INT64_MAX,
                 .q_offset = INT64_C(1) << 62}},
    {.name = "greatest window, least offset",
     .problem = {F32, HOST_SIZES(1, 70, 70, 1, 1, 64), .sm_scale = 0.125,
                 NO_CAP, .window_tokens = INT64_MAX,
                 .q_offset = -(INT64_C(1) << 62)}},
    {.name = "out of the window",
     .problem = {F32, HOST_SIZES(1, 70, 70, 1, 1, 64), .sm_scale = 0.125,
                 NO_CAP, .window_tokens = 100, .q_offset = INT64_C(1) << 62}},
};

/* Far below the op's bounds for 16 bits: half a unit in the last place of the
 * stored type, and what float32 sums cost. */
static double bound_of(const uattn_problem_t *problem,
                       const uattn_tensor_t *tensor) {
  if (tensor->dtype == UATTN_DTYPE_BF16)
    return 2.5e-3;
  if (tensor->dtype == UATTN_DTYPE_F16)
    return 3.2e-4;
  return problem->kind == UATTN_OP_FORWARD ? 5e-6 : 2e-5;
}

static void check_result(const host_case_t *host_case,
                         const host_fixture_t *fixture, int result) {
  const uattn_problem_t *problem = &fixture->problem;
  const uattn_tensor_t *tensor = &fixture->tensors.results[result];
  const char *name = uattn_result_name(problem->kind, result);
  double *wanted = host_fixture_reference(fixture, result);
  double squares = 0;
  double differences = 0;
  for (size_t n = 0; n < host_tensor_size(tensor); ++n) {
    double found = host_tensor_number(tensor, n);
    if (wanted[n] == -INFINITY) { /* lse of a row without a key */
      assert_true(found == -INFINITY);
      continue;
    }
    squares += wanted[n] * wanted[n];
    differences += (found - wanted[n]) * (found - wanted[n]);
  }
  free(wanted);
  double error = squares > 0 ? sqrt(differences / squares) : sqrt(differences);
  double bound = squares > 0 ? bound_of(problem, tensor) : 1e-6;
  if (!(error <= bound))
    fail_msg("%s: %s: error %.2e: expected at most %.2e", host_case->name, name,
             error, bound);
}

static void check_case(const host_case_t *host_case, uattn_op_kind_t kind) {
  host_fixture_t fixture = host_fixture_create(host_case, kind);
  host_fixture_run(&fixture, 0);
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    if (fixture.tensors.results[i].data)
      check_result(host_case, &fixture, i);
  host_fixture_destroy(&fixture);
}

static void agrees_forward(void **state) {
  check_case(*state, UATTN_OP_FORWARD);
}

static void agrees_backward(void **state) {
  check_case(*state, UATTN_OP_BACKWARD);
}

int main(void) {
  struct CMUnitTest tests[2 * COUNT_OF(cases)];
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    void *host_case = (void *)(uintptr_t)&cases[i];
    tests[2 * i] = (struct CMUnitTest){cases[i].name, agrees_forward, NULL,
                                       NULL, host_case};
    tests[2 * i + 1] = (struct CMUnitTest){cases[i].name, agrees_backward, NULL,
                                           NULL, host_case};
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
