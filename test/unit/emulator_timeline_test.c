/* Timelines: times that can be worked out by hand, what does not depend on the
 * seed, refusals, the published table.
 * Layer: test. Must not know: how the emulator schedules.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the sums below are made of: an instruction issues in a cycle, moves and
 * loads of parameters in none; integers keep their unit busy for 2, special
 * functions for 8; a stretch lasts as long as its busiest unit needs; an
 * instruction that synchronises counts to the stretch behind it. The kernels
 * leave out the fences and values that a timeline does not need. */
#include "emulator_launch_fixture.h"

#include "emulator/timeline.h"

enum { LANES = 32 };

#define SMEM ".shared .align 1024 .b8 smem[16384];\n"
#define REPEAT_10(text) text text text text text text text text text text
#define REPEAT_100(text) REPEAT_10(REPEAT_10(text))

/* Thread 0 makes one arrival the barrier at 0; takes 2 cycles up to the
 * barrier, which all pass at 32. */
#define START                                                                  \
  MODULE_HEADER KERNEL_START SMEM                                              \
      "mov.u32 %r1, %tid.x;\nmov.u32 %r3, smem;\n"                             \
      "setp.eq.u32 %p1, %r1, 0;\n"                                             \
      "@%p1 mbarrier.init.shared::cta.b64 [%r3], 1;\nbar.sync 0;\n"
#define WAIT                                                                   \
  "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;\n"            \
  "@!%p3 bra WAIT;\n"

/* ---- Running ---------------------------------------------------------------
 */

static uattn_error_t *make(uint64_t cta, uattn_emulator_timeline_t **out) {
  const uattn_emulator_timeline_options_t options = {
      .struct_size = sizeof options, .cta = cta};
  return uattn_emulator_timeline_create(&options, out);
}

static uint64_t memory[1024];

static uattn_error_t *launch(const char *text, uint32_t threads, uint64_t seed,
                             uattn_emulator_timeline_t *timeline,
                             size_t struct_size) {
  uattn_emulator_t *emulator = NULL;
  assert_ok(uattn_emulator_create("k.ptx", text, strlen(text), &emulator));
  uint64_t address = (uint64_t)(uintptr_t)memory;
  const void *params[] = {&address};
  const size_t param_bytes[] = {sizeof address};
  const uattn_emulator_memory_t memories = {"out", memory, sizeof memory,
                                            false};
  const uattn_emulator_launch_t options = {.struct_size = struct_size,
                                           .grid = {2, 1, 1},
                                           .block = {threads, 1, 1},
                                           .params = params,
                                           .param_bytes = param_bytes,
                                           .param_count = 1,
                                           .memories = &memories,
                                           .memory_count = 1,
                                           .seed = seed,
                                           .thread_count = 1,
                                           .ignores_hazards = true,
                                           .timeline = timeline};
  uattn_error_t *error = uattn_emulator_run(emulator, 0, &options, NULL);
  uattn_emulator_destroy(emulator);
  return error;
}

static uattn_emulator_timeline_t *record(const char *text, uint32_t threads,
                                         uint64_t seed) {
  uattn_emulator_timeline_t *timeline = NULL;
  assert_ok(make(1, &timeline));
  assert_ok(
      launch(text, threads, seed, timeline, sizeof(uattn_emulator_launch_t)));
  assert_int_equal(timeline->panel_count, 1);
  return timeline;
}

typedef struct {
  emu_span_kind_t kind;
  double begin;
  double end;
} wanted_t;

static void assert_spans(const uattn_emulator_timeline_t *timeline,
                         uint32_t warp, const wanted_t *wanted, size_t count) {
  const emu_warp_line_t *line = &timeline->panels[0].warps[warp];
  for (size_t i = 0; i < line->count && i < count; ++i) {
    if (line->spans[i].kind != wanted[i].kind ||
        line->spans[i].begin != wanted[i].begin ||
        line->spans[i].end != wanted[i].end)
      fail_msg("warp %u, span %zu: kind %d from %g to %g, expected kind %d "
               "from %g to %g",
               warp, i, (int)line->spans[i].kind, line->spans[i].begin,
               line->spans[i].end, (int)wanted[i].kind, wanted[i].begin,
               wanted[i].end);
  }
  assert_int_equal(line->count, count);
}

