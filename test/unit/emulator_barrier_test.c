/* Named barriers, the cluster's barrier and fences, on the emulator.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"

enum { MAX_THREADS = 256 };

typedef struct {
  uint32_t out[MAX_THREADS];
  uint32_t want[MAX_THREADS];
  uint32_t threads;
} words_t;

static void check_words(void *data) {
  const words_t *words = data;
  for (uint32_t i = 0; i < words->threads; ++i)
    if (words->out[i] != words->want[i])
      fail_msg("thread %u: %u, wanted %u", i, words->out[i], words->want[i]);
}

/* Every thread's word of `out` becomes `want`. */
static void expect_words(words_t *words, const char *body) {
  emulated_t emulated = {.body = body,
                         .threads = words->threads,
                         .shared_bytes = 4096,
                         .out = words->out,
                         .out_bytes = words->threads * sizeof words->out[0]};
  emulated_run_seeds(&emulated, check_words, words);
}

static void expect_fault(uint32_t threads, const char *body, const char *part) {
  uint32_t out[MAX_THREADS];
  emulated_t emulated = {.body = body,
                         .threads = threads,
                         .shared_bytes = 4096,
                         .out = out,
                         .out_bytes = sizeof out};
  assert_emulated_fault(&emulated, part);
}

/* %r0 = 4 * thread; the thread's own word of shared memory is its number. */
#define STORE_THREAD "shl.b32 %r0, %thread, 2;\nst.shared.u32 [%r0], %thread;\n"
/* Reads the word of thread `other` and writes it to the thread's result. */
#define LOAD_OTHER(other)                                                      \
  "shl.b32 %r2, " other ", 2;\nld.shared.u32 %r3, [%r2];\n"                    \
  "st.global.u32 [%mine], %r3;\n"

static void bar_sync_waits_for_all_threads(void **state) {
  (void)state;
  words_t words = {.threads = 128};
  for (uint32_t i = 0; i < words.threads; ++i)
    words.want[i] = i ^ 64;
  expect_words(&words, STORE_THREAD
               "bar.sync 0;\nxor.b32 %r1, %thread, 64;\n" LOAD_OTHER("%r1"));
}

static void arrivals_and_waits_count_by_warps(void **state) {
  (void)state;
  words_t words = {.threads = 96};
  for (uint32_t i = 0; i < words.threads; ++i)
    words.want[i] = i < 32 ? i + 64 : 7;
  expect_words(
      &words,
      "mov.u32 %r8, 3;\nmov.u32 %r9, 96;\n"
      "setp.lt.u32 %p0, %thread, 32;\n@%p0 bra WAITS;\n" STORE_THREAD
      "barrier.cta.arrive.aligned %r8, %r9;\n"
      "st.global.u32 [%mine], 7;\nret;\n"
      "WAITS: bar.sync %r8, 96;\nadd.u32 %r1, %thread, 64;\n" LOAD_OTHER(
          "%r1"));
}

/* Two warps take turns, 20 times each: a counter that only the one whose turn
 * it is reads and writes. */
static void two_barriers_make_turns(void **state) {
  (void)state;
  words_t words = {.threads = 64};
  for (uint32_t i = 0; i < words.threads; ++i)
    words.want[i] = i < 32 ? 38 : 39;
  expect_words(&words,
               "shr.u32 %r10, %thread, 5;\nadd.u32 %r11, %r10, 1;\n"
               "xor.b32 %r12, %r10, 1;\nadd.u32 %r12, %r12, 1;\n"
               "mov.u32 %r13, 0;\nsetp.eq.u32 %p0, %r10, 0;\n"
               "@%p0 st.shared.u32 [smem], %r13;\nbar.sync 0;\n"
               "@%p0 bra.uni TURN;\n"
               "bar.arrive 1, 64;\n"
               "TURN: bar.sync %r11, 64;\n"
               "ld.shared.u32 %r14, [smem];\nbar.warp.sync 0xffffffff;\n"
               "add.u32 %r15, %r14, 1;\nst.shared.u32 [smem], %r15;\n"
               "bar.arrive %r12, 64;\nadd.u32 %r13, %r13, 1;\n"
               "setp.lt.u32 %p1, %r13, 20;\n@%p1 bra.uni TURN;\n"
               "st.global.u32 [%mine], %r14;\n"
               "setp.eq.u32 %p0, %r10, 0;\n@%p0 bar.sync %r11, 64;\n");
}

