/* Tests of the artifact's file: what is written is read, what is damaged is
 * refused.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "sample_artifact.h"
#include "support/support.h"

enum { CHECKSUM_OFFSET = 24 };

static const sample_options_t full = {.is_dynamic = true,
                                      .has_temp = true,
                                      .has_lse = true,
                                      .has_cubin = true,
                                      .op_count = 2,
                                      .cap_method = UATTN_CAP_ALSC};

static const sample_options_t backward = {.is_backward = true,
                                          .is_dynamic = true,
                                          .has_temp = true,
                                          .op_count = 2,
                                          .z_loss_weight = 1e-4,
                                          .cap_method = UATTN_CAP_ALSC};

static uint8_t *serialize(const sample_options_t *options, size_t *size) {
  uattn_artifact_t *artifact = sample_artifact(options);
  assert_ok(uattn_artifact_validate(artifact));
  uint8_t *bytes = NULL;
  uattn_artifact_serialize(artifact, &bytes, size);
  uattn_artifact_destroy(artifact);
  return bytes;
}

/* The format's own checksum, 64-bit FNV-1a, put right after damage so that
 * what lies behind it is tested. */
static void repair_checksum(uint8_t *bytes, size_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; ++i)
    if (i < CHECKSUM_OFFSET || i >= CHECKSUM_OFFSET + 8)
      hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
  for (int i = 0; i < 8; ++i)
    bytes[CHECKSUM_OFFSET + i] = (uint8_t)(hash >> (8 * i));
}

static void repair_size(uint8_t *bytes, size_t size) {
  for (int i = 0; i < 8; ++i)
    bytes[16 + i] = (uint8_t)((uint64_t)size >> (8 * i));
}

/* Parses a copy of its own, so that a read past the end is seen by the
 * sanitizer. */
static uattn_error_t *parse_copy(const uint8_t *bytes, size_t size,
                                 uattn_artifact_t **out) {
  uint8_t *copy = malloc(size ? size : 1);
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  uattn_error_t *error = uattn_artifact_parse(copy, size, out);
  free(copy);
  return error;
}

/* Writing the artifact gives these bytes. */
static void assert_bytes(const uattn_artifact_t *artifact, const uint8_t *bytes,
                         size_t size) {
  uint8_t *again = NULL;
  size_t again_size = 0;
  uattn_artifact_serialize(artifact, &again, &again_size);
  assert_int_equal(again_size, size);
  assert_memory_equal(again, bytes, size);
  free(again);
}

static void what_is_written_is_read(void **state) {
  (void)state;
  size_t size = 0;
  uint8_t *bytes = serialize(&full, &size);
  uattn_artifact_t *artifact = NULL;
  assert_ok(parse_copy(bytes, size, &artifact));
  assert_int_equal(artifact->format_major, 1);
  assert_int_equal(artifact->format_minor, 2);
  const uattn_artifact_function_t *function = &artifact->functions[0];
  assert_string_equal(function->name, "main");
  assert_int_equal(function->argument_count, 4);
  assert_int_equal(function->step_count, 2);
  assert_int_equal(function->steps[1].operand_values[UATTN_OPERAND_Q],
                   function->steps[0].result_values[UATTN_RESULT_OUT]);
  assert_int_equal(function->steps[1].problem.cap.method, UATTN_CAP_ALSC);
  assert_true(function->steps[1].problem.cap.beta == 0.5);
  assert_true(function->steps[1].problem.q_tokens == UATTN_DIM_DYNAMIC);
  assert_string_equal(function->steps[0].plan_text, "a sample\n");
  assert_int_equal(artifact->kernels[1].threads, 384);
  assert_int_equal(artifact->kernels[1].params[1].box_rows, 64);
  assert_int_equal(artifact->images[0].cubin_bytes, 7);
  assert_memory_equal(artifact->images[0].cubin, "\x7f\x45LF\0\1\2", 7);
  assert_bytes(artifact, bytes, size);
  free(bytes);
  uattn_artifact_destroy(artifact);
}

