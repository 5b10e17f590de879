/* Tests of the search for keys of the rows' segments, run on the emulator.
 * Layer: test. Must not know: how the threads share the search.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitted_kernel.h"

#include "support/support.h"

enum {
  MAX_TOKENS = 700,
  Q_OFFSET = 3, /* ids before those of the op's batch */
  KV_OFFSET = 5,
  BEHIND = 4,  /* ids of the next batch */
  OTHER = -50, /* an id of no row */
  SEEDS = 2    /* orders of the warps */
};

typedef struct {
  int32_t first;
  int32_t after;
  bool is_uniform; /* meaningless without a key */
} hull_t;

/* What the op is asked. */
typedef struct {
  int32_t q_ids[Q_OFFSET + MAX_TOKENS + BEHIND];
  int32_t kv_ids[KV_OFFSET + MAX_TOKENS + BEHIND];
  int32_t first_row;
  int32_t q_tokens;
  int32_t kv_tokens;
  int32_t begin;
  int32_t end;
} search_t;

typedef struct {
  uattn_emulator_t *program;
  int32_t warpgroups;
  int32_t rows;
} kernel_t;

static kernel_t make_kernel(int32_t warpgroups, int32_t rows) {
  kernel_t kernel = {.warpgroups = warpgroups, .rows = rows};
  uattn_string_t aliases = {0};
  uattn_string_appendf(&aliases,
                       "#threads = %d : i64\n"
                       "#warpgroups = array<i64: %d>\n"
                       "#rows = %d : i64\n"
                       "#limit = %d : i32\n",
                       128 * warpgroups, warpgroups, rows, 64 * warpgroups);
  kernel.program = emitted_program("segment_hull", uattn_string_get(&aliases));
  uattn_string_release(&aliases);
  return kernel;
}

/* All rows have id 0 and no key has it. */
static search_t make_search(int32_t first_row, int32_t q_tokens,
                            int32_t kv_tokens) {
  search_t search = {.first_row = first_row,
                     .q_tokens = q_tokens,
                     .kv_tokens = kv_tokens,
                     .end = kv_tokens};
  assert_true(q_tokens <= MAX_TOKENS && kv_tokens <= MAX_TOKENS);
  for (size_t i = 0; i < COUNT_OF(search.kv_ids); ++i)
    search.kv_ids[i] = OTHER;
  return search;
}

static int32_t *q_id(search_t *search, int32_t row) {
  return &search->q_ids[Q_OFFSET + row];
}

static int32_t *kv_id(search_t *search, int32_t key) {
  return &search->kv_ids[KV_OFFSET + key];
}

/* What the op promises, in one thread. */
static hull_t expected_hull(search_t *search, int32_t rows) {
  hull_t hull = {INT32_MAX, 0, true};
  int32_t least = INT32_MAX, largest = INT32_MIN;
  for (int32_t row = search->first_row;
       row < search->first_row + rows && row < search->q_tokens; ++row) {
    int32_t id = *q_id(search, row);
    least = id < least ? id : least;
    largest = id > largest ? id : largest;
  }
  for (int32_t key = search->begin; key < search->end; ++key) {
    int32_t id = *kv_id(search, key);
    if (id < least || id > largest)
      continue;
    hull.first = key < hull.first ? key : hull.first;
    hull.after = key + 1;
  }
  for (int32_t key = hull.first; key < hull.after; ++key)
    hull.is_uniform = hull.is_uniform && *kv_id(search, key) == least;
  hull.is_uniform = hull.is_uniform && least == largest;
  return hull;
}

static void add_ids(call_t *call, const char *name, const int32_t *ids,
                    int32_t count) {
  size_t bytes = (size_t)count * sizeof *ids;
  memcpy(call_add_buffer(call, name, bytes, true), ids, bytes);
}

static void assert_word(const int32_t *found, int32_t rows, int32_t wanted,
                        const char *name) {
  for (int32_t row = 0; row < rows; ++row)
    if (found[row] != wanted)
      fail_msg("%s of row %d is %d, not %d", name, row, found[row], wanted);
}

static void assert_hull(const int32_t *found, int32_t rows, hull_t wanted) {
  if (wanted.first >= wanted.after) {
    for (int32_t row = 0; row < rows; ++row)
      if (found[row] < found[rows + row])
        fail_msg("row %d found keys [%d, %d), where none are", row, found[row],
                 found[rows + row]);
    return;
  }
  assert_word(found, rows, wanted.first, "first");
  assert_word(found + rows, rows, wanted.after, "after");
  assert_word(found + 2 * rows, rows, wanted.is_uniform, "is_uniform");
}