static void reductions_see_every_thread(void **state) {
  (void)state;
  words_t words = {.threads = 64};
  for (uint32_t i = 0; i < words.threads; ++i)
    words.want[i] = 35 + 1000 + 200000;
  expect_words(&words, "setp.lt.u32 %p0, %thread, 35;\nmov.u32 %r4, 0;\n"
                       "bar.red.popc.u32 %r1, 0, %p0;\n"
                       "setp.lt.u32 %p1, %thread, 64;\n"
                       "bar.red.and.pred %p2, 1, 64, %p1;\n"
                       "@%p2 add.u32 %r1, %r1, 1000;\n"
                       "barrier.cta.red.and.aligned.pred %p2, 1, %p0;\n"
                       "@%p2 add.u32 %r1, %r1, 2000;\n"
                       "setp.eq.u32 %p3, %thread, 63;\n"
                       "barrier.red.or.pred %p2, 15, %p3;\n"
                       "@%p2 add.u32 %r1, %r1, 200000;\n"
                       "barrier.red.or.pred %p2, 15, !%p1;\n"
                       "@%p2 add.u32 %r1, %r1, 4000000;\n"
                       "st.global.u32 [%mine], %r1;\n");
}

static void parted_lanes_meet_at_barrier(void **state) {
  (void)state;
  words_t words = {.threads = 64};
  for (uint32_t i = 0; i < words.threads; ++i)
    words.want[i] = i ^ 33;
  expect_words(&words, STORE_THREAD
               "and.b32 %r5, %thread, 1;\nsetp.eq.u32 %p0, %r5, 0;\n"
               "@%p0 bra EVEN;\nbarrier.sync 2, 64;\nbra DONE;\n"
               "EVEN: mov.u32 %r6, 2;\nbarrier.sync %r6, 64;\n"
               "DONE: xor.b32 %r1, %thread, 33;\n" LOAD_OTHER("%r1"));
}

static void exited_warps_do_not_hold_up(void **state) {
  (void)state;
  words_t words = {.threads = 96};
  for (uint32_t i = 0; i < words.threads; ++i)
    words.want[i] = i < 64 ? i ^ 32 : 0xEEEEEEEE;
  expect_words(&words, STORE_THREAD
               "setp.ge.u32 %p0, %thread, 64;\n@%p0 ret;\nbar.sync 0;\n"
               "xor.b32 %r1, %thread, 32;\n" LOAD_OTHER("%r1"));
}

static void cluster_of_one_arrives_and_waits(void **state) {
  (void)state;
  words_t words = {.threads = 128};
  for (uint32_t i = 0; i < words.threads; ++i)
    words.want[i] = (i ^ 96) + 1;
  expect_words(&words, STORE_THREAD
               "barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;\n"
               "xor.b32 %r1, %thread, 96;\nshl.b32 %r2, %r1, 2;\n"
               "ld.shared.u32 %r3, [%r2];\nadd.u32 %r3, %r3, 1;\n"
               "barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"
               "st.global.u32 [%mine], %r3;\n");
}

