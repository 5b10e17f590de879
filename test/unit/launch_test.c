/* Tests of launches: what the driver is asked for, what is refused before.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime_test.h"

#include <pthread.h>

#include "spec/spec.h"

enum { BATCH = 2, Q_TOKENS = 300, KV_TOKENS = 70, Q_HEADS = 8, KV_HEADS = 4 };

typedef struct {
  uattn_device_t *device;
  uattn_artifact_t *artifact;
  uattn_program_t *program;
  uattn_tensor_t arguments[5];
  uattn_tensor_t results[3];
  uattn_launch_t launch;
  void *memory[8]; /* first addresses, to be freed */
} fixture_t;

static const int64_t q_shape[4] = {BATCH, Q_TOKENS, Q_HEADS, 64};
static const int64_t k_shape[4] = {BATCH, KV_TOKENS, KV_HEADS, 64};
static const int64_t temp_shape[2] = {BATCH, Q_TOKENS};
static const int64_t lse_shape[3] = {BATCH, Q_HEADS, Q_TOKENS};

static uattn_tensor_t make_tensor(fixture_t *fixture, size_t slot,
                                  uattn_dtype_t dtype, int32_t rank,
                                  const int64_t *shape) {
  size_t bytes = uattn_dtype_bytes(dtype);
  for (int32_t i = 0; i < rank; ++i)
    bytes *= (size_t)shape[i];
  assert_ok(
      uattn_device_allocate(fixture->device, bytes, &fixture->memory[slot]));
  return uattn_tensor_dense(fixture->memory[slot], dtype, rank, shape);
}

/* A program of the sample, and tensors as it wants them. */
static fixture_t *make_fixture(const sample_options_t *options) {
  fixture_t *fixture = calloc(1, sizeof *fixture);
  fixture->device = open_fake_device();
  fixture->artifact = sample_artifact(options);
  assert_ok(uattn_program_create(fixture->device, fixture->artifact,
                                 &fixture->program));
  fixture->arguments[0] = make_tensor(fixture, 0, UATTN_DTYPE_BF16, 4, q_shape);
  fixture->arguments[1] = make_tensor(fixture, 1, UATTN_DTYPE_BF16, 4, k_shape);
  fixture->arguments[2] = make_tensor(fixture, 2, UATTN_DTYPE_BF16, 4, k_shape);
  fixture->arguments[3] =
      make_tensor(fixture, 3, UATTN_DTYPE_F32, 2, temp_shape);
  fixture->results[0] = make_tensor(fixture, 4, UATTN_DTYPE_BF16, 4, q_shape);
  fixture->results[1] = make_tensor(fixture, 5, UATTN_DTYPE_F32, 3, lse_shape);
  fixture->launch = (uattn_launch_t){
      .struct_size = sizeof fixture->launch,
      .arguments = fixture->arguments,
      .argument_count = options->has_temp ? 4 : 3,
      .results = fixture->results,
      .result_count = options->has_lse ? 2 : 1,
      .stream = (void *)(uintptr_t)0x5eed,
  };
  return fixture;
}

static void destroy_fixture(fixture_t *fixture) {
  uattn_program_destroy(fixture->program);
  uattn_artifact_destroy(fixture->artifact);
  for (size_t i = 0; i < COUNT_OF(fixture->memory); ++i)
    uattn_device_free(fixture->device, fixture->memory[i]);
  assert_int_equal(fake_state()->used_bytes, 0);
  assert_int_equal(fake_depth(), 0);
  uattn_device_close(fixture->device);
  free(fixture);
}

static uattn_error_t *launch(const fixture_t *fixture) {
  return uattn_function_launch(fixture->program, 0, &fixture->launch);
}

static const sample_options_t full = {.is_dynamic = true,
                                      .has_temp = true,
                                      .has_lse = true,
                                      .cap_method = UATTN_CAP_ALSC};

/* The parameters of the last launch of a kernel of `full`. */
static struct {
  uint64_t map_indices[4];
  cu_address_t temp;
  cu_address_t lse;
  int32_t integers[6];
  float floats[4];
  int32_t q_offset;
  int32_t window_tokens;
} seen;

