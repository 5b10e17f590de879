/* Tests of the compiler as a library: options, reports, what each emit gives,
 * threads.
 * Layer: test. Must not know: how anything is compiled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile_fixture.h"

#include <pthread.h>

#include "uattn/artifact.h"

static const char simple[] = SIMPLE("main", NONE, "64");

/* ---- Options --------------------------------------------------------------
 */

static void null_options_are_the_defaults(void **state) {
  (void)state;
  uint8_t *bytes = NULL;
  size_t size = 0, wanted_size = 0;
  uattn_artifact_t *artifact = NULL;
  assert_ok(uattn_compile(simple, strlen(simple), NULL, &bytes, &size));
  uint8_t *wanted = compile_ok(simple, UATTN_EMIT_ARTIFACT, &wanted_size);
  assert_int_equal(size, wanted_size);
  assert_memory_equal(bytes, wanted, size);
  assert_ok(uattn_artifact_parse(bytes, size, &artifact));
  assert_int_equal(uattn_artifact_function_count(artifact), 1);
  uattn_artifact_destroy(artifact);
  free(bytes);
  free(wanted);
}

/* A program built with an older header has a shorter struct: what lies behind
 * it is not read. */
static void older_callers_fields_alone_are_read(void **state) {
  (void)state;
  uattn_compile_options_t options;
  memset(&options, 0xff, sizeof options);
  size_t old_size = offsetof(uattn_compile_options_t, ptxas_path);
  uattn_compile_options_init_sized(&options, old_size);
  assert_int_equal(options.struct_size, old_size);
  assert_true((uintptr_t)options.ptxas_path == UINTPTR_MAX); /* untouched */
  options.emit = UATTN_EMIT_PTX;
  uint8_t *bytes = NULL;
  size_t size = 0;
  assert_ok(uattn_compile(simple, strlen(simple), &options, &bytes, &size));
  assert_int_equal(size, strlen((const char *)bytes));
  free(bytes);
}

/* A program built with a newer header has a longer one. */
static void newer_callers_fields_are_ignored(void **state) {
  (void)state;
  struct {
    uattn_compile_options_t options;
    uint64_t added[4];
  } newer;
  memset(&newer, 0xff, sizeof newer);
  uattn_compile_options_init_sized(&newer.options, sizeof newer);
  newer.added[0] = 7;
  newer.options.emit = UATTN_EMIT_PLANNED;
  uint8_t *bytes = NULL;
  size_t size = 0;
  assert_ok(
      uattn_compile(simple, strlen(simple), &newer.options, &bytes, &size));
  assert_non_null(strstr((const char *)bytes, "#uattn.plan<"));
  free(bytes);
}

/* A compilation that must fail: outputs are as they were. */
static void assert_refused(const char *source,
                           const uattn_compile_options_t *options,
                           uattn_error_code_t code, const char *message) {
  uint8_t byte = 0;
  uint8_t *bytes = &byte;
  size_t size = 77;
  assert_error(uattn_compile(source, strlen(source), options, &bytes, &size),
               code, message);
  assert_ptr_equal(bytes, &byte);
  assert_int_equal(size, 77);
}

static void wrong_options_are_named(void **state) {
  (void)state;
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(UATTN_EMIT_PTX, &reports);
  options.struct_size = 0;
  assert_refused(simple, &options, UATTN_ERROR_INVALID_ARGUMENT,
                 "options have size 0: expected what "
                 "uattn_compile_options_init sets");
  options = options_with(UATTN_EMIT_PTX, &reports);
  options.chip = "sm_100a";
  assert_refused(simple, &options, UATTN_ERROR_INVALID_ARGUMENT,
                 "chip sm_100a is not supported: expected sm_90a");
  options = options_with((uattn_emit_t)8, &reports);
  assert_refused(simple, &options, UATTN_ERROR_INVALID_ARGUMENT,
                 "emit is 8: expected 0 to 7");
  options = options_with((uattn_emit_t)-1, &reports);
  assert_refused(simple, &options, UATTN_ERROR_INVALID_ARGUMENT,
                 "emit is -1: expected 0 to 7");
  options = options_with(UATTN_EMIT_CUBIN, &reports);
  assert_refused(simple, &options, UATTN_ERROR_TOOLCHAIN,
                 "no assembler was found: a cubin needs ptxas or "
                 "libnvJitLink.so.13");
  assert_int_equal(reports.errors, 0);
}

