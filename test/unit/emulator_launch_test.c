/* Launches: their checks, their order, their reports of what is stuck.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_launch_fixture.h"

enum { CTAS = 24, LANES = 32 };

/* ---- Order -----------------------------------------------------------------
 */

/* Lines of an order: each warp takes tickets in shared memory; CTAs write
 * theirs side by side. */
static const char order_text[] = MODULE_HEADER KERNEL_START
    ".shared .align 4 .b8 next[4];\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, next;\n"
    "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [%r3], 0;\nbar.sync 0;\n"
    "and.b32 %r4, %r1, 31;\nsetp.ne.u32 %p2, %r4, 0;\n@%p2 exit;\n"
    "shr.u32 %r5, %r1, 5;\nmad.lo.u32 %r6, %r2, 32, 0;\nmov.u32 %r7, 0;\n"
    "AGAIN: atom.shared.add.u32 %r8, [%r3], 1;\n"
    "add.u32 %r9, %r6, %r8;\nmul.wide.u32 %d1, %r9, 4;\n"
    "add.u64 %d1, %d0, %d1;\nst.global.u32 [%d1], %r5;\n"
    "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p3, %r7, 8;\n"
    "@%p3 bra AGAIN;\n" KERNEL_END;

static void run_order(uint32_t out[CTAS * 32], uint64_t seed,
                      int32_t thread_count) {
  memset(out, 0xEE, CTAS * 32 * sizeof *out);
  launched_t launched = {.text = order_text,
                         .grid = {CTAS},
                         .block = {4 * LANES},
                         .out = out,
                         .out_bytes = CTAS * 32 * sizeof *out,
                         .seed = seed,
                         .thread_count = thread_count};
  assert_ok(launched_run(&launched));
}

static void a_seed_repeats_whatever_the_number_of_threads(void **state) {
  (void)state;
  static uint32_t one[CTAS * 32];
  static uint32_t three[CTAS * 32];
  for (uint64_t seed = 1; seed < 4; ++seed) {
    run_order(one, seed, 1);
    run_order(three, seed, 3);
    assert_memory_equal(one, three, sizeof one);
  }
}

static void seeds_give_other_orders(void **state) {
  (void)state;
  static uint32_t one[CTAS * 32];
  static uint32_t other[CTAS * 32];
  run_order(one, 1, 1);
  run_order(other, 2, 1);
  assert_memory_not_equal(one, other, sizeof one);
  /* CTAs of one launch differ too. */
  assert_memory_not_equal(one, one + 32, 32 * sizeof *one);
}

/* Between CTAs the order is of the seed as well. */
static void ctas_that_communicate_repeat_too(void **state) {
  (void)state;
  static const char text[] = MODULE_HEADER KERNEL_START
      "mov.u32 %r2, %ctaid.x;\nmov.u32 %r7, 0;\n"
      "AGAIN: atom.global.add.u32 %r8, [%d0], 1;\n"
      "mul.wide.u32 %d1, %r8, 4;\nadd.u64 %d1, %d0, %d1;\n"
      "st.global.u32 [%d1+4], %r2;\nadd.u32 %r7, %r7, 1;\n"
      "setp.lt.u32 %p3, %r7, 50;\n@%p3 bra AGAIN;\n" KERNEL_END;
  static uint32_t orders[3][1 + CTAS * 50];
  memset(orders, 0, sizeof orders);
  for (int i = 0; i < 3; ++i) {
    launched_t launched = {.text = text,
                           .grid = {CTAS},
                           .out = orders[i],
                           .out_bytes = sizeof orders[i],
                           .seed = i == 2 ? 9 : 5,
                           .thread_count = 1 + i};
    assert_ok(launched_run(&launched));
  }
  assert_memory_equal(orders[0], orders[1], sizeof orders[0]);
  assert_memory_not_equal(orders[0], orders[2], sizeof orders[0]);
}

/* ---- Special registers -----------------------------------------------------
 */

