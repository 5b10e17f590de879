/* Tests of what a plan must obey: the rules for written plans, the layout of
 * shared memory and barriers, and facts of the cost model.
 * Layer: test. Must not know: MLIR, how code is emitted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan_fixture.h"

static uattn_forward_plan_t valid_plan(void) {
  uattn_problem_t problem = forward_problem(64);
  return chosen_plan(&problem);
}

#define EXPECT_REFUSED(change, message)                                        \
  do {                                                                         \
    uattn_forward_plan_t p = valid_plan();                                     \
    change;                                                                    \
    assert_error(uattn_forward_plan_validate(&p, h100()),                      \
                 UATTN_ERROR_INVALID_ARGUMENT, message);                       \
  } while (0)

static void fields_have_ranges(void **state) {
  (void)state;
  EXPECT_REFUSED(p.consumer_warpgroups = 0,
                 "plan field consumer_warpgroups is 0: expected 1 to 3");
  EXPECT_REFUSED(p.consumer_warpgroups = 4,
                 "plan field consumer_warpgroups is 4: expected 1 to 3");
  EXPECT_REFUSED(p.kv_tile_rows = 0,
                 "plan field kv_tile_rows is 0: expected a multiple of 16 from "
                 "16 to 256");
  EXPECT_REFUSED(p.kv_tile_rows = 120,
                 "plan field kv_tile_rows is 120: expected a multiple of 16 "
                 "from 16 to 256");
  EXPECT_REFUSED(p.kv_tile_rows = 272,
                 "plan field kv_tile_rows is 272: expected a multiple of 16 "
                 "from 16 to 256");
  EXPECT_REFUSED(p.stage_count = 0,
                 "plan field stage_count is 0: expected 1 to 8");
  EXPECT_REFUSED(p.stage_count = 9,
                 "plan field stage_count is 9: expected 1 to 8");
  EXPECT_REFUSED(p.entry_registers = 132,
                 "plan field entry_registers is 132: expected a multiple of 8 "
                 "from 24 to 248");
  EXPECT_REFUSED(p.entry_registers = 256,
                 "plan field entry_registers is 256: expected a multiple of 8 "
                 "from 24 to 248");
  EXPECT_REFUSED(p.producer_registers = 16,
                 "plan field producer_registers is 16: expected a multiple of "
                 "8 from 24 to 128");
  EXPECT_REFUSED(p.producer_registers = 136,
                 "plan field producer_registers is 136: expected a multiple "
                 "of 8 from 24 to 128");
  EXPECT_REFUSED(p.consumer_registers = 120,
                 "plan field consumer_registers is 120: expected a multiple "
                 "of 8 from 128 to 240");
  EXPECT_REFUSED(p.consumer_registers = 248,
                 "plan field consumer_registers is 248: expected a multiple "
                 "of 8 from 128 to 240");
}

/* 192 rows of Q and two rings of 8 stages of 128 rows, 128 bytes each, and
 * 16 bytes of barriers for each of the 17 slots. */
static void shared_memory_has_an_end(void **state) {
  (void)state;
  EXPECT_REFUSED(p.stage_count = 8,
                 "plan needs 286992 bytes of shared memory: expected at most "
                 "232448 on sm_90a");
}

static void registers_at_entry_have_an_end(void **state) {
  (void)state;
  EXPECT_REFUSED(p.entry_registers = 136,
                 "plan needs 69632 registers at entry: expected at most 65536 "
                 "on sm_90a");
}

/* setmaxnreg deals out what the CTA got at entry: consumers of a plan that
 * asked for more would wait forever, although the SM has enough. */
static void roles_that_outgrow_the_registers_of_entry_would_hang(void **state) {
  (void)state;
  EXPECT_REFUSED(p.entry_registers = 120,
                 "plan needs 65536 registers after setmaxnreg: expected at "
                 "most the 61440 of entry");
  EXPECT_REFUSED(p.producer_registers = 40,
                 "plan needs 66560 registers after setmaxnreg: expected at "
                 "most the 65536 of entry");
}

/* ---- Layout ---------------------------------------------------------------
 */

typedef struct {
  const char *name;
  int32_t offset;
  int32_t bytes;
  int32_t alignment;
} piece_t;

