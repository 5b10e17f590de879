/* Functions of artifacts on the emulator: parameters, tensors, refusals.
 * Layer: test. Must not know: the compiler, how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "sample_artifact.h"
#include "support/support.h"
#include "uattn/emulator.h"

enum {
  BATCH = 2,
  TOKENS = 70,
  KV_TOKENS = 20,
  HEADS = 4,
  KV_HEADS = 2,
  D = 64
};
enum { Q_COUNT = BATCH * TOKENS * HEADS * D, SCALAR_COUNT = 10 };

/* Copies q to out, a CTA a head. */
#define COPY_PTX(LSE)                                                          \
  ".version 8.0\n.target sm_90a\n.address_size 64\n"                           \
  ".extern .shared .align 1024 .b8 tile[];\n"                                  \
  ".visible .entry uattn_forward(.param .align 64 .b8 q[128],\n"               \
  " .param .align 64 .b8 k[128], .param .align 64 .b8 v[128],\n"               \
  " .param .align 64 .b8 out[128],\n" LSE                                      \
  " .param .u32 s0, .param .u32 s1, .param .u32 s2, .param .u32 s3,\n"         \
  " .param .u32 s4, .param .u32 s5, .param .f32 s6, .param .f32 s7,\n"         \
  " .param .f32 s8, .param .f32 s9, .param .u32 s10,\n"                        \
  " .param .u32 s11) {\n"                                                      \
  ".reg .b32 %r<20>;\n.reg .b64 %rd<4>;\n.reg .pred %p<4>;\n"                  \
  ".shared .align 8 .b64 barrier;\n"                                           \
  "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n"                \
  "ld.param.u32 %r2, [s3];\nmov.u32 %r3, %ctaid.x;\n"                          \
  "div.u32 %r4, %r3, %r2;\nrem.u32 %r5, %r3, %r2;\nmov.u32 %r6, 0;\n"          \
  "mov.u32 %r7, barrier;\nmov.u32 %r8, tile;\n"                                \
  "mbarrier.init.shared.b64 [%r7], 1;\nfence.proxy.async;\n"                   \
  "mbarrier.arrive.expect_tx.shared.b64 _, [%r7], 16384;\n"                    \
  "cp.async.bulk.tensor.4d.shared::cluster.global.tile"                        \
  ".mbarrier::complete_tx::bytes [%r8], [q, {%r6, %r5, %r6, %r4}], [%r7];\n"   \
  "wait: mbarrier.try_wait.parity.shared.b64 %p2, [%r7], 0;\n"                 \
  "@!%p2 bra wait;\nadd.u32 %r9, %r8, 8192;\nmov.u32 %r10, 64;\n"              \
  "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group"                 \
  " [out, {%r6, %r5, %r6, %r4}], [%r8];\n"                                     \
  "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group"                 \
  " [out, {%r6, %r5, %r10, %r4}], [%r9];\n"                                    \
  "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"

static const char copy_ptx[] = COPY_PTX("") "ret;\n}\n";

/* And the scalars to the start of lse. */
static const char copy_with_lse_ptx[] =
    COPY_PTX(" .param .u64 lse,\n") "setp.ne.u32 %p3, %r3, 0;\n@%p3 ret;\n"
                                    "ld.param.u64 %rd1, "
                                    "[lse];\ncvta.to.global.u64 %rd2, %rd1;\n"
                                    "ld.param.u32 %r11, [s0];\nst.global.u32 "
                                    "[%rd2], %r11;\n"
                                    "ld.param.u32 %r11, [s1];\nst.global.u32 "
                                    "[%rd2+4], %r11;\n"
                                    "ld.param.u32 %r11, [s2];\nst.global.u32 "
                                    "[%rd2+8], %r11;\n"
                                    "ld.param.u32 %r11, [s3];\nst.global.u32 "
                                    "[%rd2+12], %r11;\n"
                                    "ld.param.u32 %r11, [s4];\nst.global.u32 "
                                    "[%rd2+16], %r11;\n"
                                    "ld.param.u32 %r11, [s5];\nst.global.u32 "
                                    "[%rd2+20], %r11;\n"
                                    "ld.param.u32 %r11, [s6];\nst.global.u32 "
                                    "[%rd2+24], %r11;\n"
                                    "ld.param.u32 %r11, [s7];\nst.global.u32 "
                                    "[%rd2+28], %r11;\n"
                                    "ld.param.u32 %r11, [s8];\nst.global.u32 "
                                    "[%rd2+32], %r11;\n"
                                    "ld.param.u32 %r11, [s9];\nst.global.u32 "
                                    "[%rd2+36], %r11;\nret;\n}\n";

