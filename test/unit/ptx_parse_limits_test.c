/* Tests of the PTX parser on text that is large, deep, cut off or no text.
 * Layer: test. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_parse_fixture.h"

#include <time.h>

static void append_times(uattn_string_t *text, const char *piece, int count) {
  for (int i = 0; i < count; ++i)
    uattn_string_append(text, piece);
}

/* before + piece * count + after */
static char *repeat(const char *before, const char *piece, int count,
                    const char *after) {
  uattn_string_t text = {0};
  uattn_string_append(&text, before);
  append_times(&text, piece, count);
  uattn_string_append(&text, after);
  return uattn_string_take(&text);
}

static void assert_repeated_error(const char *before, const char *piece,
                                  int count, const char *after,
                                  uattn_error_code_t code,
                                  const char *message) {
  char *text = repeat(before, piece, count, after);
  assert_ptx_error(text, code, message);
  free(text);
}

static void deep_nesting_is_refused(void **state) {
  (void)state;
  assert_repeated_error(PTX_BODY, "{", 100000, PTX_END, UATTN_ERROR_UNSUPPORTED,
                        "t:3: scopes are nested 65 deep: expected at most 64");
  assert_repeated_error(
      PTX_HEAD ".global .b32 x = ", "(", 100000, "1;", UATTN_ERROR_UNSUPPORTED,
      "t:2: an expression is nested 65 deep: expected at most 64");
  assert_repeated_error(
      PTX_HEAD ".global .b32 x = ", "-", 100000, "1;", UATTN_ERROR_UNSUPPORTED,
      "t:2: an expression is nested 65 deep: expected at most 64");
  assert_repeated_error(PTX_HEAD ".global .b32 x[2] = ", "{", 100000, "1;",
                        UATTN_ERROR_INVALID_ARGUMENT,
                        "t:2: found `{`: expected an integer");
  char *text = repeat(PTX_BODY, "{", 63, "");
  char *closed = repeat(text, "}", 63, PTX_END);
  ptx_module_destroy(parse_ptx(closed));
  free(closed);
  free(text);
}

static void giant_register_counts_are_refused(void **state) {
  (void)state;
  assert_repeated_error(PTX_BODY, "{ .reg .b32 q<100000>; }", 2, PTX_END,
                        UATTN_ERROR_UNSUPPORTED,
                        "t:3: 200010 registers are declared in one entry: "
                        "expected at most 131072");
  char *text = repeat(PTX_HEAD, ".entry k { .reg .b32 q<131072>; }\n", 1, "");
  ptx_module_t *module = parse_ptx(text);
  assert_int_equal(module->entries[0].register_count, 131072);
  assert_string_equal(module->entries[0].registers[131071].name, "q131071");
  ptx_module_destroy(module);
  free(text);
}

static void registers_of_all_entries_are_limited(void **state) {
  (void)state;
  uattn_string_t text = {0};
  uattn_string_append(&text, PTX_HEAD);
  for (int i = 0; i < 9; ++i)
    uattn_string_appendf(&text, ".entry k%d { .reg .b32 q<131072>; }\n", i);
  assert_ptx_error(text.data, UATTN_ERROR_UNSUPPORTED,
                   "t:10: 1179648 registers are declared in all entries: "
                   "expected at most 1048576");
  uattn_string_release(&text);
}

static void initial_values_of_all_variables_are_limited(void **state) {
  (void)state;
  assert_ptx_error(PTX_HEAD ".global .b8 x[40000000] = {1};\n"
                            ".global .b8 y[40000000] = {1};",
                   UATTN_ERROR_UNSUPPORTED,
                   "t:3: initial values take too much: expected at most "
                   "67108864 bytes");
}

static void long_words_are_cut_in_messages(void **state) {
  (void)state;
  assert_repeated_error(
      PTX_HEAD, "abcdefghij", 1000, " ", UATTN_ERROR_INVALID_ARGUMENT,
      "t:2: found `abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"
      "...`: expected a directive of a module");
  assert_repeated_error(PTX_BODY "mov.b32 %r0, ", "1", 1000, ";" PTX_END,
                        UATTN_ERROR_INVALID_ARGUMENT,
                        "t:3: found `1111111111111111111111111111111111111111"
                        "11111111111111111111...`, a number of more than 64 "
                        "bits: expected an operand");
}

