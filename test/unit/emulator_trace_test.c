/* What launches tell: to whom, in which order, and what is refused.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_launch_fixture.h"

#include "support/support.h"

enum { CTAS = 48, ROUNDS = 40 };

/* What was told, one text behind the other, and how many. */
typedef struct {
  uattn_string_t text;
  size_t instructions;
  size_t tiles[4];
} told_t;

static void tell_instruction(const char *text, void *user_data) {
  told_t *told = user_data;
  size_t size = strlen(text);
  assert_true(size > 0 && text[size - 1] == '\n');
  assert_ptr_equal(strstr(text, "module.ptx:"), text); /* whole entries */
  ++told->instructions;
  uattn_string_append(&told->text, text);
}

static void tell_tile(size_t tile, const char *text, void *user_data) {
  told_t *told = user_data;
  assert_true(tile < COUNT_OF(told->tiles));
  ++told->tiles[tile];
  uattn_string_append(&told->text, text);
}

static uattn_emulator_trace_t make_trace(told_t *told, const char *pattern) {
  return (uattn_emulator_trace_t){.struct_size = sizeof(uattn_emulator_trace_t),
                                  .pattern = pattern,
                                  .tell_instruction = tell_instruction,
                                  .tell_tile = tell_tile,
                                  .user_data = told};
}

/* Every thread of every CTA stores what it adds up in a loop. */
static const char loop[] = MODULE_HEADER KERNEL_START
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 0;\n"
    "again: add.u32 %r2, %r2, 1;\nbar.sync 0;\n"
    "setp.lt.u32 %p1, %r2, 40;\n@%p1 bra again;\n"
    "mad.wide.u32 %d1, %r1, 4, %d0;\nst.global.u32 [%d1], %r2;\n" KERNEL_END;

/* CTAs that meet in global memory run interleaved. */
static const char meeting[] = MODULE_HEADER KERNEL_START
    "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, 0;\n"
    "again: add.u32 %r2, %r2, 1;\natom.global.add.u32 %r3, [%d0], 1;\n"
    "setp.lt.u32 %p1, %r2, 40;\n@%p1 bra again;\n" KERNEL_END;

static uint32_t numbers[64];

static launched_t make_launch(const char *text,
                              const uattn_emulator_trace_t *trace) {
  return (launched_t){.text = text,
                      .grid = {CTAS},
                      .block = {64},
                      .out = numbers,
                      .out_bytes = sizeof numbers,
                      .trace = trace};
}

static void texts_are_those_of_the_seed_on_any_number_of_threads(void **state) {
  (void)state;
  static const char *const programs[] = {loop, meeting};
  for (size_t i = 0; i < COUNT_OF(programs); ++i) {
    told_t first = {0}, second = {0};
    uattn_emulator_trace_t trace = make_trace(&first, "add.*%r2, 1|@|setp");
    launched_t launched = make_launch(programs[i], &trace);
    launched.seed = 3;
    assert_ok(launched_run(&launched));
    trace.user_data = &second;
    launched.thread_count = 8;
    assert_ok(launched_run(&launched));
    /* Of 2 warps each; the last branch has no lanes. */
    assert_int_equal(first.instructions, CTAS * 2 * (ROUNDS * 3 - 1));
    assert_string_equal(first.text.data, second.text.data);
    uattn_string_release(&first.text);
    uattn_string_release(&second.text);
  }
}

static void one_cta_or_warp_is_told_alone(void **state) {
  (void)state;
  static const char *const programs[] = {loop, meeting};
  for (size_t i = 0; i < COUNT_OF(programs); ++i) {
    told_t told = {0};
    uint64_t cta = 4;
    uint32_t warp = 1;
    uattn_emulator_trace_t trace = make_trace(&told, "add.u32 %r2");
    launched_t launched = make_launch(programs[i], &trace);
    trace.cta = &cta;
    trace.warp = &warp;
    assert_ok(launched_run(&launched));
    assert_int_equal(told.instructions, ROUNDS);
    assert_non_null(strstr(told.text.data, "cta 4 (4, 0, 0) warp 1 all lanes"));
    assert_null(strstr(told.text.data, "warp 0"));
    uattn_string_release(&told.text);
  }
}