/* ---- Reports --------------------------------------------------------------
 */

static void diagnostics_come_through_the_callback(void **state) {
  (void)state;
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(UATTN_EMIT_PTX, &reports);
  assert_refused("func.func @f() -> i32 {\n  return\n}\n", &options,
                 UATTN_ERROR_INVALID_ARGUMENT,
                 "test.mlir is not a valid module");
  assert_int_equal(reports.errors, 1);
  assert_non_null(
      strstr(uattn_string_get(&reports.text), "test.mlir:2:3: error: "));
  uattn_string_release(&reports.text);
}

static void what_cannot_be_compiled_is_reported_at_the_op(void **state) {
  (void)state;
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(UATTN_EMIT_ARTIFACT, &reports);
  assert_refused(BACKWARD("main", NONE_AND_AN_EMPTY_PLAN, "64"), &options,
                 UATTN_ERROR_INVALID_ARGUMENT,
                 "test.mlir: uattn-lower-to-pipeline failed");
  assert_int_equal(reports.errors, 1);
  assert_non_null(
      strstr(uattn_string_get(&reports.text),
             "test.mlir:2:10: error: plan has no string field target"));
  uattn_string_release(&reports.text);
}

static void unnamed_sources_have_a_name(void **state) {
  (void)state;
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(UATTN_EMIT_PTX, &reports);
  options.source_name = NULL;
  assert_refused("func.func", &options, UATTN_ERROR_INVALID_ARGUMENT,
                 "<source> is not a valid module");
  assert_non_null(strstr(uattn_string_get(&reports.text), "<source>:1:"));
  uattn_string_release(&reports.text);
}

static void module_without_ops_is_refused(void **state) {
  (void)state;
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(UATTN_EMIT_ARTIFACT, &reports);
  assert_refused("", &options, UATTN_ERROR_INVALID_ARGUMENT,
                 "test.mlir has no function with a uattn attention op: "
                 "expected one at least");
}

/* ---- What is emitted ------------------------------------------------------
 */

static void every_level_is_emitted(void **state) {
  (void)state;
  static const struct {
    uattn_emit_t emit;
    const char *has;
    const char *has_not;
  } levels[] = {
      {UATTN_EMIT_PLANNED, "#uattn.plan<", "gpu.module"},
      {UATTN_EMIT_PIPELINE, "\"uattn.wgmma\"", "llvm.func"},
      {UATTN_EMIT_THREAD, "wgmma.mma_async", "\"uattn.wgmma\""},
      {UATTN_EMIT_LLVM, "llvm.cond_br", "arith."},
      {UATTN_EMIT_PTX, ".visible .entry ranker_attention_fwd_bf16_d64_none(",
       "gpu.module"},
  };
  for (size_t i = 0; i < COUNT_OF(levels); ++i) {
    size_t size = 0;
    char *text = (char *)compile_ok(simple, levels[i].emit, &size);
    assert_int_equal(strlen(text), size);
    assert_non_null(strstr(text, levels[i].has));
    assert_null(strstr(text, levels[i].has_not));
    free(text);
  }
}

/* Any level of the way may be the source: the kernel is the same. */
static void every_level_compiles_on(void **state) {
  (void)state;
  size_t wanted_size = 0;
  char *wanted = (char *)compile_ok(simple, UATTN_EMIT_PTX, &wanted_size);
  for (int emit = UATTN_EMIT_PLANNED; emit <= UATTN_EMIT_LLVM; ++emit) {
    size_t size = 0, ptx_size = 0;
    char *text = (char *)compile_ok(simple, (uattn_emit_t)emit, &size);
    char *ptx = (char *)compile_ok(text, UATTN_EMIT_PTX, &ptx_size);
    assert_string_equal(ptx, wanted);
    free(text);
    free(ptx);
  }
  free(wanted);
}