static void run(const kernel_t *kernel, search_t *search, uint64_t seed,
                hull_t wanted) {
  const int64_t q_offset = Q_OFFSET, kv_offset = KV_OFFSET;
  int32_t rows = 64 * kernel->warpgroups;
  call_t call = {.block = {(uint32_t)(128 * kernel->warpgroups)},
                 .dynamic_shared_bytes = 1056,
                 .seed = seed,
                 .thread_count = 1};
  add_ids(&call, "q_ids", search->q_ids, Q_OFFSET + search->q_tokens + BEHIND);
  call_add_value(&call, &q_offset, sizeof q_offset);
  call_add_value(&call, &search->first_row, sizeof search->first_row);
  call_add_value(&call, &search->q_tokens, sizeof search->q_tokens);
  add_ids(&call, "kv_ids", search->kv_ids,
          KV_OFFSET + search->kv_tokens + BEHIND);
  call_add_value(&call, &kv_offset, sizeof kv_offset);
  call_add_value(&call, &search->begin, sizeof search->begin);
  call_add_value(&call, &search->end, sizeof search->end);
  int32_t *out =
      call_add_buffer(&call, "out", 3 * (size_t)rows * sizeof(int32_t), false);
  assert_ok(call_run(&call, kernel->program, "segment_hull"));
  assert_hull(out, rows, wanted);
  call_release(&call);
}

/* One warpgroup with 64 rows, and four with the 192 of three. */
static kernel_t kernels[2];

static int lower_kernels(void **state) {
  (void)state;
  kernels[0] = make_kernel(1, 64);
  kernels[1] = make_kernel(4, 192);
  return 0;
}

static int destroy_kernels(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(kernels); ++i)
    uattn_emulator_destroy(kernels[i].program);
  return 0;
}

/* Both kernels find this; for what does not depend on how many rows they
 * have. */
static void check(search_t *search, hull_t wanted) {
  for (size_t i = 0; i < COUNT_OF(kernels); ++i)
    for (uint64_t seed = 0; seed < SEEDS; ++seed)
      run(&kernels[i], search, seed, wanted);
}

static const hull_t nothing = {INT32_MAX, 0, false};

/* ---- Keys -----------------------------------------------------------------
 */

/* 128 and 512 threads: the last before, the first of a second round, ... */
static void one_key_is_found_wherever_it_is(void **state) {
  (void)state;
  static const int32_t keys[] = {0, 1, 31, 127, 128, 129, 511, 512, 640};
  for (size_t i = 0; i < COUNT_OF(keys); ++i) {
    search_t search = make_search(0, 64, 641);
    *kv_id(&search, keys[i]) = 0;
    check(&search, (hull_t){keys[i], keys[i] + 1, true});
  }
}

static void no_key_is_found_where_none_is(void **state) {
  (void)state;
  search_t search = make_search(0, 64, 641);
  check(&search, nothing);
  search = make_search(0, 64, 0);
  check(&search, nothing);
}

static void every_key_is_found(void **state) {
  (void)state;
  static const int32_t counts[] = {1, 2, 127, 128, 129, 641};
  for (size_t i = 0; i < COUNT_OF(counts); ++i) {
    search_t search = make_search(0, 64, counts[i]);
    memset(search.kv_ids, 0, sizeof search.kv_ids);
    check(&search, (hull_t){0, counts[i], true});
  }
}

/* begin and end - 1 are looked at, begin - 1 and end are not. */
static void keys_outside_the_range_are_not_found(void **state) {
  (void)state;
  search_t search = make_search(0, 64, 300);
  memset(search.kv_ids, 0, sizeof search.kv_ids);
  search.begin = 5;
  search.end = 294;
  check(&search, (hull_t){5, 294, true});
  search.begin = search.end - 1;
  check(&search, (hull_t){293, 294, true});
  search.begin = search.end;
  check(&search, nothing);
  search.begin = search.end + 5;
  check(&search, nothing);
}

static void a_key_of_another_id_between_is_not_uniform(void **state) {
  (void)state;
  static const int32_t others[] = {6, 140, 292};
  for (size_t i = 0; i < COUNT_OF(others); ++i) {
    search_t search = make_search(0, 64, 300);
    for (int32_t key = 5; key < 294; ++key)
      *kv_id(&search, key) = 0;
    *kv_id(&search, others[i]) = OTHER;
    check(&search, (hull_t){5, 294, false});
  }
}

