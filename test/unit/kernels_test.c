/* Tests of described launches: they are what the runtime launches.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime_test.h"

#include "uattn/kernels.h"

enum { BATCH = 2, Q_TOKENS = 150, KV_TOKENS = 70, Q_HEADS = 4, KV_HEADS = 2 };
enum { LAUNCH_LIMIT = 8, TENSOR_BYTES = 1 << 19, TENSOR_LIMIT = 16 };

/* A function of the sample with all that a call wants, on the fake device. */
typedef struct {
  uattn_device_t *device;
  uattn_artifact_t *artifact;
  uattn_program_t *program;
  uattn_kernels_t *kernels;
  void *memory;
  uattn_tensor_t arguments[8];
  uattn_tensor_t results[5];
  uattn_launch_t launch;
} fixture_t;

static void *place(const fixture_t *fixture, size_t slot) {
  assert_true(slot < TENSOR_LIMIT);
  return (char *)fixture->memory + slot * TENSOR_BYTES;
}

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
    fixture->arguments[count] =
        uattn_tensor_dense(place(fixture, count),
                           uattn_operand_dtype(&problem, operand), rank, shape);
    ++count;
  }
  fixture->launch.arguments = fixture->arguments;
  fixture->launch.argument_count = count;
}

/* Results and workspace, as the program wants them. */
static void set_outputs(fixture_t *fixture) {
  uattn_launch_t *call = &fixture->launch;
  assert_ok(uattn_function_results(fixture->program, 0, call->arguments,
                                   call->argument_count, fixture->results));
  call->results = fixture->results;
  call->result_count = fixture->artifact->functions[0].result_count;
  for (size_t i = 0; i < call->result_count; ++i)
    fixture->results[i].data = place(fixture, 8 + i);
  call->workspace = place(fixture, 13);
  assert_ok(uattn_function_workspace_bytes(fixture->program, 0, call->arguments,
                                           call->argument_count,
                                           &call->workspace_bytes));
  assert_true(call->workspace_bytes <= 3 * TENSOR_BYTES);
}

static fixture_t *make_fixture(const sample_options_t *options) {
  fixture_t *fixture = calloc(1, sizeof *fixture);
  fixture->device = open_fake_device();
  fixture->artifact = sample_artifact(options);
  fixture->launch.struct_size = sizeof fixture->launch;
  assert_ok(uattn_device_allocate(
      fixture->device, (size_t)TENSOR_LIMIT * TENSOR_BYTES, &fixture->memory));
  assert_ok(uattn_program_create(fixture->device, fixture->artifact,
                                 &fixture->program));
  assert_ok(uattn_kernels_create(fixture->artifact, &fixture->kernels));
  set_arguments(fixture);
  set_outputs(fixture);
  return fixture;
}

static void destroy_fixture(fixture_t *fixture) {
  uattn_kernels_destroy(fixture->kernels);
  uattn_program_destroy(fixture->program);
  uattn_artifact_destroy(fixture->artifact);
  uattn_device_free(fixture->device, fixture->memory);
  uattn_device_close(fixture->device);
  free(fixture);
}

static uattn_error_t *describe(const fixture_t *fixture,
                               uattn_kernel_arguments_t *out_arguments) {
  const uattn_launch_t *launch = &fixture->launch;
  const uattn_kernels_call_t call = {.struct_size = sizeof call,
                                     .arguments = launch->arguments,
                                     .argument_count = launch->argument_count,
                                     .results = launch->results,
                                     .result_count = launch->result_count,
                                     .workspace = launch->workspace,
                                     .workspace_bytes = launch->workspace_bytes,
                                     .sm_scale = launch->sm_scale,
                                     .cap = launch->cap};
  return uattn_kernels_describe(fixture->kernels, 0, &call, out_arguments);
}

/* What the runtime's next launch has to be; on_launch has no other way in. */
static const uattn_kernels_t *expected_kernels;
static const uattn_kernel_arguments_t *expected;
static size_t seen_count;

static void check_map(const uattn_map_description_t *map, const void *param) {
  uint64_t index;
  memcpy(&index, param, sizeof index);
  assert_true(index < COUNT_OF(fake_state()->maps));
  const fake_map_t *made = &fake_state()->maps[index];
  assert_non_null(map->name);
  assert_ptr_equal(map->data, made->address);
  assert_int_equal(map->dtype, UATTN_DTYPE_BF16);
  assert_int_equal(made->dtype, CU_TENSOR_MAP_BF16);
  assert_memory_equal(map->sizes, made->sizes, sizeof map->sizes);
  assert_memory_equal(map->stride_bytes, made->stride_bytes,
                      sizeof map->stride_bytes);
  assert_memory_equal(map->box, made->box, sizeof map->box);
}