/* ---- Times -----------------------------------------------------------------
 */

static const char hand_over_text[] =
    START "setp.ge.u32 %p2, %r1, 32;\n@%p2 bra GIVER;\n" WAIT "ret;\n"
          "GIVER:\n" REPEAT_100("fma.rn.f32 %f1, %f2, %f3, %f1;\n")
    /* One lane arrives. */
    "setp.ne.u32 %p4, %r1, 32;\n@%p4 bra END;\n"
    "mbarrier.arrive.shared::cta.b64 _, [%r3];\nEND:\n" KERNEL_END;

/* Behind the barrier the taker issues bar, setp and bra, then waits. The giver
 * issues these, 100 fma, setp and bra, then arrives: at 32 + 105. */
static void a_wait_ends_after_the_arrival(void **state) {
  (void)state;
  uattn_emulator_timeline_t *timeline = record(hand_over_text, 2 * LANES, 1);
  const wanted_t taker[] = {{EMU_SPAN_WORK, 0, 2},
                            {EMU_SPAN_WAIT, 2, 32},
                            {EMU_SPAN_WORK, 32, 35},
                            {EMU_SPAN_WAIT, 35, 137 + 30},
                            {EMU_SPAN_WORK, 167, 169}};
  assert_spans(timeline, 0, taker, COUNT_OF(taker));
  const wanted_t giver[] = {
      {EMU_SPAN_WORK, 0, 2}, {EMU_SPAN_WAIT, 2, 32}, {EMU_SPAN_WORK, 32, 138}};
  assert_spans(timeline, 1, giver, COUNT_OF(giver));
  const emu_panel_t *panel = &timeline->panels[0];
  assert_true(panel->cycles == 169);
  assert_int_equal(panel->cta, 1);
  const emu_hand_over_t *last = &panel->hand_overs[panel->hand_over_count - 1];
  assert_int_equal(last->from, 1);
  assert_int_equal(last->to, 0);
  assert_true(last->begin == 137 && last->end == 167);
  assert_int_equal(last->object, 0);
  size_t size = 0;
  assert_non_null(strstr(uattn_emulator_timeline_svg(timeline, &size),
                         "warp 0: waits for mbarrier 0x0, phase 0, cycles 35 "
                         "to 167 (132), line "));
  uattn_emulator_timeline_destroy(timeline);
}

/* Two copies of 4 KB go out 3 and 4 cycles behind the barrier: the first is
 * moved in 128 cycles, the second after it. */
static const char copies_text[] =
    START "@!%p1 bra END;\n"
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 8192;\n"
          "add.u32 %r4, %r3, 1024;\n"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
          "[%r4], [%d0], 4096, [%r3];\n"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
          "[%r4+4096], [%d0], 4096, [%r3];\n" WAIT "END:\n" KERNEL_END;

static void copies_queue_and_land(void **state) {
  (void)state;
  uattn_emulator_timeline_t *timeline = record(copies_text, LANES, 1);
  const emu_panel_t *panel = &timeline->panels[0];
  assert_int_equal(panel->copy_count, 2);
  /* bar, bra; arrive, add (2 cycles). */
  const double issue = 32 + 2 + 2;
  assert_true(panel->copies[0].issue == issue);
  assert_true(panel->copies[0].moved == issue + 128);
  assert_true(panel->copies[1].issue == issue + 1);
  assert_true(panel->copies[1].begin == issue + 128);
  assert_true(panel->copies[1].end == issue + 256 + EMU_COPY_LATENCY);
  const emu_warp_line_t *line = &panel->warps[0];
  const emu_span_t *wait = &line->spans[line->count - 2];
  assert_int_equal(wait->kind, EMU_SPAN_WAIT);
  assert_true(wait->begin == issue + 2);
  assert_true(wait->end == panel->copies[1].end + EMU_HAND_OVER);
  assert_int_equal(panel->hand_overs[panel->hand_over_count - 1].from,
                   EMU_NO_WARP);
  uattn_emulator_timeline_destroy(timeline);
}