static void wrong_use_is_a_fault(void **state) {
  (void)state;
  expect_fault(64, "bar.sync 1, 33;\n", "33 threads: expected a multiple");
  expect_fault(64, "bar.sync 1, 0;\n", "0 threads: expected a multiple");
  expect_fault(64, "mov.u32 %r0, 16;\nbar.sync %r0, 64;\n",
               "barrier 16: expected 0 to 15");
  expect_fault(64, "barrier.sync %thread, 64;\n", "expected one for the warp");
  expect_fault(96,
               "shr.u32 %r0, %thread, 5;\nadd.u32 %r0, %r0, 2;\n"
               "shl.b32 %r0, %r0, 5;\nbar.sync 1, %r0;\n",
               "threads, where the phase began with");
  expect_fault(64,
               "setp.lt.u32 %p0, %thread, 32;\n"
               "@%p0 bar.red.or.pred %p1, 1, 64, %p0;\n"
               "@!%p0 bar.sync 1, 64;\n",
               "a reduction and another arrival");
  expect_fault(64, "setp.lt.u32 %p0, %thread, 16;\n@%p0 bar.sync 0;\n",
               "expected all of the warp");
  expect_fault(64, "barrier.cluster.wait;\n", "waits without having arrived");
  expect_fault(64, "barrier.cluster.arrive;\nbarrier.cluster.arrive;\n",
               "arrives again before it has waited");
}

static void deadlock_tells_who_has_come(void **state) {
  (void)state;
  expect_fault(64, "bar.sync 5, 96;\n", "barrier 5, 2 of 3 warps arrived");
  expect_fault(64,
               "setp.lt.u32 %p0, %thread, 32;\n@%p0 barrier.cluster.arrive;\n"
               "@%p0 barrier.cluster.wait;\nbar.sync 0;\n",
               "the cluster's barrier, 1 of 2 warps arrived");
}

static void fences_and_hints_are_known(void **state) {
  (void)state;
  static const char *const known[] = {
      "fence.proxy.async;\n",
      "fence.proxy.async.global;\n",
      "fence.proxy.async.shared::cta;\n",
      "fence.proxy.alias;\n",
      "fence.mbarrier_init.release.cluster;\n",
      "fence.proxy.tensormap::generic.release.gpu;\n",
      "fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\n",
      "fence.acq_rel.gpu;\n",
      "fence.sc.sys;\n",
      "fence.cta;\n",
      "membar.gl;\n",
      "setmaxnreg.inc.sync.aligned.u32 240;\n",
      "setmaxnreg.dec.sync.aligned.u32 24;\n",
      "griddepcontrol.wait;\n",
      "griddepcontrol.launch_dependents;\n",
  };
  for (size_t i = 0; i < COUNT_OF(known); ++i)
    assert_accepted(known[i]);
}

static void unknown_words_are_refused(void **state) {
  (void)state;
  assert_refused("fence.proxy.texture;", "no known form");
  assert_refused("fence.acq_rel;", "no known form");
  assert_refused("fence.acq_rel.gpu.gpu;", "no known form");
  assert_refused("membar.gpu;", "no known form");
  assert_refused("fence.mbarrier_init.release.cluster 1;", "operands");
  assert_refused("setmaxnreg.inc.sync.aligned.u32 12;", "12 registers");
  assert_refused("setmaxnreg.inc.sync.aligned.u32 36;", "36 registers");
  assert_refused("bar.sync.now 0;", "now");
  assert_refused("bar.arrive 0;", "operands");
  assert_refused("barrier.cluster.leave;", "neither .arrive nor .wait");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bar_sync_waits_for_all_threads),
      cmocka_unit_test(arrivals_and_waits_count_by_warps),
      cmocka_unit_test(two_barriers_make_turns),
      cmocka_unit_test(reductions_see_every_thread),
      cmocka_unit_test(parted_lanes_meet_at_barrier),
      cmocka_unit_test(exited_warps_do_not_hold_up),
      cmocka_unit_test(cluster_of_one_arrives_and_waits),
      cmocka_unit_test(wrong_use_is_a_fault),
      cmocka_unit_test(deadlock_tells_who_has_come),
      cmocka_unit_test(fences_and_hints_are_known),
      cmocka_unit_test(unknown_words_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