static void threads_know_where_they_are(void **state) {
  (void)state;
  static uint32_t out[2 * 3 * 2 * 30];
  memset(out, 0, sizeof out);
  launched_t launched = {
      .text = MODULE_HEADER KERNEL_START
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\n"
      "mov.u32 %r4, %ntid.x;\nmov.u32 %r5, %ntid.y;\nmov.u32 %r6, %ntid.z;\n"
      "mad.lo.u32 %r7, %r3, %r5, %r2;\nmad.lo.u32 %r7, %r7, %r4, %r1;\n"
      "mov.u32 %r11, %ctaid.x;\nmov.u32 %r12, %ctaid.y;\n"
      "mov.u32 %r13, %ctaid.z;\nmov.u32 %r14, %nctaid.x;\n"
      "mov.u32 %r15, %nctaid.y;\n"
      "mad.lo.u32 %r17, %r13, %r15, %r12;\n"
      "mad.lo.u32 %r17, %r17, %r14, %r11;\n"
      "mul.lo.u32 %r18, %r4, %r5;\nmul.lo.u32 %r18, %r18, %r6;\n"
      "mad.lo.u32 %r19, %r17, %r18, %r7;\n"
      "mul.wide.u32 %d1, %r19, 4;\nadd.u64 %d1, %d0, %d1;\n"
      "add.u32 %r20, %r19, 1;\nst.global.u32 [%d1], %r20;\n" KERNEL_END,
      .grid = {2, 3, 2},
      .block = {5, 3, 2},
      .out = out,
      .out_bytes = sizeof out};
  assert_ok(launched_run(&launched));
  for (uint32_t i = 0; i < COUNT_OF(out); ++i)
    assert_int_equal(out[i], i + 1);
  assert_int_equal(launched.statistics.ctas, 12);
  assert_int_equal(launched.statistics.instructions, 12 * 24);
}

static void clocks_go_forward(void **state) {
  (void)state;
  uint64_t out[2];
  launched_t launched = {
      .text = MODULE_HEADER KERNEL_START
      "mov.u64 %d1, %clock64;\nmov.u32 %r1, 0;\n"
      "AGAIN: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 100;\n"
      "@%p1 bra AGAIN;\nmov.u64 %d2, %clock64;\nsub.u64 %d2, %d2, %d1;\n"
      "st.global.u64 [%d0], %d2;\nmov.u64 %d3, %globaltimer;\n"
      "st.global.u64 [%d0+8], %d3;\n" KERNEL_END,
      .out = out,
      .out_bytes = sizeof out};
  assert_ok(launched_run(&launched));
  assert_true(out[0] >= 300 && out[0] < 400);
  assert_true(out[1] >= out[0]);
}

/* ---- Variables -------------------------------------------------------------
 */

static void module_variables_start_as_written_in_every_launch(void **state) {
  (void)state;
  uint32_t out[3];
  launched_t launched = {
      .text = MODULE_HEADER
      ".global .align 4 .u32 counter = 40;\n"
      ".const .align 4 .u32 table[3] = {7, 8, 9};\n" KERNEL_START
      "mov.u64 %d1, counter;\ncvta.global.u64 %d1, %d1;\n"
      "atom.add.u32 %r1, [%d1], 2;\nld.global.u32 %r2, [counter];\n"
      "ld.const.u32 %r3, [table+8];\nmov.u64 %d2, table;\n"
      "cvta.const.u64 %d2, %d2;\nld.u32 %r4, [%d2+4];\n"
      "st.global.u32 [%d0], %r2;\nst.global.u32 [%d0+4], %r3;\n"
      "st.global.u32 [%d0+8], %r4;\n" KERNEL_END,
      .out = out,
      .out_bytes = sizeof out};
  for (int i = 0; i < 2; ++i) {
    assert_ok(launched_run(&launched));
    assert_int_equal(out[0], 42);
    assert_int_equal(out[1], 9);
    assert_int_equal(out[2], 8);
  }
}

