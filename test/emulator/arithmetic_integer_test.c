/* Runs the integer and control parts of arithmetic.cu against C.
 * Layer: test. Must not know: how the emulator computes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_call.h"

enum { COUNT = 1000 };

/* Small and large numbers, and those at the edges; y is 0 at times. The one
 * quotient that does not exist, minimum / -1, is left out. */
static int64_t draw(uint64_t *random, int bits) {
  static const int64_t edges[] = {0, 1, -1, 2, -2, 7, 10, 255, 256, -128};
  uint64_t choice = next_random(random);
  uint64_t value = next_random(random);
  if (choice % 8 == 0)
    return edges[value % COUNT_OF(edges)];
  if (choice % 8 == 1) {
    uint64_t edge = value % 2 ? UINT64_MAX >> (65 - bits) : 1ull << (bits - 1);
    return (int64_t)(edge << (64 - bits)) >> (64 - bits);
  }
  return (int64_t)(value << (64 - bits)) >>
         (64 - bits + (int)((choice >> 32) % (uint64_t)(bits - 1)));
}

static int32_t arithmetic_shift(int32_t a, int by) {
  return (int32_t)((int64_t)a >> by);
}

static uint32_t reverse32(uint32_t a) {
  uint32_t reversed = 0;
  for (int i = 0; i < 32; ++i)
    reversed |= (a >> i & 1) << (31 - i);
  return reversed;
}

static uint64_t reverse64(uint64_t a) {
  return (uint64_t)reverse32((uint32_t)a) << 32 |
         reverse32((uint32_t)(a >> 32));
}

/* prmt: nibble i of the selector picks a byte of b:a, its top bit the sign. */
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t nibble = selector >> 4 * i & 15;
    uint32_t byte = (uint32_t)(both >> 8 * (nibble & 7) & 255);
    if (nibble & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}

static int32_t dot_signed(int32_t a, int32_t b, int32_t sum) {
  for (int i = 0; i < 32; i += 8)
    sum += (int8_t)(a >> i) * (int8_t)(b >> i);
  return sum;
}

static uint32_t dot_unsigned(uint32_t a, uint32_t b, uint32_t sum) {
  for (int i = 0; i < 32; i += 8)
    sum += (a >> i & 255) * (b >> i & 255);
  return sum;
}

static int first_set(uint32_t a) { return a ? __builtin_ctz(a) + 1 : 0; }
static int leading_zeros(uint32_t a) { return a ? __builtin_clz(a) : 32; }
static int leading_zeros64(uint64_t a) { return a ? __builtin_clzll(a) : 64; }