/* A function of the sample with the kernel above, and its tensors: q, k and v
 * lie side by side in one array. */
typedef struct {
  uattn_artifact_t *artifact;
  uattn_emulator_program_t *program;
  uint16_t *numbers; /* [BATCH, TOKENS, HEADS, 3 * D] */
  uint16_t *out;
  float *lse;
  uattn_tensor_t arguments[3];
  uattn_tensor_t results[2];
  uattn_emulator_call_t call;
} fixture_t;

static const int64_t q_shape[4] = {BATCH, TOKENS, HEADS, D};
static const int64_t k_shape[4] = {BATCH, KV_TOKENS, KV_HEADS, D};
static const int64_t lse_shape[3] = {BATCH, HEADS, TOKENS};

/* Column `part` of three: rows of 3 * D numbers. */
static uattn_tensor_t view(const fixture_t *fixture, int part,
                           const int64_t shape[4]) {
  uattn_tensor_t tensor = uattn_tensor_dense(fixture->numbers + part * D,
                                             UATTN_DTYPE_BF16, 4, shape);
  tensor.strides[2] = 3 * D;
  tensor.strides[1] = 3 * D * HEADS;
  tensor.strides[0] = 3 * D * HEADS * TOKENS;
  return tensor;
}

static void replace_ptx(uattn_artifact_t *artifact, const char *ptx) {
  free(artifact->images->ptx);
  artifact->images->ptx = uattn_string_copy(ptx);
}

static fixture_t *make_fixture(void) {
  fixture_t *fixture = calloc(1, sizeof *fixture);
  fixture->artifact =
      sample_artifact(&(sample_options_t){.is_dynamic = true, .has_lse = true});
  replace_ptx(fixture->artifact, copy_with_lse_ptx);
  assert_ok(
      uattn_emulator_program_create(fixture->artifact, &fixture->program));
  fixture->numbers = aligned_alloc(256, 3 * Q_COUNT * sizeof(uint16_t));
  fixture->out = aligned_alloc(256, Q_COUNT * sizeof(uint16_t));
  fixture->lse = calloc(BATCH * HEADS * TOKENS, sizeof(float));
  for (int i = 0; i < 3 * Q_COUNT; ++i)
    fixture->numbers[i] = (uint16_t)i;
  fixture->arguments[0] = view(fixture, 0, q_shape);
  fixture->arguments[1] = view(fixture, 1, k_shape);
  fixture->arguments[2] = view(fixture, 2, k_shape);
  fixture->results[0] =
      uattn_tensor_dense(fixture->out, UATTN_DTYPE_BF16, 4, q_shape);
  fixture->results[1] =
      uattn_tensor_dense(fixture->lse, UATTN_DTYPE_F32, 3, lse_shape);
  fixture->call = (uattn_emulator_call_t){.struct_size = sizeof fixture->call,
                                          .arguments = fixture->arguments,
                                          .argument_count = 3,
                                          .results = fixture->results,
                                          .result_count = 2};
  return fixture;
}

static void release(fixture_t *fixture) {
  uattn_emulator_program_destroy(fixture->program);
  uattn_artifact_destroy(fixture->artifact);
  free(fixture->numbers);
  free(fixture->out);
  free(fixture->lse);
  free(fixture);
}

static void assert_refused(const fixture_t *fixture, uattn_error_code_t code,
                           const char *message) {
  assert_error(
      uattn_emulator_program_run(fixture->program, 0, &fixture->call, NULL),
      code, message);
}

