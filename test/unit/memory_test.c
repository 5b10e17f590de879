/* Tests of host memory: allocation, arenas, growing texts, checked sizes.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "support/support.h"

static bool is_zero(const char *bytes, size_t size) {
  for (size_t i = 0; i < size; ++i)
    if (bytes[i] != 0)
      return false;
  return true;
}

static void allocations_are_zeroed(void **state) {
  (void)state;
  char *memory = uattn_allocate(1000);
  assert_true(is_zero(memory, 1000));
  free(memory);
  void *nothing = uattn_allocate(0);
  assert_non_null(nothing);
  free(nothing);
}

static void impossible_try_gives_null(void **state) {
  (void)state;
  assert_null(uattn_try_allocate(PTRDIFF_MAX));
}

static void allocate_too_much(void) { free(uattn_allocate(PTRDIFF_MAX)); }

static void impossible_allocation_aborts(void **state) {
  (void)state;
  assert_aborts(allocate_too_much);
}

static void copies_are_the_callers(void **state) {
  (void)state;
  char text[] = "abc";
  char *copy = uattn_string_copy(text);
  text[0] = 'x';
  assert_string_equal(copy, "abc");
  free(copy);
  assert_null(uattn_string_copy(NULL));
}

static void arena_pieces_are_aligned_zeroed_and_apart(void **state) {
  (void)state;
  uattn_arena_t *arena = uattn_arena_create();
  /* Odd sizes, below and above a block, so that several blocks are made. */
  static const size_t sizes[] = {1, 7, 0, 16383, 16384, 16385, 100000, 3};
  char *pieces[COUNT_OF(sizes)];
  for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
    pieces[i] = uattn_arena_allocate(arena, sizes[i]);
    assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
    assert_true(is_zero(pieces[i], sizes[i]));
    memset(pieces[i], (int)i + 1, sizes[i]);
  }
  for (size_t i = 0; i < COUNT_OF(sizes); ++i)
    for (size_t byte = 0; byte < sizes[i]; ++byte)
      assert_int_equal(pieces[i][byte], (int)i + 1);
  uattn_arena_destroy(arena);
  uattn_arena_destroy(NULL);
}

static void arena_formats(void **state) {
  (void)state;
  uattn_arena_t *arena = uattn_arena_create();
  assert_string_equal(uattn_arena_format(arena, "%s-%d", "a", 5), "a-5");
  assert_string_equal(uattn_arena_format(arena, "%s", ""), "");
  uattn_arena_destroy(arena);
}

static void string_grows(void **state) {
  (void)state;
  uattn_string_t string = {0};
  assert_string_equal(uattn_string_get(&string), "");
  for (int i = 0; i < 1000; ++i)
    uattn_string_appendf(&string, "%03d,", i);
  assert_int_equal(string.size, 4000);
  assert_int_equal(strlen(uattn_string_get(&string)), 4000);
  assert_memory_equal(uattn_string_get(&string) + 4 * 577, "577,", 4);
  uattn_string_append(&string, "end");
  uattn_string_append_bytes(&string, "\0x", 2);
  assert_int_equal(string.size, 4005);
  assert_memory_equal(uattn_string_get(&string) + 4000, "end\0x", 6);
  uattn_string_release(&string);
  assert_null(string.data);
  assert_int_equal(string.size, 0);
}

static void taken_string_is_the_callers(void **state) {
  (void)state;
  uattn_string_t string = {0};
  char *empty = uattn_string_take(&string);
  assert_string_equal(empty, "");
  free(empty);
  uattn_string_append(&string, "abc");
  char *text = uattn_string_take(&string);
  assert_string_equal(text, "abc");
  assert_string_equal(uattn_string_get(&string), "");
  free(text);
}

static void size_overflow_is_told(void **state) {
  (void)state;
  size_t out = 77;
  assert_true(uattn_size_add(SIZE_MAX - 1, 1, &out));
  assert_true(out == SIZE_MAX);
  out = 77;
  assert_false(uattn_size_add(SIZE_MAX, 1, &out));
  assert_false(uattn_size_multiply(SIZE_MAX / 2 + 1, 2, &out));
  assert_int_equal(out, 77);
  assert_true(uattn_size_multiply(SIZE_MAX / 3, 3, &out));
  assert_true(out == SIZE_MAX / 3 * 3);
  assert_true(uattn_size_multiply(0, SIZE_MAX, &out));
  assert_int_equal(out, 0);
}

static void division_rounds_up(void **state) {
  (void)state;
  assert_int_equal(uattn_ceil_divide(0, 64), 0);
  assert_int_equal(uattn_ceil_divide(1, 64), 1);
  assert_int_equal(uattn_ceil_divide(64, 64), 1);
  assert_int_equal(uattn_ceil_divide(65, 64), 2);
  assert_true(uattn_ceil_divide(INT64_MAX, 2) == INT64_MAX / 2 + 1);
}

static void divide_by_zero(void) { (void)uattn_ceil_divide(1, 0); }

static void division_by_zero_aborts(void **state) {
  (void)state;
  assert_aborts(divide_by_zero);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(allocations_are_zeroed),
      cmocka_unit_test(impossible_try_gives_null),
      cmocka_unit_test(impossible_allocation_aborts),
      cmocka_unit_test(copies_are_the_callers),
      cmocka_unit_test(arena_pieces_are_aligned_zeroed_and_apart),
      cmocka_unit_test(arena_formats),
      cmocka_unit_test(string_grows),
      cmocka_unit_test(taken_string_is_the_callers),
      cmocka_unit_test(size_overflow_is_told),
      cmocka_unit_test(division_rounds_up),
      cmocka_unit_test(division_by_zero_aborts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