static void
dynamic_shared_memory_starts_aligned_after_the_static(void **state) {
  (void)state;
  uint32_t out[4];
  launched_t launched = {
      .text = MODULE_HEADER
      ".extern .shared .align 128 .b8 dynamic[];\n" KERNEL_START
      ".shared .align 4 .b8 first[12];\n.shared .align 16 .b8 second[4];\n"
      "mov.u32 %r1, first;\nmov.u32 %r2, second;\nmov.u32 %r3, dynamic;\n"
      "mov.u32 %r4, %dynamic_smem_size;\n"
      "st.global.u32 [%d0], %r1;\nst.global.u32 [%d0+4], %r2;\n"
      "st.global.u32 [%d0+8], %r3;\nst.global.u32 [%d0+12], %r4;\n" KERNEL_END,
      .shared_bytes = 77,
      .out = out,
      .out_bytes = sizeof out};
  assert_ok(launched_run(&launched));
  const uint32_t want[] = {0, 16, 128, 77};
  assert_memory_equal(out, want, sizeof want);
}

/* ---- What is stuck ---------------------------------------------------------
 */

static void a_deadlock_lists_every_warp(void **state) {
  (void)state;
  uint32_t out[1];
  launched_t launched = {.text = MODULE_HEADER KERNEL_START
                         ".shared .align 8 .b8 mbar[8];\n"
                         "mov.u32 %r1, %tid.x;\nmov.u32 %r2, mbar;\n"
                         "setp.eq.u32 %p1, %r1, 0;\n"
                         "@%p1 mbarrier.init.shared.b64 [%r2], 3;\n"
                         "bar.sync 0;\nsetp.ge.u32 %p2, %r1, 64;\n"
                         "@%p2 bra LAST;\n"
                         "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r2], "
                         "0;\n@!%p3 bra W;\n"
                         "LAST: bar.sync 5, 96;\n" KERNEL_END,
                         .block = {96},
                         .out = out,
                         .out_bytes = sizeof out};
  assert_launch_error(&launched, UATTN_ERROR_FAULT,
                      "deadlock: no warp can go on and nothing is pending\n"
                      "  warps 0 to 1, line 19 'mbarrier.try_wait");
  assert_launch_error(&launched, UATTN_ERROR_FAULT,
                      "waits for the phase of parity 0 of the mbarrier at "
                      "shared address 0: ");
  assert_launch_error(&launched, UATTN_ERROR_FAULT,
                      "warp 2, line 21 'bar.sync 5, 96;': waits on barrier 5");
}

static void polling_without_an_effect_is_told(void **state) {
  (void)state;
  uint32_t out[1] = {0};
  launched_t launched = {.text = MODULE_HEADER KERNEL_START
                         "W: ld.volatile.global.u32 %r1, [%d0];\n"
                         "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra W;\n" KERNEL_END,
                         .out = out,
                         .out_bytes = sizeof out};
  assert_launch_error(&launched, UATTN_ERROR_FAULT,
                      "livelock: warps poll without an effect\n  warp 0, line");
}

static void the_first_cta_of_the_grid_tells_its_fault(void **state) {
  (void)state;
  uint32_t out[1];
  launched_t launched = {.text = MODULE_HEADER KERNEL_START
                         "mov.u32 %r1, %ctaid.x;\nsetp.ge.u32 %p1, %r1, 3;\n"
                         "@%p1 trap;\n" KERNEL_END,
                         .grid = {CTAS},
                         .out = out,
                         .out_bytes = sizeof out,
                         .thread_count = 4};
  for (launched.seed = 0; launched.seed < 8; ++launched.seed)
    assert_launch_error(&launched, UATTN_ERROR_FAULT, "cta (3, 0, 0)");
}

static void writes_to_read_only_memory_are_told(void **state) {
  (void)state;
  uint32_t out[1] = {3};
  launched_t launched = {.text = MODULE_HEADER KERNEL_START
                         "st.global.u32 [%d0], 1;\n" KERNEL_END,
                         .out = out,
                         .out_bytes = sizeof out,
                         .is_read_only = true};
  assert_launch_error(&launched, UATTN_ERROR_FAULT,
                      "write of 4 bytes to 'out', which is read-only");
  assert_int_equal(out[0], 3);
}

