/* Runs histogram.cu against plain counting.
 * Layer: test. Must not know: how the emulator orders threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_call.h"

static void bytes_are_counted(void **state) {
  (void)state;
  enum { SIZE = 20011, BINS = 64, BLOCKS = 7 };
  uattn_emulator_t *program = load_program("histogram");
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    call_t call = {.grid = {BLOCKS}, .block = {96}, .seed = seed};
    int32_t size = SIZE;
    uint8_t *bytes = call_add_buffer(&call, "bytes", SIZE, true);
    call_add_value(&call, &size, sizeof size);
    uint32_t *counts = call_add_buffer(&call, "counts", BINS * 4, false);
    uint32_t *finished = call_add_buffer(&call, "finished", 4, false);
    uint32_t *largest = call_add_buffer(&call, "largest", 4, false);
    uint32_t *blocks = call_add_buffer(&call, "blocks", 4, false);
    uint32_t wanted[BINS] = {0};
    uint32_t wanted_largest = 0;
    uint64_t random = seed;
    for (int i = 0; i < SIZE; ++i) {
      bytes[i] = (uint8_t)(next_random(&random) & next_random(&random));
      ++wanted[bytes[i] % BINS];
    }
    assert_ok(call_run(&call, program, "histogram"));
    for (int i = 0; i < BINS; ++i) {
      assert_int_equal(counts[i], wanted[i]);
      if (wanted[i] > wanted_largest)
        wanted_largest = wanted[i];
    }
    assert_int_equal(*finished, BLOCKS);
    assert_int_equal(*largest, wanted_largest);
    assert_int_equal(*blocks, BLOCKS);
    call_release(&call);
  }
  uattn_emulator_destroy(program);
}

static void every_atomic_operation_counts_all_threads(void **state) {
  (void)state;
  enum { BLOCKS = 3, THREADS = 50, ALL = BLOCKS * THREADS };
  uattn_emulator_t *program = load_program("histogram");
  call_t call = {.grid = {BLOCKS}, .block = {THREADS}, .seed = 9};
  uint32_t *words = call_add_buffer(&call, "words", 8 * 4, false);
  int32_t *integers = call_add_buffer(&call, "integers", 2 * 4, false);
  uint64_t *longs = call_add_buffer(&call, "longs", 3 * 8, false);
  float *floats = call_add_buffer(&call, "floats", 4, false);
  double *doubles = call_add_buffer(&call, "doubles", 8, false);
  const uint32_t start[8] = {UINT32_MAX, 0, 5, 1000, 30, 100000, 1, 2};
  memcpy(words, start, sizeof start);
  integers[0] = -1000;
  integers[1] = 1000;
  uint32_t crossed = 5, counted_down = 30, tripled = 2;
  for (uint32_t i = 0; i < ALL; ++i) {
    crossed ^= i;
    counted_down =
        counted_down == 0 || counted_down > 1000 ? 1000 : counted_down - 1;
    tripled = tripled * 3 + 1;
  }
  uint32_t sum = ALL * (ALL - 1) / 2;
  assert_ok(call_run(&call, program, "atomics"));
  const uint32_t wanted[8] = {
      0, UINT32_MAX, crossed, 5, counted_down, 100000 - sum, 77, tripled};
  for (int i = 0; i < 8; ++i)
    assert_int_equal(words[i], wanted[i]);
  assert_int_equal(integers[0], ALL - 1 - 40);
  assert_int_equal(integers[1], 20 - (ALL - 1));
  assert_true(longs[0] == ((uint64_t)sum << 32 | sum));
  assert_true(longs[1] == (uint64_t)(ALL - 1) << 40);
  assert_true(longs[2] == 99);
  assert_true(floats[0] == (float)sum);
  assert_true(doubles[0] == 0.5 * sum);
  call_release(&call);
  uattn_emulator_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_are_counted),
      cmocka_unit_test(every_atomic_operation_counts_all_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