static void read_params(void **params) {
  for (int i = 0; i < 4; ++i)
    memcpy(&seen.map_indices[i], params[i], sizeof seen.map_indices[i]);
  memcpy(&seen.temp, params[4], sizeof seen.temp);
  memcpy(&seen.lse, params[5], sizeof seen.lse);
  for (int i = 0; i < 6; ++i)
    memcpy(&seen.integers[i], params[6 + i], sizeof seen.integers[i]);
  for (int i = 0; i < 4; ++i)
    memcpy(&seen.floats[i], params[12 + i], sizeof seen.floats[i]);
  memcpy(&seen.q_offset, params[16], sizeof seen.q_offset);
  memcpy(&seen.window_tokens, params[17], sizeof seen.window_tokens);
}

static void a_kernel_gets_what_it_lists(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  fake_cuda_t *fake = fake_state();
  fake->on_launch = read_params;
  assert_ok(launch(fixture));
  assert_int_equal(fake->launch_count, 1);
  const fake_launch_t *record = &fake->launches[0];
  assert_int_equal(record->grid[0], 3 * Q_HEADS * BATCH); /* tiles of 128 */
  assert_int_equal(record->grid[1], 1);
  assert_int_equal(record->grid[2], 1);
  assert_int_equal(record->block[0], 384);
  assert_int_equal(record->smem_bytes, 100000);
  assert_ptr_equal(record->stream, fixture->launch.stream);
  const int32_t integers[] = {BATCH, Q_TOKENS, KV_TOKENS, Q_HEADS, KV_HEADS, 3};
  assert_memory_equal(seen.integers, integers, sizeof integers);
  assert_true(seen.temp == (uintptr_t)fixture->arguments[3].data);
  assert_true(seen.lse == (uintptr_t)fixture->results[1].data);
  uattn_softmax_constants_t constants = uattn_softmax_constants(
      &fixture->artifact->functions[0].steps[0].problem);
  const float floats[] = {(float)constants.pre_scale, (float)constants.pre_bias,
                          (float)constants.post_scale,
                          (float)constants.lse_shift};
  assert_memory_equal(seen.floats, floats, sizeof floats);
  destroy_fixture(fixture);
}

static void tensor_maps_are_four_dimensional(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  fake_cuda_t *fake = fake_state();
  fake->on_launch = read_params;
  assert_ok(launch(fixture));
  assert_int_equal(fake->map_count, 4);
  const void *addresses[] = {
      fixture->arguments[0].data, fixture->arguments[1].data,
      fixture->arguments[2].data, fixture->results[0].data};
  for (int i = 0; i < 4; ++i) {
    bool is_query = i == 0 || i == 3;
    uint64_t heads = is_query ? Q_HEADS : KV_HEADS;
    uint64_t tokens = is_query ? Q_TOKENS : KV_TOKENS;
    assert_true(seen.map_indices[i] == (uint64_t)i);
    const fake_map_t *map = &fake->maps[i];
    const uint64_t sizes[] = {64, heads, tokens, BATCH};
    const uint64_t strides[] = {128, 128 * heads, 128 * heads * tokens};
    const uint32_t box[] = {64, 1, i == 0 ? 128 : 64, 1};
    const uint32_t ones[] = {1, 1, 1, 1};
    assert_ptr_equal(map->address, addresses[i]);
    assert_memory_equal(map->sizes, sizes, sizeof sizes);
    assert_memory_equal(map->stride_bytes, strides, sizeof strides);
    assert_memory_equal(map->box, box, sizeof box);
    assert_memory_equal(map->element_strides, ones, sizeof ones);
    assert_int_equal(map->dtype, 9);
    assert_int_equal(map->interleave, 0);
    assert_int_equal(map->swizzle, 3);
    assert_int_equal(map->promotion, 3);
    assert_int_equal(map->fill, 0);
  }
  destroy_fixture(fixture);
}