/* ---- Progress, checks ------------------------------------------------------
 */

typedef struct {
  double last;
  uint32_t calls;
} progress_t;

static void note_progress(double done, void *data) {
  progress_t *progress = data;
  assert_true(done > progress->last && done <= 1);
  progress->last = done;
  ++progress->calls;
}

static void progress_is_told_up_to_the_end(void **state) {
  (void)state;
  uint32_t out[1];
  progress_t progress = {0};
  launched_t launched = {.text = MODULE_HEADER KERNEL_START KERNEL_END,
                         .grid = {CTAS},
                         .out = out,
                         .out_bytes = sizeof out,
                         .thread_count = 3,
                         .progress = note_progress,
                         .progress_data = &progress};
  assert_ok(launched_run(&launched));
  assert_true(progress.last == 1);
  assert_int_equal(progress.calls, CTAS);
}

static void launches_that_a_gpu_would_refuse_are_refused(void **state) {
  (void)state;
  uint32_t out[1];
  launched_t launched = {.text = MODULE_HEADER KERNEL_START KERNEL_END,
                         .out = out,
                         .out_bytes = sizeof out};
  launched.block[0] = 513;
  launched.block[1] = 2;
  assert_launch_error(&launched, UATTN_ERROR_INVALID_ARGUMENT,
                      "threads of a block 1026: expected at most 1024");
  launched.block[1] = 1;
  launched.grid[1] = 65536;
  assert_launch_error(&launched, UATTN_ERROR_INVALID_ARGUMENT,
                      "grid size 65536: expected 1 to 65535");
  launched.grid[1] = 1;
  launched.shared_bytes = 232449;
  assert_launch_error(&launched, UATTN_ERROR_INVALID_ARGUMENT,
                      "232449 of dynamic shared memory: expected at most "
                      "232448");
  launched.shared_bytes = 0;
  launched.text = MODULE_HEADER ".visible .entry kern(.param .u64 out)\n"
                                ".reqntid 64\n{\nret;\n}\n";
  assert_launch_error(&launched, UATTN_ERROR_INVALID_ARGUMENT,
                      "block size 513 on axis 0: expected 64 as kern requires");
  launched.text = MODULE_HEADER ".visible .entry kern(.param .u64 out)\n"
                                ".maxntid 64\n{\nret;\n}\n";
  assert_launch_error(&launched, UATTN_ERROR_INVALID_ARGUMENT,
                      "513 threads of a block: kern takes at most 64");
  launched.text = MODULE_HEADER ".visible .entry kern(.param .u32 a)\n"
                                "{\nret;\n}\n";
  assert_launch_error(&launched, UATTN_ERROR_INVALID_ARGUMENT,
                      "parameter 0 of 8 bytes: kern takes 4 bytes");
  launched.text = MODULE_HEADER ".visible .entry kern()\n{\nret;\n}\n";
  assert_launch_error(&launched, UATTN_ERROR_INVALID_ARGUMENT,
                      "1 parameters: kern takes 0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_seed_repeats_whatever_the_number_of_threads),
      cmocka_unit_test(seeds_give_other_orders),
      cmocka_unit_test(ctas_that_communicate_repeat_too),
      cmocka_unit_test(threads_know_where_they_are),
      cmocka_unit_test(clocks_go_forward),
      cmocka_unit_test(module_variables_start_as_written_in_every_launch),
      cmocka_unit_test(dynamic_shared_memory_starts_aligned_after_the_static),
      cmocka_unit_test(a_deadlock_lists_every_warp),
      cmocka_unit_test(polling_without_an_effect_is_told),
      cmocka_unit_test(the_first_cta_of_the_grid_tells_its_fault),
      cmocka_unit_test(writes_to_read_only_memory_are_told),
      cmocka_unit_test(progress_is_told_up_to_the_end),
      cmocka_unit_test(launches_that_a_gpu_would_refuse_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
