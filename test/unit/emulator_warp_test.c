/* Shuffles, votes, matches, reductions and elections of a warp.
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
      fail_msg("lane %u: 0x%x, wanted 0x%x", i, words->out[i], words->want[i]);
}

/* %r0 is 100 + lane; the result is in %r9. */
static void expect(words_t *words, const char *body) {
  char text[4096];
  snprintf(text, sizeof text,
           "add.u32 %%r0, %%thread, 100;\n%s\nst.global.u32 [%%mine], %%r9;\n",
           body);
  emulated_t emulated = {
      .body = text, .out = words->out, .out_bytes = sizeof words->out};
  emulated_run_seeds(&emulated, check_words, words);
}

static void expect_fault(const char *body, const char *part) {
  uint32_t out[LANES];
  emulated_t emulated = {.body = body, .out = out, .out_bytes = sizeof out};
  assert_emulated_fault(&emulated, part);
}

static void shuffles_of_all_lanes_follow_their_mode(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 100 + (i ^ 5);
  expect(&words, "shfl.sync.bfly.b32 %r9, %r0, 5, 31, -1;");
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 100 + 9;
  expect(&words, "shfl.sync.idx.b32 %r9, %r0, 9, 31, -1;");
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 100 + (i < 3 ? i : i - 3);
  expect(&words, "shfl.sync.up.b32 %r9, %r0, 3, 0, -1;");
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 100 + (i + 3 > 31 ? i : i + 3);
  expect(&words, "shfl.sync.down.b32 %r9, %r0, 3, 31, -1;");
}

/* Segments of 8 lanes: the mask of c is 0x18. */
static void shuffles_stay_in_their_segment_and_say_so(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = i % 8 + 3 > 7 ? 0 : 100 + i + 3;
  expect(&words, "shfl.sync.down.b32 %r9|%p1, %r0, 3, 0x1807, -1;\n"
                 "@!%p1 mov.u32 %r9, 0;");
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 100 + (i & 24) + 2;
  expect(&words, "shfl.sync.idx.b32 %r9, %r0, 2, 0x1807, -1;");
}

/* Lanes 0 to 9 and the others come at different times and places. */
static void shuffles_of_some_lanes_wait_for_those_alone(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = i < 10 ? 100 + (i ^ 1) : 131;
  expect(&words, "setp.lt.u32 %p1, %thread, 10;\n@%p1 bra A;\n"
                 "shfl.sync.idx.b32 %r9, %r0, 31, 31, 0xFFFFFC00;\nbra B;\n"
                 "A: shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0x3FF;\nB:");
}

/* The lanes of an instruction gather, however they come to it. */
static void lanes_gather_before_a_shuffle(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 100 + 31 - i;
  expect(&words, "mov.u32 %r1, %thread;\n"
                 "AGAIN: setp.eq.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n"
                 "sub.u32 %r1, %r1, 1;\nbra AGAIN;\n"
                 "DONE: shfl.sync.bfly.b32 %r9, %r0, 31, 31, -1;");
}

static void a_lane_that_takes_no_part_gives_a_poison(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = i < 4 ? 0x7FBADBAD : 5;
  expect(&words, "mov.u32 %r9, 5;\nsetp.lt.u32 %p1, %thread, 4;\n"
                 "@%p1 shfl.sync.idx.b32 %r9, %r0, 20, 31, 0xF;");
}

static void votes_count_the_members(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 0x3FF;
  expect(&words, "setp.lt.u32 %p1, %thread, 10;\n"
                 "vote.sync.ballot.b32 %r9, %p1, -1;");
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 0 + 2 + 0 + 8;
  expect(&words, "setp.lt.u32 %p1, %thread, 10;\nsetp.lt.u32 %p2, %r0, 500;\n"
                 "vote.sync.all.pred %p3, %p1, -1;\n"
                 "vote.sync.any.pred %p4, %p1, -1;\n"
                 "vote.sync.uni.pred %p5, %p1, -1;\n"
                 "vote.sync.uni.pred %p6, !%p2, -1;\n"
                 "selp.u32 %r9, 1, 0, %p3;\nselp.u32 %r1, 2, 0, %p4;\n"
                 "selp.u32 %r2, 4, 0, %p5;\nselp.u32 %r3, 8, 0, %p6;\n"
                 "or.b32 %r9, %r9, %r1;\nor.b32 %r9, %r9, %r2;\n"
                 "or.b32 %r9, %r9, %r3;");
}