#define D_8(n)                                                                 \
  "%f" n "0,%f" n "1,%f" n "2,%f" n "3,%f" n "4,%f" n "5,%f" n "6,%f" n "7"
#define PRODUCT                                                                \
  "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" D_8("1") "," D_8(   \
      "2") "," D_8("3") "," D_8("4") "}, %d1, %d1, %p1, 1, 1, 0, 0;\n"

static const char products_text[] = MODULE_HEADER KERNEL_START SMEM
    "mov.u32 %r3, smem;\nmov.u64 %d1, 0;\nmov.pred %p1, 0;\n"
    "wgmma.fence.sync.aligned;\n" PRODUCT PRODUCT
    "wgmma.commit_group.sync.aligned;\n" PRODUCT
    "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n"
    "wgmma.wait_group.sync.aligned 0;\n" KERNEL_END;

/* 64 x 64 x 16 / 2048 is 32 cycles; products follow each other. The waits are
 * for the first group and for all. */
static void products_queue_and_are_waited_for(void **state) {
  (void)state;
  uattn_emulator_timeline_t *timeline = record(products_text, 4 * LANES, 1);
  const emu_panel_t *panel = &timeline->panels[0];
  assert_int_equal(panel->product_count, 3);
  for (size_t i = 0; i < 3; ++i) {
    assert_true(panel->products[i].begin == 1 + 32.0 * (double)i);
    assert_true(panel->products[i].end == 1 + 32.0 * (double)(i + 1));
  }
  const wanted_t wanted[] = {{EMU_SPAN_WORK, 0, 6},
                             {EMU_SPAN_PRODUCT_WAIT, 6, 65},
                             {EMU_SPAN_WORK, 65, 66},
                             {EMU_SPAN_PRODUCT_WAIT, 66, 97},
                             {EMU_SPAN_WORK, 97, 98}};
  for (uint32_t warp = 0; warp < 4; ++warp)
    assert_spans(timeline, warp, wanted, COUNT_OF(wanted));
  uattn_emulator_timeline_destroy(timeline);
}

/* 100 ex2 keep a quarter's unit busy for 800 cycles; warps 0 and 4 share one,
 * the others have one each. */
static void warps_of_a_quarter_share_its_units(void **state) {
  (void)state;
  static const char text[] =
      MODULE_HEADER KERNEL_START REPEAT_100("ex2.approx.f32 %f1, %f2;\n")
          KERNEL_END;
  uattn_emulator_timeline_t *timeline = record(text, 5 * LANES, 1);
  const wanted_t shared[] = {{EMU_SPAN_SOFTMAX, 0, 1600}};
  const wanted_t alone[] = {{EMU_SPAN_SOFTMAX, 0, 800}};
  assert_spans(timeline, 0, shared, 1);
  assert_spans(timeline, 1, alone, 1);
  assert_spans(timeline, 4, shared, 1);
  uattn_emulator_timeline_destroy(timeline);
}

/* CTA 0 leaves at once, CTA 1 works for 100 cycles. */
static void the_cta_asked_for_is_recorded(void **state) {
  (void)state;
  static const char text[] = MODULE_HEADER KERNEL_START
      "mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra "
      "END;\n" REPEAT_100(
          "fma.rn.f32 %f1, %f2, %f3, %f1;\n") "END:\n" KERNEL_END;
  for (uint64_t cta = 0; cta < 2; ++cta) {
    uattn_emulator_timeline_t *timeline = NULL;
    assert_ok(make(cta, &timeline));
    assert_ok(
        launch(text, LANES, 1, timeline, sizeof(uattn_emulator_launch_t)));
    assert_int_equal(timeline->panels[0].cta, cta);
    assert_true(timeline->panels[0].cycles == (cta ? 102 : 2));
    uattn_emulator_timeline_destroy(timeline);
  }
}