static void a_backward_op_is_read_as_written(void **state) {
  (void)state;
  size_t size = 0;
  uint8_t *bytes = serialize(&backward, &size);
  uattn_artifact_t *artifact = NULL;
  assert_ok(parse_copy(bytes, size, &artifact));
  const uattn_artifact_function_t *function = &artifact->functions[0];
  assert_int_equal(artifact->kernel_count, 6);
  for (uint32_t i = 0; i < 2; ++i) {
    const uattn_artifact_step_t *step = &function->steps[i];
    assert_int_equal(step->problem.kind, UATTN_OP_BACKWARD);
    assert_int_equal(step->first_kernel, 3 * i);
    assert_int_equal(step->kernel_count, 3);
    assert_int_equal(step->scratch_count, 2);
    assert_int_equal(step->scratch[1], UATTN_SCRATCH_Q_ROWS);
  }
  const uattn_artifact_kernel_t *kernels = artifact->kernels;
  assert_int_equal(kernels[0].grid_rule, UATTN_GRID_Q_TILES);
  assert_int_equal(kernels[1].grid_rule, UATTN_GRID_KV_TILES);
  assert_int_equal(kernels[1].rows_per_cta, 64);
  const uattn_kernel_param_t *params = kernels[1].params;
  assert_int_equal(params[3].source, UATTN_PARAM_SOURCE_OPERAND);
  assert_int_equal(params[3].tensor_index, UATTN_OPERAND_DOUT);
  assert_int_equal(params[5].source, UATTN_PARAM_SOURCE_SCRATCH);
  assert_int_equal(params[5].tensor_index, 1);
  assert_int_equal(params[9].quantity, UATTN_QUANTITY_GRADIENT_SCALE);
  assert_int_equal(params[11].source, UATTN_PARAM_SOURCE_RESULT);
  assert_int_equal(params[11].tensor_index, UATTN_RESULT_DV);
  assert_int_equal(params[12].quantity, UATTN_QUANTITY_KV_TILES);
  assert_bytes(artifact, bytes, size);
  free(bytes);
  uattn_artifact_destroy(artifact);
}

/* A file that the library wrote when its format was 1.0: sample_artifact of
 * `full`, before steps had scratch. */
static void a_file_of_minor_0_is_read(void **state) {
  (void)state;
  uattn_artifact_t *artifact = NULL;
  assert_ok(
      uattn_artifact_read(ARTIFACT_INPUTS "/format_1_0.uattn", &artifact));
  assert_int_equal(artifact->format_major, 1);
  assert_int_equal(artifact->format_minor, 0);
  for (uint32_t i = 0; i < 2; ++i)
    assert_int_equal(artifact->functions[0].steps[i].scratch_count, 0);
  const uattn_kernel_param_t *params = artifact->kernels[1].params;
  assert_int_equal(params[2].source, UATTN_PARAM_SOURCE_OPERAND);
  assert_int_equal(params[3].source, UATTN_PARAM_SOURCE_RESULT);
  size_t size = 0;
  uint8_t *bytes = serialize(&full, &size);
  assert_bytes(artifact, bytes, size);
  free(bytes);
  uattn_artifact_destroy(artifact);
}

