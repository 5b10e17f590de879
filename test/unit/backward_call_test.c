/* Tests of calls of a backward op: the launches of its kernels, its scratch,
 * what is refused.
 * Layer: test. Must not know: devices, what a kernel does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "artifact/call.h"
#include "sample_artifact.h"
#include "spec/spec.h"

enum { BATCH = 2, Q_TOKENS = 150, KV_TOKENS = 70, Q_HEADS = 4, KV_HEADS = 2 };
enum { ROWS_BYTES = BATCH * Q_HEADS * Q_TOKENS * 4 }; /* 4800 */
enum { ROWS_PLACE = 4864 };                           /* the next 256 */
enum { LAUNCH_LIMIT = 8 };

/* A call of the sample, and what a device was told of it. */
typedef struct {
  uattn_artifact_t *artifact;
  uattn_function_facts_t facts;
  uattn_tensor_t arguments[7];
  uattn_tensor_t results[4];
  uattn_call_t call;
  uattn_kernel_launch_t launches[LAUNCH_LIMIT];
  int launch_count;
} fixture_t;

/* No tensor is read: each has an address of its own. */
static void *address(int index) {
  return (void *)(uintptr_t)(UINT64_C(0x100000000) * (unsigned)(index + 1));
}

static uattn_error_t *record(void *user_data,
                             const uattn_kernel_launch_t *launch) {
  fixture_t *fixture = user_data;
  assert_true(fixture->launch_count < LAUNCH_LIMIT);
  fixture->launches[fixture->launch_count++] = *launch;
  return NULL;
}

static uattn_error_t *refuse_copy(void *user_data, void *target,
                                  const void *source, size_t bytes) {
  (void)user_data, (void)target, (void)source, (void)bytes;
  fail_msg("nothing has to be copied");
  return NULL;
}

/* Argument shapes that the sample's dynamic dimensions take. */
static void set_arguments(fixture_t *fixture) {
  uattn_problem_t problem = fixture->artifact->functions[0].steps[0].problem;
  problem.batch = BATCH;
  problem.q_tokens = Q_TOKENS;
  problem.kv_tokens = KV_TOKENS;
  problem.q_heads = Q_HEADS;
  problem.kv_heads = KV_HEADS;
  size_t count = 0;
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i) {
    int64_t shape[4];
    uattn_operand_t operand = (uattn_operand_t)i;
    if (!problem.has_operand[i] || i == UATTN_OPERAND_DLSE)
      continue;
    int rank = uattn_operand_shape(&problem, operand, shape);
    fixture->arguments[count] = uattn_tensor_dense(
        address(i), uattn_operand_dtype(&problem, operand), rank, shape);
    ++count;
  }
  fixture->call.arguments = fixture->arguments;
  fixture->call.argument_count = count;
}

static void begin(fixture_t *fixture) {
  assert_ok(
      uattn_call_begin(fixture->artifact, &fixture->facts, 0, &fixture->call));
}

/* With the workspace that it wants, at address(20). */
static fixture_t *make_fixture(const sample_options_t *options) {
  fixture_t *fixture = calloc(1, sizeof *fixture);
  fixture->artifact = sample_artifact(options);
  assert_ok(uattn_artifact_validate(fixture->artifact));
  assert_ok(uattn_function_facts_create(fixture->artifact, 0, &fixture->facts));
  set_arguments(fixture);
  begin(fixture);
  uattn_call_describe_results(&fixture->call, fixture->results);
  size_t result_count = fixture->artifact->functions[0].result_count;
  for (size_t i = 0; i < result_count; ++i)
    fixture->results[i].data = address(11 + (int)i);
  fixture->call.results = fixture->results;
  fixture->call.result_count = result_count;
  assert_ok(uattn_call_workspace_bytes(&fixture->call,
                                       &fixture->call.workspace_bytes));
  fixture->call.workspace = address(20);
  return fixture;
}

static void release(fixture_t *fixture) {
  uattn_function_facts_release(&fixture->facts);
  uattn_artifact_destroy(fixture->artifact);
  free(fixture);
}

static void enqueue(fixture_t *fixture) {
  const uattn_call_device_t device = {
      .launch = record, .copy = refuse_copy, .user_data = fixture};
  assert_ok(uattn_call_check(&fixture->call));
  assert_ok(uattn_call_enqueue(&fixture->call, &device));
}

