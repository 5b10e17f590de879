/* Branches, divergence and convergence, on the emulator.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"

enum { LANES = 32 };

typedef struct {
  uint32_t out[LANES];
  uint32_t want[LANES];
} words_t;

static void check_words(void *data) {
  const words_t *words = data;
  for (uint32_t i = 0; i < LANES; ++i)
    if (words->out[i] != words->want[i])
      fail_msg("lane %u: %u, wanted %u", i, words->out[i], words->want[i]);
}

/* Runs one warp whose lanes end with their result in %r9. */
static void expect_in(words_t *words, const char *body, bool ignores_hazards) {
  char text[4096];
  snprintf(text, sizeof text, "%s\nst.global.u32 [%%mine], %%r9;\n", body);
  emulated_t emulated = {.body = text,
                         .shared_bytes = 1024,
                         .out = words->out,
                         .out_bytes = sizeof words->out,
                         .ignores_hazards = ignores_hazards};
  emulated_run_seeds(&emulated, check_words, words);
}

static void expect(words_t *words, const char *body) {
  expect_in(words, body, false);
}

static void nested_conditions_take_each_lane_its_way(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 1000 + (i & 1 ? (i & 2 ? 3 : 1) : (i < 16 ? 20 : 30));
  expect(&words, "and.b32 %r1, %thread, 1;\nand.b32 %r2, %thread, 2;\n"
                 "setp.ne.u32 %p1, %r1, 0;\nsetp.ne.u32 %p2, %r2, 0;\n"
                 "setp.lt.u32 %p3, %thread, 16;\n"
                 "@%p1 bra ODD;\n"
                 "@%p3 bra LOW;\nmov.u32 %r9, 30;\nbra JOIN;\n"
                 "LOW: mov.u32 %r9, 20;\nbra.uni JOIN;\n"
                 "ODD: mov.u32 %r9, 1;\n@!%p2 bra JOIN;\n"
                 "add.u32 %r9, %r9, 2;\n"
                 "JOIN: add.u32 %r9, %r9, 1000;");
}

static void loops_run_as_often_as_each_lane_wants(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = i * (i + 1) / 2;
  expect(&words, "mov.u32 %r9, 0;\nmov.u32 %r1, %thread;\n"
                 "AGAIN: setp.eq.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n"
                 "add.u32 %r9, %r9, %r1;\nsub.u32 %r1, %r1, 1;\nbra AGAIN;\n"
                 "DONE:");
}

/* Lanes that have parted are one group again where their ways meet. */
static void lanes_meet_again_after_a_condition_and_a_loop(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = UINT32_MAX;
  expect(&words, "setp.lt.u32 %p1, %thread, 7;\n@%p1 bra A;\n"
                 "mov.u32 %r1, 1;\nbra B;\nA: mov.u32 %r1, %thread;\n"
                 "B: setp.eq.u32 %p2, %r1, 0;\n@%p2 bra C;\n"
                 "sub.u32 %r1, %r1, 1;\nbra B;\n"
                 "C: activemask.b32 %r9;");
}

static void a_group_sees_itself_alone(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = i < 5 ? 0x1F : UINT32_MAX << 5;
  expect(&words, "setp.lt.u32 %p1, %thread, 5;\n@%p1 bra A;\n"
                 "activemask.b32 %r9;\nbra B;\nA: activemask.b32 %r9;\nB:");
}

static void lanes_that_exit_early_leave_the_others(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = i % 3 ? 7 : 0xEEEEEEEE;
  expect(&words, "rem.u32 %r1, %thread, 3;\nsetp.eq.u32 %p1, %r1, 0;\n"
                 "@%p1 exit;\nbar.sync 0;\nmov.u32 %r9, 7;");
}

static void guards_keep_the_other_lanes_values(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = i >= 9 ? 2 : 1;
  expect(&words, "mov.u32 %r9, 1;\nsetp.lt.u32 %p1, %thread, 9;\n"
                 "@!%p1 mov.u32 %r9, 2;");
}

static void branches_through_a_list_go_where_the_index_says(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 10 * (i & 3);
  expect(&words, "and.b32 %r1, %thread, 3;\n"
                 "T: .branchtargets L0, L1, L2, L3;\n"
                 "brx.idx %r1, T;\n"
                 "L0: mov.u32 %r9, 0;\nbra J;\nL1: mov.u32 %r9, 10;\nbra J;\n"
                 "L2: mov.u32 %r9, 20;\nbra J;\nL3: mov.u32 %r9, 30;\nJ:");
}