/* ---- The picture -----------------------------------------------------------
 */

static void seeds_give_one_picture(void **state) {
  (void)state;
  const struct {
    const char *text;
    uint32_t threads;
  } kernels[] = {{hand_over_text, 2 * LANES},
                 {copies_text, LANES},
                 {products_text, 4 * LANES}};
  for (size_t i = 0; i < COUNT_OF(kernels); ++i) {
    char *first = NULL;
    for (uint64_t seed = 0; seed < 12; ++seed) {
      uattn_emulator_timeline_t *timeline =
          record(kernels[i].text, kernels[i].threads, seed);
      size_t size = 0;
      const char *svg = uattn_emulator_timeline_svg(timeline, &size);
      assert_int_equal(size, strlen(svg));
      if (!first)
        first = strdup(svg);
      assert_string_equal(first, svg);
      uattn_emulator_timeline_destroy(timeline);
    }
    free(first);
  }
}

static void launches_add_panels(void **state) {
  (void)state;
  uattn_emulator_timeline_t *timeline = record(copies_text, LANES, 1);
  assert_ok(launch(hand_over_text, 2 * LANES, 1, timeline,
                   sizeof(uattn_emulator_launch_t)));
  assert_int_equal(timeline->panel_count, 2);
  size_t size = 0;
  const char *svg = uattn_emulator_timeline_svg(timeline, &size);
  assert_non_null(strstr(svg, "id=\"kernel0-copies\""));
  assert_non_null(strstr(svg, "id=\"kernel1-tensor\""));
  assert_null(strstr(svg, "<script"));
  uattn_emulator_timeline_destroy(timeline);
}

/* Warps that meet 20000 times, drawn from cycle 100 to the end. */
static uattn_emulator_timeline_t *record_long_run(uint32_t threads) {
  static const char text[] =
      START "mov.u32 %r5, 0;\n"
            "AGAIN: add.u32 %r5, %r5, 1;\nbar.sync 0;\n"
            "setp.lt.u32 %p2, %r5, 20000;\n@%p2 bra AGAIN;\n" KERNEL_END;
  const uattn_emulator_timeline_options_t options = {
      .struct_size = sizeof options, .begin_cycle = 100, .end_cycle = 1000000};
  uattn_emulator_timeline_t *timeline = NULL;
  assert_ok(uattn_emulator_timeline_create(&options, &timeline));
  assert_ok(
      launch(text, threads, 1, timeline, sizeof(uattn_emulator_launch_t)));
  return timeline;
}

/* 32 warps: more than is recorded, and than a picture of 500 KB holds. */
static void long_runs_are_cut(void **state) {
  (void)state;
  uattn_emulator_timeline_t *timeline = record_long_run(32 * LANES);
  assert_true(timeline->panels[0].is_cut);
  size_t size = 0;
  const char *svg = uattn_emulator_timeline_svg(timeline, &size);
  assert_in_range(size, 50000, 500000);
  assert_non_null(strstr(svg, "; drawn: cycles 100 to "));
  assert_non_null(strstr(svg, ", the rest is left out"));
  assert_non_null(strstr(svg, "the record is full"));
  uattn_emulator_timeline_destroy(timeline);
}

/* Rounds of 35 cycles, hundreds of cycles a pixel. */
static void short_spans_are_gathered(void **state) {
  (void)state;
  uattn_emulator_timeline_t *timeline = record_long_run(4 * LANES);
  assert_false(timeline->panels[0].is_cut);
  size_t size = 0;
  const char *svg = uattn_emulator_timeline_svg(timeline, &size);
  assert_in_range(size, 50000, 500000);
  assert_non_null(strstr(svg, "warps 0 to 3: mostly waits for barriers"));
  assert_null(strstr(svg, "the record is full"));
  uattn_emulator_timeline_destroy(timeline);
}

