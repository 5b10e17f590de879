/* Loads, stores, state spaces and their bounds, on the emulator.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"

enum { LANES = 32 };

typedef struct {
  uint64_t out[4 * LANES];
  uint64_t want[4 * LANES];
  uint8_t in[512];
  uint32_t count;
} longs_t;

static void check_longs(void *data) {
  const longs_t *longs = data;
  for (uint32_t i = 0; i < longs->count; ++i)
    if (longs->out[i] != longs->want[i])
      fail_msg("%u: 0x%llx, wanted 0x%llx", i,
               (unsigned long long)longs->out[i],
               (unsigned long long)longs->want[i]);
}

/* %d1 is where the lane's long of `out` is, %d2 the lane's byte of `in`, %r1
 * the lane's long in shared memory. */
static void expect(longs_t *longs, const char *body) {
  char text[4096];
  snprintf(text, sizeof text,
           "mul.wide.u32 %%d1, %%thread, 8;\nadd.u64 %%d1, %%out, %%d1;\n"
           "cvt.u64.u32 %%d2, %%thread;\nadd.u64 %%d2, %%in, %%d2;\n"
           "shl.b32 %%r1, %%thread, 3;\n%s",
           body);
  for (size_t i = 0; i < sizeof longs->in; ++i)
    longs->in[i] = (uint8_t)(37 * i + 129);
  emulated_t emulated = {.body = text,
                         .shared_bytes = 4096,
                         .out = longs->out,
                         .out_bytes = sizeof longs->out,
                         .in = longs->in,
                         .in_bytes = sizeof longs->in};
  emulated_run_seeds(&emulated, check_longs, longs);
}

static uint8_t input(uint32_t index) { return (uint8_t)(37 * index + 129); }

static uint64_t input_word(uint32_t index, uint32_t bytes) {
  uint64_t word = 0;
  for (uint32_t i = 0; i < bytes; ++i)
    word |= (uint64_t)input(index + i) << (8 * i);
  return word;
}

static void narrow_loads_extend_by_their_type(void **state) {
  (void)state;
  longs_t longs = {.count = LANES};
  for (uint32_t i = 0; i < LANES; ++i)
    longs.want[i] = (uint64_t)(int64_t)(int8_t)input(i) ^
                    ((uint64_t)(uint32_t)(int8_t)input(i + 32) << 3) ^
                    ((uint64_t)(uint16_t)(int8_t)input(i + 64) << 11) ^
                    ((uint64_t)input(i + 96) << 40);
  expect(&longs, "ld.global.s8 %d10, [%d2];\nld.global.s8 %r10, [%d2+32];\n"
                 "ld.global.s8 %h1, [%d2+64];\nld.global.u8 %h2, [%d2+96];\n"
                 "cvt.u64.u32 %d11, %r10;\nshl.b64 %d11, %d11, 3;\n"
                 "xor.b64 %d10, %d10, %d11;\n"
                 "cvt.u64.u16 %d11, %h1;\nshl.b64 %d11, %d11, 11;\n"
                 "xor.b64 %d10, %d10, %d11;\n"
                 "cvt.u64.u16 %d11, %h2;\nshl.b64 %d11, %d11, 40;\n"
                 "xor.b64 %d10, %d10, %d11;\nst.global.u64 [%d1], %d10;\n");
}

static void stores_write_the_low_bits_alone(void **state) {
  (void)state;
  longs_t longs = {.count = LANES};
  for (uint32_t i = 0; i < LANES; ++i)
    longs.want[i] = 0xEEEEEEEE3344EE44u;
  expect(&longs, "mov.b64 %d10, 0x1122334411223344;\nmov.b32 %r10, "
                 "0x11223344;\n"
                 "st.global.u8 [%d1], %r10;\nst.global.b16 [%d1+2], %d10;\n");
}