static void a_launch_neither_allocates_nor_waits(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  fake_cuda_t before = *fake_state();
  for (int i = 0; i < 3; ++i)
    assert_ok(launch(fixture));
  assert_int_equal(fake_state()->allocation_count, before.allocation_count);
  assert_int_equal(fake_state()->synchronize_count, before.synchronize_count);
  assert_int_equal(fake_state()->launch_count, 3);
  destroy_fixture(fixture);
}

static void strides_that_tma_takes_are_taken(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  /* q as (batch, heads, tokens, head_dim) in memory. */
  uattn_tensor_t *q = &fixture->arguments[0];
  q->strides[1] = 64;
  q->strides[2] = 64 * Q_TOKENS;
  assert_ok(launch(fixture));
  const uint64_t strides[] = {128 * Q_TOKENS, 128, 128 * Q_TOKENS * Q_HEADS};
  assert_memory_equal(fake_state()->maps[0].stride_bytes, strides,
                      sizeof strides);
  destroy_fixture(fixture);
}

/* The stride of a dimension of size 1 means nothing; frameworks leave
 * anything there. */
static void strides_of_single_rows_are_free(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  const int64_t q_small[4] = {1, Q_TOKENS, 1, 64};
  const int64_t k_small[4] = {1, KV_TOKENS, 1, 64};
  const int64_t lse_small[3] = {1, 1, Q_TOKENS};
  const int64_t temp_small[2] = {1, Q_TOKENS};
  const int64_t *shapes[] = {q_small, k_small, k_small, temp_small};
  for (int i = 0; i < 4; ++i) {
    uattn_tensor_t *tensor = &fixture->arguments[i];
    *tensor = uattn_tensor_dense(tensor->data, tensor->dtype, tensor->rank,
                                 shapes[i]);
    tensor->strides[0] = 7;
    if (i < 3)
      tensor->strides[2] = -3;
  }
  uattn_tensor_t *results = fixture->results;
  results[0] =
      uattn_tensor_dense(results[0].data, UATTN_DTYPE_BF16, 4, q_small);
  results[0].strides[0] = 0;
  results[1] =
      uattn_tensor_dense(results[1].data, UATTN_DTYPE_F32, 3, lse_small);
  results[1].strides[1] = 1;
  assert_ok(launch(fixture));
  const uint64_t strides[] = {128, 128, 128};
  assert_memory_equal(fake_state()->maps[0].stride_bytes, strides,
                      sizeof strides);
  destroy_fixture(fixture);
}

static void *no_cuda_memory(void) {
  static _Alignas(256) char host[256];
  return host;
}

/* Each changes one thing of a launch that was right. */
static void few_arguments(fixture_t *f) { f->launch.argument_count = 3; }
static void null_arguments(fixture_t *f) { f->launch.arguments = NULL; }
static void many_results(fixture_t *f) { f->launch.result_count = 3; }
static void null_results(fixture_t *f) { f->launch.results = NULL; }
static void wrong_rank(fixture_t *f) { f->arguments[0].rank = 3; }
static void wrong_dtype(fixture_t *f) {
  f->arguments[1].dtype = UATTN_DTYPE_F16;
}
static void wrong_head_dim(fixture_t *f) { f->arguments[0].shape[3] = 128; }
static void wrong_batch(fixture_t *f) { f->arguments[1].shape[0] = 1; }
static void wrong_ratio(fixture_t *f) {
  f->arguments[1].shape[2] = f->arguments[2].shape[2] = 3;
}
static void zero_tokens(fixture_t *f) { f->arguments[0].shape[1] = 0; }
static void wrong_result_rank(fixture_t *f) { f->results[1].rank = 2; }
static void wrong_result_dtype(fixture_t *f) {
  f->results[0].dtype = UATTN_DTYPE_F32;
}
static void wrong_result_shape(fixture_t *f) { f->results[1].shape[2] = 1; }
static void no_data(fixture_t *f) { f->arguments[2].data = NULL; }
static void odd_address(fixture_t *f) {
  f->arguments[0].data = (char *)f->arguments[0].data + 8;
}
static void odd_pointer(fixture_t *f) {
  f->arguments[3].data = (char *)f->arguments[3].data + 2;
}
static void host_address(fixture_t *f) {
  f->arguments[3].data = no_cuda_memory();
}
static void inner_stride(fixture_t *f) { f->arguments[0].strides[3] = 2; }
static void odd_stride(fixture_t *f) { f->arguments[1].strides[1] = 257; }
static void negative_stride(fixture_t *f) { f->arguments[1].strides[2] = -64; }
static void huge_stride(fixture_t *f) {
  f->arguments[1].strides[0] = INT64_C(1) << 39;
}
static void folded_result(fixture_t *f) { f->results[0].strides[1] = 0; }
static void loose_temp(fixture_t *f) { f->arguments[3].strides[0] = 304; }
static void loose_lse(fixture_t *f) { f->results[1].strides[2] = 2; }
static void other_device(fixture_t *f) {
  (void)f;
  fake_state()->pointer_ordinal = 1;
}
static void many_ctas(fixture_t *f) {
  f->arguments[0].shape[1] = f->arguments[3].shape[1] = INT32_MAX;
  f->arguments[0].shape[2] = 1 << 20;
}
static void other_cap(fixture_t *f) {
  static const uattn_cap_t cap = {.method = UATTN_CAP_TANH, .cap = 3};
  f->launch.cap = &cap;
}
static void bad_cap(fixture_t *f) {
  static const uattn_cap_t cap = {.method = UATTN_CAP_ALSC, .cap = -3};
  f->launch.cap = &cap;
}
static void bad_scale(fixture_t *f) {
  static const double scale = NAN;
  f->launch.sm_scale = &scale;
}