static const sample_options_t full = {.is_backward = true,
                                      .is_dynamic = true,
                                      .has_temp = true,
                                      .z_loss_weight = 1e-4,
                                      .cap_method = UATTN_CAP_ALSC};

static void *workspace_at(const fixture_t *fixture, size_t offset) {
  return (char *)fixture->call.workspace + offset;
}

static void three_kernels_hand_scratch_to_each_other(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  enqueue(fixture);
  assert_int_equal(fixture->launch_count, 3);
  const uattn_problem_t *problem =
      &fixture->artifact->functions[0].steps[0].problem;
  uattn_softmax_constants_t constants = uattn_softmax_constants(problem);
  for (uint32_t i = 0; i < 3; ++i) {
    assert_int_equal(fixture->launches[i].kernel_index, i);
    assert_int_equal(fixture->launches[i].step_index, 0);
  }

  const uattn_kernel_launch_t *rows = &fixture->launches[0];
  assert_int_equal(rows->cta_count, 5 * Q_HEADS * BATCH); /* tiles of 32 */
  assert_ptr_equal(rows->params[0].address, address(UATTN_OPERAND_LSE));
  assert_ptr_equal(rows->params[1].address, address(UATTN_OPERAND_TEMP));
  assert_ptr_equal(rows->params[2].address, workspace_at(fixture, 0));
  assert_ptr_equal(rows->params[3].address, workspace_at(fixture, ROWS_PLACE));
  assert_int_equal(rows->params[4].i32, 5);
  assert_true(rows->params[5].f32 == (float)constants.lse_shift);
  assert_true(rows->params[6].f32 == 1e-4f);

  const uattn_kernel_launch_t *keys = &fixture->launches[1];
  assert_int_equal(keys->cta_count, 2 * KV_HEADS * BATCH); /* tiles of 64 */
  assert_ptr_equal(keys->params[3].map.data, address(UATTN_OPERAND_DOUT));
  assert_string_equal(keys->params[3].map.name, "dout");
  assert_ptr_equal(keys->params[4].address, workspace_at(fixture, 0));
  assert_ptr_equal(keys->params[5].address, workspace_at(fixture, ROWS_PLACE));
  assert_true(keys->params[9].f32 == (float)constants.gradient_scale);
  assert_ptr_equal(keys->params[10].map.data, address(12));
  assert_string_equal(keys->params[10].map.name, "dk");
  assert_int_equal(keys->params[10].map.sizes[2], KV_TOKENS);
  assert_ptr_equal(keys->params[11].map.data, address(13));
  assert_int_equal(keys->params[12].i32, 2);

  const uattn_kernel_launch_t *queries = &fixture->launches[2];
  assert_int_equal(queries->cta_count, 3 * Q_HEADS * BATCH); /* of 64 */
  assert_ptr_equal(queries->params[5].address,
                   workspace_at(fixture, ROWS_PLACE));
  assert_ptr_equal(queries->params[10].map.data, address(11));
  assert_int_equal(queries->params[10].map.sizes[2], Q_TOKENS);
  assert_ptr_equal(queries->params[11].address, address(14));
  assert_int_equal(queries->params[12].i32, 3);
  release(fixture);
}

/* What flows between ops outlives the scratch, of which that of every op lies
 * in the same place. */
static void ops_share_the_place_of_their_scratch(void **state) {
  (void)state;
  sample_options_t options = full;
  options.op_count = 2;
  fixture_t *fixture = make_fixture(&options);
  /* dq flows on; nobody returns the first op's dk, dv and dtemp. */
  const size_t q_bytes = (size_t)BATCH * Q_TOKENS * Q_HEADS * 64 * 2;
  const size_t k_bytes = (size_t)BATCH * KV_TOKENS * KV_HEADS * 64 * 2;
  const size_t values_bytes = q_bytes + 2 * k_bytes + 1280; /* dtemp 1200 */
  assert_int_equal(uattn_call_values_bytes(&fixture->call), values_bytes);
  assert_int_equal(fixture->call.workspace_bytes,
                   values_bytes + 2 * ROWS_PLACE);
  for (uint32_t step = 0; step < 2; ++step)
    for (uint32_t i = 0; i < 2; ++i) {
      uattn_tensor_t tensor = uattn_call_scratch(&fixture->call, step, i);
      const int64_t shape[] = {BATCH, Q_HEADS, Q_TOKENS};
      size_t bytes = 0;
      assert_ptr_equal(tensor.data,
                       workspace_at(fixture, values_bytes + i * ROWS_PLACE));
      assert_int_equal(tensor.dtype, UATTN_DTYPE_F32);
      assert_int_equal(tensor.rank, 3);
      assert_memory_equal(tensor.shape, shape, sizeof shape);
      assert_true(uattn_tensor_bytes(&tensor, &bytes));
      assert_int_equal(bytes, ROWS_BYTES);
    }
  enqueue(fixture);
  assert_int_equal(fixture->launch_count, 6);
  assert_int_equal(fixture->launches[3].step_index, 1);
  assert_ptr_equal(fixture->launches[5].params[0].map.data,
                   fixture->call.workspace);
  release(fixture);
}