static void check_launch(void **params) {
  const uattn_kernel_arguments_t *wanted = &expected[seen_count];
  for (uint32_t i = 0; i < wanted->param_count; ++i) {
    const uattn_param_value_t *value = &wanted->params[i];
    switch (uattn_kernels_param(expected_kernels, 0, seen_count, i).kind) {
    case UATTN_PARAM_TENSOR_MAP:
      check_map(&value->map, params[i]);
      break;
    case UATTN_PARAM_POINTER:
      assert_memory_equal(params[i], &value->address, sizeof value->address);
      break;
    case UATTN_PARAM_I32:
      assert_memory_equal(params[i], &value->i32, sizeof value->i32);
      break;
    case UATTN_PARAM_F32:
      assert_memory_equal(params[i], &value->f32, sizeof value->f32);
      break;
    }
  }
  ++seen_count;
}

/* Describes, launches, and compares each launch as the driver sees it. */
static void check_agreement(const fixture_t *fixture, size_t wanted_count) {
  uattn_kernel_arguments_t described[LAUNCH_LIMIT];
  size_t count = uattn_kernels_count(fixture->kernels, 0);
  assert_int_equal(count, wanted_count);
  assert_true(count <= LAUNCH_LIMIT);
  assert_ok(describe(fixture, described));
  expected = described;
  expected_kernels = fixture->kernels;
  seen_count = 0;
  fake_state()->on_launch = check_launch;
  assert_ok(uattn_function_launch(fixture->program, 0, &fixture->launch));
  assert_int_equal(seen_count, count);
  for (size_t i = 0; i < count; ++i) {
    uattn_kernel_info_t info = uattn_kernels_get(fixture->kernels, 0, i);
    const fake_launch_t *made = &fake_state()->launches[i];
    assert_int_equal(made->grid[0], described[i].cta_count);
    assert_int_equal(made->grid[1] * made->grid[2], 1);
    assert_int_equal(made->block[0], info.threads);
    assert_int_equal(made->smem_bytes, info.dynamic_smem_bytes);
    assert_int_equal(info.param_count, described[i].param_count);
  }
}

static const sample_options_t forward = {.is_dynamic = true,
                                         .has_temp = true,
                                         .has_lse = true,
                                         .op_count = 2,
                                         .cap_method = UATTN_CAP_ALSC};

static const sample_options_t backward = {.is_backward = true,
                                          .is_dynamic = true,
                                          .has_temp = true,
                                          .z_loss_weight = 1e-4,
                                          .cap_method = UATTN_CAP_ALSC};

static void forward_launches_are_the_runtimes(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&forward);
  check_agreement(fixture, 2);
  destroy_fixture(fixture);
}

static void backward_launches_are_the_runtimes(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&backward);
  check_agreement(fixture, 3);
  destroy_fixture(fixture);
}

static void a_replaced_scale_is_described(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&backward);
  static const double scale = 0.5;
  fixture->launch.sm_scale = &scale;
  check_agreement(fixture, 3);
  destroy_fixture(fixture);
}

static void kernels_tell_code_and_parameters(void **state) {
  (void)state;
  sample_options_t options = backward;
  options.has_cubin = true;
  fixture_t *fixture = make_fixture(&options);
  uattn_kernel_info_t info = uattn_kernels_get(fixture->kernels, 0, 1);
  assert_string_equal(info.entry, "uattn_keys");
  assert_string_equal(info.chip, "sm_90a");
  assert_int_equal(info.cubin_bytes, 7);
  assert_memory_equal(info.cubin, "\x7f\x45LF", 4);
  assert_int_equal(strncmp(info.ptx, ".version", 8), 0);
  static const struct {
    size_t kernel, param;
    uattn_param_kind_t kind;
    const char *name;
  } cases[] = {{0, 0, UATTN_PARAM_POINTER, "lse"},
               {0, 1, UATTN_PARAM_POINTER, "temp"},
               {0, 3, UATTN_PARAM_POINTER, "scratch1"},
               {0, 4, UATTN_PARAM_I32, "q_tiles"},
               {0, 6, UATTN_PARAM_F32, "z_loss_weight"},
               {1, 0, UATTN_PARAM_TENSOR_MAP, "q"}};
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    uattn_param_info_t param = uattn_kernels_param(
        fixture->kernels, 0, cases[i].kernel, cases[i].param);
    assert_int_equal(param.kind, cases[i].kind);
    assert_string_equal(param.name, cases[i].name);
    assert_int_equal(param.dtype,
                     param.kind == UATTN_PARAM_I32          ? UATTN_DTYPE_I32
                     : param.kind == UATTN_PARAM_TENSOR_MAP ? UATTN_DTYPE_BF16
                                                            : UATTN_DTYPE_F32);
  }
  destroy_fixture(fixture);
}