static void wrong_calls_are_refused_by_name(void **state) {
  (void)state;
  static const struct {
    void (*change)(fixture_t *fixture);
    const char *message;
  } cases[] = {
      {few_arguments, "3 arguments: function main wants 4"},
      {null_arguments, "arguments is NULL: wanted 4 tensors"},
      {many_results, "3 results: function main gives 2"},
      {null_results, "results is NULL: wanted 2 tensors"},
      {wrong_rank, "argument 0 (q) has rank 3: wanted 4"},
      {wrong_dtype, "argument 1 (k) has type f16: wanted bf16"},
      {wrong_head_dim, "argument 0 (q) has 128 in dimension 3: wanted 64"},
      {wrong_batch, "argument 1 (k) has 1 in dimension 0: wanted 2, as "
                    "argument 0 (q) has in dimension 0"},
      {wrong_ratio, "q has 8 heads, not a multiple of the 3 kv heads"},
      {zero_tokens, "argument 0 (q) has 0 in dimension 1: wanted 1 to"},
      {wrong_result_rank, "result 1 (lse) has rank 2: wanted 3"},
      {wrong_result_dtype, "result 0 (out) has type f32: wanted bf16"},
      {wrong_result_shape, "result 1 (lse) has 1 in dimension 2: wanted 300"},
      {no_data, "argument 2 (v) has no data: wanted an address"},
      {odd_address, ": wanted a multiple of 16 bytes"},
      {odd_pointer, ": wanted a multiple of 4 bytes"},
      {host_address, ", which is no CUDA memory: wanted memory of device 0"},
      {inner_stride, "argument 0 (q) has stride 2 in dimension 3: wanted 1"},
      {odd_stride, "argument 1 (k) has stride 257 in dimension 1, 514 bytes: "
                   "wanted a multiple of 16 bytes"},
      {negative_stride, "argument 1 (k) has stride -64 in dimension 2: wanted "
                        "it above 0"},
      {huge_stride, "argument 1 (k) has stride 549755813888 in dimension 0: "
                    "wanted less than 2^40 bytes"},
      {folded_result, "result 0 (out) has stride 0 in dimension 1: wanted it "
                      "above 0"},
      {loose_temp, "argument 3 (temp) has stride 304 in dimension 0: wanted "
                   "300, it must be dense in C order"},
      {loose_lse, "result 1 (lse) has stride 2 in dimension 2: wanted 1"},
      {other_device, "argument 0 (q) lies on device 1: wanted device 0"},
      {many_ctas, "make more than 2^31 CTAs of 128 rows"},
      {other_cap, "cap tanh cannot replace the compiled cap alsc"},
      {bad_cap, "cap alsc has cap -3: expected a finite number above 0"},
      {bad_scale, "sm_scale is nan: expected a finite f32 number"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    fixture_t *fixture = make_fixture(&full);
    cases[i].change(fixture);
    uattn_error_t *error = launch(fixture);
    if (!error || !strstr(uattn_error_message(error), cases[i].message))
      fail_msg("case %zu: found `%s`, wanted `%s`", i,
               error ? uattn_error_message(error) : "no error",
               cases[i].message);
    assert_int_equal(uattn_error_code(error), UATTN_ERROR_INVALID_ARGUMENT);
    uattn_error_destroy(error);
    assert_int_equal(fake_state()->launch_count, 0);
    destroy_fixture(fixture);
  }
}

static void a_caller_may_vouch_for_places(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  other_device(fixture);
  fixture->launch.is_place_known = true;
  assert_ok(launch(fixture));
  assert_int_equal(fake_state()->launch_count, 1);
  fixture->launch.struct_size = offsetof(uattn_launch_t, is_place_known);
  uattn_error_t *error = launch(fixture); /* a caller who knows of no such */
  assert_non_null(error);
  uattn_error_destroy(error);
  destroy_fixture(fixture);
}

static void functions_past_the_last_are_refused(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  assert_error(uattn_function_launch(fixture->program, 1, &fixture->launch),
               UATTN_ERROR_INVALID_ARGUMENT, "function 1: the artifact has 1");
  destroy_fixture(fixture);
}

static void driver_failures_are_device_errors(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  fake_state()->refuses_maps = true;
  assert_error(launch(fixture), UATTN_ERROR_DEVICE,
               "op 0: q: the driver refuses a tensor map: "
               "CUDA_ERROR_INVALID_VALUE (1, as the test wants)");
  fake_state()->refuses_maps = false;
  fake_state()->kernel = 2;
  assert_error(launch(fixture), UATTN_ERROR_DEVICE,
               "op 0: the launch failed: CUDA_ERROR_LAUNCH_FAILED (719, as the "
               "test wants)");
  destroy_fixture(fixture);
}

static void scale_and_cap_are_replaced(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  fake_state()->on_launch = read_params;
  double scale = -0.5;
  uattn_cap_t cap = {
      .method = UATTN_CAP_ALSC, .cap = 20, .alpha = 3, .beta = 0.25};
  fixture->launch.sm_scale = &scale;
  fixture->launch.cap = &cap;
  assert_ok(launch(fixture));
  uattn_problem_t problem = {.cap = cap, .sm_scale = scale};
  uattn_softmax_constants_t constants = uattn_softmax_constants(&problem);
  const float floats[] = {(float)constants.pre_scale, (float)constants.pre_bias,
                          (float)constants.post_scale,
                          (float)constants.lse_shift};
  assert_memory_equal(seen.floats, floats, sizeof floats);
  /* A caller built before these fields were added has a smaller struct. */
  fixture->launch.struct_size = offsetof(uattn_launch_t, sm_scale);
  assert_ok(launch(fixture));
  constants = uattn_softmax_constants(
      &fixture->artifact->functions[0].steps[0].problem);
  assert_true(seen.floats[0] == (float)constants.pre_scale);
  destroy_fixture(fixture);
}

static void folded_constants_cannot_be_replaced(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  fixture->artifact->kernels[0].param_count = 12; /* no float is left */
  double scale = 0.25;
  fixture->launch.sm_scale = &scale;
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "op 0: kernel uattn_forward was compiled for its sm_scale and "
               "cap: they cannot be replaced");
  scale = 0.125; /* as compiled */
  assert_ok(launch(fixture));
  destroy_fixture(fixture);
}

