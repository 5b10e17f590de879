/* Bulk copies without tensor maps, their groups and reductions.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"

#include "spec/spec.h"

enum { WORDS = 256 };

typedef struct {
  uint32_t out[WORDS] __attribute__((aligned(16)));
  uint32_t in[WORDS] __attribute__((aligned(16)));
  uint32_t want[WORDS];
} words_t;

static void check_words(void *data) {
  const words_t *words = data;
  for (uint32_t i = 0; i < WORDS; ++i)
    if (words->out[i] != words->want[i])
      fail_msg("word %u: 0x%x, wanted 0x%x", i, words->out[i], words->want[i]);
}

static emulated_t emulated_of(words_t *words, const char *body) {
  return (emulated_t){.body = body,
                      .threads = 64,
                      .shared_bytes = 8192,
                      .out = words->out,
                      .out_bytes = sizeof words->out,
                      .in = words->in,
                      .in_bytes = sizeof words->in};
}

static void expect_words(words_t *words, const char *body) {
  emulated_t emulated = emulated_of(words, body);
  emulated_run_seeds(&emulated, check_words, words);
}

static void expect_fault(const char *body, const char *part) {
  words_t words = {.want = {0}};
  emulated_t emulated = emulated_of(&words, body);
  assert_emulated_fault(&emulated, part);
}

/* Thread 0 alone up to END; %r5 is the mbarrier, %r6 shared address 1024, %r7
 * shared address 4096. */
#define SETUP                                                                  \
  INIT_MBARRIER("smem", "1")                                                   \
  "mov.u32 %r5, smem;\nadd.u32 %r6, %r5, 1024;\nadd.u32 %r7, %r5, 4096;\n"     \
  "@%p15 bra END;\n"
#define LOAD                                                                   \
  "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024;\n"                \
  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "         \
  "[%r6], [%in], 1024, [%r5];\n" WAIT_PARITY("%r5", "0")
#define STORE(shared)                                                          \
  "cp.async.bulk.global.shared::cta.bulk_group [%out], [" shared "], 1024;\n"  \
  "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"

static void draw_words(words_t *words, uint32_t seed) {
  for (uint32_t i = 0; i < WORDS; ++i)
    words->in[i] = (i + seed) * 2654435761u;
  memcpy(words->want, words->in, sizeof words->want);
}

static void bytes_go_in_and_out(void **state) {
  (void)state;
  words_t words;
  draw_words(&words, 1);
  expect_words(&words, SETUP LOAD STORE("%r6") "END:\n");
}

static void bytes_go_from_shared_to_shared(void **state) {
  (void)state;
  words_t words;
  draw_words(&words, 2);
  expect_words(
      &words, SETUP LOAD
      "mapa.shared::cluster.u32 %r8, %r7, 0;\n"
      "mapa.shared::cluster.u32 %r9, %r5, 0;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024;\n"
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
      "[%r8], [%r6], 1024, [%r9];\n" WAIT_PARITY("%r5", "1")
          STORE("%r7") "END:\n");
}

static void hints_and_masks_are_accepted(void **state) {
  (void)state;
  words_t words;
  draw_words(&words, 3);
  expect_words(
      &words, SETUP
      "mov.u16 %h0, 1;\nmov.u64 %d0, 0;\n"
      "cp.async.bulk.prefetch.L2.global.L2::cache_hint [%in], 1024, %d0;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint "
      "[%r6], [%in], 1024, [%r5], %h0, %d0;\n" WAIT_PARITY(
          "%r5",
          "0") "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint "
               "[%out], [%r6], 1024, %d0;\n"
               "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group "
               "0;\nEND:\n");
}

/* After wait_group.read the source may be overwritten; the wait leaves the
 * latest group alone, whose source must stay. */
static void groups_complete_in_order(void **state) {
  (void)state;
  words_t words;
  draw_words(&words, 4);
  for (uint32_t i = 0; i < 128; ++i)
    words.want[i + 128] = words.in[i];
  words.want[0] = words.in[0];
  expect_words(
      &words, SETUP LOAD
      "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r6], 512;\n"
      "cp.async.bulk.commit_group;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [%out + 512], [%r6], 512;\n"
      "cp.async.bulk.commit_group;\ncp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group.read 1;\n"
      "st.shared.u32 [%r6], 77;\nst.shared.u32 [%r6 + 508], 78;\n"
      "cp.async.bulk.wait_group 0;\nEND:\n");
}