static void without_a_cubin_there_is_ptx(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&forward);
  uattn_kernel_info_t info = uattn_kernels_get(fixture->kernels, 0, 0);
  assert_null(info.cubin);
  assert_int_equal(info.cubin_bytes, 0);
  destroy_fixture(fixture);
}

static void few_arguments(fixture_t *f) { --f->launch.argument_count; }
static void no_results(fixture_t *f) { f->launch.results = NULL; }
static void small_workspace(fixture_t *f) { --f->launch.workspace_bytes; }
static void wrong_rank(fixture_t *f) { f->arguments[0].rank = 3; }
static void odd_address(fixture_t *f) {
  f->arguments[1].data = (char *)f->arguments[1].data + 8;
}

static void wrong_calls_are_refused_by_name(void **state) {
  (void)state;
  static const struct {
    void (*change)(fixture_t *fixture);
    const char *message;
  } cases[] = {
      {few_arguments, "6 arguments: function main wants 7"},
      {no_results, "results is NULL: wanted 4 tensors"},
      {small_workspace, ": wanted"},
      {wrong_rank, "argument 0 (q) has rank 3: wanted 4"},
      {odd_address, ": wanted a multiple of 16 bytes"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    fixture_t *fixture = make_fixture(&backward);
    uattn_kernel_arguments_t described[LAUNCH_LIMIT];
    cases[i].change(fixture);
    assert_error_says(describe(fixture, described),
                      UATTN_ERROR_INVALID_ARGUMENT, cases[i].message);
    destroy_fixture(fixture);
  }
}

static void functions_past_the_last_are_refused(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&forward);
  const uattn_kernels_call_t call = {.struct_size = sizeof call};
  uattn_kernel_arguments_t described[LAUNCH_LIMIT];
  assert_error(uattn_kernels_describe(fixture->kernels, 1, &call, described),
               UATTN_ERROR_INVALID_ARGUMENT, "function 1: the artifact has 1");
  destroy_fixture(fixture);
}

static void copied_results_are_unsupported(void **state) {
  (void)state;
  uattn_artifact_t *artifact = sample_artifact(&forward);
  sample_artifact_return_argument(artifact);
  fixture_t *fixture = make_fixture(&forward);
  uattn_kernels_t *kernels = NULL;
  assert_ok(uattn_kernels_create(artifact, &kernels));
  uattn_launch_t *launch = &fixture->launch;
  const int64_t shape[1] = {2};
  uattn_tensor_t extra =
      uattn_tensor_dense(place(fixture, 7), UATTN_DTYPE_I32, 1, shape);
  fixture->arguments[launch->argument_count] = extra;
  fixture->results[launch->result_count] = extra;
  const uattn_kernels_call_t call = {
      .struct_size = sizeof call,
      .arguments = launch->arguments,
      .argument_count = launch->argument_count + 1,
      .results = launch->results,
      .result_count = launch->result_count + 1,
      .workspace = launch->workspace,
      .workspace_bytes = launch->workspace_bytes};
  uattn_kernel_arguments_t described[LAUNCH_LIMIT];
  assert_error_says(uattn_kernels_describe(kernels, 0, &call, described),
                    UATTN_ERROR_UNSUPPORTED,
                    "(extra) is no kernel's but a copy");
  uattn_kernels_destroy(kernels);
  uattn_artifact_destroy(artifact);
  destroy_fixture(fixture);
}

static void ops_without_a_kernel_are_unsupported(void **state) {
  (void)state;
  sample_options_t options = forward;
  options.has_no_kernel = true;
  fixture_t *fixture = make_fixture(&options);
  assert_int_equal(uattn_kernels_count(fixture->kernels, 0), 0);
  uattn_kernel_arguments_t described[1];
  assert_error_says(describe(fixture, described), UATTN_ERROR_UNSUPPORTED,
                    "has no kernel in this artifact");
  destroy_fixture(fixture);
}

static void nothing_is_destroyed(void **state) {
  (void)state;
  uattn_kernels_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forward_launches_are_the_runtimes),
      cmocka_unit_test(backward_launches_are_the_runtimes),
      cmocka_unit_test(a_replaced_scale_is_described),
      cmocka_unit_test(kernels_tell_code_and_parameters),
      cmocka_unit_test(without_a_cubin_there_is_ptx),
      cmocka_unit_test(wrong_calls_are_refused_by_name),
      cmocka_unit_test(functions_past_the_last_are_refused),
      cmocka_unit_test(copied_results_are_unsupported),
      cmocka_unit_test(ops_without_a_kernel_are_unsupported),
      cmocka_unit_test(nothing_is_destroyed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
