/* mbarriers on the emulator: counts, phases, bytes, wrong use.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"

enum { MAX_WORDS = 128 };

typedef struct {
  uint32_t out[MAX_WORDS];
  uint32_t want[MAX_WORDS];
  uint32_t count;
} words_t;

static void check_words(void *data) {
  const words_t *words = data;
  for (uint32_t i = 0; i < words->count; ++i)
    if (words->out[i] != words->want[i])
      fail_msg("word %u: %u, wanted %u", i, words->out[i], words->want[i]);
}

static void expect_words(words_t *words, uint32_t threads, const char *body) {
  emulated_t emulated = {.body = body,
                         .threads = threads,
                         .shared_bytes = 4096,
                         .out = words->out,
                         .out_bytes = words->count * sizeof words->out[0]};
  emulated_run_seeds(&emulated, check_words, words);
}

static void expect_fault(uint32_t threads, const char *body, const char *part) {
  uint32_t out[MAX_WORDS];
  emulated_t emulated = {.body = body,
                         .threads = threads,
                         .shared_bytes = 4096,
                         .out = out,
                         .out_bytes = sizeof out};
  assert_emulated_fault(&emulated, part);
}

/* One thread runs a body that puts results in the words of `out`. */
#define LOOK(parity, word)                                                     \
  "mbarrier.test_wait.parity.shared::cta.b64 %p0, [smem + 64], " parity ";\n"  \
  "selp.u32 %r0, 1, 0, %p0;\nst.global.u32 [%out + " word "], %r0;\n"

static void phases_flip_when_all_have_arrived(void **state) {
  (void)state;
  words_t words = {.count = 8, .want = {0, 1, 0, 1, 1, 0, 0, 1}};
  expect_words(
      &words, 1,
      "mbarrier.init.shared::cta.b64 [smem + 64], 2;\n"
      /* phase 0: not over; the one before counts as over */
      LOOK("0", "0") LOOK(
          "1",
          "4") "mbarrier.arrive.shared::cta.b64 %d0, [smem + 64];\n" LOOK("0",
                                                                          "8")
          LOOK("1", "12") "mbarrier.arrive.shared::cta.b64 _, [smem + 64];\n"
      /* phase 1 */
      LOOK("0", "16")
          LOOK("1", "20") "mbarrier.arrive.shared.b64 _, [smem + 64], 2;\n"
      /* phase 2 */
      LOOK("0", "24") LOOK("1", "28"));
}

static void states_name_their_phase(void **state) {
  (void)state;
  words_t words = {.count = 5, .want = {0, 1, 3, 2, 0}};
  expect_words(
      &words, 1,
      "mbarrier.init.shared::cta.b64 [smem + 64], 3;\n"
      "mbarrier.arrive.shared::cta.b64 %d0, [smem + 64];\n"
      "mbarrier.test_wait.shared::cta.b64 %p0, [smem + 64], %d0;\n"
      "selp.u32 %r0, 1, 0, %p0;\nst.global.u32 [%out], %r0;\n"
      "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %d1, [smem + "
      "64], 1;\n"
      "mbarrier.arrive.release.cta.shared::cta.b64 %d2, [smem + 64];\n"
      "mbarrier.test_wait.acquire.cta.shared::cta.b64 %p0, [smem + 64], %d0;\n"
      "selp.u32 %r0, 1, 0, %p0;\nst.global.u32 [%out + 4], %r0;\n"
      "mbarrier.pending_count.b64 %r1, %d0;\n"
      "st.global.u32 [%out + 8], %r1;\n"
      "mbarrier.pending_count.b64 %r1, %d1;\n"
      "st.global.u32 [%out + 12], %r1;\n"
      "mbarrier.arrive.shared::cta.b64 %d3, [smem + 64];\n"
      "mbarrier.try_wait.shared::cta.b64 %p0, [smem + 64], %d2, 1000;\n"
      "mbarrier.test_wait.shared::cta.b64 %p0, [smem + 64], %d3;\n"
      "selp.u32 %r0, 1, 0, %p0;\nst.global.u32 [%out + 16], %r0;\n"
      "mbarrier.arrive.shared::cta.b64 _, [smem + 64], 2;\n");
}