static void two_kernels_are_no_ptx(void **state) {
  (void)state;
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(UATTN_EMIT_PTX, &reports);
  assert_refused(SIMPLE("a", NONE, "64") SIMPLE("b", TANH, "64"), &options,
                 UATTN_ERROR_INVALID_ARGUMENT,
                 "test.mlir needs 2 kernels: PTX and cubin are emitted for a "
                 "module that needs one");
}

static void ops_of_one_kernel_share_its_ptx(void **state) {
  (void)state;
  size_t one_size = 0, two_size = 0;
  char *one = (char *)compile_ok(simple, UATTN_EMIT_PTX, &one_size);
  char *two =
      (char *)compile_ok(SIMPLE("a", NONE, "64") SIMPLE("b", NONE, "64"),
                         UATTN_EMIT_PTX, &two_size);
  assert_string_equal(one, two);
  free(one);
  free(two);
}

/* ---- Threads --------------------------------------------------------------
 */

typedef struct {
  const char *source;
  uint8_t *bytes;
  size_t size;
} job_t;

static void *compile_job(void *data) {
  job_t *job = data;
  job->bytes = compile_ok(job->source, UATTN_EMIT_ARTIFACT, &job->size);
  return NULL;
}

/* Reports of a wrong module beside right ones reach its own callback. */
static void *refuse_job(void *data) {
  job_t *job = data;
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(UATTN_EMIT_ARTIFACT, &reports);
  uattn_error_t *error = uattn_compile(job->source, strlen(job->source),
                                       &options, &job->bytes, &job->size);
  job->size = (size_t)reports.errors;
  assert_non_null(error);
  uattn_error_destroy(error);
  uattn_string_release(&reports.text);
  return NULL;
}

static void compilations_run_side_by_side(void **state) {
  (void)state;
  job_t jobs[] = {
      {SIMPLE("main", NONE, "64"), NULL, 0},
      {SIMPLE("main", TANH, "128"), NULL, 0},
      {SIMPLE("main", NONE, "64"), NULL, 0},
      {BACKWARD("main", NONE_AND_AN_EMPTY_PLAN, "64"), NULL, 0}, /* refused */
  };
  pthread_t threads[COUNT_OF(jobs)];
  for (size_t i = 0; i < COUNT_OF(jobs); ++i)
    assert_int_equal(pthread_create(&threads[i], NULL,
                                    i == 3 ? refuse_job : compile_job,
                                    &jobs[i]),
                     0);
  for (size_t i = 0; i < COUNT_OF(jobs); ++i)
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (size_t i = 0; i < 3; ++i) {
    size_t size = 0;
    uint8_t *alone = compile_ok(jobs[i].source, UATTN_EMIT_ARTIFACT, &size);
    assert_int_equal(jobs[i].size, size);
    assert_memory_equal(jobs[i].bytes, alone, size);
    free(alone);
    free(jobs[i].bytes);
  }
  assert_null(jobs[3].bytes);
  assert_int_equal(jobs[3].size, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(null_options_are_the_defaults),
      cmocka_unit_test(older_callers_fields_alone_are_read),
      cmocka_unit_test(newer_callers_fields_are_ignored),
      cmocka_unit_test(wrong_options_are_named),
      cmocka_unit_test(diagnostics_come_through_the_callback),
      cmocka_unit_test(what_cannot_be_compiled_is_reported_at_the_op),
      cmocka_unit_test(unnamed_sources_have_a_name),
      cmocka_unit_test(module_without_ops_is_refused),
      cmocka_unit_test(every_level_is_emitted),
      cmocka_unit_test(every_level_compiles_on),
      cmocka_unit_test(two_kernels_are_no_ptx),
      cmocka_unit_test(ops_of_one_kernel_share_its_ptx),
      cmocka_unit_test(compilations_run_side_by_side),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