static void views_of_one_array_are_read_by_their_strides(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  uattn_emulator_statistics_t statistics = {0};
  assert_ok(uattn_emulator_program_run(fixture->program, 0, &fixture->call,
                                       &statistics));
  for (int row = 0; row < BATCH * TOKENS * HEADS; ++row)
    for (int i = 0; i < D; ++i)
      assert_int_equal(fixture->out[row * D + i],
                       fixture->numbers[row * 3 * D + i]);
  assert_int_equal(statistics.ctas, BATCH * HEADS);
  release(fixture);
}

static void scalars_are_those_of_the_call(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  double scale = 0.25;
  fixture->call.sm_scale = &scale;
  assert_ok(
      uattn_emulator_program_run(fixture->program, 0, &fixture->call, NULL));
  const int32_t wanted[6] = {BATCH, TOKENS, KV_TOKENS, HEADS, KV_HEADS, 1};
  assert_memory_equal(fixture->lse, wanted, sizeof wanted);
  const float *floats = fixture->lse + 6;
  /* Without a cap the scale goes with log2(e) into the exponent. */
  assert_true(fabsf(floats[0] * floats[2] - 0.25f * 1.44269504f) < 1e-6f);
  release(fixture);
}

static void share(double done, void *user_data) {
  double *last = user_data;
  assert_true(done >= *last && done <= 1);
  *last = done;
}

static void ops_follow_each_other_through_the_workspace(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  uattn_artifact_t *artifact =
      sample_artifact(&(sample_options_t){.is_dynamic = true, .op_count = 3});
  replace_ptx(artifact, copy_ptx);
  uattn_emulator_program_t *program = NULL;
  double told = 0;
  assert_ok(uattn_emulator_program_create(artifact, &program));
  fixture->call.result_count = 1;
  fixture->call.progress = share;
  fixture->call.progress_data = &told;
  uattn_emulator_statistics_t statistics = {0};
  assert_ok(
      uattn_emulator_program_run(program, 0, &fixture->call, &statistics));
  for (int row = 0; row < BATCH * TOKENS * HEADS; ++row)
    assert_memory_equal(&fixture->out[row * D], &fixture->numbers[row * 3 * D],
                        D * sizeof(uint16_t));
  assert_true(told == 1);
  assert_int_equal(statistics.ctas, 3 * BATCH * HEADS);
  uattn_emulator_program_destroy(program);
  uattn_artifact_destroy(artifact);
  release(fixture);
}

/* ---- Kernels of one op -----------------------------------------------------
 *
 * Each writes, for its number i of a CTA, what the one before has put at i of
 * its scratch, plus one. */

/* `from` and `to` are both of f32; OFFSET is added to where it is read. */
#define STEP_KERNEL(NAME, OFFSET)                                              \
  ".visible .entry " NAME "(.param .u64 from, .param .u64 to) {\n"             \
  ".reg .b32 %r<4>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<8>;\n"                    \
  ".reg .pred %p<2>;\n"                                                        \
  "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n"                \
  "mov.u32 %r2, %ctaid.x;\nmul.wide.u32 %rd1, %r2, 4;\n"                       \
  "ld.param.u64 %rd2, [from];\ncvta.to.global.u64 %rd3, %rd2;\n"               \
  "ld.param.u64 %rd4, [to];\ncvta.to.global.u64 %rd5, %rd4;\n"                 \
  "add.u64 %rd6, %rd3, %rd1;\nadd.u64 %rd7, %rd5, %rd1;\n"                     \
  "ld.global.f32 %f1, [%rd6+" OFFSET "];\nadd.f32 %f2, %f1, 0f3F800000;\n"     \
  "st.global.f32 [%rd7], %f2;\nret;\n}\n"

#define STEP_PTX(OFFSET)                                                       \
  ".version 8.0\n.target sm_90a\n.address_size 64\n" STEP_KERNEL("uattn_rows", \
                                                                 "0")          \
      STEP_KERNEL("uattn_keys", OFFSET) STEP_KERNEL("uattn_queries", "0")

