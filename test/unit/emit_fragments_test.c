/* Tests of exponentials, masks, loads and reductions of tiles in registers, run
 * on the emulator.
 * Layer: test. Must not know: which thread holds what.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitted_kernel.h"

#include "spec/spec.h"
#include "support/support.h"

enum {
  ROWS = 64,
  COLUMNS = 40, /* five groups of 8: no power of 2 */
  GROUP_COLUMNS = 8
};

/* ---- Launches --------------------------------------------------------------
 */

static call_t make_call(void) {
  return (call_t){.block = {128}, .thread_count = 1};
}

static void add_array(call_t *call, const char *name, const void *data,
                      size_t bytes) {
  memcpy(call_add_buffer(call, name, bytes, true), data, bytes);
}

/* The parameters that all kernels end with, and the launch. Element
 * [column][row] of what comes back is that of a tile of `columns`. */
static float *run(call_t *call, const uattn_emulator_t *program,
                  const char *name, int32_t columns) {
  size_t count = (size_t)columns;
  call_add_value(call, &columns, sizeof columns);
  float *one_hot =
      call_add_buffer(call, "one_hot", count * count * sizeof(float), true);
  for (size_t i = 0; i < count; ++i)
    one_hot[i * count + i] = 1.0f;
  float *out =
      call_add_buffer(call, "out", count * ROWS * sizeof(float), false);
  assert_ok(call_run(call, program, name));
  return out;
}

/* ---- exp2_apply ------------------------------------------------------------
 */

/* What the header of exp2_polynomial.c promises, and what ex2.approx does. */
static const double polynomial_error = 7.6e-5;
static const double hardware_error = 1e-6;
/* At and below this exponent a polynomial may give any number up to 2^it. */
static const double least_exponent = -125.0;

/* The error of one result; the largest of those of polynomials. */
static void check_power(double exponent, float found, bool is_polynomial,
                        double *io_largest) {
  if (exponent <= least_exponent) {
    assert_true(found >= 0 && (double)found <= 1.0001 * exp2(least_exponent));
    return;
  }
  double wanted = exp2(exponent);
  double error = fabs((double)found - wanted) / wanted;
  if (!(error <= (is_polynomial ? polynomial_error : hardware_error)))
    fail_msg("2^%.9g is %.9g, an error of %g", exponent, (double)found, error);
  if (is_polynomial && error > *io_largest)
    *io_largest = error;
}

/* Whole parts from rows, 64ths from columns. */
static void check_exponentials(int32_t period) {
  float x[COLUMNS], y[ROWS];
  for (int i = 0; i < COLUMNS; ++i)
    x[i] = (float)(i * 13 % 64) / 64.0f - 0.5f;
  for (int i = 0; i < ROWS; ++i)
    y[i] = (float)(4 * i - 126);
  y[0] = -INFINITY;
  y[1] = -1e30f;
  y[2] = 127.0f;
  y[3] = 0.0f;
  uattn_string_t aliases = {0};
  uattn_string_appendf(&aliases,
                       "!values = vector<64x%dxf32>\n#period = %d : i64\n",
                       COLUMNS, period);
  uattn_emulator_t *program =
      emitted_program("exp2_apply", uattn_string_get(&aliases));
  uattn_string_release(&aliases);
  call_t call = make_call();
  add_array(&call, "x", x, sizeof x);
  add_array(&call, "y", y, sizeof y);
  const float *out = run(&call, program, "exp2_apply", COLUMNS);
  double largest = 0;
  for (int column = 0; column < COLUMNS; ++column)
    for (int row = 0; row < ROWS; ++row)
      check_power((double)x[column] + (double)y[row], out[column * ROWS + row],
                  column / GROUP_COLUMNS % period == period - 1, &largest);
  if (period <= COLUMNS / GROUP_COLUMNS)
    assert_true(largest > 10 * hardware_error); /* no hardware there */
  call_release(&call);
  uattn_emulator_destroy(program);
}

static void exp2_apply_is_as_exact_as_it_says(void **state) {
  (void)state;
  for (int32_t period = 1; period <= 6; ++period)
    check_exponentials(period);
}

/* ---- mask_apply ------------------------------------------------------------
 */

