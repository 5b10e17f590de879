/* Atomic operations, within a CTA and between CTAs, on the emulator.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"
#include "emulator_launch_fixture.h"

enum { CTAS = 20, THREADS = 96 };

static void every_addition_of_every_cta_counts(void **state) {
  (void)state;
  uint32_t out[8];
  for (uint64_t seed = 0; seed < 3; ++seed) {
    memset(out, 0, sizeof out);
    launched_t launched = {
        .text = MODULE_HEADER KERNEL_START
        "mov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 7;\n"
        "mul.wide.u32 %d1, %r2, 4;\nadd.u64 %d1, %d0, %d1;\n"
        "atom.global.add.u32 %r3, [%d1], 1;\n"
        "red.relaxed.gpu.global.add.u32 [%d1], 2;\n" KERNEL_END,
        .grid = {CTAS},
        .block = {THREADS},
        .out = out,
        .out_bytes = sizeof out,
        .seed = seed,
        .thread_count = 4};
    assert_ok(launched_run(&launched));
    for (size_t i = 0; i < COUNT_OF(out); ++i)
      assert_int_equal(out[i], 3 * CTAS * THREADS / 8);
  }
}

/* Old values are all different: a ticket each. */
static void every_thread_gets_a_ticket_of_its_own(void **state) {
  (void)state;
  static uint32_t out[1 + CTAS * THREADS];
  memset(out, 0, sizeof out);
  launched_t launched = {.text = MODULE_HEADER KERNEL_START
                         "atom.global.add.u32 %r1, [%d0], 1;\n"
                         "mul.wide.u32 %d1, %r1, 4;\nadd.u64 %d1, %d0, %d1;\n"
                         "mov.u32 %r2, 1;\n"
                         "red.global.add.u32 [%d1+4], %r2;\n" KERNEL_END,
                         .grid = {CTAS},
                         .block = {THREADS},
                         .out = out,
                         .out_bytes = sizeof out};
  assert_ok(launched_run(&launched));
  for (size_t i = 1; i < COUNT_OF(out); ++i)
    assert_int_equal(out[i], 1);
}

/* CTAs that wait for each other: all must be running at once. */
static void ctas_meet_at_a_barrier_in_memory(void **state) {
  (void)state;
  static uint32_t out[2 + CTAS];
  memset(out, 0, sizeof out);
  launched_t launched = {.text = MODULE_HEADER KERNEL_START
                         "mov.u32 %r9, %ctaid.x;\n"
                         "red.release.gpu.global.add.u32 [%d0], 1;\n"
                         "WAIT: ld.acquire.gpu.global.u32 %r1, [%d0];\n"
                         "setp.ne.u32 %p1, %r1, 20;\n@%p1 bra WAIT;\n"
                         "mul.wide.u32 %d1, %r9, 4;\nadd.u64 %d1, %d0, %d1;\n"
                         "st.global.u32 [%d1+8], %r1;\n" KERNEL_END,
                         .grid = {CTAS},
                         .out = out,
                         .out_bytes = sizeof out};
  assert_ok(launched_run(&launched));
  for (size_t i = 2; i < COUNT_OF(out); ++i)
    assert_int_equal(out[i], CTAS);
}

/* Polling by an addition of nothing. */
static void ctas_meet_by_polling_with_an_atomic(void **state) {
  (void)state;
  static uint32_t out[2];
  memset(out, 0, sizeof out);
  launched_t launched = {.text = MODULE_HEADER KERNEL_START
                         "red.global.add.u32 [%d0], 1;\n"
                         "WAIT: atom.global.add.u32 %r1, [%d0], 0;\n"
                         "setp.ne.u32 %p1, %r1, 20;\n@%p1 bra WAIT;\n"
                         "red.global.inc.u32 [%d0+4], 100;\n" KERNEL_END,
                         .grid = {CTAS},
                         .out = out,
                         .out_bytes = sizeof out};
  assert_ok(launched_run(&launched));
  assert_int_equal(out[1], CTAS);
}

static void vectors_of_floats_are_added(void **state) {
  (void)state;
  _Alignas(16) float out[8];
  memset(out, 0, sizeof out);
  launched_t launched = {
      .text = MODULE_HEADER KERNEL_START
      "mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\n"
      "mov.f32 %f3, 0f40400000;\nmov.f32 %f4, 0f40800000;\n"
      "red.global.add.v4.f32 [%d0], {%f1, %f2, %f3, %f4};\n"
      "red.relaxed.gpu.global.add.v2.f32 [%d0+24], {%f1, %f2};\n" KERNEL_END,
      .grid = {3},
      .block = {32},
      .out = out,
      .out_bytes = sizeof out};
  assert_ok(launched_run(&launched));
  const float want[8] = {96, 192, 288, 384, 0, 0, 96, 192};
  for (size_t i = 0; i < COUNT_OF(out); ++i)
    assert_true(out[i] == want[i]);
}

static void an_exchange_gives_the_old_value(void **state) {
  (void)state;
  uint64_t out[4] = {5, 7, 9, 11};
  launched_t launched = {
      .text = MODULE_HEADER KERNEL_START
      "mov.b64 %d1, 100;\n"
      "atom.global.exch.b64 %d2, [%d0], %d1;\nst.global.u64 [%d0+8], %d2;\n"
      "atom.global.cas.b64 %d2, [%d0+16], 9, 1;\n"
      "atom.global.cas.b64 %d3, [%d0+24], 9, 1;\n"
      "add.u64 %d2, %d2, %d3;\natom.global.max.u64 _, [%d0], %d2;\n" KERNEL_END,
      .out = out,
      .out_bytes = sizeof out};
  assert_ok(launched_run(&launched));
  assert_int_equal(out[0], 100);
  assert_int_equal(out[1], 5);
  assert_int_equal(out[2], 1);
  assert_int_equal(out[3], 11);
}

static void operations_that_do_not_exist_are_refused(void **state) {
  (void)state;
  assert_refused("atom.global.mul.u32 %r0, [%out], 1;", ".mul");
  assert_refused("atom.global.add.s64 %d0, [%out], 1;", "no such atomic");
  assert_refused("atom.global.min.f32 %f0, [%out], %f1;", "no such atomic");
  assert_refused("atom.global.add.f16x2 %r0, [%out], %r1;", "no such atomic");
  assert_refused("red.global.cas.b32 [%out], 1;", "no such atomic");
  assert_refused("red.shared.add.v2.f32 [%r0], {%f0, %f1};", "state space");
  assert_refused("atom.local.add.u32 %r0, [%out], 1;", "state space");
  assert_refused("red.async.global.add.u32 [%out], 1;", ".async");
  assert_refused("atom.global.add.u32 %r0, [%out], %d1;", "width");
  assert_accepted("atom.acq_rel.sys.global.add.u32 %r0, [%out], 1;\n"
                  "atom.shared::cta.add.f64 %d0, [%r0], %d1;");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_addition_of_every_cta_counts),
      cmocka_unit_test(every_thread_gets_a_ticket_of_its_own),
      cmocka_unit_test(ctas_meet_at_a_barrier_in_memory),
      cmocka_unit_test(ctas_meet_by_polling_with_an_atomic),
      cmocka_unit_test(vectors_of_floats_are_added),
      cmocka_unit_test(an_exchange_gives_the_old_value),
      cmocka_unit_test(operations_that_do_not_exist_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