/* Two tokens in a scratch of 1 x 1 x 2 numbers; keys reads at OFFSET. */
typedef struct {
  uattn_artifact_t *artifact;
  uattn_emulator_program_t *program;
  _Alignas(16) uint16_t rows[8][2 * D]; /* q, k, v, out, dout, dq, dk, dv */
  float temp[2], lse[2], dtemp[2];
  uattn_tensor_t arguments[7];
  uattn_tensor_t results[4];
  uattn_emulator_call_t call;
} steps_t;

static uattn_kernel_param_t pointer(uattn_param_source_t source,
                                    int32_t index) {
  return (uattn_kernel_param_t){
      .kind = UATTN_PARAM_POINTER, .source = source, .tensor_index = index};
}

/* lse, scratch 0, scratch 1, dtemp. */
static void take_two_pointers(uattn_artifact_t *artifact) {
  for (uint32_t i = 0; i < artifact->kernel_count; ++i) {
    uattn_artifact_kernel_t *kernel = &artifact->kernels[i];
    kernel->param_count = 2;
    kernel->params[0] =
        i % 3 == 0 ? pointer(UATTN_PARAM_SOURCE_OPERAND, UATTN_OPERAND_LSE)
                   : pointer(UATTN_PARAM_SOURCE_SCRATCH, (int32_t)(i % 3) - 1);
    kernel->params[1] =
        i % 3 == 2 ? pointer(UATTN_PARAM_SOURCE_RESULT, UATTN_RESULT_DTEMP)
                   : pointer(UATTN_PARAM_SOURCE_SCRATCH, (int32_t)(i % 3));
    kernel->rows_per_cta = 1;
    kernel->threads = 32;
  }
}

static steps_t *make_steps(const char *ptx, int op_count) {
  static const int64_t shape[4] = {1, 2, 1, D};
  static const int64_t lse[3] = {1, 1, 2};
  static const int64_t temp[2] = {1, 2};
  steps_t *steps = calloc(1, sizeof *steps);
  steps->artifact = sample_artifact(&(sample_options_t){.is_backward = true,
                                                        .is_dynamic = true,
                                                        .has_temp = true,
                                                        .op_count = op_count});
  replace_ptx(steps->artifact, ptx);
  take_two_pointers(steps->artifact);
  assert_ok(uattn_artifact_validate(steps->artifact));
  assert_ok(uattn_emulator_program_create(steps->artifact, &steps->program));
  steps->lse[0] = 10;
  steps->lse[1] = 20;
  uattn_tensor_t *arguments = steps->arguments;
  for (int i = 0; i < 8; ++i) {
    uattn_tensor_t tensor =
        uattn_tensor_dense(steps->rows[i], UATTN_DTYPE_BF16, 4, shape);
    if (i < 5)
      arguments[i < 3 ? i : i == 3 ? 4 : 6] = tensor;
    else
      steps->results[i - 5] = tensor;
  }
  arguments[3] = uattn_tensor_dense(steps->temp, UATTN_DTYPE_F32, 2, temp);
  arguments[5] = uattn_tensor_dense(steps->lse, UATTN_DTYPE_F32, 3, lse);
  steps->results[3] =
      uattn_tensor_dense(steps->dtemp, UATTN_DTYPE_F32, 2, temp);
  steps->call = (uattn_emulator_call_t){.struct_size = sizeof steps->call,
                                        .arguments = arguments,
                                        .argument_count = 7,
                                        .results = steps->results,
                                        .result_count = 4};
  return steps;
}

static void release_steps(steps_t *steps) {
  uattn_emulator_program_destroy(steps->program);
  uattn_artifact_destroy(steps->artifact);
  free(steps);
}

static void a_kernel_reads_the_scratch_of_the_one_before(void **state) {
  (void)state;
  for (int op_count = 1; op_count < 3; ++op_count) {
    steps_t *steps = make_steps(STEP_PTX("0"), op_count);
    uattn_emulator_statistics_t statistics = {0};
    assert_ok(uattn_emulator_program_run(steps->program, 0, &steps->call,
                                         &statistics));
    assert_true(steps->dtemp[0] == 13 && steps->dtemp[1] == 23);
    assert_int_equal(statistics.ctas, 3 * 2 * op_count);
    release_steps(steps);
  }
}