static void functions_and_values_are_told(void **state) {
  (void)state;
  uattn_artifact_t *artifact = sample_artifact(&full);
  assert_int_equal(uattn_artifact_function_count(artifact), 1);
  assert_string_equal(uattn_artifact_function_name(artifact, 0), "main");
  assert_int_equal(uattn_artifact_find_function(artifact, "main"), 0);
  assert_int_equal(uattn_artifact_find_function(artifact, "mai"), -1);
  assert_int_equal(uattn_artifact_argument_count(artifact, 0), 4);
  assert_int_equal(uattn_artifact_result_count(artifact, 0), 2);
  assert_int_equal(uattn_artifact_op_count(artifact, 0), 2);
  assert_string_equal(uattn_artifact_plan_text(artifact, 0, 1), "a sample\n");
  uattn_value_info_t temp = uattn_artifact_argument(artifact, 0, 3);
  assert_string_equal(temp.name, "temp");
  assert_int_equal(temp.dtype, UATTN_DTYPE_F32);
  assert_int_equal(temp.rank, 2);
  assert_true(temp.shape[1] == UATTN_DIM_DYNAMIC && temp.shape[2] == 0);
  uattn_value_info_t out = uattn_artifact_result(artifact, 0, 0);
  assert_string_equal(out.name, "out");
  assert_true(out.shape[3] == 64);
  uattn_artifact_destroy(artifact);
  uattn_artifact_destroy(NULL);
}

static void every_truncation_is_refused(void **state) {
  (void)state;
  size_t size = 0;
  uint8_t *bytes = serialize(&full, &size);
  for (size_t length = 0; length < size; ++length) {
    uattn_artifact_t *artifact = NULL;
    uattn_error_t *error = parse_copy(bytes, length, &artifact);
    assert_non_null(error);
    assert_null(artifact);
    assert_int_equal(uattn_error_code(error), UATTN_ERROR_IO);
    uattn_error_destroy(error);
  }
  free(bytes);
}

static void refuse_truncations_by_structure(const sample_options_t *options) {
  size_t size = 0;
  uint8_t *bytes = serialize(options, &size);
  uint8_t *torn = malloc(size);
  for (size_t length = 40; length < size; ++length) {
    memcpy(torn, bytes, length);
    repair_size(torn, length);
    repair_checksum(torn, length);
    uattn_artifact_t *artifact = NULL;
    uattn_error_t *error = parse_copy(torn, length, &artifact);
    assert_non_null(error);
    assert_null(artifact);
    assert_int_equal(uattn_error_code(error), UATTN_ERROR_IO);
    uattn_error_destroy(error);
  }
  free(torn);
  free(bytes);
}

static void every_truncation_is_refused_by_structure(void **state) {
  (void)state;
  refuse_truncations_by_structure(&full);
  refuse_truncations_by_structure(&backward);
}

static void every_flipped_byte_is_told(void **state) {
  (void)state;
  size_t size = 0;
  uint8_t *bytes = serialize(&full, &size);
  for (size_t i = 0; i < size; ++i) {
    for (int flip = 1; flip < 256; flip = flip == 1 ? 0x80 : flip + 0x7f) {
      bytes[i] ^= (uint8_t)flip;
      uattn_artifact_t *artifact = NULL;
      uattn_error_t *error = parse_copy(bytes, size, &artifact);
      assert_non_null(error);
      uattn_error_destroy(error);
      bytes[i] ^= (uint8_t)flip;
    }
  }
  free(bytes);
}

/* A changed field either breaks a rule or makes another valid artifact. */
static void check_changed_bytes(const sample_options_t *options) {
  size_t size = 0;
  uint8_t *bytes = serialize(options, &size);
  size_t refused = 0;
  size_t taken = 0;
  static const uint8_t changes[] = {0x01, 0x02, 0x80, 0xff};
  for (size_t i = 0; i < size; ++i) {
    for (size_t c = 0; c < COUNT_OF(changes); ++c) {
      bytes[i] ^= changes[c];
      if (i < CHECKSUM_OFFSET || i >= CHECKSUM_OFFSET + 8)
        repair_checksum(bytes, size);
      uattn_artifact_t *artifact = NULL;
      uattn_error_t *error = parse_copy(bytes, size, &artifact);
      assert_true(!error == !!artifact);
      refused += !!error;
      taken += !error;
      if (artifact)
        assert_ok(uattn_artifact_validate(artifact));
      uattn_artifact_destroy(artifact);
      uattn_error_destroy(error);
      bytes[i] ^= changes[c];
      repair_checksum(bytes, size);
    }
  }
  assert_true(refused > size && taken > 0);
  free(bytes);
}

