/* Runs the floating-point parts of arithmetic.cu against C.
 * Layer: test. Must not know: how the emulator computes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_call.h"

#include <fenv.h>

enum { COUNT = 2000 };

static uint32_t bits_of(float value) {
  uint32_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint64_t bits_of_double(double value) {
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static double double_of_bits(uint64_t bits) {
  double value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Arithmetic in a direction; volatile, or the compiler computes it before. */
static volatile double in_a, in_b, in_c, result;
static volatile float in_fa, in_fb, in_fc, result_f;

typedef enum { ADD, MULTIPLY, FMA } operation_t;

static double directed(operation_t operation, int direction, double a,
                       double b) {
  in_a = a;
  in_b = b;
  fesetround(direction);
  result = operation == ADD ? in_a + in_b : in_a * in_b;
  fesetround(FE_TONEAREST);
  return result;
}

static float directed_f(operation_t operation, int direction, float a, float b,
                        float c) {
  in_fa = a;
  in_fb = b;
  in_fc = c;
  fesetround(direction);
  if (operation == FMA)
    result_f = fmaf(in_fa, in_fb, in_fc);
  else
    result_f = operation == ADD ? in_fa + in_fb : in_fa * in_fb;
  fesetround(FE_TONEAREST);
  return result_f;
}

/* Rounded to odd: another rounding, to fewer digits, is then right. */
static double fma_to_odd(double a, double b, double c) {
  in_a = a;
  in_b = b;
  in_c = c;
  fesetround(FE_TOWARDZERO);
  feclearexcept(FE_INEXACT);
  result = fma(in_a, in_b, in_c);
  bool is_inexact = fetestexcept(FE_INEXACT);
  fesetround(FE_TONEAREST);
  return is_inexact ? double_of_bits(bits_of_double(result) | 1) : result;
}

static float float_of_integer(int direction, int64_t value) {
  volatile int64_t in = value;
  fesetround(direction);
  result_f = (float)in;
  fesetround(FE_TONEAREST);
  return result_f;
}

static double double_of_unsigned(int direction, uint64_t value) {
  volatile uint64_t in = value;
  fesetround(direction);
  result = (double)in;
  fesetround(FE_TONEAREST);
  return result;
}

static float float_of_double(int direction, double value) {
  in_a = value;
  fesetround(direction);
  result_f = (float)in_a;
  fesetround(FE_TONEAREST);
  return result_f;
}

/* As a format with `digits` binary digits and normal numbers from 2^lowest up
 * to `largest` stores it. */
static double as_format(double value, int digits, int lowest, double largest,
                        bool is_truncated) {
  if (value == 0 || !isfinite(value))
    return value;
  int exponent = ilogb(value) < lowest ? lowest : ilogb(value);
  double unit = scalbn(1, exponent - digits + 1);
  double rounded =
      (is_truncated ? trunc(value / unit) : nearbyint(value / unit)) * unit;
  if (fabs(rounded) <= largest)
    return rounded;
  return copysign(is_truncated ? largest : (double)INFINITY, value);
}

static double as_f16(double value) {
  return as_format(value, 11, -14, 65504, false);
}

static double as_bf16(double value) {
  return as_format(value, 8, -126, 0x1.FEp127, false);
}

static double clamp(double value, double low, double high, double if_nan) {
  return isnan(value)   ? if_nan
         : value < low  ? low
         : value > high ? high
                        : value;
}

static bool is_same(double found, double wanted) {
  return (isnan(found) && isnan(wanted)) || found == wanted;
}

/* Any exponent, some special values. */
static double draw(uint64_t *random, int exponents) {
  static const double specials[] = {
      0.0, -0.0, INFINITY, -INFINITY,    NAN,
      1.0, -1.0, 0.5,      65504.0,      1e-40,
      2.5, 3.5,  -1.5,     4294967296.0, -2147483648.0};
  uint64_t choice = next_random(random);
  if (choice % 10 == 0)
    return specials[next_random(random) % COUNT_OF(specials)];
  double fraction = 1.0 + (double)(next_random(random) >> 12) * 0x1p-52;
  int exponent = (int)(choice >> 8) % exponents;
  return (choice & 16 ? -1.0 : 1.0) * scalbn(fraction, exponent);
}