/* The second op takes its dtemp from a scratch that only the first op wrote,
 * at the same place: it is poison by then. */
static void scratch_does_not_outlive_its_op(void **state) {
  (void)state;
  steps_t *steps = make_steps(STEP_PTX("0"), 2);
  steps->artifact->kernels[5].params[0].tensor_index = 1;
  steps->artifact->kernels[4].params[1].tensor_index = 0;
  assert_ok(uattn_emulator_program_run(steps->program, 0, &steps->call, NULL));
  assert_true(isnan(steps->dtemp[0]) && isnan(steps->dtemp[1]));
  release_steps(steps);
}

static void scratch_ends_where_its_numbers_end(void **state) {
  (void)state;
  steps_t *steps = make_steps(STEP_PTX("4"), 1);
  uattn_error_t *error =
      uattn_emulator_program_run(steps->program, 0, &steps->call, NULL);
  assert_non_null(error);
  assert_int_equal(uattn_error_code(error), UATTN_ERROR_FAULT);
  assert_non_null(strstr(uattn_error_message(error),
                         "0 bytes past the end of 'op 0 scratch 0' of 8 "
                         "bytes"));
  uattn_error_destroy(error);
  release_steps(steps);
}

static void returned_arguments_are_copied(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  uattn_artifact_t *artifact =
      sample_artifact(&(sample_options_t){.is_dynamic = true});
  sample_artifact_return_argument(artifact);
  replace_ptx(artifact, copy_ptx);
  int32_t extra[3] = {7, 8, 9};
  int32_t copy[3] = {0};
  const int64_t shape[1] = {3};
  const uattn_tensor_t arguments[4] = {
      fixture->arguments[0], fixture->arguments[1], fixture->arguments[2],
      uattn_tensor_dense(extra, UATTN_DTYPE_I32, 1, shape)};
  const uattn_tensor_t results[2] = {
      fixture->results[0], uattn_tensor_dense(copy, UATTN_DTYPE_I32, 1, shape)};
  fixture->call.arguments = arguments;
  fixture->call.argument_count = 4;
  fixture->call.results = results;
  uattn_emulator_program_t *program = NULL;
  assert_ok(uattn_emulator_program_create(artifact, &program));
  assert_ok(uattn_emulator_program_run(program, 0, &fixture->call, NULL));
  assert_memory_equal(copy, extra, sizeof extra);
  uattn_emulator_program_destroy(program);
  uattn_artifact_destroy(artifact);
  release(fixture);
}

static void results_are_described(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  uattn_tensor_t results[2];
  assert_ok(uattn_emulator_program_results(fixture->program, 0,
                                           fixture->arguments, 3, results));
  assert_int_equal(results[0].shape[1], TOKENS);
  assert_int_equal(results[1].rank, 3);
  assert_null(results[0].data);
  assert_error(uattn_emulator_program_results(fixture->program, 0,
                                              fixture->arguments, 2, results),
               UATTN_ERROR_INVALID_ARGUMENT,
               "2 arguments: function main wants 3");
  release(fixture);
}

static void wrong_calls_are_refused_as_by_the_runtime(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  fixture->arguments[0].strides[2] = 3 * D + 1;
  assert_refused(fixture, UATTN_ERROR_INVALID_ARGUMENT,
                 "argument 0 (q) has stride 193 in dimension 2, 386 bytes: "
                 "wanted a multiple of 16 bytes");
  fixture->arguments[0] = view(fixture, 0, q_shape);
  fixture->results[0].data = fixture->out + 1;
  char message[128];
  snprintf(message, sizeof message,
           "result 0 (out) lies at %p: wanted a multiple of 16 bytes",
           fixture->results[0].data);
  assert_refused(fixture, UATTN_ERROR_INVALID_ARGUMENT, message);
  fixture->results[0].data = fixture->out;
  fixture->call.result_count = 1;
  assert_refused(fixture, UATTN_ERROR_INVALID_ARGUMENT,
                 "1 results: function main gives 2");
  assert_error(
      uattn_emulator_program_run(fixture->program, 1, &fixture->call, NULL),
      UATTN_ERROR_INVALID_ARGUMENT, "function 1: the artifact has 1");
  release(fixture);
}

