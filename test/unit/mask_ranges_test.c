/* Tests of the ranges of keys that rows and blocks of rows see, on every small
 * problem, against the masks' definition pair by pair.
 * Layer: test. Must not know: tiles of a kernel, MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "mask/mask.h"

static const uattn_mask_algebra_t *algebra;

typedef struct {
  uattn_mask_kinds_t kinds;
  int64_t q_tokens;
  int64_t kv_tokens;
  int64_t q_offset;
  int64_t window_tokens;
  int64_t history_lower;
  int64_t history_upper;
} case_t;

/* May the row at position `i`, which is history or candidate, see key `j` by
 * another rule than that a candidate sees itself? As the op's semantics say. */
static bool may_see(const case_t *c, int64_t i, int64_t j) {
  if (j < 0 || j >= c->kv_tokens)
    return false;
  if (c->kinds.has_ranker && !(c->history_lower <= j && j < c->history_upper))
    return false;
  if (c->kinds.is_causal && !(i >= j))
    return false;
  return !c->kinds.has_window || j > i - c->window_tokens;
}

static uattn_mask_facts_t facts_of(const case_t *c) {
  return (uattn_mask_facts_t){
      .q_tokens = uattn_mask_integer(c->q_tokens),
      .kv_tokens = uattn_mask_integer(c->kv_tokens),
      .q_offset = uattn_mask_integer(c->q_offset),
      .window_tokens = uattn_mask_integer(c->window_tokens),
      .history_lower = uattn_mask_integer(c->history_lower),
      .history_upper = uattn_mask_integer(c->history_upper),
  };
}

/* The half-open range of `count` keys from
 * `first` to `last`; any empty range where there is none. */
static void expect_range(const case_t *c, const char *what,
                         uattn_key_range_t found, int64_t count, int64_t first,
                         int64_t last) {
  int64_t begin = uattn_mask_to_integer(found.begin);
  int64_t end = uattn_mask_to_integer(found.end);
  bool is_right = count == 0 ? begin >= end : begin == first && end == last + 1;
  if (!is_right)
    fail_msg("%s: found [%lld, %lld), wanted %lld keys from %lld to %lld: "
             "ranker %d causal %d window %d, q %lld, kv %lld, offset %lld, "
             "window %lld, history [%lld, %lld)",
             what, (long long)begin, (long long)end, (long long)count,
             (long long)first, (long long)last, c->kinds.has_ranker,
             c->kinds.is_causal, c->kinds.has_window, (long long)c->q_tokens,
             (long long)c->kv_tokens, (long long)c->q_offset,
             (long long)c->window_tokens, (long long)c->history_lower,
             (long long)c->history_upper);
}

/* How many keys were added, in order, and the ends of them. */
typedef struct {
  int64_t count, first, last;
} keys_t;

static void add_key(keys_t *keys, int64_t key) {
  if (keys->count++ == 0)
    keys->first = key;
  keys->last = key;
}

static void check_row(const case_t *c, int64_t row) {
  uattn_mask_facts_t facts = facts_of(c);
  int64_t position = c->q_offset + row;
  keys_t seen = {0, 0, 0};
  for (int64_t key = 0; key < c->kv_tokens; ++key)
    if (may_see(c, position, key))
      add_key(&seen, key);
  if (seen.count > 0) /* one range, without a hole */
    assert_int_equal(seen.count, seen.last - seen.first + 1);
  expect_range(c, "a row",
               uattn_mask_row_keys(c->kinds, algebra, &facts,
                                   uattn_mask_integer(position)),
               seen.count, seen.first, seen.last);
}

/* The hull starts and ends with a key that some row sees; full keys are those
 * that all rows see, and no others. */
static void check_block(const case_t *c, int64_t first_row, int32_t rows) {
  uattn_mask_facts_t facts = facts_of(c);
  int64_t after =
      first_row + rows < c->q_tokens ? first_row + rows : c->q_tokens;
  keys_t any = {0, 0, 0}, all = {0, 0, 0};
  for (int64_t key = 0; key < c->kv_tokens; ++key) {
    int64_t seeing = 0;
    for (int64_t row = first_row; row < after; ++row)
      seeing += may_see(c, c->q_offset + row, key);
    if (seeing > 0)
      add_key(&any, key);
    if (seeing == after - first_row)
      add_key(&all, key);
  }
  uattn_key_range_t hull, full;
  uattn_mask_block_keys(c->kinds, algebra, &facts,
                        uattn_mask_integer(first_row), rows, &hull, &full);
  expect_range(c, "a block's hull", hull, any.count, any.first, any.last);
  expect_range(c, "a block's full keys", full, all.count, all.first, all.last);
}