static void check_mask(const uattn_emulator_t *program, int32_t first_key,
                       const int32_t *begins, const int32_t *ends) {
  call_t call = make_call();
  call_add_value(&call, &first_key, sizeof first_key);
  add_array(&call, "ends", ends, ROWS * sizeof *ends);
  add_array(&call, "begins", begins, ROWS * sizeof *begins);
  const float *out = run(&call, program, "mask_apply", COLUMNS);
  for (int column = 0; column < COLUMNS; ++column)
    for (int row = 0; row < ROWS; ++row) {
      int32_t key = first_key + column;
      bool is_allowed = begins[row] <= key && key < ends[row];
      if (out[column * ROWS + row] != (is_allowed ? 1.0f : 0.0f))
        fail_msg("row %d, key %d of [%d, %d): %g", row, key, begins[row],
                 ends[row], (double)out[column * ROWS + row]);
    }
  call_release(&call);
}

/* Every row's limits are at other keys: inside, at and outside the tile. */
static void mask_apply_leaves_the_keys_between_its_limits(void **state) {
  (void)state;
  uattn_string_t aliases = {0};
  uattn_string_appendf(&aliases,
                       "!values = vector<64x%dxf32>\n"
                       "!flags = vector<64x%dxi1>\n",
                       COLUMNS, COLUMNS);
  uattn_emulator_t *program =
      emitted_program("mask_apply", uattn_string_get(&aliases));
  uattn_string_release(&aliases);
  for (int32_t first_key = 0; first_key <= 240; first_key += 80) {
    int32_t begins[ROWS], ends[ROWS];
    for (int32_t row = 0; row < ROWS; ++row) {
      begins[row] = first_key + row - 12;
      ends[row] = first_key + (row * 7 + 3) % (COLUMNS + 12);
    }
    ends[5] = INT32_MAX;
    ends[6] = 0;
    begins[63] = 0;
    check_mask(program, first_key, begins, ends);
  }
  uattn_emulator_destroy(program);
}

/* ---- row_load and column_load ----------------------------------------------
 */

/* `tokens` numbers behind `offset` others: those at 0 <= index < limit. */
typedef struct {
  int64_t offset;
  int32_t first;
  int32_t limit;
} range_t;

static float loaded(range_t range, int32_t i, float unit) {
  int64_t index = (int64_t)range.first + i;
  return index >= 0 && index < range.limit
             ? unit * (float)(range.offset + index)
             : 0.0f;
}

/* Whole multiples of `unit` as far as the kernel may look. */
static void add_range(call_t *call, const char *name, uattn_dtype_t dtype,
                      const range_t *range, float unit) {
  size_t count = (size_t)(range->offset + range->limit);
  size_t bytes = dtype == UATTN_DTYPE_F32 ? 4 : 2;
  uint8_t *data = call_add_buffer(call, name, count * bytes, true);
  for (size_t i = 0; i < count; ++i) {
    float value = unit * (float)i;
    uint16_t narrow = dtype == UATTN_DTYPE_BF16 ? uattn_bf16_from_float(value)
                                                : uattn_f16_from_float(value);
    memcpy(data + i * bytes, bytes == 4 ? (void *)&value : (void *)&narrow,
           bytes);
  }
  call_add_value(call, &range->offset, sizeof range->offset);
  call_add_value(call, &range->first, sizeof range->first);
  call_add_value(call, &range->limit, sizeof range->limit);
}

static void check_loads(const uattn_emulator_t *program, uattn_dtype_t dtype,
                        range_t columns, range_t rows) {
  const float part = 1.0f / 256.0f;
  call_t call = make_call();
  add_range(&call, "x", dtype, &columns, part);
  add_range(&call, "y", dtype, &rows, 1.0f);
  const float *out = run(&call, program, "loads", COLUMNS);
  for (int32_t column = 0; column < COLUMNS; ++column)
    for (int32_t row = 0; row < ROWS; ++row) {
      float wanted = loaded(columns, column, part) + loaded(rows, row, 1.0f);
      if (out[column * ROWS + row] != wanted)
        fail_msg("row %d from %d of %d, column %d from %d of %d: %g, not %g",
                 row, rows.first, rows.limit, column, columns.first,
                 columns.limit, (double)out[column * ROWS + row],
                 (double)wanted);
    }
  call_release(&call);
}