static void a_kernel_without_work_has_a_picture(void **state) {
  (void)state;
  uattn_emulator_timeline_t *timeline =
      record(MODULE_HEADER KERNEL_START KERNEL_END, 7, 1);
  size_t size = 0;
  const char *svg = uattn_emulator_timeline_svg(timeline, &size);
  assert_non_null(strstr(svg, "kern, CTA 1 of 2: 0 cycles"));
  assert_null(strstr(svg, "nan"));
  uattn_emulator_timeline_destroy(timeline);
}

/* ---- Refusals, ABI ---------------------------------------------------------
 */

static void what_is_not_there_is_refused(void **state) {
  (void)state;
  uattn_emulator_timeline_t *timeline = NULL;
  assert_ok(make(2, &timeline));
  assert_error(
      launch(copies_text, LANES, 1, timeline, sizeof(uattn_emulator_launch_t)),
      UATTN_ERROR_INVALID_ARGUMENT,
      "timeline: CTA 2 of kern: expected one of its 2, counted from "
      "0");
  assert_int_equal(timeline->panel_count, 0);
  uattn_emulator_timeline_destroy(timeline);
  const uattn_emulator_timeline_options_t options = {
      .struct_size = sizeof options, .begin_cycle = 7, .end_cycle = 7};
  assert_error(uattn_emulator_timeline_create(&options, &timeline),
               UATTN_ERROR_INVALID_ARGUMENT,
               "timeline: cycles 7 to 7: expected an end after the begin");
  uattn_emulator_timeline_destroy(NULL);
}

/* A caller of before has no such field: what lies there is not read. */
static void an_older_struct_has_no_timeline(void **state) {
  (void)state;
  uattn_emulator_timeline_t *timeline = NULL;
  assert_ok(make(0, &timeline));
  assert_ok(launch(copies_text, LANES, 1, timeline,
                   offsetof(uattn_emulator_launch_t, timeline)));
  assert_int_equal(timeline->panel_count, 0);
  uattn_emulator_timeline_destroy(timeline);
}

/* ---- The table -------------------------------------------------------------
 */

static void the_readme_has_the_table(void **state) {
  (void)state;
  FILE *file = fopen(EMULATOR_README, "r");
  assert_non_null(file);
  static char text[65536];
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  (void)fclose(file);
  static const char *const units[EMU_UNIT_COUNT] = {
      "issue", "float", "integer", "special", "memory", "tensor"};
  for (int i = 0; i < EMU_COST_COUNT; ++i) {
    const emu_cost_t *cost = &emu_costs[i];
    char row[512];
    (void)snprintf(row, sizeof row, "| %s | %s | %s | %u | %u | %s |",
                   cost->name, cost->members, units[cost->unit], cost->cycles,
                   cost->latency, cost->source);
    if (!strstr(text, row))
      fail_msg("the README lacks: %s", row);
  }
  const struct {
    const char *format;
    int number;
  } rates[] = {{"| %d multiply-adds a cycle |", EMU_PRODUCT_RATE},
               {"| %d bytes a cycle |", EMU_COPY_RATE},
               {"| %d cycles to the first byte |", EMU_COPY_LATENCY},
               {"| %d cycles |", EMU_HAND_OVER}};
  for (size_t i = 0; i < COUNT_OF(rates); ++i) {
    char row[128];
    (void)snprintf(row, sizeof row, rates[i].format, rates[i].number);
    if (!strstr(text, row))
      fail_msg("the README lacks: %s", row);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wait_ends_after_the_arrival),
      cmocka_unit_test(copies_queue_and_land),
      cmocka_unit_test(products_queue_and_are_waited_for),
      cmocka_unit_test(warps_of_a_quarter_share_its_units),
      cmocka_unit_test(the_cta_asked_for_is_recorded),
      cmocka_unit_test(seeds_give_one_picture),
      cmocka_unit_test(launches_add_panels),
      cmocka_unit_test(long_runs_are_cut),
      cmocka_unit_test(short_spans_are_gathered),
      cmocka_unit_test(a_kernel_without_work_has_a_picture),
      cmocka_unit_test(what_is_not_there_is_refused),
      cmocka_unit_test(an_older_struct_has_no_timeline),
      cmocka_unit_test(the_readme_has_the_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