static void the_sign_of_the_scale_is_kept(void **state) {
  (void)state;
  static const struct {
    int32_t sign;
    double scale;
    const char *message;
  } cases[] = {
      {1, 0.0, NULL},
      {1, -0.5,
       "op 0: sm_scale is -0.5: kernel uattn_forward was compiled for "
       "one of at least 0"},
      {-1, -0.5, NULL},
      {-1, 0.0,
       "op 0: sm_scale is 0: kernel uattn_forward was compiled for "
       "one below 0"},
      {0, -0.5, NULL},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    sample_options_t options = full;
    options.sm_scale_sign = cases[i].sign;
    fixture_t *fixture = make_fixture(&options);
    fixture->launch.sm_scale = &cases[i].scale;
    uattn_error_t *error = launch(fixture);
    if (cases[i].message)
      assert_error(error, UATTN_ERROR_INVALID_ARGUMENT, cases[i].message);
    else
      assert_ok(error);
    destroy_fixture(fixture);
  }
}

/* A kernel without a maximum bears exponents up to a limit. */
static void the_largest_cap_is_kept(void **state) {
  (void)state;
  static const struct {
    double largest;
    double cap;
    const char *message;
  } cases[] = {
      {88.0, 60.9, NULL}, /* 60.9 log2(e) = 87.86 */
      {88.0, 61.1,
       "op 0: cap is 61.1: kernel uattn_forward was compiled for one of at "
       "most 60.997"},
      {88.0, 1e30,
       "op 0: cap is 1e+30: kernel uattn_forward was compiled for one of at "
       "most 60.997"},
      {1.0, 61.1,
       "op 0: cap is 61.1: kernel uattn_forward was compiled for one of at "
       "most 0.693147"},
      {0.0, 1e30, NULL}, /* any */
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    sample_options_t options = full;
    options.cap_method = UATTN_CAP_TANH;
    options.largest_post_scale = cases[i].largest;
    fixture_t *fixture = make_fixture(&options);
    uattn_cap_t cap = {.method = UATTN_CAP_TANH, .cap = cases[i].cap};
    fixture->launch.cap = &cap;
    uattn_error_t *error = launch(fixture);
    if (cases[i].message)
      assert_error(error, UATTN_ERROR_INVALID_ARGUMENT, cases[i].message);
    else
      assert_ok(error);
    assert_int_equal(fake_state()->launch_count, cases[i].message ? 0 : 1);
    destroy_fixture(fixture);
  }
}