static void vectors_are_loaded_and_stored_whole(void **state) {
  (void)state;
  longs_t longs = {.count = 2 * LANES};
  for (uint32_t i = 0; i < LANES; ++i) {
    longs.want[2 * i] =
        input_word(16 * (i % 16), 4) << 32 | input_word(16 * (i % 16) + 8, 4);
    longs.want[2 * i + 1] = input_word(16 * (i % 16) + 4, 4) << 32 |
                            input_word(16 * (i % 16) + 12, 4);
  }
  expect(&longs, "and.b32 %r2, %thread, 15;\nmul.wide.u32 %d3, %r2, 16;\n"
                 "add.u64 %d3, %in, %d3;\n"
                 "mul.wide.u32 %d4, %thread, 16;\nadd.u64 %d4, %out, %d4;\n"
                 "ld.global.nc.L1::no_allocate.L2::128B.v4.u32 "
                 "{%r10, %r11, %r12, %r13}, [%d3];\n"
                 "st.global.wt.v4.b32 [%d4], {%r12, %r10, %r13, %r11};\n");
  for (uint32_t i = 0; i < LANES; ++i) {
    longs.want[2 * i] = input_word(16 * (i % 16) + 8, 8);
    longs.want[2 * i + 1] = 7;
  }
  expect(&longs, "and.b32 %r2, %thread, 15;\nmul.wide.u32 %d3, %r2, 16;\n"
                 "add.u64 %d3, %in, %d3;\n"
                 "mul.wide.u32 %d4, %thread, 16;\nadd.u64 %d4, %out, %d4;\n"
                 "ld.global.v2.u64 {_, %d10}, [%d3];\n"
                 "st.global.v2.u64 [%d4], {%d10, 7};\n");
}

static void generic_addresses_reach_every_space(void **state) {
  (void)state;
  longs_t longs = {.count = LANES};
  for (uint32_t i = 0; i < LANES; ++i)
    longs.want[i] = 1000 + 31 - i + (1 + 2 + 4 + 8);
  expect(&longs, ".local .align 8 .b8 mine[16];\n"
                 /* shared */
                 "cvt.u64.u32 %d10, %r1;\ncvta.shared.u64 %d10, %d10;\n"
                 "st.u32 [%d10], %thread;\nbar.sync 0;\n"
                 "xor.b32 %r2, %r1, 248;\nld.shared.u32 %r3, [%r2];\n"
                 /* local: one a thread */
                 "mov.u64 %d11, mine;\ncvta.local.u64 %d11, %d11;\n"
                 "st.u32 [%d11+4], %r3;\nbar.sync 0;\n"
                 "cvta.to.local.u64 %d12, %d11;\nld.local.u32 %r4, [%d12+4];\n"
                 "add.u32 %r4, %r4, 1000;\n"
                 "isspacep.shared %p1, %d10;\nisspacep.local %p2, %d11;\n"
                 "isspacep.global %p3, %out;\nisspacep.global %p4, %d10;\n"
                 "@%p1 add.u32 %r4, %r4, 1;\n@%p2 add.u32 %r4, %r4, 2;\n"
                 "@%p3 add.u32 %r4, %r4, 4;\n@!%p4 add.u32 %r4, %r4, 8;\n"
                 "cvt.u64.u32 %d13, %r4;\ncvta.to.global.u64 %d1, %d1;\n"
                 "st.u64 [%d1], %d13;\n");
}

static void parameters_are_read_directly_and_by_address(void **state) {
  (void)state;
  longs_t longs = {.count = LANES};
  for (uint32_t i = 0; i < LANES; ++i)
    longs.want[i] = 0;
  expect(&longs, "mov.b64 %d10, out;\ncvta.param.u64 %d10, %d10;\n"
                 "ld.u64 %d11, [%d10];\nld.param.v2.b32 {%r10, %r11}, [out];\n"
                 "mov.b64 %d12, {%r10, %r11};\nsub.u64 %d11, %d11, %d12;\n"
                 "st.global.u64 [%d1], %d11;\n");
}

/* ---- cp.async --------------------------------------------------------------
 */

static void asynchronous_copies_are_there_after_their_wait(void **state) {
  (void)state;
  longs_t longs = {.count = LANES};
  for (uint32_t i = 0; i < LANES; ++i)
    longs.want[i] = input_word(8 * i, 8) + input_word(256 + 8 * i, 4);
  expect(&longs, "mul.wide.u32 %d3, %thread, 8;\nadd.u64 %d3, %in, %d3;\n"
                 "cp.async.ca.shared.global [%r1], [%d3], 8;\n"
                 "cp.async.commit_group;\n"
                 "cp.async.ca.shared.global [%r1+1024], [%d3+256], 8, 4;\n"
                 "cp.async.commit_group;\n"
                 "cp.async.wait_group 1;\nld.shared.u64 %d10, [%r1];\n"
                 "cp.async.wait_all;\nld.shared.u64 %d11, [%r1+1024];\n"
                 "add.u64 %d10, %d10, %d11;\nst.global.u64 [%d1], %d10;\n");
}

/* ---- Faults ----------------------------------------------------------------
 */

/* The memories and what nobody may touch around them. */
typedef struct {
  _Alignas(16) uint8_t before[256];
  uint32_t out[LANES];
  uint8_t between[256];
  uint8_t in[LANES];
  uint8_t after[256];
} apart_t;