static void the_largest_scratch_of_an_op_counts(void **state) {
  (void)state;
  sample_options_t options = full;
  options.op_count = 2;
  fixture_t *fixture = make_fixture(&options);
  size_t both = fixture->call.workspace_bytes;
  size_t bytes = 0;
  uattn_artifact_step_t *steps = fixture->artifact->functions[0].steps;
  steps[0].scratch_count = 1;
  assert_ok(uattn_call_workspace_bytes(&fixture->call, &bytes));
  assert_int_equal(bytes, both);
  steps[1].scratch_count = 0;
  assert_ok(uattn_call_workspace_bytes(&fixture->call, &bytes));
  assert_int_equal(bytes, both - ROWS_PLACE);
  steps[0].scratch_count = 0;
  assert_ok(uattn_call_workspace_bytes(&fixture->call, &bytes));
  assert_int_equal(bytes, uattn_call_values_bytes(&fixture->call));
  release(fixture);
}

/* Each changes one thing of a call that was right. */
static void small_workspace(fixture_t *f) { --f->call.workspace_bytes; }
static void no_workspace(fixture_t *f) { f->call.workspace = NULL; }
static void loose_lse(fixture_t *f) { f->arguments[5].strides[2] = 2; }
static void odd_dout(fixture_t *f) {
  f->arguments[6].data = (char *)f->arguments[6].data + 8;
}
static void folded_dk(fixture_t *f) { f->results[1].strides[1] = 0; }
static void loose_dtemp(fixture_t *f) { f->results[3].strides[0] = 152; }
static void wrong_dv(fixture_t *f) { f->results[2].shape[1] = Q_TOKENS; }
static void no_dq(fixture_t *f) { f->results[0].data = NULL; }