static void a_kernel_reaches_the_call_s_tensors_alone(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  static const int64_t small[4] = {1, 1, 4, D};
  static const int64_t small_lse[3] = {1, 4, 1};
  fixture->arguments[0] = view(fixture, 0, small);
  static const int64_t small_k[4] = {1, 1, 2, D};
  fixture->arguments[1] = view(fixture, 1, small_k);
  fixture->arguments[2] = view(fixture, 2, small_k);
  fixture->results[0] =
      uattn_tensor_dense(fixture->out, UATTN_DTYPE_BF16, 4, small);
  fixture->results[1] =
      uattn_tensor_dense(fixture->lse, UATTN_DTYPE_F32, 3, small_lse);
  uattn_error_t *error =
      uattn_emulator_program_run(fixture->program, 0, &fixture->call, NULL);
  assert_non_null(error);
  assert_int_equal(uattn_error_code(error), UATTN_ERROR_FAULT);
  assert_non_null(strstr(uattn_error_message(error), "uattn_forward.ptx:"));
  assert_non_null(strstr(uattn_error_message(error),
                         "0 bytes past the end of 'lse' of 16 bytes"));
  uattn_error_destroy(error);
  release(fixture);
}

static void an_image_without_the_kernel_is_refused(void **state) {
  (void)state;
  uattn_artifact_t *artifact = sample_artifact(&(sample_options_t){0});
  uattn_emulator_program_t *program = NULL;
  replace_ptx(artifact, ".version 8.0\n.target sm_90a\n.address_size 64\n"
                        ".visible .entry other() {\nret;\n}\n");
  assert_error(uattn_emulator_program_create(artifact, &program),
               UATTN_ERROR_INVALID_ARGUMENT,
               "kernel uattn_forward is not in its image");
  replace_ptx(artifact, "");
  assert_error(uattn_emulator_program_create(artifact, &program),
               UATTN_ERROR_UNSUPPORTED,
               "uattn_forward.ptx is in the file as a cubin alone: the "
               "emulator wants its text");
  uattn_artifact_destroy(artifact);
  uattn_emulator_program_destroy(NULL);
}

static void an_op_without_a_kernel_is_refused(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  uattn_artifact_t *artifact = sample_artifact(
      &(sample_options_t){.is_dynamic = true, .has_no_kernel = true});
  uattn_emulator_program_t *program = NULL;
  assert_ok(uattn_emulator_program_create(artifact, &program));
  fixture->call.result_count = 1;
  assert_error(uattn_emulator_program_run(program, 0, &fixture->call, NULL),
               UATTN_ERROR_UNSUPPORTED,
               "op 0: uattn.ranker_attention has no kernel in this artifact: "
               "it runs on the reference only");
  uattn_emulator_program_destroy(program);
  uattn_artifact_destroy(artifact);
  release(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(views_of_one_array_are_read_by_their_strides),
      cmocka_unit_test(scalars_are_those_of_the_call),
      cmocka_unit_test(ops_follow_each_other_through_the_workspace),
      cmocka_unit_test(a_kernel_reads_the_scratch_of_the_one_before),
      cmocka_unit_test(scratch_does_not_outlive_its_op),
      cmocka_unit_test(scratch_ends_where_its_numbers_end),
      cmocka_unit_test(returned_arguments_are_copied),
      cmocka_unit_test(results_are_described),
      cmocka_unit_test(wrong_calls_are_refused_as_by_the_runtime),
      cmocka_unit_test(a_kernel_reaches_the_call_s_tensors_alone),
      cmocka_unit_test(an_image_without_the_kernel_is_refused),
      cmocka_unit_test(an_op_without_a_kernel_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