static void every_changed_byte_is_checked(void **state) {
  (void)state;
  check_changed_bytes(&full);
  check_changed_bytes(&backward);
}

static void other_versions_are_refused_by_name(void **state) {
  (void)state;
  size_t size = 0;
  uint8_t *bytes = serialize(&full, &size);
  uattn_artifact_t *artifact = NULL;
  bytes[8] = 2;
  repair_checksum(bytes, size);
  assert_error(uattn_artifact_parse(bytes, size, &artifact),
               UATTN_ERROR_UNSUPPORTED,
               "artifact format 2.2: this library reads 1.0 to 1.2");
  bytes[8] = 1;
  bytes[12] = 7;
  repair_checksum(bytes, size);
  assert_error(uattn_artifact_parse(bytes, size, &artifact),
               UATTN_ERROR_UNSUPPORTED,
               "artifact format 1.7: this library reads 1.0 to 1.2");
  assert_null(artifact);
  free(bytes);
}

static void foreign_and_torn_files_are_told(void **state) {
  (void)state;
  size_t size = 0;
  uint8_t *bytes = serialize(&full, &size);
  uattn_artifact_t *artifact = NULL;
  char message[128];
  assert_error(uattn_artifact_parse("", 0, &artifact), UATTN_ERROR_IO,
               "not an artifact: 0 bytes found, wanted at least 40");
  snprintf(message, sizeof message,
           "torn artifact: 100 bytes found, %zu written", size);
  assert_error(uattn_artifact_parse(bytes, 100, &artifact), UATTN_ERROR_IO,
               message);
  bytes[size - 1] ^= 1;
  assert_error(uattn_artifact_parse(bytes, size, &artifact), UATTN_ERROR_IO,
               "damaged artifact: its checksum does not match its contents");
  bytes[0] = 'x';
  assert_error(uattn_artifact_parse(bytes, size, &artifact), UATTN_ERROR_IO,
               "not an artifact: wanted the mark of a .uattn file in its "
               "first 8 bytes");
  free(bytes);
}