static float float_of_bits(uint32_t bits) {
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

enum { RESULTS32 = 38 };
static void expect32(int32_t a, int32_t b, uint32_t out[RESULTS32]) {
  uint32_t ua = (uint32_t)a, ub = (uint32_t)b;
  int by = b & 31;
  uint64_t both = (uint64_t)ub << 32 | ua;
  uint32_t difference = a < b ? ub - ua : ua - ub;
  const uint32_t wanted[] = {
      ua + ub,
      ua - ub,
      ua * ub,
      b == 0 ? 0 : (uint32_t)(a / b),
      b == 0 ? 0 : (uint32_t)(a % b),
      b == 0 ? 0 : ua / ub,
      b == 0 ? 0 : ua % ub,
      (uint32_t)(a / 7),
      ua / 10,
      (uint32_t)(a % 12),
      (uint32_t)((int64_t)a * b >> 32),
      (uint32_t)((uint64_t)ua * ub >> 32),
      ua << by,
      (uint32_t)arithmetic_shift(a, by),
      ua >> by,
      (ua & ub) ^ (ua | ~ub),
      (uint32_t)(a < b ? a : b),
      (uint32_t)(a > b ? a : b),
      ua < ub ? ua : ub,
      a < 0 ? 0 - ua : ua,
      (uint32_t)__builtin_popcount(ua),
      (uint32_t)leading_zeros(ua),
      (uint32_t)first_set(ua),
      reverse32(ua),
      permute(ua, ub, 0x5140),
      permute(ua, ub, ub & 0x7777),
      (uint32_t)(both << by >> 32),
      (uint32_t)(both >> (ua & 31)),
      a > b    ? 1
      : a == b ? 2
               : 3,
      ua > ub,
      (uint32_t)(((int64_t)a + b) >> 1),
      difference + 5,
      (uint32_t)((int8_t)a + (int16_t)b),
      (uint32_t)((uint8_t)a - (uint16_t)b),
      (uint32_t)dot_signed(a, b, 9),
      dot_unsigned(ua, ub, 9),
      (uint32_t)(arithmetic_shift(a, 3) & 0x1F),
      float_of_bits((ua & 0x3FFFFFFF) | 0x00800000) > 1.0f,
  };
  _Static_assert(sizeof wanted == RESULTS32 * sizeof *wanted, "results");
  memcpy(out, wanted, sizeof wanted);
}

static void numbers_of_32_bits(void **state) {
  (void)state;
  uattn_emulator_t *program = load_program("arithmetic");
  call_t call = {.grid = {8}, .block = {128}};
  int32_t count = COUNT;
  int32_t *x = call_add_buffer(&call, "x", COUNT * 4, true);
  int32_t *y = call_add_buffer(&call, "y", COUNT * 4, true);
  uint32_t *to = call_add_buffer(&call, "to", RESULTS32 * COUNT * 4, false);
  call_add_value(&call, &count, sizeof count);
  uint64_t random = 1;
  for (int i = 0; i < COUNT; ++i) {
    x[i] = (int32_t)draw(&random, 32);
    y[i] = (int32_t)draw(&random, 32);
    if (x[i] == INT32_MIN && y[i] == -1)
      y[i] = 3;
  }
  assert_ok(call_run(&call, program, "integers32"));
  for (int i = 0; i < COUNT; ++i) {
    uint32_t wanted[RESULTS32];
    expect32(x[i], y[i], wanted);
    for (int k = 0; k < RESULTS32; ++k)
      if (to[k * COUNT + i] != wanted[k])
        fail_msg("result %d of %d and %d is %x, expected %x", k, x[i], y[i],
                 to[k * COUNT + i], wanted[k]);
  }
  call_release(&call);
  uattn_emulator_destroy(program);
}

enum { RESULTS64 = 25 };
static void expect64(int64_t a, int64_t b, uint64_t out[RESULTS64]) {
  uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
  int by = (int)(b & 63);
  __int128 product = (__int128)a * b;
  unsigned __int128 unsigned_product = (unsigned __int128)ua * ub;
  const uint64_t wanted[] = {
      ua + ub,
      ua - ub,
      ua * ub,
      b == 0 ? 0 : (uint64_t)(a / b),
      b == 0 ? 0 : (uint64_t)(a % b),
      b == 0 ? 0 : ua / ub,
      b == 0 ? 0 : ua % ub,
      (uint64_t)(a / 1000000007),
      (uint64_t)(product >> 64),
      (uint64_t)(unsigned_product >> 64),
      ua << by,
      (uint64_t)(a >> by),
      ua >> by,
      (ua & ub) ^ (ua | ~ub),
      (uint64_t)(a < b ? a : b),
      ua > ub ? ua : ub,
      (uint64_t)__builtin_popcountll(ua),
      (uint64_t)leading_zeros64(ua),
      reverse64(ua),
      (uint64_t)((int64_t)(int32_t)a * (int32_t)b),
      (uint64_t)(uint32_t)a * (uint32_t)b + ub,
      a < b,
      ua < ub,
      (uint64_t)(uint32_t)a,
      (uint64_t)(int64_t)(int16_t)a,
  };
  _Static_assert(sizeof wanted == RESULTS64 * sizeof *wanted, "results");
  memcpy(out, wanted, sizeof wanted);
}

static void numbers_of_64_bits(void **state) {
  (void)state;
  uattn_emulator_t *program = load_program("arithmetic");
  call_t call = {.grid = {8}, .block = {128}};
  int32_t count = COUNT;
  int64_t *x = call_add_buffer(&call, "x", COUNT * 8, true);
  int64_t *y = call_add_buffer(&call, "y", COUNT * 8, true);
  uint64_t *to = call_add_buffer(&call, "to", RESULTS64 * COUNT * 8, false);
  call_add_value(&call, &count, sizeof count);
  uint64_t random = 2;
  for (int i = 0; i < COUNT; ++i) {
    x[i] = draw(&random, 64);
    y[i] = draw(&random, 64);
    if (x[i] == INT64_MIN && y[i] == -1)
      y[i] = 3;
  }
  assert_ok(call_run(&call, program, "integers64"));
  for (int i = 0; i < COUNT; ++i) {
    uint64_t wanted[RESULTS64];
    expect64(x[i], y[i], wanted);
    for (int k = 0; k < RESULTS64; ++k)
      if (to[k * COUNT + i] != wanted[k])
        fail_msg("result %d of %lld and %lld is %llx, expected %llx", k,
                 (long long)x[i], (long long)y[i],
                 (unsigned long long)to[k * COUNT + i],
                 (unsigned long long)wanted[k]);
  }
  call_release(&call);
  uattn_emulator_destroy(program);
}

static int32_t choose(int32_t a, int32_t i, int32_t before) {
  switch (a & 7) {
  case 0:
    return (int32_t)((uint32_t)a * 3);
  case 1:
    return before + 7;
  case 2:
    return a ^ i;
  case 3:
    return (i & 7) * (i & 7);
  case 4:
    return (int32_t)((uint32_t)a - (uint32_t)(i * i));
  case 5:
    return ~before;
  case 6:
    return a % (i + 1);
  default:
    return (int32_t)reverse32((uint32_t)a);
  }
}

static int32_t count_digits(uint32_t a, int wanted_digit) {
  int digits[10] = {0};
  int steps = 0;
  for (; a != 0; a /= 10, ++steps)
    ++digits[a % 10];
  return digits[wanted_digit] * 100 + steps;
}

static int32_t collatz_steps(uint32_t n) {
  int steps = 0;
  for (; n != 1; ++steps) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    if (steps == 40)
      break;
  }
  return steps;
}