static void loads_give_zero_outside_their_limits(void **state) {
  (void)state;
  static const uattn_dtype_t dtypes[] = {UATTN_DTYPE_BF16, UATTN_DTYPE_F16,
                                         UATTN_DTYPE_F32};
  static const range_t ranges[] = {
      {0, 0, 64}, {0, 0, 63},    {3, 17, 50},       {1, 40, 41},
      {2, 5, 5},  {2, 90, 100},  {4, -1, 9},        {4, -64, 64},
      {7, 1, 1},  {1, 900, 100}, {5, INT32_MIN, 9}, {0, -9, 100},
  };
  for (size_t d = 0; d < COUNT_OF(dtypes); ++d) {
    uattn_string_t aliases = {0};
    uattn_string_appendf(&aliases,
                         "!values = vector<64x%dxf32>\n"
                         "!global = !uattn.global<%s>\n",
                         COLUMNS, uattn_dtype_name(dtypes[d]));
    uattn_emulator_t *program =
        emitted_program("loads", uattn_string_get(&aliases));
    uattn_string_release(&aliases);
    for (size_t i = 0; i < COUNT_OF(ranges); ++i)
      check_loads(program, dtypes[d], ranges[i],
                  ranges[(i + d + 1) % COUNT_OF(ranges)]);
    uattn_emulator_destroy(program);
  }
}

/* ---- Reductions -------------------------------------------------------------
 */

static float larger(float a, float b) { return a > b ? a : b; }

static void check_reductions(const char *kind, const float *x, const float *y,
                             const float *floors) {
  static const int32_t tile_columns = COLUMNS;
  bool is_sum = strcmp(kind, "add") == 0;
  uattn_string_t aliases = {0};
  uattn_string_appendf(&aliases,
                       "!tile = vector<64x%dxf32>\n"
                       "!values = vector<64x%dxf32>\n"
                       "#kind = \"%s\"\n",
                       COLUMNS, GROUP_COLUMNS, kind);
  uattn_emulator_t *program =
      emitted_program("reductions", uattn_string_get(&aliases));
  uattn_string_release(&aliases);
  call_t call = make_call();
  add_array(&call, "x", x, COLUMNS * sizeof *x);
  add_array(&call, "y", y, ROWS * sizeof *y);
  add_array(&call, "floors", floors, ROWS * sizeof *floors);
  call_add_value(&call, &tile_columns, sizeof tile_columns);
  const float *out = run(&call, program, "reductions", GROUP_COLUMNS);
  for (int row = 0; row < ROWS; ++row) {
    float largest = floors[row];
    for (int column = 0; column < COLUMNS; ++column)
      largest = larger(largest, x[column] * y[row]);
    for (int first = 0; first < GROUP_COLUMNS; ++first) {
      float folded = x[first] * y[row];
      for (int c = first + GROUP_COLUMNS; c < COLUMNS; c += GROUP_COLUMNS)
        folded =
            is_sum ? folded + x[c] * y[row] : larger(folded, x[c] * y[row]);
      float found = out[first * ROWS + row],
            wanted = folded + 4096.0f * largest;
      if (found != wanted)
        fail_msg("%s of row %d, columns %d modulo 8: %g, not %g", kind, row,
                 first, (double)found, (double)wanted);
    }
  }
  call_release(&call);
  uattn_emulator_destroy(program);
}

/* Whole numbers: sums are exact in any order. */
static void reductions_take_all_columns_of_a_row(void **state) {
  (void)state;
  uint64_t random = 7;
  for (int i = 0; i < 4; ++i) {
    float x[COLUMNS], y[ROWS], floors[ROWS];
    for (int column = 0; column < COLUMNS; ++column)
      x[column] = (float)(next_random(&random) % 31) - 15.0f;
    for (int row = 0; row < ROWS; ++row) {
      y[row] = (float)(next_random(&random) % 31) - 15.0f;
      floors[row] = row % 3 ? -300.0f : 100.0f;
    }
    check_reductions("add", x, y, floors);
    check_reductions("max", x, y, floors);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exp2_apply_is_as_exact_as_it_says),
      cmocka_unit_test(mask_apply_leaves_the_keys_between_its_limits),
      cmocka_unit_test(loads_give_zero_outside_their_limits),
      cmocka_unit_test(reductions_take_all_columns_of_a_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