/* A window that is longer than every row's past is as long as the longest, so
 * that positions less it stay in 32 bits; it is never 0, which no row sees. */
static void offset_and_window_are_told(void **state) {
  (void)state;
  static const struct {
    int64_t q_offset;
    int64_t window_tokens;
    int32_t wanted;
  } cases[] = {
      {0, 1, 1},
      {0, Q_TOKENS, Q_TOKENS},
      {0, Q_TOKENS + 1, Q_TOKENS},
      {0, INT32_MAX, Q_TOKENS},
      {700, 1000, 1000},
      {700, 1001, 1000},
      {-299, 5, 1},
      {-300, 5, 1},
      {-1000, 5, 1},
      {-100, INT32_MAX, 200},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    sample_options_t options = full;
    options.q_offset = cases[i].q_offset;
    options.window_tokens = cases[i].window_tokens;
    fixture_t *fixture = make_fixture(&options);
    fake_state()->on_launch = read_params;
    assert_ok(launch(fixture));
    assert_int_equal(seen.q_offset, cases[i].q_offset);
    assert_int_equal(seen.window_tokens, cases[i].wanted);
    destroy_fixture(fixture);
  }
}

static void ops_without_a_kernel_are_unsupported(void **state) {
  (void)state;
  sample_options_t options = full;
  options.has_no_kernel = true;
  fixture_t *fixture = make_fixture(&options);
  assert_error(launch(fixture), UATTN_ERROR_UNSUPPORTED,
               "op 0: uattn.ranker_attention has no kernel in this artifact: "
               "it runs on the reference only");
  destroy_fixture(fixture);
}