enum { RESULTS32 = 36 };
static void expect32(float a, float b, double out[RESULTS32]) {
  double da = (double)a, db = (double)b;
  int32_t nearest = (int32_t)clamp(rint(da), INT32_MIN, INT32_MAX, 0);
  double floored = clamp(floor(da), -0x1p63, 0x1p63, -0x1p63);
  int64_t whole = floored >= 0x1p63 ? INT64_MAX : (int64_t)floored;
  const double wanted[] = {
      (double)(a + b),
      (double)(a - b),
      (double)(a * b),
      (double)fmaf(a, b, 1.5f),
      (double)(a / b),
      (double)sqrtf(fabsf(a)),
      (double)(1.0f / b),
      (double)directed_f(ADD, FE_TOWARDZERO, a, b, 0),
      (double)directed_f(MULTIPLY, FE_UPWARD, a, b, 0),
      (double)directed_f(FMA, FE_DOWNWARD, a, b, -a),
      (double)fminf(a, b),
      (double)fmaxf(a, b),
      fabs(da),
      -da,
      floor(da),
      ceil(da),
      trunc(da),
      rint(da),
      clamp(da, 0, 1, 0),
      copysign(da, db),
      (double)(float)(int32_t)clamp(trunc(da), INT32_MIN, INT32_MAX, 0),
      a < b,
      a >= b || isnan(a),
      (double)(float)nearest,
      (double)(float)(uint32_t)clamp(trunc(da), 0, UINT32_MAX, 0),
      (double)(float)whole,
      (double)float_of_integer(FE_TOWARDZERO, (int32_t)bits_of(a)),
      (double)float_of_integer(FE_UPWARD, bits_of(b)),
      as_f16(da),
      as_format(db, 11, -14, 65504, true),
      as_bf16(da),
      as_f16(as_f16(da) + as_f16(db)),
      as_f16(as_f16(da) * as_f16(db)),
      as_bf16(fma_to_odd(as_bf16(da), as_bf16(db), 1.0)),
      (double)(int8_t)(bits_of(a) >> 8),
      (double)(float)(da * db),
  };
  _Static_assert(sizeof wanted == RESULTS32 * sizeof *wanted, "results");
  memcpy(out, wanted, sizeof wanted);
}

static void numbers_of_32_bits(void **state) {
  (void)state;
  uattn_emulator_t *program = load_program("arithmetic");
  call_t call = {.grid = {16}, .block = {128}};
  int32_t count = COUNT;
  float *x = call_add_buffer(&call, "x", COUNT * 4, true);
  float *y = call_add_buffer(&call, "y", COUNT * 4, true);
  float *to = call_add_buffer(&call, "to", RESULTS32 * COUNT * 4, false);
  call_add_value(&call, &count, sizeof count);
  uint64_t random = 1;
  for (int i = 0; i < COUNT; ++i) {
    /* Exponents near each other, so that sums have work to do; and all. */
    x[i] = (float)draw(&random, i % 2 ? 20 : 150);
    y[i] = (float)draw(&random, i % 2 ? 20 : 150);
    if (i % 4 < 2)
      x[i] *= 0x1p-20f;
  }
  assert_ok(call_run(&call, program, "floats32"));
  for (int i = 0; i < COUNT; ++i) {
    double wanted[RESULTS32];
    expect32(x[i], y[i], wanted);
    for (int k = 0; k < RESULTS32; ++k)
      if (!is_same((double)to[k * COUNT + i], wanted[k]))
        fail_msg("result %d of %a and %a is %a, expected %a", k, (double)x[i],
                 (double)y[i], (double)to[k * COUNT + i], wanted[k]);
  }
  call_release(&call);
  uattn_emulator_destroy(program);
}

enum { RESULTS64 = 26 };
static void expect64(double a, double b, double out[RESULTS64]) {
  int64_t whole = isnan(a) || a < -0x1p63 ? INT64_MIN
                  : a >= 0x1p63           ? INT64_MAX
                                          : (int64_t)a;
  const double wanted[] = {
      a + b,
      a - b,
      a * b,
      fma(a, b, 0.1),
      a / b,
      sqrt(fabs(a)),
      1 / b,
      directed(ADD, FE_TOWARDZERO, a, b),
      directed(MULTIPLY, FE_DOWNWARD, a, b),
      fmin(a, b),
      fmax(a, b),
      fabs(a),
      floor(a),
      ceil(a),
      trunc(a),
      rint(a),
      clamp(trunc(a), INT32_MIN, INT32_MAX, INT32_MIN),
      (double)whole,
      clamp(trunc(fabs(a)), 0, UINT32_MAX, 0x1p31),
      (double)(float)a,
      (double)float_of_double(FE_TOWARDZERO, b),
      a < b,
      double_of_bits(bits_of_double(a) ^ 1),
      double_of_bits((bits_of_double(b) & 0xFFFFFFFF00000000) |
                     (bits_of_double(a) & 0xFFFFFFFF)),
      (double)(int64_t)bits_of_double(a),
      double_of_unsigned(FE_TOWARDZERO, bits_of_double(b)),
  };
  _Static_assert(sizeof wanted == RESULTS64 * sizeof *wanted, "results");
  memcpy(out, wanted, sizeof wanted);
}