static void assert_apart(const piece_t *pieces, int count, int32_t total) {
  for (int i = 0; i < count; ++i) {
    assert_int_equal(pieces[i].offset % pieces[i].alignment, 0);
    assert_true(pieces[i].offset >= 0);
    assert_true(pieces[i].offset + pieces[i].bytes <= total);
    for (int j = 0; j < i; ++j)
      if (pieces[j].offset < pieces[i].offset + pieces[i].bytes &&
          pieces[i].offset < pieces[j].offset + pieces[j].bytes)
        fail_msg("%s and %s overlap", pieces[j].name, pieces[i].name);
  }
}

/* Tiles where the 128-byte swizzle repeats, mbarriers where 64 bits may lie,
 * named barriers above the CTA's own and below 16. */
static void assert_layout(const uattn_forward_plan_t *plan) {
  uattn_forward_layout_t layout = uattn_forward_layout(plan);
  int32_t row_bytes = 2 * plan->head_dim;
  int32_t q_bytes = 64 * plan->consumer_warpgroups * row_bytes;
  int32_t ring_bytes = plan->stage_count * plan->kv_tile_rows * row_bytes;
  const piece_t pieces[] = {
      {"q", layout.q_offset, q_bytes, 1024},
      {"k", layout.k_offset, ring_bytes, 1024},
      {"v", layout.v_offset, ring_bytes, 1024},
      {"q barriers", layout.q_barrier_offset, 16, 8},
      {"k barriers", layout.k_barrier_offset, 16 * plan->stage_count, 8},
      {"v barriers", layout.v_barrier_offset, 16 * plan->stage_count, 8},
  };
  assert_apart(pieces, COUNT_OF(pieces), layout.total_bytes);
  assert_int_equal(plan->kv_tile_rows * row_bytes % 1024, 0); /* of a slot */
  assert_int_equal(layout.q_tile_rows, 64 * plan->consumer_warpgroups);
  assert_int_equal(layout.threads, 128 * (1 + plan->consumer_warpgroups));
  assert_true(layout.turn_barrier_id > 0);
  assert_true(layout.store_barrier_id >=
              layout.turn_barrier_id + plan->consumer_warpgroups);
  assert_true(layout.store_barrier_id + plan->consumer_warpgroups <= 16);
  assert_int_equal(
      uattn_forward_cost(plan, h100(), UATTN_PLAN_COMPILER_UATTN).smem_bytes,
      layout.total_bytes);
}

static void layouts_do_not_overlap(void **state) {
  (void)state;
  int valid = 0;
  for (int32_t head_dim = 64; head_dim <= 128; head_dim += 64)
    for (int32_t warpgroups = 1; warpgroups <= 3; ++warpgroups)
      for (int32_t rows = 16; rows <= 256; rows += 16)
        for (int32_t stages = 1; stages <= 8; ++stages) {
          uattn_problem_t problem = forward_problem(head_dim);
          uattn_forward_plan_t plan = chosen_plan(&problem);
          plan.consumer_warpgroups = warpgroups;
          plan.kv_tile_rows = rows;
          plan.stage_count = stages;
          uattn_error_t *error = uattn_forward_plan_validate(&plan, h100());
          if (!error) {
            assert_layout(&plan);
            ++valid;
          }
          uattn_error_destroy(error);
        }
  assert_true(valid > 200);
}

/* ---- Cost -----------------------------------------------------------------
 */

static uattn_forward_cost_t cost_with(int32_t head_dim, int32_t rows,
                                      uattn_cap_method_t cap, bool has_temp) {
  uattn_problem_t problem = forward_problem(head_dim);
  uattn_forward_plan_t plan = chosen_plan(&problem);
  plan.kv_tile_rows = rows;
  plan.cap_method = cap;
  plan.has_temp = has_temp;
  return uattn_forward_cost(&plan, h100(), UATTN_PLAN_COMPILER_UATTN);
}

static void larger_tiles_need_more_and_cost_less_a_pair(void **state) {
  (void)state;
  for (int32_t rows = 64; rows < 256; rows += 16) {
    uattn_forward_cost_t small = cost_with(64, rows, UATTN_CAP_NONE, false);
    uattn_forward_cost_t large =
        cost_with(64, rows + 16, UATTN_CAP_NONE, false);
    assert_true(large.consumer_registers_needed >
                small.consumer_registers_needed);
    assert_true(large.smem_bytes > small.smem_bytes);
    assert_true(large.cycles_per_pair < small.cycles_per_pair);
  }
}