static void matches_find_equal_values(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 0x11111111u << (i & 3);
  expect(&words, "and.b32 %r1, %thread, 3;\nmatch.any.sync.b32 %r9, %r1, -1;");
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = i < 8 ? 0xFF : 0;
  expect(&words, "shr.u32 %r1, %thread, 3;\ncvt.u64.u32 %d1, %r1;\n"
                 "setp.lt.u32 %p1, %thread, 8;\n@%p1 bra A;\n"
                 "match.all.sync.b64 %r9|%p2, %d1, 0xFFFFFF00;\n"
                 "@%p2 mov.u32 %r9, 1;\nbra B;\n"
                 "A: match.all.sync.b64 %r9|%p2, %d1, 0xFF;\n"
                 "@!%p2 mov.u32 %r9, 1;\nB:");
}

static void reductions_are_of_the_members(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = 32 * 100 + 31 * 16;
  expect(&words, "redux.sync.add.u32 %r9, %r0, -1;");
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = i < 16 ? (uint32_t)-8 : 7;
  expect(&words, "sub.s32 %r1, %thread, 8;\nsetp.lt.u32 %p1, %thread, 16;\n"
                 "@%p1 redux.sync.min.s32 %r9, %r1, 0xFFFF;\n"
                 "@!%p1 and.b32 %r1, %r1, 7;\n"
                 "@!%p1 redux.sync.max.u32 %r9, %r1, 0xFFFF0000;");
}

static void the_lowest_member_is_elected(void **state) {
  (void)state;
  words_t words;
  for (uint32_t i = 0; i < LANES; ++i)
    words.want[i] = i == 0 ? 1000 : i == 4 ? 1004 : i < 4 ? 0 : 4;
  expect(&words, "setp.lt.u32 %p1, %thread, 4;\n"
                 "@%p1 elect.sync %r9|%p2, 0xF;\n"
                 "@!%p1 elect.sync %r9|%p2, 0xFFFFFFF0;\n"
                 "@%p2 add.u32 %r9, %r9, 1000;");
}

static void lanes_that_never_come_are_told(void **state) {
  (void)state;
  expect_fault("setp.lt.u32 %p1, %thread, 4;\n"
               "@%p1 shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0xFF;\n"
               "bar.sync 0;\n",
               "'@%p1 shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0xFF;': waits for "
               "lanes 0x000000f0 of the warp");
  expect_fault("setp.lt.u32 %p1, %thread, 4;\n@%p1 bar.sync 0;\n", "lanes");
}

static void a_mask_without_its_own_lane_is_a_fault(void **state) {
  (void)state;
  expect_fault("bar.warp.sync 0xFFFF;\n",
               "lane 16: the member mask 0x0000ffff does not name the lane");
}

static void forms_that_do_not_exist_are_refused(void **state) {
  (void)state;
  assert_refused("shfl.bfly.b32 %r9, %r0, 1, 31;", "expected .sync");
  assert_refused("shfl.sync.bfly.b64 %r9, %r0, 1, 31, -1;", "expected .sync");
  assert_refused("shfl.sync.b32 %r9, %r0, 1, 31, -1;", "a mode");
  assert_refused("vote.sync.all.b32 %r9, %p1, -1;", "a vote and its type");
  assert_refused("match.any.sync.b32 %r9|%p1, %r0, -1;", "predicate");
  assert_refused("redux.sync.add.f32 %f1, %f2, -1;", ".b32");
  assert_refused("redux.sync.and.u32 %r9, %r0, -1;", ".b32");
  assert_refused("elect.sync %r9, -1;", "d|p");
  assert_refused("activemask.u32 %r9;", "expected .b32");
  assert_accepted("elect.sync _|%p1, -1;");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shuffles_of_all_lanes_follow_their_mode),
      cmocka_unit_test(shuffles_stay_in_their_segment_and_say_so),
      cmocka_unit_test(shuffles_of_some_lanes_wait_for_those_alone),
      cmocka_unit_test(lanes_gather_before_a_shuffle),
      cmocka_unit_test(a_lane_that_takes_no_part_gives_a_poison),
      cmocka_unit_test(votes_count_the_members),
      cmocka_unit_test(matches_find_equal_values),
      cmocka_unit_test(reductions_are_of_the_members),
      cmocka_unit_test(the_lowest_member_is_elected),
      cmocka_unit_test(lanes_that_never_come_are_told),
      cmocka_unit_test(a_mask_without_its_own_lane_is_a_fault),
      cmocka_unit_test(forms_that_do_not_exist_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