/* ---- Rows -----------------------------------------------------------------
 */

/* Ids at both ends and between them, and none beside them. */
static void ids_between_those_of_rows_are_found(void **state) {
  (void)state;
  static const struct {
    int32_t id;
    bool is_found;
  } cases[] = {{-3, false}, {-2, true}, {0, true}, {3, true}, {4, false}};
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    search_t search = make_search(0, 64, 200);
    *q_id(&search, 17) = -2;
    *q_id(&search, 42) = 3;
    *kv_id(&search, 150) = cases[i].id;
    check(&search, cases[i].is_found ? (hull_t){150, 151, false} : nothing);
  }
}

/* The first and last row of the CTA count, their neighbours do not. */
static void rows_of_other_ctas_do_not_count(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(kernels); ++i) {
    int32_t rows = kernels[i].rows;
    const int32_t places[] = {rows - 1, rows, 2 * rows - 1, 2 * rows};
    for (size_t p = 0; p < COUNT_OF(places); ++p) {
      search_t search = make_search(rows, 3 * rows, 200);
      bool is_inside = p == 1 || p == 2;
      *q_id(&search, places[p]) = 7;
      *kv_id(&search, 33) = 7;
      run(&kernels[i], &search, 0,
          is_inside ? (hull_t){33, 34, false} : nothing);
    }
  }
}

/* What lies behind the last row belongs to the next batch. */
static void rows_behind_the_last_do_not_count(void **state) {
  (void)state;
  static const int32_t counts[] = {2, 33, 63};
  for (size_t i = 0; i < COUNT_OF(counts); ++i) {
    search_t search = make_search(0, counts[i], 200);
    *q_id(&search, counts[i]) = 7;
    *kv_id(&search, 33) = 7;
    check(&search, nothing);
    *q_id(&search, counts[i] - 1) = 7;
    check(&search, (hull_t){33, 34, false});
  }
}

static void ids_are_of_the_whole_range_of_i32(void **state) {
  (void)state;
  static const int32_t ids[] = {INT32_MIN, INT32_MAX, -1};
  for (size_t i = 0; i < COUNT_OF(ids); ++i) {
    search_t search = make_search(0, 64, 200);
    for (int32_t row = 0; row < 64; ++row)
      *q_id(&search, row) = ids[i];
    *kv_id(&search, 199) = ids[i];
    check(&search, (hull_t){199, 200, true});
  }
}

/* ---- Anything --------------------------------------------------------------
 */

static int32_t draw(uint64_t *state, int32_t count) {
  return (int32_t)(next_random(state) % (uint64_t)count);
}

/* Runs of keys of few ids, in any part of the keys. */
static void drawn_ids_give_what_one_thread_finds(void **state) {
  (void)state;
  uint64_t random = 1;
  for (int i = 0; i < 40; ++i) {
    const kernel_t *kernel = &kernels[i % 2];
    int32_t first_row = kernel->rows * draw(&random, 3);
    search_t search =
        make_search(first_row, first_row + 1 + draw(&random, kernel->rows + 9),
                    1 + draw(&random, MAX_TOKENS));
    int32_t spread = 1 + draw(&random, 3), first_id = draw(&random, 5);
    for (int32_t row = 0; row < search.q_tokens; ++row)
      *q_id(&search, row) = first_id + draw(&random, spread);
    for (int32_t key = 0; key < search.kv_tokens; ++key)
      *kv_id(&search, key) = key / (1 + search.kv_tokens / 7);
    search.begin = draw(&random, search.kv_tokens);
    search.end = search.begin + draw(&random, search.kv_tokens - search.begin);
    run(kernel, &search, (uint64_t)i, expected_hull(&search, kernel->rows));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_key_is_found_wherever_it_is),
      cmocka_unit_test(no_key_is_found_where_none_is),
      cmocka_unit_test(every_key_is_found),
      cmocka_unit_test(keys_outside_the_range_are_not_found),
      cmocka_unit_test(a_key_of_another_id_between_is_not_uniform),
      cmocka_unit_test(ids_between_those_of_rows_are_found),
      cmocka_unit_test(rows_of_other_ctas_do_not_count),
      cmocka_unit_test(rows_behind_the_last_do_not_count),
      cmocka_unit_test(ids_are_of_the_whole_range_of_i32),
      cmocka_unit_test(drawn_ids_give_what_one_thread_finds),
  };
  return cmocka_run_group_tests(tests, lower_kernels, destroy_kernels);
}
