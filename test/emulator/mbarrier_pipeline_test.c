/* Runs mbarrier_pipeline.cu under many interleavings.
 * Layer: test. Must not know: how the emulator schedules.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_call.h"

enum { CHUNK = 256, CONSUMERS = 3 };

static void run_pipeline(const uattn_emulator_t *program, int32_t chunks,
                         int blocks, uint64_t seed) {
  call_t call = {.grid = {(uint32_t)blocks}, .block = {128}, .seed = seed};
  size_t count = (size_t)(chunks * CHUNK);
  int32_t *numbers = call_add_buffer(&call, "numbers", count * 4, true);
  uint64_t random = seed;
  for (size_t i = 0; i < count; ++i)
    numbers[i] = (int32_t)(next_random(&random) % 2001) - 1000;
  call_add_value(&call, &chunks, sizeof chunks);
  int32_t *sums =
      call_add_buffer(&call, "sums", (size_t)(blocks * CONSUMERS) * 4, false);
  int32_t *copies = call_add_buffer(&call, "copies", count * 4, false);
  assert_ok(call_run(&call, program, "mbarrier_pipeline"));
  for (int block = 0; block < blocks; ++block) {
    int32_t sum = 0;
    for (int chunk = block; chunk < chunks; chunk += blocks)
      for (int i = 0; i < CHUNK; ++i)
        sum += numbers[chunk * CHUNK + i];
    for (int warp = 1; warp <= CONSUMERS; ++warp)
      assert_int_equal(sums[block * CONSUMERS + warp - 1], sum * warp);
  }
  for (size_t i = 0; i < count; ++i)
    assert_int_equal(copies[i], numbers[i] + 1);
  call_release(&call);
}

static void chunks_pass_the_ring_in_order(void **state) {
  (void)state;
  uattn_emulator_t *program = load_program("mbarrier_pipeline");
  run_pipeline(program, 1, 1, 1);
  run_pipeline(program, 3, 1, 2);
  run_pipeline(program, 23, 4, 3);
  for (uint64_t seed = 4; seed < 24; ++seed)
    run_pipeline(program, 11, 2, seed);
  uattn_emulator_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chunks_pass_the_ring_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
