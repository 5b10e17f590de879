/* Sources that the tests of the compiler compile, and a record of reports.
 * Layer: test. Must not know: how anything is compiled.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_COMPILE_FIXTURE_H
#define UATTN_COMPILE_FIXTURE_H

#include "unit_test.h"

#include "support/support.h"
#include "uattn/compiler.h"

#define TENSOR(head_dim) "tensor<?x?x?x" head_dim "xbf16>"

/* An op on %q, %k, %v (all of TENSOR) without lse. */
#define OP(result, q, k, v, cap, scale, head_dim)                              \
  "  " result " = \"uattn.ranker_attention\"(" q ", " k ", " v ") {\n"         \
  "    cap = #uattn.cap<" cap ">, sm_scale = " scale " : f32,\n"               \
  "    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,\n"               \
  "    resultSegmentSizes = array<i32: 1, 0>\n"                                \
  "  } : (" TENSOR(head_dim) ", " TENSOR(head_dim) ", " TENSOR(                \
      head_dim) ") "                                                           \
                "-> " TENSOR(head_dim) "\n"

#define NONE "\"none\", 0.0 : f32, 0.0 : f32, 0.0 : f32"
#define TANH "\"tanh\", 30.0 : f32, 0.0 : f32, 0.0 : f32"
#define SOFT_SIGN "\"soft_sign\", 30.0 : f32, 0.0 : f32, 0.0 : f32"
#define ALSC "\"alsc\", 30.0 : f32, 4.0 : f32, -0.5 : f32"

#define FUNCTION(name, tensor, op)                                             \
  "func.func @" name "(%q: " tensor ", %k: " tensor ", %v: " tensor ")\n"      \
  "    -> " tensor " {\n" op "  return %out : " tensor "\n}\n"
#define SIMPLE(name, cap, head_dim)                                            \
  FUNCTION(name, TENSOR(head_dim),                                             \
           OP("%out", "%q", "%k", "%v", cap, "0.125", head_dim))

/* In a cap's place: with it comes a plan that nobody can obey. */
#define NONE_AND_AN_EMPTY_PLAN NONE ">, plan = #uattn.plan<{}"

/* The gradients of the same, of which dq alone is returned. */
#define BACKWARD_OF(name, cap, tensor)                                         \
  "func.func @" name "(%q: " tensor ", %lse: tensor<?x?x?xf32>) -> " tensor    \
  " {\n"                                                                       \
  "  %g:3 = \"uattn.ranker_attention_bwd\"(%q, %q, %q, %q, %lse, %q) {\n"      \
  "    cap = #uattn.cap<" cap ">, sm_scale = 0.125 : f32,\n"                   \
  "    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,\n"   \
  "    resultSegmentSizes = array<i32: 1, 1, 1, 0>\n"                          \
  "  } : (" tensor ", " tensor ", " tensor ", " tensor                         \
  ", tensor<?x?x?xf32>, " tensor ")\n"                                         \
  "    -> (" tensor ", " tensor ", " tensor ")\n"                              \
  "  return %g#0 : " tensor "\n}\n"
#define BACKWARD(name, cap, head_dim) BACKWARD_OF(name, cap, TENSOR(head_dim))

/* What a compilation reported, as one text. */
typedef struct {
  uattn_string_t text;
  int errors;
  int warnings;
} reports_t;

static inline void record_report(uattn_severity_t severity, const char *text,
                                 void *user_data) {
  reports_t *reports = user_data;
  assert_int_equal(text[strlen(text) - 1], '\n');
  if (severity == UATTN_SEVERITY_ERROR)
    ++reports->errors;
  else
    ++reports->warnings;
  uattn_string_append(&reports->text, text);
}

static inline uattn_compile_options_t options_with(uattn_emit_t emit,
                                                   reports_t *reports) {
  uattn_compile_options_t options;
  uattn_compile_options_init(&options);
  options.emit = emit;
  options.source_name = "test.mlir";
  options.report = record_report;
  options.report_data = reports;
  return options;
}

/* The compiled bytes, zero-terminated for texts; free with free(). */
static inline uint8_t *compile_ok(const char *source, uattn_emit_t emit,
                                  size_t *out_size) {
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(emit, &reports);
  uint8_t *bytes = NULL;
  assert_ok(uattn_compile(source, strlen(source), &options, &bytes, out_size));
  assert_int_equal(reports.errors + reports.warnings, 0);
  uint8_t *text = uattn_allocate(*out_size + 1);
  memcpy(text, bytes, *out_size);
  free(bytes);
  return text;
}

#endif /* UATTN_COMPILE_FIXTURE_H */