static void an_untold_launch_stores_the_same(void **state) {
  (void)state;
  uint32_t wanted[64];
  told_t told = {0};
  uattn_emulator_trace_t trace = make_trace(&told, ".");
  launched_t launched = make_launch(loop, NULL);
  assert_ok(launched_run(&launched));
  memcpy(wanted, numbers, sizeof wanted);
  uint64_t instructions = launched.statistics.instructions;
  memset(numbers, 0, sizeof numbers);
  launched.trace = &trace;
  assert_ok(launched_run(&launched));
  assert_memory_equal(numbers, wanted, sizeof wanted);
  assert_int_equal(launched.statistics.instructions, instructions);
  uattn_string_release(&told.text);
}

static void each_tile_is_told_by_its_number(void **state) {
  (void)state;
  told_t told = {0};
  uattn_emulator_trace_t trace = make_trace(&told, NULL);
  const uattn_emulator_tile_t tiles[] = {{.kind = UATTN_TILE_SHARED,
                                          .cta = 5,
                                          .rows = 2,
                                          .columns = 2,
                                          .element = UATTN_ELEMENT_U8},
                                         {.kind = UATTN_TILE_SHARED,
                                          .cta = 1,
                                          .offset = 8,
                                          .rows = 1,
                                          .columns = 1,
                                          .element = UATTN_ELEMENT_U8}};
  launched_t launched = make_launch(loop, &trace);
  launched.shared_bytes = 16;
  launched.seed = 41; /* shared memory starts as bytes of 42 */
  trace.tiles = tiles;
  trace.tile_count = COUNT_OF(tiles);
  trace.tell_instruction = NULL;
  assert_ok(launched_run(&launched));
  assert_int_equal(told.tiles[0], 1);
  assert_int_equal(told.tiles[1], 1);
  assert_string_equal(told.text.data,
                      "# shared memory of kern, cta 1 (1, 0, 0), at its end\n"
                      "# 1 x 1 u8 at shared address 8\n"
                      "#   0\n"
                      " 0 42\n"
                      "# shared memory of kern, cta 5 (5, 0, 0), at its end\n"
                      "# 2 x 2 u8 at shared address 0\n"
                      "#   0  1\n"
                      " 0 42 42\n"
                      " 1 42 42\n");
  uattn_string_release(&told.text);
}

static void assert_refused_trace(const uattn_emulator_trace_t *trace,
                                 const char *part) {
  launched_t launched = make_launch(loop, trace);
  assert_launch_error(&launched, UATTN_ERROR_INVALID_ARGUMENT, part);
}

static void wrong_options_are_refused(void **state) {
  (void)state;
  told_t told = {0};
  uattn_emulator_tile_t tile = {.kind = UATTN_TILE_SHARED};
  uattn_emulator_trace_t trace = make_trace(&told, "a{2");
  assert_refused_trace(&trace, "trace: the pattern is 'a{2': ");
  trace = make_trace(&told, "add");
  trace.tell_instruction = NULL;
  assert_refused_trace(&trace, "a pattern without tell_instruction");
  trace = make_trace(&told, NULL);
  trace.tiles = &tile;
  trace.tile_count = 1;
  trace.tell_tile = NULL;
  assert_refused_trace(&trace, "tiles without tell_tile");
  trace.tell_tile = tell_tile;
  assert_refused_trace(&trace, "0 rows of 0 columns");
  tile.element = (uattn_element_t)77;
  assert_refused_trace(&trace, "element 77 or swizzle 0 is unknown");
  tile.kind = (uattn_tile_kind_t)77;
  assert_refused_trace(&trace, "kind 77 is unknown");
}

/* Its launch ends where the trace begins now. */
static void an_older_caller_is_told_nothing(void **state) {
  (void)state;
  uattn_emulator_trace_t *nowhere = (uattn_emulator_trace_t *)(uintptr_t)8;
  launched_t launched = make_launch(loop, nowhere);
  launched.struct_size = offsetof(uattn_emulator_launch_t, trace);
  assert_ok(launched_run(&launched));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_are_those_of_the_seed_on_any_number_of_threads),
      cmocka_unit_test(one_cta_or_warp_is_told_alone),
      cmocka_unit_test(an_untold_launch_stores_the_same),
      cmocka_unit_test(each_tile_is_told_by_its_number),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(an_older_caller_is_told_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