static void an_index_past_the_list_is_a_fault(void **state) {
  (void)state;
  uint32_t out[LANES];
  emulated_t emulated = {.body = "T: .branchtargets L0, L1;\n"
                                 "brx.idx %thread, T;\nL0:\nL1:\n",
                         .out = out,
                         .out_bytes = sizeof out};
  assert_emulated_fault(&emulated, "lane 2: index 2 of a list of 2 targets");
}

/* One lane stores what the others, at a lower pc, wait for. */
static void lanes_that_poll_let_the_others_of_the_warp_go_on(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 42;
  expect(&words, "mov.u32 %r1, 0;\nst.shared.u32 [%r1], %r1;\nbar.sync 0;\n"
                 "setp.eq.u32 %p1, %thread, 31;\n@%p1 bra GIVE;\n"
                 "WAIT: ld.volatile.shared.u32 %r2, [%r1];\n"
                 "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\nbra JOIN;\n"
                 "GIVE: mov.u32 %r2, 42;\nst.volatile.shared.u32 [%r1], %r2;\n"
                 "JOIN: mov.u32 %r9, %r2;");
}

/* The same without a word that says so: plain loads, which are a race. */
static void lanes_that_run_alone_for_long_let_the_others_go_on(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 42;
  expect_in(&words,
            "mov.u32 %r1, 0;\nst.shared.u32 [%r1], %r1;\nbar.sync 0;\n"
            "setp.eq.u32 %p1, %thread, 3;\n@%p1 bra GIVE;\n"
            "WAIT: ld.shared.u32 %r2, [%r1];\n"
            "setp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\nbra JOIN;\n"
            "GIVE: mov.u32 %r2, 42;\nst.shared.u32 [%r1], %r2;\n"
            "JOIN: mov.u32 %r9, %r2;",
            true);
}

static void every_lane_gets_a_lock_once(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = LANES;
  /* [0] the lock, [4] how many have had it. */
  expect(&words, "mov.u32 %r1, 0;\nst.shared.u32 [%r1], %r1;\n"
                 "st.shared.u32 [%r1+4], %r1;\nbar.sync 0;\n"
                 "TRY: atom.shared.cas.b32 %r2, [%r1], 0, 1;\n"
                 "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra TRY;\n"
                 "ld.shared.u32 %r3, [%r1+4];\nadd.u32 %r3, %r3, 1;\n"
                 "st.shared.u32 [%r1+4], %r3;\n"
                 "atom.shared.exch.b32 %r2, [%r1], 0;\n"
                 "bar.warp.sync -1;\nld.shared.u32 %r9, [%r1+4];");
}

static void a_trap_ends_the_launch_with_its_place(void **state) {
  (void)state;
  uint32_t out[LANES];
  emulated_t emulated = {.body = "setp.eq.u32 %p1, %thread, 4;\n@%p1 trap;\n",
                         .out = out,
                         .out_bytes = sizeof out};
  assert_emulated_fault(&emulated, "'@%p1 trap;': cta (0, 0, 0) warp 0 lane 4: "
                                   "the kernel has trapped");
}

static void what_is_no_branch_of_this_kind_is_refused(void **state) {
  (void)state;
  assert_refused("brx.idx %r0, %r1;", "a list of targets");
  assert_refused("nanosleep %r0;", "expected .u32");
  assert_refused("trap.uni;", ".uni is not supported here");
  assert_refused("exit.uni;", ".uni is not supported here");
  assert_accepted("nanosleep.u32 100;\npmevent 1;\nbrkpt;\nret.uni;");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nested_conditions_take_each_lane_its_way),
      cmocka_unit_test(loops_run_as_often_as_each_lane_wants),
      cmocka_unit_test(lanes_meet_again_after_a_condition_and_a_loop),
      cmocka_unit_test(a_group_sees_itself_alone),
      cmocka_unit_test(lanes_that_exit_early_leave_the_others),
      cmocka_unit_test(guards_keep_the_other_lanes_values),
      cmocka_unit_test(branches_through_a_list_go_where_the_index_says),
      cmocka_unit_test(an_index_past_the_list_is_a_fault),
      cmocka_unit_test(lanes_that_poll_let_the_others_of_the_warp_go_on),
      cmocka_unit_test(lanes_that_run_alone_for_long_let_the_others_go_on),
      cmocka_unit_test(every_lane_gets_a_lock_once),
      cmocka_unit_test(a_trap_ends_the_launch_with_its_place),
      cmocka_unit_test(what_is_no_branch_of_this_kind_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
