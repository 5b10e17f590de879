/* Runs reduction.cu against plain loops.
 * Layer: test. Must not know: how the emulator shuffles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_call.h"

/* Integers in floats: any order of adding gives the same sum. */
static void blocks_reduce_to_a_sum_and_maxima(void **state) {
  (void)state;
  enum { BLOCKS = 5, THREADS = 256, COUNT = 10007 };
  uattn_emulator_t *program = load_program("reduction");
  call_t call = {.grid = {BLOCKS}, .block = {THREADS}, .seed = 1};
  int32_t count = COUNT;
  float *values = call_add_buffer(&call, "values", COUNT * 4, true);
  call_add_value(&call, &count, sizeof count);
  float *sum = call_add_buffer(&call, "sum", 4, false);
  float *maxima = call_add_buffer(&call, "maxima", BLOCKS * 4, false);
  float wanted_sum = 0;
  float wanted_maxima[BLOCKS];
  uint64_t random = 7;
  for (int i = 0; i < BLOCKS; ++i)
    wanted_maxima[i] = -INFINITY;
  for (int i = 0; i < COUNT; ++i) {
    values[i] = (float)(next_random(&random) % 1000) - 500.0f;
    wanted_sum += values[i];
    float *top = &wanted_maxima[i / THREADS % BLOCKS];
    *top = fmaxf(*top, values[i]);
  }
  assert_ok(call_run(&call, program, "block_reduce"));
  assert_true(*sum == wanted_sum);
  for (int i = 0; i < BLOCKS; ++i)
    assert_true(maxima[i] == wanted_maxima[i]);
  call_release(&call);
  uattn_emulator_destroy(program);
}

static void a_block_scans_its_numbers(void **state) {
  (void)state;
  enum { THREADS = 1024 };
  uattn_emulator_t *program = load_program("reduction");
  call_t call = {.block = {THREADS}, .seed = 2};
  int32_t *values = call_add_buffer(&call, "values", THREADS * 4, true);
  int32_t *running = call_add_buffer(&call, "running", THREADS * 4, false);
  uint64_t random = 3;
  for (int i = 0; i < THREADS; ++i)
    values[i] = (int32_t)(next_random(&random) % 100) - 50;
  assert_ok(call_run(&call, program, "block_scan"));
  int32_t sum = 0;
  for (int i = 0; i < THREADS; ++i) {
    sum += values[i];
    assert_int_equal(running[i], sum);
  }
  call_release(&call);
  uattn_emulator_destroy(program);
}

/* What the lanes that stay should see. */
static void check_votes(const int32_t *values, const uint32_t *results) {
  uint32_t odd = 0, here = 0, sum = 0, parity = 0;
  int32_t top = INT32_MIN;
  bool is_any_large = false;
  for (int i = 0; i < 32; ++i) {
    odd |= (uint32_t)(values[i] & 1) << i;
    if (values[i] < 0)
      continue;
    here |= 1u << i;
    sum += (uint32_t)values[i];
    parity ^= (uint32_t)values[i];
    top = values[i] > top ? values[i] : top;
    is_any_large |= values[i] > 100;
  }
  for (int i = 0; i < 32; ++i) {
    uint32_t equal = 0;
    for (int k = 0; k < 32; ++k)
      equal += values[k] == values[i];
    const uint32_t wanted[8] = {odd, here,          is_any_large, 1,
                                sum, (uint32_t)top, parity,       equal};
    for (int k = 0; k < 8; ++k)
      assert_int_equal(results[i * 8 + k], values[i] < 0 ? 0 : wanted[k]);
  }
}

static void votes_count_the_lanes_that_stay(void **state) {
  (void)state;
  uattn_emulator_t *program = load_program("reduction");
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    call_t call = {.block = {32}, .seed = seed};
    int32_t *values = call_add_buffer(&call, "values", 32 * 4, true);
    uint32_t *results = call_add_buffer(&call, "results", 32 * 8 * 4, false);
    uint64_t random = seed;
    for (int i = 0; i < 32; ++i)
      values[i] = (int32_t)(next_random(&random) % (seed * 20)) - 10;
    assert_ok(call_run(&call, program, "warp_votes"));
    check_votes(values, results);
    call_release(&call);
  }
  uattn_emulator_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_reduce_to_a_sum_and_maxima),
      cmocka_unit_test(a_block_scans_its_numbers),
      cmocka_unit_test(votes_count_the_lanes_that_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