/* A store that nobody waits for still lands; a load too. */
static void copies_outlive_their_thread(void **state) {
  (void)state;
  words_t words;
  draw_words(&words, 5);
  static const char body[] =
      SETUP LOAD "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r6], "
                 "1024;\ncp.async.bulk.commit_group;\nEND:\n";
  emulated_t emulated = emulated_of(&words, body);
  assert_emulated_fault(&emulated, "exit in flight");
  emulated.ignores_hazards = true;
  emulated_run_seeds(&emulated, check_words, &words);
}

/* ---- Reductions ------------------------------------------------------------
 */

static const char reduction_start[] = SETUP LOAD
    "cp.async.bulk.global.shared::cta.bulk_group [%out], [%r6], 16;\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.";
static const char reduction_end[] =
    " [%out], [%r6 + 512], 16;\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nEND:\n";

/* The first 16 bytes of `out` become left op right, nothing else is touched. */
static void expect_reduction(const char *operation, const void *left,
                             const void *right, const void *want) {
  words_t words;
  char body[2048];
  draw_words(&words, 6);
  memcpy(words.in, left, 16);
  memcpy(words.in + 128, right, 16);
  memset(words.want, 0xEE, sizeof words.want);
  memcpy(words.want, want, 16);
  (void)snprintf(body, sizeof body, "%s%s%s", reduction_start, operation,
                 reduction_end);
  expect_words(&words, body);
}

static void reductions_compute(void **state) {
  (void)state;
  const uint32_t u32[4] = {1, 0xFFFFFFFF, 7, 0},
                 other[4] = {2, 3, 0xFFFFFFF0, 5};
  expect_reduction("add.u32", u32, other, (uint32_t[]){3, 2, 0xFFFFFFF7, 5});
  expect_reduction("min.s32", u32, other,
                   (uint32_t[]){1, 0xFFFFFFFF, 0xFFFFFFF0, 0});
  expect_reduction("max.u32", u32, other,
                   (uint32_t[]){2, 0xFFFFFFFF, 0xFFFFFFF0, 5});
  expect_reduction("inc.u32", u32, other, (uint32_t[]){2, 0, 8, 1});
  expect_reduction("dec.u32", u32, other, (uint32_t[]){0, 3, 6, 5});
  expect_reduction("and.b32", u32, other, (uint32_t[]){0, 3, 0, 0});
  expect_reduction("or.b32", u32, other,
                   (uint32_t[]){3, 0xFFFFFFFF, 0xFFFFFFF7, 5});
  expect_reduction("xor.b64", u32, other,
                   (uint32_t[]){3, 0xFFFFFFFC, 0xFFFFFFF7, 5});
  const uint64_t u64[2] = {0xFFFFFFFF, 9}, more[2] = {1, UINT64_MAX};
  expect_reduction("add.u64", u64, more, (uint64_t[]){0x100000000, 8});
  expect_reduction("max.s64", u64, more, (uint64_t[]){0xFFFFFFFF, 9});
}

static void float_reductions_compute(void **state) {
  (void)state;
  const float f32[4] = {1.5f, -2, 0x1p-140f, 3},
              add[4] = {2, 0.25f, 0x1p-141f, 1e30f};
  expect_reduction("add.f32", f32, add,
                   (float[]){3.5f, -1.75f, 0x1.8p-140f, 1e30f});
  uint16_t left[8], right[8], sum[8], low[8];
  for (int i = 0; i < 8; ++i) {
    float a = (float)(3 * i - 7), b = (float)(i * i) / 2;
    left[i] = uattn_f16_from_float(a);
    right[i] = uattn_f16_from_float(b);
    sum[i] = uattn_f16_from_float(a + b);
    low[i] = uattn_f16_from_float(a < b ? a : b);
  }
  left[7] = 0x7C01; /* NaN */
  sum[7] = 0x7FFF;
  low[7] = right[7];
  expect_reduction("add.noftz.f16", left, right, sum);
  expect_reduction("min.f16", left, right, low);
  for (int i = 0; i < 8; ++i) {
    left[i] = uattn_bf16_from_float((float)(100 * i));
    right[i] = uattn_bf16_from_float(0.375f);
    sum[i] = uattn_bf16_from_float(uattn_bf16_to_float(left[i]) + 0.375f);
  }
  expect_reduction("add.noftz.bf16", left, right, sum);
}