static void what_flows_between_ops_is_in_the_workspace(void **state) {
  (void)state;
  sample_options_t options = full;
  options.op_count = 3;
  fixture_t *fixture = make_fixture(&options);
  size_t wanted = 0;
  assert_ok(uattn_function_workspace_bytes(fixture->program, 0,
                                           fixture->arguments, 4, &wanted));
  size_t out_bytes = sizeof(uint16_t) * BATCH * Q_TOKENS * Q_HEADS * 64;
  assert_int_equal(wanted, 2 * out_bytes); /* a multiple of 256 */
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "workspace of 0 bytes: wanted 1228800");
  assert_ok(
      uattn_device_allocate(fixture->device, wanted + 16, &fixture->memory[6]));
  fixture->launch.workspace = fixture->memory[6];
  fixture->launch.workspace_bytes = wanted - 1;
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "workspace of 1228799 bytes: wanted 1228800");
  fixture->launch.workspace_bytes = wanted;
  fixture->launch.workspace = (char *)fixture->memory[6] + 8;
  assert_error_says(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
                    "wanted a multiple of 16 bytes");
  fixture->launch.workspace = fixture->memory[6];
  assert_ok(launch(fixture));
  fake_cuda_t *fake = fake_state();
  assert_int_equal(fake->launch_count, 3);
  char *first = fixture->memory[6];
  assert_ptr_equal(fake->maps[0].address, fixture->arguments[0].data);
  assert_ptr_equal(fake->maps[3].address, first);
  assert_ptr_equal(fake->maps[4].address, first);
  assert_ptr_equal(fake->maps[7].address, first + out_bytes);
  assert_ptr_equal(fake->maps[8].address, first + out_bytes);
  assert_ptr_equal(fake->maps[11].address, fixture->results[0].data);
  destroy_fixture(fixture);
}

/* Three launches of a backward op; their scratch is the caller's workspace. */
static void kernels_of_an_op_share_the_workspace(void **state) {
  (void)state;
  sample_options_t options = {
      .is_backward = true, .is_dynamic = true, .cap_method = UATTN_CAP_ALSC};
  fixture_t *fixture = make_fixture(&options);
  uattn_tensor_t out = fixture->results[0];
  uattn_tensor_t lse = fixture->results[1];
  const uattn_tensor_t arguments[] = {fixture->arguments[0],
                                      fixture->arguments[1],
                                      fixture->arguments[2],
                                      out,
                                      lse,
                                      out};
  const uattn_tensor_t results[] = {out, fixture->arguments[1],
                                    fixture->arguments[2]};
  fixture->launch.arguments = arguments;
  fixture->launch.argument_count = COUNT_OF(arguments);
  fixture->launch.results = results;
  fixture->launch.result_count = COUNT_OF(results);
  size_t wanted = 0;
  assert_ok(uattn_function_workspace_bytes(fixture->program, 0, arguments,
                                           COUNT_OF(arguments), &wanted));
  assert_int_equal(wanted, 2 * 19200); /* f32 of [2, 8, 300], 75 times 256 */
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "workspace of 0 bytes: wanted 38400");
  fixture->launch.workspace = no_cuda_memory();
  fixture->launch.workspace_bytes = wanted;
  assert_error_says(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
                    "buffer 0 (workspace) lies at");
  assert_ok(
      uattn_device_allocate(fixture->device, wanted, &fixture->memory[6]));
  fixture->launch.workspace = fixture->memory[6];
  assert_ok(launch(fixture));
  const fake_cuda_t *fake = fake_state();
  assert_int_equal(fake->launch_count, 3);
  assert_int_equal(fake->launches[0].grid[0], 10 * Q_HEADS * BATCH);
  assert_int_equal(fake->launches[1].grid[0], 2 * KV_HEADS * BATCH);
  assert_int_equal(fake->launches[2].grid[0], 5 * Q_HEADS * BATCH);
  destroy_fixture(fixture);
}