/* What each mutation breaks, and a part of the message that says so. */
static void no_image(uattn_artifact_t *a) { a->kernels[0].image_index = 1; }
static void no_chip(uattn_artifact_t *a) { a->images[0].chip[0] = '\0'; }
static void no_code(uattn_artifact_t *a) { a->images[0].ptx[0] = '\0'; }
static void no_entry(uattn_artifact_t *a) { a->kernels[0].entry[0] = '\n'; }
static void many_threads(uattn_artifact_t *a) { a->kernels[0].threads = 2048; }
static void no_rows(uattn_artifact_t *a) { a->kernels[0].rows_per_cta = 0; }
static void much_smem(uattn_artifact_t *a) {
  a->kernels[0].dynamic_smem_bytes = -1;
}
static void odd_sign(uattn_artifact_t *a) { a->kernels[0].sm_scale_sign = 2; }
static void below_any_scale(uattn_artifact_t *a) {
  a->kernels[0].largest_post_scale = -1;
}
static void endless_scale(uattn_artifact_t *a) {
  a->kernels[0].largest_post_scale = INFINITY;
}
static void scale_of_nan(uattn_artifact_t *a) {
  a->kernels[0].largest_post_scale = NAN;
}
static void odd_grid(uattn_artifact_t *a) {
  a->kernels[0].grid_rule = (uattn_grid_rule_t)2;
}
static void odd_kind(uattn_artifact_t *a) {
  a->kernels[0].params[0].kind = (uattn_param_kind_t)4;
}
static void wide_box(uattn_artifact_t *a) {
  a->kernels[0].params[0].box_columns = 128;
}
static void narrow_box(uattn_artifact_t *a) {
  a->kernels[0].params[0].box_columns = 4;
}
static void no_box(uattn_artifact_t *a) {
  a->kernels[0].params[0].box_rows = 0;
}
static void map_of_lse(uattn_artifact_t *a) {
  a->kernels[0].params[0].source = UATTN_PARAM_SOURCE_RESULT;
  a->kernels[0].params[0].tensor_index = UATTN_RESULT_LSE;
}
static void absent_operand(uattn_artifact_t *a) {
  a->kernels[0].params[0].tensor_index = UATTN_OPERAND_BOUNDS;
}
static void operand_of_backward(uattn_artifact_t *a) {
  a->kernels[0].params[0].tensor_index = UATTN_OPERAND_DOUT;
}
static void scale_as_integer(uattn_artifact_t *a) {
  a->kernels[0].params[6].quantity = UATTN_QUANTITY_PRE_SCALE;
}
static void kernel_past_end(uattn_artifact_t *a) {
  a->functions[0].steps[0].kernel_count = 2;
}
static void kernel_wraps(uattn_artifact_t *a) {
  a->functions[0].steps[0].first_kernel = UINT32_MAX;
}
static void rank_five(uattn_artifact_t *a) {
  a->functions[0].values[0].rank = 5;
}
static void zero_dim(uattn_artifact_t *a) {
  a->functions[0].values[0].shape[1] = 0;
}
static void huge_dim(uattn_artifact_t *a) {
  a->functions[0].values[0].shape[1] = INT64_C(1) << 31;
}
static void odd_dtype(uattn_artifact_t *a) {
  a->functions[0].values[0].dtype = (uattn_dtype_t)4;
}
static void f32_query(uattn_artifact_t *a) {
  a->functions[0].values[0].dtype = UATTN_DTYPE_F32;
}
static void arguments_past_values(uattn_artifact_t *a) {
  a->functions[0].argument_count = 100;
}
static void result_past_values(uattn_artifact_t *a) {
  a->functions[0].result_values[0] = 100;
}
static void operand_past_values(uattn_artifact_t *a) {
  a->functions[0].steps[0].operand_values[0] = -2;
}
static void operand_before_made(uattn_artifact_t *a) {
  a->functions[0].steps[0].operand_values[0] = 4;
}
static void absent_has_value(uattn_artifact_t *a) {
  a->functions[0].steps[0].operand_values[UATTN_OPERAND_BOUNDS] = 0;
}
static void made_twice(uattn_artifact_t *a) {
  a->functions[0].steps[0].result_values[0] = 0;
}
static void dims_contradict(uattn_artifact_t *a) {
  a->functions[0].values[1].shape[0] = 3;
}
static void odd_cap(uattn_artifact_t *a) {
  a->functions[0].steps[0].problem.cap.method = (uattn_cap_method_t)9;
}
static void odd_scale(uattn_artifact_t *a) {
  a->functions[0].steps[0].problem.sm_scale = INFINITY;
}

typedef struct {
  void (*mutate)(uattn_artifact_t *artifact);
  const char *message;
} broken_rule_t;

/* Each rule is broken in a fresh sample, which is written and read. */
static void assert_named(const broken_rule_t *cases, size_t count,
                         const sample_options_t *options) {
  for (size_t i = 0; i < count; ++i) {
    uattn_artifact_t *artifact = sample_artifact(options);
    cases[i].mutate(artifact);
    uint8_t *bytes = NULL;
    size_t size = 0;
    uattn_artifact_serialize(artifact, &bytes, &size);
    uattn_artifact_destroy(artifact);
    uattn_artifact_t *parsed = NULL;
    uattn_error_t *error = parse_copy(bytes, size, &parsed);
    free(bytes);
    if (!error || !strstr(uattn_error_message(error), cases[i].message))
      fail_msg("case %zu: found `%s`, wanted `%s`", i,
               error ? uattn_error_message(error) : "no error",
               cases[i].message);
    assert_null(parsed);
    uattn_error_destroy(error);
  }
}

