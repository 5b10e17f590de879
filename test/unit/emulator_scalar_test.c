/* Scalar instructions that carry, pack or choose by a table; immediates; what
 * is refused.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"

enum { RESULTS = 4 };

static uint64_t out[RESULTS];

static void check_words(void *data) {
  const uint64_t *want = data;
  for (int i = 0; i < RESULTS; ++i)
    if (out[i] != want[i])
      fail_msg("result %d: 0x%llx, wanted 0x%llx", i,
               (unsigned long long)out[i], (unsigned long long)want[i]);
}

/* The body leaves its results in %d0 to %d3. */
static void expect(const char *body, uint64_t a, uint64_t b, uint64_t c,
                   uint64_t d) {
  char text[4096];
  uint64_t want[RESULTS] = {a, b, c, d};
  snprintf(text, sizeof text,
           "mov.b64 %%d0, 0;\nmov.b64 %%d1, 0;\nmov.b64 %%d2, 0;\n"
           "mov.b64 %%d3, 0;\n%s\n"
           "st.global.v2.b64 [%%out], {%%d0, %%d1};\n"
           "st.global.v2.b64 [%%out+16], {%%d2, %%d3};\n",
           body);
  emulated_t emulated = {
      .body = text, .threads = 1, .out = out, .out_bytes = sizeof out};
  emulated_run_seeds(&emulated, check_words, want);
}

static void sums_carry_over_words(void **state) {
  (void)state;
  expect("mov.b64 %d10, -1;\nmov.b64 %d11, 5;\n"
         "add.cc.u64 %d0, %d10, 2;\naddc.cc.u64 %d1, %d10, 0;\n"
         "addc.u64 %d2, %d11, %d11;\naddc.u64 %d3, %d11, 0;\n",
         1, 0, 11, 6);
  expect("mov.b64 %d10, 1;\nsub.cc.u64 %d0, %d10, 2;\n"
         "subc.cc.u64 %d1, %d10, 1;\nsubc.cc.u64 %d2, %d10, 0;\n"
         "subc.u64 %d3, %d10, 0;\n",
         UINT64_MAX, UINT64_MAX, 0, 1);
}

/* (2^32 - 1)^2 * 3 + 7, from 32-bit products. */
static void products_carry_over_words(void **state) {
  (void)state;
  expect("mov.b32 %r0, -1;\nmov.b32 %r1, 7;\n"
         "mad.lo.cc.u32 %r2, %r0, %r0, %r1;\nmadc.hi.u32 %r3, %r0, %r0, 0;\n"
         "mov.b64 %d0, {%r2, %r3};\n"
         "mad.hi.sat.s32 %r4, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF;\n"
         "cvt.u64.u32 %d1, %r4;\n",
         0xFFFFFFFFull * 0xFFFFFFFFull + 7, 0x7FFFFFFF, 0, 0);
}

static void each_lane_has_its_own_carry(void **state) {
  (void)state;
  static uint32_t words[32];
  emulated_t emulated = {.body = "mov.b32 %r0, 0xFFFFFFF0;\n"
                                 "add.cc.u32 %r1, %r0, %thread;\n"
                                 "addc.u32 %r2, 0, 0;\n"
                                 "st.global.u32 [%mine], %r2;\n",
                         .out = words,
                         .out_bytes = sizeof words};
  assert_ok(emulated_run(&emulated));
  for (uint32_t i = 0; i < COUNT_OF(words); ++i)
    assert_int_equal(words[i], i >= 16);
}

static void vectors_are_packed_and_unpacked(void **state) {
  (void)state;
  expect("mov.b16 %h0, 0x1111;\nmov.b16 %h1, 0x2222;\nmov.b32 %r0, "
         "{%h0, %h1};\n"
         "mov.b32 {%h2, %h3}, 0x44443333;\n"
         "mov.b64 %d0, {%h0, %h1, %h2, %h3};\n"
         "mov.b64 {%r1, _}, 0x7777777766666666;\n"
         "mov.b64 {_, %r2}, 0x7777777766666666;\n"
         "cvt.u64.u32 %d1, %r1;\ncvt.u64.u32 %d2, %r2;\n"
         "cvt.u64.u32 %d3, %r0;\n",
         0x4444333322221111, 0x66666666, 0x77777777, 0x22221111);
}

static void tables_of_three_inputs_are_looked_up(void **state) {
  (void)state;
  for (uint32_t table = 0; table < 256; table += 51) {
    char text[256];
    uint32_t a = 0xF0F0F0F0;
    uint32_t b = 0xCCCCCCCC;
    uint32_t c = 0xAAAAAAAA;
    uint32_t want = 0;
    for (uint32_t bit = 0; bit < 32; ++bit)
      want |= (table >> ((a >> bit & 1) << 2 | (b >> bit & 1) << 1 |
                         (c >> bit & 1)) &
               1)
              << bit;
    snprintf(text, sizeof text,
             "lop3.b32 %%r0, 0x%x, 0x%x, 0x%x, %u;\ncvt.u64.u32 %%d0, %%r0;", a,
             b, c, table);
    expect(text, want, 0, 0, 0);
  }
}