static void wrong_calls_are_refused_by_name(void **state) {
  (void)state;
  static const struct {
    void (*change)(fixture_t *fixture);
    const char *message;
  } cases[] = {
      {small_workspace, "workspace of 9727 bytes: wanted 9728"},
      {no_workspace, "workspace of 0 bytes: wanted 9728"},
      {loose_lse, "argument 5 (lse) has stride 2 in dimension 2: wanted 1, it "
                  "must be dense in C order"},
      {odd_dout, "argument 6 (dout) lies at 0xa00000008: wanted a multiple of "
                 "16 bytes"},
      {folded_dk, "result 1 (dk) has stride 0 in dimension 1: wanted it above "
                  "0"},
      {loose_dtemp, "result 3 (dtemp) has stride 152 in dimension 0: wanted "
                    "150, it must be dense in C order"},
      {wrong_dv, "result 2 (dv) has 150 in dimension 1: wanted 70"},
      {no_dq, "result 0 (dq) has no data: wanted an address"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    fixture_t *fixture = make_fixture(&full);
    cases[i].change(fixture);
    assert_error(uattn_call_check(&fixture->call), UATTN_ERROR_INVALID_ARGUMENT,
                 cases[i].message);
    release(fixture);
  }
}

/* k of 2^31 - 1 tokens and heads past the grid's limit; no other tensor. */
static void grids_of_keys_have_a_limit(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  uattn_artifact_kernel_t *keys = &fixture->artifact->kernels[1];
  uattn_problem_t problem = {.batch = 1,
                             .q_tokens = 1,
                             .kv_tokens = INT32_MAX,
                             .q_heads = 1,
                             .kv_heads = 1};
  uint32_t count = 0;
  keys->rows_per_cta = 1;
  assert_true(uattn_kernel_cta_count(keys, &problem, &count));
  assert_int_equal(count, INT32_MAX);
  problem.batch = 2;
  assert_false(uattn_kernel_cta_count(keys, &problem, &count));
  keys->rows_per_cta = 2;
  problem.batch = 1;
  assert_true(uattn_kernel_cta_count(keys, &problem, &count));
  assert_int_equal(count, 1 << 30); /* rounded up */

  for (int i = 1; i < 3; ++i) {
    int64_t shape[4] = {BATCH, INT32_MAX, KV_HEADS, 64};
    fixture->arguments[i] =
        uattn_tensor_dense(address(i), UATTN_DTYPE_BF16, 4, shape);
  }
  begin(fixture);
  assert_error(uattn_call_check(&fixture->call), UATTN_ERROR_INVALID_ARGUMENT,
               "op 0: batch 2, 2 heads and 2147483647 key tokens make more "
               "than 2^31 CTAs of 2 rows");
  release(fixture);
}

static void scratch_beyond_memory_is_refused(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  for (size_t i = 0; i < fixture->call.argument_count; ++i) {
    uattn_tensor_t *tensor = &fixture->arguments[i];
    bool is_lse = tensor->rank == 3;
    tensor->shape[0] = INT32_MAX;
    if (tensor->rank > 2)
      tensor->shape[is_lse ? 1 : 2] = INT32_MAX;
    if (i == 1 || i == 2)
      continue;
    tensor->shape[is_lse ? 2 : 1] = INT32_MAX;
  }
  begin(fixture);
  size_t bytes = 0;
  assert_error(uattn_call_workspace_bytes(&fixture->call, &bytes),
               UATTN_ERROR_INVALID_ARGUMENT,
               "the values between the ops of main, and their scratch, are "
               "beyond 2^63 bytes");
  release(fixture);
}

/* One kernel of the op takes what another does not need. */
static void scale_and_cap_are_replaced_in_all_kernels(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  double scale = -0.5;
  uattn_cap_t cap = {
      .method = UATTN_CAP_ALSC, .cap = 20, .alpha = 3, .beta = 0.25};
  fixture->call.sm_scale = &scale;
  fixture->call.cap = &cap;
  enqueue(fixture);
  uattn_problem_t problem = {.cap = cap, .sm_scale = scale};
  uattn_softmax_constants_t constants = uattn_softmax_constants(&problem);
  assert_true(fixture->launches[0].params[5].f32 == (float)constants.lse_shift);
  for (int i = 1; i < 3; ++i) {
    const uattn_param_value_t *params = fixture->launches[i].params;
    assert_true(params[6].f32 == (float)constants.pre_scale);
    assert_true(params[9].f32 == (float)constants.gradient_scale);
  }
  release(fixture);
}

static void folded_constants_cannot_be_replaced(void **state) {
  (void)state;
  static const struct {
    uint32_t kernel;
    uint32_t param;
  } cases[] = {{0, 5}, {1, 9}}; /* lse_shift, gradient_scale */
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    fixture_t *fixture = make_fixture(&full);
    for (uint32_t k = cases[i].kernel; k < 3; ++k)
      if (k == cases[i].kernel || cases[i].kernel > 0)
        fixture->artifact->kernels[k].params[cases[i].param].quantity =
            UATTN_QUANTITY_Z_LOSS_WEIGHT;
    assert_ok(uattn_call_check(&fixture->call));
    uattn_cap_t cap = {
        .method = UATTN_CAP_ALSC, .cap = 20, .alpha = 3, .beta = 0.25};
    fixture->call.cap = &cap;
    assert_error(uattn_call_check(&fixture->call), UATTN_ERROR_INVALID_ARGUMENT,
                 "op 0: kernel uattn_rows was compiled for its sm_scale and "
                 "cap: they cannot be replaced");
    release(fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_kernels_hand_scratch_to_each_other),
      cmocka_unit_test(ops_share_the_place_of_their_scratch),
      cmocka_unit_test(the_largest_scratch_of_an_op_counts),
      cmocka_unit_test(wrong_calls_are_refused_by_name),
      cmocka_unit_test(grids_of_keys_have_a_limit),
      cmocka_unit_test(scratch_beyond_memory_is_refused),
      cmocka_unit_test(scale_and_cap_are_replaced_in_all_kernels),
      cmocka_unit_test(folded_constants_cannot_be_replaced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