static void results_are_described(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  uattn_tensor_t results[2];
  assert_ok(uattn_function_results(fixture->program, 0, fixture->arguments, 4,
                                   results));
  assert_null(results[0].data);
  assert_memory_equal(results[0].shape, q_shape, sizeof q_shape);
  assert_true(results[0].strides[1] == Q_HEADS * 64);
  assert_int_equal(results[1].dtype, UATTN_DTYPE_F32);
  assert_memory_equal(results[1].shape, lse_shape, sizeof lse_shape);
  assert_error(uattn_function_results(fixture->program, 0, fixture->arguments,
                                      3, results),
               UATTN_ERROR_INVALID_ARGUMENT,
               "3 arguments: function main wants 4");
  size_t bytes = 1;
  assert_ok(uattn_function_workspace_bytes(fixture->program, 0,
                                           fixture->arguments, 4, &bytes));
  assert_int_equal(bytes, 0);
  destroy_fixture(fixture);
}

/* A function may return an argument, or one value twice. */
static void returned_arguments_are_copied(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  uattn_program_destroy(fixture->program);
  fixture->program = NULL;
  sample_artifact_return_argument(fixture->artifact);
  assert_ok(uattn_artifact_validate(fixture->artifact));
  assert_ok(uattn_program_create(fixture->device, fixture->artifact,
                                 &fixture->program));
  const int64_t shape[1] = {2};
  fixture->arguments[4] = make_tensor(fixture, 6, UATTN_DTYPE_I32, 1, shape);
  fixture->results[2] = make_tensor(fixture, 7, UATTN_DTYPE_I32, 1, shape);
  fixture->launch.argument_count = 5;
  fixture->launch.result_count = 3;
  int32_t numbers[2] = {17, -4};
  int32_t found[2] = {0, 0};
  assert_ok(uattn_device_upload(fixture->device, fixture->memory[6], numbers,
                                sizeof numbers));
  assert_ok(launch(fixture));
  assert_int_equal(fake_state()->copy_count, 1);
  assert_ok(uattn_device_download(fixture->device, found, fixture->memory[7],
                                  sizeof found));
  assert_memory_equal(found, numbers, sizeof found);
  fixture->arguments[4].strides[0] = 2;
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "argument 4 (extra) has stride 2 in dimension 0: wanted 1, it "
               "must be dense in C order");
  destroy_fixture(fixture);
}

static void *launch_often(void *fixture) {
  for (int i = 0; i < 50; ++i) {
    uattn_error_t *error = launch(fixture);
    if (error)
      return error;
  }
  return NULL;
}

static void threads_may_launch_together(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture(&full);
  pthread_t threads[4];
  for (size_t i = 0; i < COUNT_OF(threads); ++i)
    assert_int_equal(pthread_create(&threads[i], NULL, launch_often, fixture),
                     0);
  for (size_t i = 0; i < COUNT_OF(threads); ++i) {
    void *error = NULL;
    assert_int_equal(pthread_join(threads[i], &error), 0);
    assert_ok(error);
  }
  assert_int_equal(fake_state()->launch_count, 200);
  destroy_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_kernel_gets_what_it_lists),
      cmocka_unit_test(tensor_maps_are_four_dimensional),
      cmocka_unit_test(a_launch_neither_allocates_nor_waits),
      cmocka_unit_test(strides_that_tma_takes_are_taken),
      cmocka_unit_test(a_caller_may_vouch_for_places),
      cmocka_unit_test(strides_of_single_rows_are_free),
      cmocka_unit_test(wrong_calls_are_refused_by_name),
      cmocka_unit_test(functions_past_the_last_are_refused),
      cmocka_unit_test(driver_failures_are_device_errors),
      cmocka_unit_test(scale_and_cap_are_replaced),
      cmocka_unit_test(folded_constants_cannot_be_replaced),
      cmocka_unit_test(the_sign_of_the_scale_is_kept),
      cmocka_unit_test(the_largest_cap_is_kept),
      cmocka_unit_test(offset_and_window_are_told),
      cmocka_unit_test(ops_without_a_kernel_are_unsupported),
      cmocka_unit_test(what_flows_between_ops_is_in_the_workspace),
      cmocka_unit_test(kernels_of_an_op_share_the_workspace),
      cmocka_unit_test(results_are_described),
      cmocka_unit_test(returned_arguments_are_copied),
      cmocka_unit_test(threads_may_launch_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