static void expect_fault(const char *body, const char *part) {
  static apart_t memory;
  emulated_t emulated = {.body = body,
                         .shared_bytes = 128,
                         .out = memory.out,
                         .out_bytes = sizeof memory.out,
                         .in = memory.in,
                         .in_bytes = sizeof memory.in};
  assert_emulated_fault(&emulated, part);
}

static void accesses_out_of_bounds_name_the_nearest_memory(void **state) {
  (void)state;
  expect_fault("st.global.u32 [%mine+8], %r0;\n",
               "lane 30: write of 4 bytes at global address");
  expect_fault("st.global.u32 [%mine+8], %r0;\n",
               "is out of bounds: 0 bytes past the end of 'out' of 128 bytes");
  expect_fault("ld.global.u32 %r0, [%mine+-4];\n",
               "is out of bounds: 4 bytes before 'out' of 128 bytes");
  expect_fault("ld.global.u64 %d0, [%out+116];\n", "misaligned");
  expect_fault(
      "mov.u64 %d0, 0;\nld.global.u32 %r0, [%d0+4];\n",
      "lane 0: read of 4 bytes at global address 0x4 is out of bounds");
  expect_fault("ld.shared.u32 %r0, [128];\n",
               "read of 4 bytes at shared address 128 is out of bounds: shared "
               "memory has 128 bytes");
  expect_fault("ld.param.u32 %r0, [map+128];\n", "parameter memory has");
  expect_fault(".local .align 4 .b8 mine[16];\nmov.u64 %d0, mine;\n"
               "st.local.u32 [%d0+16], %r0;\n",
               "local memory has 16 bytes");
}

static void misaligned_accesses_say_what_they_want(void **state) {
  (void)state;
  expect_fault("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%out+8];\n", "");
  expect_fault("ld.shared.v2.u32 {%r0, %r1}, [4];\n",
               "read of 8 bytes at shared address 0x4 is misaligned: expected "
               "a multiple of 8");
}

static void parameters_are_read_only(void **state) {
  (void)state;
  expect_fault("st.u32 [%map], %r0;\n",
               "write to parameter memory, which is read-only");
}

static void words_that_do_not_go_together_are_refused(void **state) {
  (void)state;
  assert_refused("ld.global.foo.u32 %r0, [%out];", ".foo is not supported");
  assert_refused("ld.global.u32 %d0, %out;", "brackets");
  assert_refused("ld.global.v3.u32 {%r0, %r1, %r2}, [%out];", ".v3");
  assert_refused("ld.global.v2.u32 {%r0, %r1, %r2}, [%out];", "expected 2");
  assert_refused("ld.global.u64 %r0, [%out];", "width");
  assert_refused("ld.release.gpu.global.u32 %r0, [%out];", "memory order");
  assert_refused("ld.relaxed.global.u32 %r0, [%out];", "scope");
  assert_refused("st.acquire.gpu.global.u32 [%out], %r0;", "memory order");
  assert_refused("st.const.u32 [%out], %r0;", "state space");
  assert_refused("st.async.global.u32 [%out], %r0;", ".async");
  assert_refused("ld.global.v8.u64 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, "
                 "[%out];",
                 "8 elements");
  assert_refused("cvta.shared.u32 %r0, %r1;", ".u64");
  assert_refused("cp.async.cg.shared.global [%r0], [%out], 8;", "expected 4");
  assert_refused("cp.async.ca.shared.global [%r0], [%out], 12;", "expected 4");
  assert_accepted("ld.relaxed.gpu.global.u32 %r0, [%out];\n"
                  "st.release.sys.global.u32 [%out], %r0;\n"
                  "ldu.global.u32 %r0, [%out];\n"
                  "ld.global.L2::cache_hint.u32 %r0, [%out], %d0;\n"
                  "prefetch.global.L2 [%out];\n"
                  "createpolicy.fractional.L2::evict_last.b64 %d0, 1.0;");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(narrow_loads_extend_by_their_type),
      cmocka_unit_test(stores_write_the_low_bits_alone),
      cmocka_unit_test(vectors_are_loaded_and_stored_whole),
      cmocka_unit_test(generic_addresses_reach_every_space),
      cmocka_unit_test(parameters_are_read_directly_and_by_address),
      cmocka_unit_test(asynchronous_copies_are_there_after_their_wait),
      cmocka_unit_test(accesses_out_of_bounds_name_the_nearest_memory),
      cmocka_unit_test(misaligned_accesses_say_what_they_want),
      cmocka_unit_test(parameters_are_read_only),
      cmocka_unit_test(words_that_do_not_go_together_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