static void dropped_arrivals_are_not_expected_again(void **state) {
  (void)state;
  words_t words = {.count = 4, .want = {0, 1, 0, 1}};
  expect_words(
      &words, 1,
      "mbarrier.init.shared::cta.b64 [smem + 64], 3;\n"
      "mbarrier.arrive_drop.shared::cta.b64 _, [smem + 64], 2;\n" LOOK(
          "0",
          "0") "mbarrier.arrive.shared::cta.b64 _, [smem + 64];\n" LOOK("0",
                                                                        "4")
          LOOK("1", "8")
      /* now one arrival a phase */
      "mbarrier.arrive.shared::cta.b64 _, [smem + 64];\n" LOOK("1", "12"));
}

static void bytes_hold_up_a_phase(void **state) {
  (void)state;
  words_t words = {.count = 6, .want = {0, 0, 1, 0, 0, 1}};
  expect_words(
      &words, 1,
      "mbarrier.init.shared::cta.b64 [smem + 64], 1;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem + 64], 96;\n" LOOK(
          "0", "0") "mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 "
                    "[smem + 64], 64;\n" LOOK(
                        "0", "4") "mbarrier.complete_tx.shared::"
                                  "cta.b64 [smem + 64], 32;\n" LOOK("0", "8")
      /* bytes that come before they are announced */
      "mbarrier.complete_tx.shared::cta.b64 [smem + 64], 16;\n"
      "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [smem + 64], 32;\n"
      "mbarrier.arrive.shared::cta.b64 _, [smem + 64];\n" LOOK(
          "1", "12") "mbarrier.expect_tx.shared::cta.b64 [smem + 64], "
                     "16;\n" LOOK("1", "16") "mbarrier.complete_tx."
                                             "shared::cta.b64 [smem + 64], "
                                             "32;\n" LOOK("1", "20"));
}

/* Warp 0 hands 16 numbers to warp 1 through two slots, as kernels do. */
static void rings_carry_numbers_in_order(void **state) {
  (void)state;
  words_t words = {.count = 16};
  for (uint32_t i = 0; i < 16; ++i)
    words.want[i] = 3 * i + 1;
  expect_words(
      &words, 64,
      "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra READY;\n"
      "mbarrier.init.shared::cta.b64 [smem], 1;\n"
      "mbarrier.init.shared::cta.b64 [smem + 8], 1;\n"
      "mbarrier.init.shared::cta.b64 [smem + 16], 32;\n"
      "mbarrier.init.shared::cta.b64 [smem + 24], 32;\n"
      "READY: bar.sync 0;\nmov.u32 %r0, 0;\n"
      "setp.ge.u32 %p0, %thread, 32;\n@%p0 bra CONSUME;\n"
      "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra DONE;\n"
      "PRODUCE: and.b32 %r1, %r0, 1;\nshl.b32 %r2, %r1, 3;\n"
      "shr.u32 %r3, %r0, 1;\nand.b32 %r3, %r3, 1;\nxor.b32 %r4, %r3, "
      "1;\n" WAIT_PARITY(
          "%r2 + 16",
          "%r4") "mad.lo.u32 %r5, %r0, 3, 1;\nst.shared.u32 [%r2 + 32], %r5;\n"
                 "mbarrier.arrive.shared::cta.b64 _, [%r2];\n"
                 "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p1, %r0, 16;\n@%p1 bra "
                 "PRODUCE;\n"
                 "bra DONE;\n"
                 "CONSUME: and.b32 %r1, %r0, 1;\nshl.b32 %r2, %r1, 3;\n"
                 "shr.u32 %r3, %r0, 1;\nand.b32 %r3, %r3, 1;\n" WAIT_PARITY(
                     "%r2",
                     "%r3") "ld.shared.u32 %r5, [%r2 + 32];\n"
                            "mul.wide.u32 %d0, %r0, 4;\nadd.s64 %d0, %out, "
                            "%d0;\n"
                            "st.global.u32 [%d0], %r5;\n"
                            "mbarrier.arrive.shared::cta.b64 _, [%r2 + 16];\n"
                            "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p1, %r0, 16;\n"
                            "@%p1 bra CONSUME;\nDONE:\n");
}

static void own_cluster_addresses_work(void **state) {
  (void)state;
  words_t words = {.count = 3, .want = {1, 1, 0}};
  expect_words(
      &words, 1,
      "mbarrier.init.shared::cta.b64 [smem + 64], 1;\n"
      "mov.u32 %r1, 64;\nmapa.shared::cluster.u32 %r2, %r1, 0;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n" LOOK(
          "0", "0")
      /* the same through a generic address */
      "mov.u64 %d0, smem;\ncvta.shared.u64 %d0, %d0;\n"
      "mapa.u64 %d1, %d0, 0;\nmbarrier.arrive.b64 _, [%d1 + 64];\n" LOOK(
          "1", "4") "getctarank.shared::cluster.u32 %r3, %r2;\n"
                    "st.global.u32 [%out + 8], %r3;\n");
}