static void reductions_reach_shared_memory(void **state) {
  (void)state;
  words_t words;
  draw_words(&words, 7);
  for (uint32_t i = 0; i < WORDS; ++i)
    words.want[i] = 2 * words.in[i];
  expect_words(&words, SETUP LOAD
               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024;\n"
               "cp.reduce.async.bulk.shared::cluster.shared::cta."
               "mbarrier::complete_tx::bytes.add.u32 [%r6], [%r6], 1024, "
               "[%r5];\n" WAIT_PARITY("%r5", "1") STORE("%r6") "END:\n");
}

/* ---- Wrong use -------------------------------------------------------------
 */

#define COPY(operands)                                                         \
  SETUP "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"         \
        "bytes " operands ";\nEND:\n"

static void wrong_use_is_a_fault(void **state) {
  (void)state;
  expect_fault(COPY("[%r6], [%in], 1000, [%r5]"),
               "1000 bytes: expected a multiple of 16");
  expect_fault(COPY("[%r6 + 8], [%in], 1024, [%r5]"), "misaligned");
  expect_fault(COPY("[%r6], [%in + 4], 512, [%r5]"), "misaligned");
  expect_fault(COPY("[%r6], [%in + 16], 1024, [%r5]"), "out of bounds");
  expect_fault(COPY("[%r7 + 4096], [%in], 1024, [%r5]"), "out of bounds");
  expect_fault(COPY("[%r6], [%in], 1024, [%r5 + 8]"), "is not initialised");
  expect_fault(SETUP "mov.u16 %h0, 2;\n"
                     "cp.async.bulk.shared::cluster.global."
                     "mbarrier::complete_tx::bytes.multicast::cluster "
                     "[%r6], [%in], 1024, [%r5], %h0;\nEND:\n",
               "CTA mask 0x2");
}

static void unknown_words_are_refused(void **state) {
  (void)state;
  assert_refused("cp.async.bulk.tensor.2d.shared::cluster.global.im2col."
                 "mbarrier::complete_tx::bytes [%r0], [%map, {%r1, %r2}], "
                 "[%r3], {%h0};",
                 "im2col");
  assert_refused("cp.async.bulk.global.shared::cta.bulk_group.cp_mask "
                 "[%out], [%r0], 16, %h0;",
                 "cp_mask");
  assert_refused("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 "
                 "[%out], [%r0], 16;",
                 "no .add of this type");
  assert_refused("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 "
                 "[%out], [%r0], 16;",
                 "no .min of this type");
  assert_refused("cp.async.bulk.shared::cta.shared::cluster."
                 "mbarrier::complete_tx::bytes [%r0], [%r1], 16, [%r2];",
                 "no known pair of state spaces");
  assert_refused("cp.async.bulk.global.shared::cta [%out], [%r0], 16;",
                 "no .bulk_group");
  assert_refused("cp.async.bulk.tensor.6d.global.shared::cta.bulk_group "
                 "[%map, {%r0}], [%r1];",
                 "no rank");
  assert_refused("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
                 "[%map, {%r0}], [%r1];",
                 "2 coordinates");
  assert_refused("cp.async.bulk.wait_group %r0;", "integer constant");
  assert_refused("tensormap.replace.tile.global_address.global.b1024.b64 "
                 "[%out], %d0;",
                 "cannot be changed by a kernel");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_go_in_and_out),
      cmocka_unit_test(bytes_go_from_shared_to_shared),
      cmocka_unit_test(hints_and_masks_are_accepted),
      cmocka_unit_test(groups_complete_in_order),
      cmocka_unit_test(copies_outlive_their_thread),
      cmocka_unit_test(reductions_compute),
      cmocka_unit_test(float_reductions_compute),
      cmocka_unit_test(reductions_reach_shared_memory),
      cmocka_unit_test(wrong_use_is_a_fault),
      cmocka_unit_test(unknown_words_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