static void broken_rules_are_named(void **state) {
  (void)state;
  static const broken_rule_t cases[] = {
      {no_image, "kernel 0: its image is 1: wanted one of 1"},
      {no_chip, "image 0: its chip is empty"},
      {no_code, "image 0: it has neither cubin nor PTX"},
      {no_entry, "kernel 0: its entry has a control character"},
      {many_threads, "kernel 0: its thread count is 2048: wanted 1 to 1024"},
      {no_rows, "kernel 0: its rows a CTA is 0: wanted 1 to 1048576"},
      {much_smem, "kernel 0: its dynamic shared memory is -1: wanted 0 to "},
      {odd_sign, "kernel 0: its sign of sm_scale is 2: wanted -1 to 1"},
      {below_any_scale, "kernel 0: its largest post-scale is -1: wanted a "},
      {endless_scale, "its largest post-scale is inf: wanted a finite number"},
      {scale_of_nan, "nan: wanted a finite number of at least 0"},
      {odd_grid, "kernel 0: its grid rule is 2: wanted 0 to 1"},
      {odd_kind, "kernel 0: parameter 0: its kind is 4: wanted 0 to 3"},
      {wide_box, "its box rows are 256 bytes: wanted a multiple of 16, at"},
      {narrow_box, "its box rows are 8 bytes: wanted a multiple of 16, at"},
      {no_box, "kernel 0: parameter 0: its box rows is 0: wanted 1 to 256"},
      {map_of_lse, "parameter 0: it maps a tensor of rank 3: wanted 4"},
      {absent_operand, "parameter 0: it takes operand 4, which the op lacks"},
      {operand_of_backward, "it takes operand 9, which the op lacks"},
      {scale_as_integer, "parameter 6: its quantity is 32: wanted 1 to 9"},
      {kernel_past_end, "its kernels are 2 from 0 on: wanted them among 1"},
      {kernel_wraps, "its kernels are 1 from 4294967295 on: wanted them"},
      {rank_five, "function 0: value 0: its rank is 5: wanted 0 to 4"},
      {zero_dim, "value 0: a dimension is 0: wanted 1 to 2147483647"},
      {huge_dim, "value 0: a dimension is 2147483648: wanted 1 to 2147483647"},
      {odd_dtype, "value 0: its type is 4: wanted 0 to 3"},
      {f32_query, "op 0: q has type f32 and rank 4: wanted bf16 and 4"},
      {arguments_past_values, "100 arguments among 6 values"},
      {result_past_values, "result 0 is value 100: wanted an argument or"},
      {operand_past_values, "q is value -2: wanted one of the function's"},
      {operand_before_made, "op 0: q reads value 4 before it is made"},
      {absent_has_value, "bounds is value 0: wanted -1, it is absent"},
      {made_twice, "op 0: out makes value 0 a second time"},
      {dims_contradict, "k has 3 in dimension 0: wanted 1"},
      {odd_cap, "op 0: cap method is 9: expected none, tanh"},
      {odd_scale, "op 0: sm_scale is inf: expected a finite f32 number"},
  };
  static const sample_options_t options = {.has_temp = true, .has_lse = true};
  assert_named(cases, COUNT_OF(cases), &options);
}