static void caps_and_temp_cost_time(void **state) {
  (void)state;
  uattn_forward_cost_t none = cost_with(64, 128, UATTN_CAP_NONE, false);
  uattn_forward_cost_t temp = cost_with(64, 128, UATTN_CAP_NONE, true);
  uattn_forward_cost_t tanh = cost_with(64, 128, UATTN_CAP_TANH, false);
  uattn_forward_cost_t sign = cost_with(64, 128, UATTN_CAP_SOFT_SIGN, false);
  uattn_forward_cost_t alsc = cost_with(64, 128, UATTN_CAP_ALSC, false);
  assert_true(temp.cycles_per_pair > none.cycles_per_pair);
  assert_true(tanh.cycles_per_pair > temp.cycles_per_pair);
  assert_true(sign.cycles_per_pair > tanh.cycles_per_pair);
  assert_true(alsc.cycles_per_pair > sign.cycles_per_pair);
  assert_true(tanh.tensor_cycles == none.tensor_cycles);
}

/* Two products of 2 D flops a pair: the tensor cores' time is exact. */
static void products_cost_what_they_count(void **state) {
  (void)state;
  uattn_forward_cost_t small = cost_with(64, 80, UATTN_CAP_NONE, false);
  uattn_forward_cost_t large = cost_with(128, 80, UATTN_CAP_NONE, false);
  assert_true(small.tensor_cycles == 192.0 * 80 * 4 * 64 / 4096);
  assert_true(large.tensor_cycles == 2 * small.tensor_cycles);
  assert_true(large.special_function_cycles == small.special_function_cycles);
}

/* What fits without spilling on ptxas 13.0 and what does not, as measured. */
static void register_need_agrees_with_the_assembler(void **state) {
  (void)state;
  assert_true(
      cost_with(64, 128, UATTN_CAP_NONE, false).consumer_registers_needed <=
      160);
  assert_true(
      cost_with(64, 144, UATTN_CAP_NONE, false).consumer_registers_needed >
      160); /* spills */
  assert_true(
      cost_with(128, 80, UATTN_CAP_NONE, false).consumer_registers_needed <=
      160);
  assert_true(
      cost_with(128, 96, UATTN_CAP_NONE, false).consumer_registers_needed >
      160); /* spills */
  assert_true(
      cost_with(128, 176, UATTN_CAP_NONE, false).consumer_registers_needed <=
      240);
}

/* The plan's text is for people: it names the decisions once each. */
static void printed_plan_names_every_decision(void **state) {
  (void)state;
  uattn_forward_plan_t plan = valid_plan();
  uattn_string_t text = {0};
  plan.is_ping_pong = false;
  plan.scale_sign = UATTN_SCALE_SIGN_NEGATIVE;
  uattn_forward_plan_print(&plan, h100(), &text);
  const char *wanted[] = {
      "forward kernel ranker_attention_fwd_bf16_d64_none on sm_90a\n",
      "192 query rows a CTA (3 consumer warpgroups of 64), 128 keys\n",
      "2 stages of K and of V\n",
      "128 at entry, producer 32, consumers 160 (need ",
      "shared memory: 90192 of 232448 bytes; 512 threads\n",
      "consumers run freely\n",
      "scores: negated (sm_scale < 0)\n",
  };
  for (size_t i = 0; i < COUNT_OF(wanted); ++i)
    if (!strstr(uattn_string_get(&text), wanted[i]))
      fail_msg("'%s' is not in:\n%s", wanted[i], uattn_string_get(&text));
  uattn_string_release(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_have_ranges),
      cmocka_unit_test(shared_memory_has_an_end),
      cmocka_unit_test(registers_at_entry_have_an_end),
      cmocka_unit_test(roles_that_outgrow_the_registers_of_entry_would_hang),
      cmocka_unit_test(layouts_do_not_overlap),
      cmocka_unit_test(larger_tiles_need_more_and_cost_less_a_pair),
      cmocka_unit_test(caps_and_temp_cost_time),
      cmocka_unit_test(products_cost_what_they_count),
      cmocka_unit_test(register_need_agrees_with_the_assembler),
      cmocka_unit_test(printed_plan_names_every_decision),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