static void set_bits_are_found_in_both_directions(void **state) {
  (void)state;
  expect("fns.b32 %r0, 0x90000481, 0, 3;\nfns.b32 %r1, 0x90000481, 31, -2;\n"
         "fns.b32 %r2, 0x90000481, 7, 0;\nfns.b32 %r3, 0x90000481, 11, 3;\n"
         "cvt.u64.u32 %d0, %r0;\ncvt.u64.u32 %d1, %r1;\n"
         "cvt.u64.u32 %d2, %r2;\ncvt.u64.u32 %d3, %r3;\n",
         10, 28, 7, UINT32_MAX);
}

static void constants_take_the_width_of_the_type(void **state) {
  (void)state;
  expect("add.u16 %h0, 0, -1;\ncvt.u64.u16 %d0, %h0;\n"
         "mov.f32 %f0, 1.5;\nmov.b32 %r0, %f0;\ncvt.u64.u32 %d1, %r0;\n"
         "mov.b64 %d2, 0d3FF8000000000000;\nadd.f32 %f1, %f0, 0fBF800000;\n"
         "mov.b32 %r1, %f1;\ncvt.u64.u32 %d3, %r1;\n",
         0xFFFF, 0x3FC00000, 0x3FF8000000000000, 0x3F000000);
}

static void predicates_are_values_too(void **state) {
  (void)state;
  expect("mov.pred %p0, -1;\nmov.pred %p1, 0;\nxor.pred %p2, %p0, !%p1;\n"
         "or.pred %p3, %p1, %p0;\nnot.pred %p4, %p3;\n"
         "setp.lt.and.s32 %p5|%p6, -1, 1, %p3;\n"
         "selp.b64 %d0, 1, 2, %p2;\nselp.b64 %d1, 1, 2, !%p4;\n"
         "selp.b64 %d2, 1, 2, %p5;\nselp.b64 %d3, 1, 2, %p6;\n",
         2, 1, 1, 2);
}

static void unknown_parts_and_operands_are_refused(void **state) {
  (void)state;
  assert_refused("add.foo.u32 %r0, %r1, %r2;", ".foo is not supported");
  assert_refused("add.sat.u32 %r0, %r1, %r2;", "does not exist for .u32");
  assert_refused("frobnicate.b32 %r0, %r1;", "does not know");
  assert_refused("add.rn.rz.f32 %f0, %f1, %f2;", "two rounding modes");
  assert_refused("add.ftz.f64 %d0, %d1, %d2;", "does not exist for .f64");
  assert_refused("fma.rn.sat.bf16 %h0, %h1, %h2, %h3;", "does not exist");
  assert_refused("tanh.approx.ftz.f32 %f0, %f1;", "does not exist");
  assert_refused("ex2.f32 %f0, %f1;", "does not exist for .f32");
  assert_refused("fma.rn.f32x2 %d0, %d1, %d2, %d3;", ".f32x2");
  assert_refused("add.u32 %r0, %r1;", "2 operands: expected 3");
  assert_refused("add.u32 %r0, %d1, %r2;", "%d1 has not the width of .u32");
  assert_refused("add.s32 %r0, %r1, 0f3F800000;", "constant as .u32");
  assert_refused("fma.f32 %f0, %f1, %f2, %f3;", "does not exist for .f32");
  assert_refused("div.ftz.f32 %f0, %f1, %f2;", "does not exist for .f32");
  assert_refused("sqrt.f64 %d0, %d1;", "does not exist for .f64");
  assert_refused("add.f32 %f0, %f1, 2;", "an integer constant as .f32");
  assert_refused("add.u32 _, %r1, %r2;", "expected a register");
  assert_refused("add.u32 %r0, %r1, %p2;", "width");
  assert_refused("cvt.f32.f64 %f0, %d1;", "no conversion");
  assert_refused("cvt.rn.u32.f32 %r0, %f1;", "no conversion");
  assert_refused("cvt.rn.f16x2.f64 %r0, %d1, %d2;", "no conversion");
  assert_refused("cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2;", ".e4m3x2");
  assert_refused("setp.lo.s32 %p0, %r1, %r2;", "no such comparison");
  assert_refused("setp.lt.b32 %p0, %r1, %r2;", "no such comparison");
  assert_refused("setp.num.u32 %p0, %r1, %r2;", "no such comparison");
  assert_refused("setp.u32 %p0, %r1, %r2;", "expected a comparison");
  assert_refused("mov.b128 {%d0, %d1}, %d2;", "2 elements in .b128");
  assert_refused("add.u64 %d0, %clock64, 1;", "%clock64 can only be read");
  assert_refused("mov.u64 %d0, %clock;", "width");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_carry_over_words),
      cmocka_unit_test(products_carry_over_words),
      cmocka_unit_test(each_lane_has_its_own_carry),
      cmocka_unit_test(vectors_are_packed_and_unpacked),
      cmocka_unit_test(tables_of_three_inputs_are_looked_up),
      cmocka_unit_test(set_bits_are_found_in_both_directions),
      cmocka_unit_test(constants_take_the_width_of_the_type),
      cmocka_unit_test(predicates_are_values_too),
      cmocka_unit_test(unknown_parts_and_operands_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