static void numbers_of_64_bits(void **state) {
  (void)state;
  uattn_emulator_t *program = load_program("arithmetic");
  call_t call = {.grid = {16}, .block = {128}};
  int32_t count = COUNT;
  double *x = call_add_buffer(&call, "x", COUNT * 8, true);
  double *y = call_add_buffer(&call, "y", COUNT * 8, true);
  double *to = call_add_buffer(&call, "to", RESULTS64 * COUNT * 8, false);
  call_add_value(&call, &count, sizeof count);
  uint64_t random = 2;
  for (int i = 0; i < COUNT; ++i) {
    x[i] = draw(&random, i % 2 ? 40 : 1200) * (i % 4 < 2 ? 0x1p-30 : 1.0);
    y[i] = draw(&random, i % 2 ? 40 : 1200);
  }
  assert_ok(call_run(&call, program, "floats64"));
  for (int i = 0; i < COUNT; ++i) {
    double wanted[RESULTS64];
    expect64(x[i], y[i], wanted);
    for (int k = 0; k < RESULTS64; ++k)
      if (!is_same(to[k * COUNT + i], wanted[k]))
        fail_msg("result %d of %a and %a is %a, expected %a", k, x[i], y[i],
                 to[k * COUNT + i], wanted[k]);
  }
  call_release(&call);
  uattn_emulator_destroy(program);
}

/* Within an error relative to the value or an absolute one, as the CUDA
 * documentation states them for the hardware's approximations, with some
 * room. */
static void approximations_are_near(void **state) {
  (void)state;
  enum { RESULTS = 16 };
  static const struct {
    double relative;
    double absolute;
  } allowed[RESULTS] = {
      {2e-6, 0}, {1e-6, 5e-7}, {0, 2e-6},    {0, 2e-6}, {3e-7, 0},    {3e-7, 0},
      {6e-4, 0}, {3e-7, 0},    {3e-7, 3e-7}, {4e-7, 0}, {3e-7, 1e-7}, {4e-7, 0},
      {4e-7, 0}, {3e-7, 0},    {3e-7, 0},    {3e-7, 0},
  };
  uattn_emulator_t *program = load_program("arithmetic");
  call_t call = {.grid = {16}, .block = {128}};
  int32_t count = COUNT;
  float *x = call_add_buffer(&call, "x", COUNT * 4, true);
  float *to = call_add_buffer(&call, "to", RESULTS * COUNT * 4, false);
  call_add_value(&call, &count, sizeof count);
  for (int i = 0; i < COUNT; ++i)
    x[i] = 3.0f * (float)(i - COUNT / 2) / (COUNT / 2);
  assert_ok(call_run(&call, program, "approximations"));
  for (int i = 0; i < COUNT; ++i) {
    double a = (double)x[i], b = fabs(a);
    const double wanted[RESULTS] = {
        exp(a),        log(b + 0.25), sin(a),  cos(a),      1 / sqrt(b + 0.5),
        1 / (a + 100), tanh(a),       exp2(a), log2(b + 1), exp(a),
        log(b + 0.25), tanh(a),       erf(a),  exp2(a),     log1p(b),
        cbrt(a)};
    for (int k = 0; k < RESULTS; ++k) {
      double bound =
          allowed[k].absolute + allowed[k].relative * fabs(wanted[k]);
      double found = (double)to[k * COUNT + i];
      if (!(fabs(found - wanted[k]) <= bound))
        fail_msg("result %d of %g is %.9g, expected %.9g within %g", k, a,
                 found, wanted[k], bound);
    }
  }
  call_release(&call);
  uattn_emulator_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_of_32_bits),
      cmocka_unit_test(numbers_of_64_bits),
      cmocka_unit_test(approximations_are_near),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