/* Each of these was text until its last byte went. */
static void text_cut_anywhere_is_refused(void **state) {
  (void)state;
  static const char text[] =
      ".version 8.3 .target sm_90a\n"
      ".global .align 4 .f32 x[2] = {1.5, 0f3F800000};\n"
      ".entry k(.param .u64 .ptr .global p) .reqntid 32 {\n"
      ".reg .pred %p<2>; .reg .b32 %r<3>; /* c */ .loc 1 2 3\n"
      "L: @!%p1 setp.eq.s32 %p0|_, %tid.x, -5; bra L; { ld.param.b32 "
      "{%r0, %r1}, [p+4]; } }";
  size_t whole = sizeof text - 1;
  for (size_t size = 0; size <= whole; ++size) {
    ptx_module_t *module = NULL;
    char *copy = uattn_allocate(size + 1); /* no byte more, for sanitizers */
    memcpy(copy, text, size);
    uattn_error_t *error = ptx_module_parse("t", copy, size, &module);
    /* Between the declarations the text is complete as well. */
    bool is_complete =
        size == whole || (size >= 25 && size <= 28) || size == 75 || size == 76;
    if (is_complete != !error)
      print_error("cut after %zu bytes: %s\n", size,
                  error ? uattn_error_message(error) : "no error");
    assert_int_equal(is_complete, !error);
    uattn_error_destroy(error);
    ptx_module_destroy(module);
    free(copy);
  }
}

/* A tenfold text may take tenfold the time, and as much again. */
static double seconds_of(const char *before, const char *piece, int count,
                         const char *after) {
  char *text = repeat(before, piece, count, after);
  ptx_module_t *module = NULL;
  struct timespec start, end;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
  uattn_error_t *error = ptx_module_parse("t", text, strlen(text), &module);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  uattn_error_destroy(error);
  ptx_module_destroy(module);
  free(text);
  return (double)(end.tv_sec - start.tv_sec) +
         1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

static void time_grows_with_the_text(void **state) {
  (void)state;
  static const struct {
    const char *before;
    const char *piece;
    const char *after;
  } cases[] = {
      {PTX_BODY, "add.s32 %r0, %r1, %r2;\n", PTX_END},
      {PTX_BODY, "{ .reg .pred P; L: @P bra L; }\n", PTX_END},
      {PTX_BODY, "bra END; ", "END:" PTX_END},
      {PTX_BODY "x {%r0", ", %r1", "};" PTX_END},
      {PTX_BODY "x %r0", ", %r1", ";" PTX_END},
      {PTX_BODY "x 1", " + 1", ";" PTX_END},
      {PTX_BODY "x", ".y", ";" PTX_END},
      {PTX_BODY "x", "y", ";" PTX_END},
      {PTX_BODY, "{ { } } ", PTX_END},
      {PTX_HEAD ".global .b8 x[] = {1", ", 1", "};"},
      {PTX_HEAD, ".extern .shared .b8 s[];\n", ""},
      {PTX_HEAD, ".entry k;\n", ""},
      {PTX_HEAD, "/* */ // *\n", ""},
      {PTX_HEAD ".section .x {", " {}", "}"},
      {PTX_HEAD, "@@DWARF /*\n", ""},
  };
  enum { COUNT = 10000 };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    double small =
        seconds_of(cases[i].before, cases[i].piece, COUNT, cases[i].after);
    double large =
        seconds_of(cases[i].before, cases[i].piece, 10 * COUNT, cases[i].after);
    if (large > 20 * small + 0.1)
      print_error("%s: %g s, then %g s\n", cases[i].piece, small, large);
    assert_true(large <= 20 * small + 0.1);
  }
}

/* Bytes without any sense, and zeros in the middle. */
static void garbage_is_refused(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int i = 0; i < 200; ++i) {
    uint8_t bytes[257] = {0};
    for (size_t k = 0; k + 1 < sizeof bytes; ++k) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      bytes[k] = (uint8_t)(random >> 56);
    }
    ptx_module_t *module = NULL;
    uattn_error_t *error =
        ptx_module_parse("t", (const char *)bytes, sizeof bytes - 1, &module);
    assert_non_null(error);
    assert_int_equal(uattn_error_code(error), UATTN_ERROR_INVALID_ARGUMENT);
    uattn_error_destroy(error);
  }
  static const char zeros[] = PTX_BODY "mov.b32 %r0, \0;" PTX_END;
  ptx_module_t *module = NULL;
  assert_error(ptx_module_parse("t", zeros, sizeof zeros - 1, &module),
               UATTN_ERROR_INVALID_ARGUMENT,
               "t:3: found `\\x00`, a zero byte: expected an operand");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(deep_nesting_is_refused),
      cmocka_unit_test(giant_register_counts_are_refused),
      cmocka_unit_test(registers_of_all_entries_are_limited),
      cmocka_unit_test(initial_values_of_all_variables_are_limited),
      cmocka_unit_test(long_words_are_cut_in_messages),
      cmocka_unit_test(text_cut_anywhere_is_refused),
      cmocka_unit_test(time_grows_with_the_text),
      cmocka_unit_test(garbage_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