static void branches_tables_and_loops(void **state) {
  (void)state;
  uattn_emulator_t *program = load_program("arithmetic");
  call_t call = {.grid = {8}, .block = {128}};
  int32_t count = COUNT;
  int32_t *x = call_add_buffer(&call, "x", COUNT * 4, true);
  int32_t *to = call_add_buffer(&call, "to", 4 * COUNT * 4, false);
  call_add_value(&call, &count, sizeof count);
  uint64_t random = 3;
  for (int i = 0; i < COUNT; ++i) {
    x[i] = (int32_t)draw(&random, 32);
    to[i] = 100 * i;
  }
  assert_ok(call_run(&call, program, "control"));
  for (int i = 0; i < COUNT; ++i) {
    int square = x[i] & 7;
    assert_int_equal(to[i], choose(x[i], i, 100 * i));
    assert_int_equal(to[COUNT + i], count_digits((uint32_t)x[i], i % 10));
    assert_int_equal(to[2 * COUNT + i],
                     collatz_steps(((uint32_t)x[i] & 0xFF) + 1));
    assert_int_equal(to[3 * COUNT + i], square * square + (i & 1 ? -3 : 5));
  }
  call_release(&call);
  uattn_emulator_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_of_32_bits),
      cmocka_unit_test(numbers_of_64_bits),
      cmocka_unit_test(branches_tables_and_loops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