static void wrong_use_is_a_fault(void **state) {
  (void)state;
#define INIT "mbarrier.init.shared::cta.b64 [smem + 64], 2;\n"
  expect_fault(1, "mbarrier.arrive.shared::cta.b64 _, [smem + 64];\n",
               "is not initialised");
  expect_fault(1, "mbarrier.init.shared::cta.b64 [smem + 60], 2;\n",
               "misaligned");
  expect_fault(1, "mbarrier.init.shared::cta.b64 [smem + 4096], 2;\n",
               "out of bounds");
  expect_fault(1, "mbarrier.init.shared::cta.b64 [smem + 64], 0;\n",
               "with 0 arrivals: expected 1 to 1048575");
  expect_fault(1, INIT INIT, "is initialised already");
  expect_fault(1,
               INIT "mbarrier.inval.shared::cta.b64 [smem + 64];\n"
                    "mbarrier.arrive.shared::cta.b64 _, [smem + 64];\n",
               "is not initialised");
  expect_fault(1, INIT "mbarrier.arrive.shared::cta.b64 _, [smem + 64], 3;\n",
               "3 arrivals where 2 of 2 are pending");
  expect_fault(
      1,
      INIT "mbarrier.arrive.noComplete.shared::cta.b64 %d0, [smem + 64], 2;\n",
      "would complete its phase");
  expect_fault(1,
               INIT "st.shared.u32 [smem + 64], 5;\n"
                    "mbarrier.arrive.shared::cta.b64 _, [smem + 64];\n",
               "overwritten");
  expect_fault(
      1, INIT "mbarrier.expect_tx.shared::cta.b64 [smem + 64], 1048576;\n",
      "bytes pending: expected at most 1048575");
  expect_fault(
      1,
      INIT "mbarrier.test_wait.parity.shared::cta.b64 %p0, [smem + 64], 2;\n",
      "parity 2: expected 0 or 1");
  expect_fault(1, INIT "mbarrier.arrive.b64 _, [%out];\n",
               "is not in shared memory");
  expect_fault(1, "mov.u32 %r0, 0;\nmapa.shared::cluster.u32 %r1, %r0, 1;\n",
               "CTA rank 1");
#undef INIT
}

static void deadlock_tells_phase_and_counts(void **state) {
  (void)state;
  expect_fault(
      32,
      INIT_MBARRIER("smem + 64",
                    "40") "mbarrier.arrive.shared::cta.b64 _, [smem + 64];\n"
                          "@!%p15 mbarrier.expect_tx.shared::cta.b64 "
                          "[smem + 64], 512;\n" WAIT_PARITY("smem + 64", "0"),
      "parity 0 of the mbarrier at shared address 64: phase 0, 8 of "
      "40 arrivals pending, 512 bytes pending");
}

static void unknown_words_are_refused(void **state) {
  (void)state;
  assert_refused("mbarrier.flip.b64 [%r0];", "unknown operation");
  assert_refused("mbarrier.init.shared::cta.b32 [%r0], 1;", "no .b64");
  assert_refused("mbarrier.init.global.b64 [%d0], 1;", "global");
  assert_refused("mbarrier.arrive.expect_tx.shared.b64 _, [%r0];", "operands");
  assert_refused("mbarrier.arrive.noComplete.shared.b64 %d0, [%r0];",
                 "operands");
  assert_refused("mbarrier.try_wait.parity.acquire.gpu.shared::cta.b64 %p0, "
                 "[%r0], 0;",
                 "gpu");
  assert_refused("mbarrier.test_wait.parity.b64 %p0, [%d0], 0, 5;", "operands");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(phases_flip_when_all_have_arrived),
      cmocka_unit_test(states_name_their_phase),
      cmocka_unit_test(dropped_arrivals_are_not_expected_again),
      cmocka_unit_test(bytes_hold_up_a_phase),
      cmocka_unit_test(rings_carry_numbers_in_order),
      cmocka_unit_test(own_cluster_addresses_work),
      cmocka_unit_test(wrong_use_is_a_fault),
      cmocka_unit_test(deadlock_tells_phase_and_counts),
      cmocka_unit_test(unknown_words_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