static void much_scratch(uattn_artifact_t *a) {
  uattn_artifact_step_t *step = &a->functions[0].steps[0];
  free(step->scratch);
  step->scratch = uattn_allocate(9 * sizeof *step->scratch);
  step->scratch_count = 9;
}
static void odd_scratch(uattn_artifact_t *a) {
  a->functions[0].steps[0].scratch[1] = (uattn_scratch_kind_t)3;
}
static void absent_scratch(uattn_artifact_t *a) {
  a->functions[0].steps[0].scratch_count = 1;
}
static void negative_scratch(uattn_artifact_t *a) {
  a->kernels[1].params[4].tensor_index = -1;
}
static void odd_source(uattn_artifact_t *a) {
  a->kernels[1].params[4].source = (uattn_param_source_t)3;
}
static void map_of_scratch(uattn_artifact_t *a) {
  a->kernels[1].params[0].source = UATTN_PARAM_SOURCE_SCRATCH;
}
static void scalar_of_scratch(uattn_artifact_t *a) {
  a->kernels[1].params[12].source = UATTN_PARAM_SOURCE_SCRATCH;
}
static void map_of_lse_operand(uattn_artifact_t *a) {
  a->kernels[1].params[3].tensor_index = UATTN_OPERAND_LSE;
}
static void absent_dlse(uattn_artifact_t *a) {
  a->kernels[0].params[0].tensor_index = UATTN_OPERAND_DLSE;
}
static void absent_dtemp(uattn_artifact_t *a) {
  a->kernels[2].params[10].tensor_index = UATTN_RESULT_DTEMP;
}
static void integer_past_end(uattn_artifact_t *a) {
  a->kernels[1].params[12].quantity = (uattn_quantity_t)10;
}
static void float_past_end(uattn_artifact_t *a) {
  a->kernels[1].params[9].quantity = (uattn_quantity_t)38;
}

static void broken_rules_of_a_backward_op_are_named(void **state) {
  (void)state;
  static const broken_rule_t cases[] = {
      {much_scratch, "op 0: its scratch count is 9: wanted 0 to 8"},
      {odd_scratch, "op 0: scratch 1: its kind is 3: wanted 0 to 2"},
      {absent_scratch, "op 0: kernel 0, parameter 2: it takes scratch 1, "
                       "which the op lacks"},
      {negative_scratch, "kernel 1, parameter 4: it takes scratch -1, which"},
      {odd_source, "kernel 1: parameter 4: its source is 3: wanted 0 to 2"},
      {map_of_scratch, "kernel 1: parameter 0: its source is 2: wanted 0 to 1"},
      {scalar_of_scratch, "parameter 12: its source is 2: wanted 0 to 1"},
      {map_of_lse_operand, "parameter 3: it maps a tensor of rank 3: wanted 4"},
      {absent_dlse, "parameter 0: it takes operand 10, which the op lacks"},
      {absent_dtemp, "parameter 10: it takes result 3, which the op lacks"},
      {integer_past_end, "parameter 12: its quantity is 10: wanted 1 to 9"},
      {float_past_end, "parameter 9: its quantity is 38: wanted 32 to 37"},
  };
  static const sample_options_t options = {.is_backward = true};
  assert_named(cases, COUNT_OF(cases), &options);
}

static void files_are_read_with_their_name(void **state) {
  (void)state;
  uattn_artifact_t *artifact = NULL;
  uattn_error_t *error = uattn_artifact_read("no-such-file.uattn", &artifact);
  assert_non_null(error);
  assert_int_equal(uattn_error_code(error), UATTN_ERROR_IO);
  assert_non_null(strstr(uattn_error_message(error), "no-such-file.uattn"));
  uattn_error_destroy(error);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_written_is_read),
      cmocka_unit_test(a_backward_op_is_read_as_written),
      cmocka_unit_test(a_file_of_minor_0_is_read),
      cmocka_unit_test(functions_and_values_are_told),
      cmocka_unit_test(every_truncation_is_refused),
      cmocka_unit_test(every_truncation_is_refused_by_structure),
      cmocka_unit_test(every_flipped_byte_is_told),
      cmocka_unit_test(every_changed_byte_is_checked),
      cmocka_unit_test(other_versions_are_refused_by_name),
      cmocka_unit_test(foreign_and_torn_files_are_told),
      cmocka_unit_test(broken_rules_are_named),
      cmocka_unit_test(broken_rules_of_a_backward_op_are_named),
      cmocka_unit_test(files_are_read_with_their_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