static void check_case(const case_t *c) {
  for (int64_t row = 0; row < c->q_tokens; ++row)
    check_row(c, row);
  for (int32_t rows = 1; rows <= 4; ++rows)
    for (int64_t first = 0; first < c->q_tokens; first += rows)
      check_block(c, first, rows);
}

/* Every window, or one that must not be read. */
static void check_windows(case_t c) {
  for (c.window_tokens = 1; c.window_tokens <= (c.kinds.has_window ? 7 : 1);
       ++c.window_tokens) {
    case_t passed = c;
    if (!c.kinds.has_window)
      passed.window_tokens = -1000;
    check_case(&passed);
  }
}

/* Every history, in, over and beyond the keys, or one that must not be read. */
static void check_histories(case_t c) {
  if (!c.kinds.has_ranker) {
    c.history_lower = 1000;
    c.history_upper = -1000;
    check_windows(c);
    return;
  }
  for (c.history_lower = -2; c.history_lower <= 6; ++c.history_lower)
    for (c.history_upper = -2; c.history_upper <= 7; ++c.history_upper)
      check_windows(c);
}

static void ranges_are_what_the_masks_allow(void **state) {
  (void)state;
  algebra = uattn_mask_integers();
  for (int kinds = 0; kinds < 8; ++kinds)
    for (int64_t q_tokens = 1; q_tokens <= 5; ++q_tokens)
      for (int64_t kv_tokens = 1; kv_tokens <= 5; ++kv_tokens)
        for (int64_t q_offset = -6; q_offset <= 6; ++q_offset) {
          case_t c = {.kinds = {.has_ranker = kinds & 1,
                                .is_causal = kinds & 2,
                                .has_window = kinds & 4},
                      .q_tokens = q_tokens,
                      .kv_tokens = kv_tokens,
                      .q_offset = q_offset};
          check_histories(c);
        }
}

/* The algebra of a kernel, whose values have 32 bits. */
static uattn_mask_value_t in_32_bits(int64_t value) {
  assert_in_range(value - INT32_MIN, 0, UINT32_MAX);
  return uattn_mask_integer(value);
}
static uattn_mask_value_t narrow_add(void *context, uattn_mask_value_t a,
                                     uattn_mask_value_t b) {
  (void)context;
  return in_32_bits(uattn_mask_to_integer(a) + uattn_mask_to_integer(b));
}
static uattn_mask_value_t narrow_subtract(void *context, uattn_mask_value_t a,
                                          uattn_mask_value_t b) {
  (void)context;
  return in_32_bits(uattn_mask_to_integer(a) - uattn_mask_to_integer(b));
}

/* Bounds are any i32; nothing may be added to them. */
static void far_bounds_do_not_wrap(void **state) {
  (void)state;
  static uattn_mask_algebra_t narrow;
  narrow = *uattn_mask_integers();
  narrow.add = narrow_add;
  narrow.subtract = narrow_subtract;
  algebra = &narrow;
  const int64_t far[] = {INT32_MIN, -1, 0, 3, INT32_MAX};
  for (size_t lower = 0; lower < COUNT_OF(far); ++lower)
    for (size_t upper = 0; upper < COUNT_OF(far); ++upper) {
      case_t c = {
          .kinds = {.has_ranker = true, .is_causal = true, .has_window = true},
          .q_tokens = 4,
          .kv_tokens = 5,
          .window_tokens = 4,
          .history_lower = far[lower],
          .history_upper = far[upper]};
      check_case(&c);
    }
}

static void kinds_follow_the_problem(void **state) {
  (void)state;
  for (int kinds = 0; kinds < 16; ++kinds) {
    uattn_problem_t problem = {.is_causal = kinds & 4,
                               .window_tokens = kinds & 8 ? 5 : 0};
    problem.has_operand[UATTN_OPERAND_BOUNDS] = kinds & 1;
    problem.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS] = kinds & 2;
    problem.has_operand[UATTN_OPERAND_KV_SEGMENT_IDS] = kinds & 2;
    uattn_mask_kinds_t found = uattn_mask_kinds(&problem);
    assert_int_equal(found.has_ranker, kinds & 1);
    assert_int_equal(found.has_segments, (kinds & 2) / 2);
    assert_int_equal(found.is_causal, (kinds & 4) / 4);
    assert_int_equal(found.has_window, (kinds & 8) / 8);
    /* A causal row may lie before all keys, a window's behind them. */
    assert_int_equal(uattn_mask_may_be_empty(found), kinds != 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ranges_are_what_the_masks_allow),
      cmocka_unit_test(far_bounds_do_not_wrap),
      cmocka_unit_test(kinds_follow_the_problem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
