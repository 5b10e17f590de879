/* Tests of ordinary accesses to tiles in shared memory, run on the emulator:
 * the tiles come by tensor copies, whose layout is the emulator's.
 * Layer: test. Must not know: which thread touches what.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitted_kernel.h"

#include "spec/spec.h"
#include "support/support.h"

enum {
  MAX_ROWS = 192,
  MAX_COLUMNS = 256,
  PANEL_COLUMNS = 64,
  PART_ROWS = 64, /* what one warpgroup holds */
  SMEM_BYTES = 131104,
  SEEDS = 2 /* orders of the warps */
};

/* A kernel and the tile that it works on. */
typedef struct {
  const char *name; /* test/Inputs/emit/NAME.mlir */
  uattn_dtype_t dtype;
  int32_t rows;
  int32_t columns;
  int32_t part_rows;   /* of what the op takes of the tile */
  int32_t out_columns; /* out has as many times 64 elements */
  int32_t slot_rows;   /* of the ring: those of the tile or more */
} shape_t;

typedef struct {
  uint16_t bits[MAX_ROWS + PANEL_COLUMNS][MAX_COLUMNS];
} matrix_t;

/* One launch; parameters are added in the kernel's order. */
typedef struct {
  shape_t shape;
  call_t call;
  uint8_t maps[2][128];
  int32_t map_count;
  int32_t numbers[8];
  int32_t number_count;
  float *out;
} launch_t;

static uattn_emulator_t *make_program(const shape_t *shape) {
  const char *t = shape->dtype == UATTN_DTYPE_BF16 ? "bf16" : "f16";
  int32_t c = shape->columns;
  uattn_string_t text = {0};
  uattn_string_appendf(&text,
                       "!map = !uattn.tensor_map<vector<%dx64x%s>>\n"
                       "!ring = !uattn.ring<vector<%dx%dx%s>, 1 : i64>\n"
                       "!whole = !uattn.smem<vector<%dx%dx%s>>\n",
                       shape->rows, t, shape->slot_rows, c, t, shape->rows, c,
                       t);
  uattn_string_appendf(&text,
                       "!a_map = !uattn.tensor_map<vector<64x64x%s>>\n"
                       "!a_ring = !uattn.ring<vector<64x%dx%s>, 1 : i64>\n"
                       "!a = !uattn.smem<vector<64x%dx%s>>\n",
                       t, c, t, c, t);
  uattn_string_appendf(&text,
                       "!tile = !uattn.smem<vector<%dx%dx%s>>\n"
                       "!packed = vector<64x%dx%s>\n"
                       "!values = vector<64x%dxf32>\n",
                       shape->part_rows, c, t, shape->out_columns, t,
                       shape->out_columns);
  uattn_emulator_t *program =
      emitted_program(shape->name, uattn_string_get(&text));
  uattn_string_release(&text);
  return program;
}

/* ---- Values ---------------------------------------------------------------
 */

static float value_of(const shape_t *shape, const matrix_t *matrix, int32_t row,
                      int32_t column) {
  uint16_t bits = matrix->bits[row][column];
  return shape->dtype == UATTN_DTYPE_BF16 ? uattn_bf16_to_float(bits)
                                          : uattn_f16_to_float(bits);
}

static uint16_t bits_of(const shape_t *shape, float value) {
  return shape->dtype == UATTN_DTYPE_BF16 ? uattn_bf16_from_float(value)
                                          : uattn_f16_from_float(value);
}

/* No two elements are equal: normal numbers of both types, counted up. */
static matrix_t different_values(const shape_t *shape) {
  matrix_t matrix = {0};
  for (int32_t row = 0; row < shape->rows; ++row)
    for (int32_t column = 0; column < shape->columns; ++column) {
      int32_t index = row * shape->columns + column;
      matrix.bits[row][column] =
          (uint16_t)(0x2000 + index / 2 + (index % 2 ? 0x8000 : 0));
    }
  return matrix;
}

/* Whole numbers whose products and sums f32 holds. */
static matrix_t small_numbers(const shape_t *shape, uint64_t *random) {
  matrix_t matrix = {0};
  for (int32_t row = 0; row < shape->rows; ++row)
    for (int32_t column = 0; column < shape->columns; ++column)
      matrix.bits[row][column] =
          bits_of(shape, (float)(next_random(random) % 31) - 15.0f);
  return matrix;
}

static matrix_t unit_matrix(const shape_t *shape) {
  matrix_t matrix = {0};
  for (int32_t i = 0; i < MAX_ROWS && i < shape->columns; ++i)
    matrix.bits[i][i] = bits_of(shape, 1.0f);
  return matrix;
}

/* ---- Launches --------------------------------------------------------------
 */

static launch_t make_launch(const shape_t *shape, uint64_t seed) {
  launch_t launch = {.shape = *shape,
                     .call = {.block = {256},
                              .dynamic_shared_bytes = SMEM_BYTES,
                              .seed = seed,
                              .thread_count = 1}};
  return launch;
}

/* The next parameter: the map of the first `rows` rows of `matrix`. */
static void add_matrix(launch_t *launch, const matrix_t *matrix, int32_t rows,
                       int32_t box_rows) {
  size_t row_bytes = (size_t)launch->shape.columns * sizeof(uint16_t);
  uint8_t *data =
      call_add_memory(&launch->call, "matrix", (size_t)rows * row_bytes, true);
  for (int32_t row = 0; row < rows; ++row)
    memcpy(data + (size_t)row * row_bytes, matrix->bits[row], row_bytes);
  const uattn_tensor_map_t map = {
      .element = launch->shape.dtype == UATTN_DTYPE_BF16 ? UATTN_ELEMENT_BF16
                                                         : UATTN_ELEMENT_F16,
      .rank = 4,
      .data = data,
      .dims = {(uint64_t)launch->shape.columns, 1, (uint64_t)rows, 1},
      .strides = {row_bytes, row_bytes, (uint64_t)rows * row_bytes},
      .box = {PANEL_COLUMNS, 1, (uint32_t)box_rows, 1},
      .swizzle = UATTN_SWIZZLE_128B};
  call_add_map(&launch->call, launch->maps[launch->map_count++], &map);
}

static void add_number(launch_t *launch, int32_t number) {
  int32_t *place = &launch->numbers[launch->number_count++];
  *place = number;
  call_add_value(&launch->call, place, sizeof *place);
}

/* The parameters that all kernels end with. */
static void add_out(launch_t *launch) {
  size_t columns = (size_t)launch->shape.out_columns;
  add_number(launch, launch->shape.out_columns);
  float *one_hot = call_add_buffer(&launch->call, "one_hot",
                                   columns * columns * sizeof(float), true);
  for (size_t i = 0; i < columns; ++i)
    one_hot[i * columns + i] = 1.0f;
  launch->out = call_add_buffer(&launch->call, "out",
                                columns * PART_ROWS * sizeof(float), false);
}

static void run(launch_t *launch, const uattn_emulator_t *program) {
  assert_ok(call_run(&launch->call, program, launch->shape.name));
}

static void assert_out(const launch_t *launch, int32_t outer, int32_t inner,
                       float wanted) {
  float found = launch->out[outer * PART_ROWS + inner];
  if (found != wanted)
    fail_msg("%s of %dx%d: out[%d][%d] is %.9g, not %.9g", launch->shape.name,
             launch->shape.rows, launch->shape.columns, outer, inner,
             (double)found, (double)wanted);
}

/* ---- smem_read -------------------------------------------------------------
 */

static void check_read(const shape_t *shape, int32_t index) {
  matrix_t tile = different_values(shape);
  uattn_emulator_t *program = make_program(shape);
  launch_t launch = make_launch(shape, 0);
  add_matrix(&launch, &tile, shape->rows, shape->rows);
  add_number(&launch, index);
  add_out(&launch);
  run(&launch, program);
  for (int32_t column = 0; column < shape->columns; ++column)
    for (int32_t row = 0; row < PART_ROWS; ++row)
      assert_out(&launch, column, row,
                 value_of(shape, &tile, PART_ROWS * index + row, column));
  call_release(&launch.call);
  uattn_emulator_destroy(program);
}

static void smem_read_gives_each_element_its_place(void **state) {
  (void)state;
  static const struct {
    uattn_dtype_t dtype;
    int32_t rows;
    int32_t columns;
    int32_t index;
  } cases[] = {
      {UATTN_DTYPE_BF16, 64, 64, 0},   {UATTN_DTYPE_F16, 64, 64, 0},
      {UATTN_DTYPE_BF16, 64, 128, 0},  {UATTN_DTYPE_F16, 64, 192, 0},
      {UATTN_DTYPE_BF16, 64, 256, 0},  {UATTN_DTYPE_BF16, 128, 128, 0},
      {UATTN_DTYPE_BF16, 128, 128, 1}, {UATTN_DTYPE_F16, 192, 128, 2},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    const shape_t shape = {"smem_read",      cases[i].dtype, cases[i].rows,
                           cases[i].columns, PART_ROWS,      cases[i].columns,
                           cases[i].rows};
    check_read(&shape, cases[i].index);
  }
}

/* A box of fewer rows than a slot has lies as in a slot of its own size. */
static void smem_read_finds_a_box_that_fills_a_part_of_a_slot(void **state) {
  (void)state;
  static const shape_t shape = {
      "smem_read", UATTN_DTYPE_BF16, 64, 128, PART_ROWS, 128, 96};
  check_read(&shape, 0);
}

/* ---- row_dot ---------------------------------------------------------------
 */

static float dot(const shape_t *shape, const matrix_t *x, int32_t x_row,
                 const matrix_t *y, int32_t y_row) {
  float sum = 0;
  for (int32_t column = 0; column < shape->columns; ++column)
    sum +=
        value_of(shape, x, x_row, column) * value_of(shape, y, y_row, column);
  return sum;
}

static void check_dot(const shape_t *shape, int32_t index) {
  uint64_t random = (uint64_t)shape->columns;
  matrix_t x = small_numbers(shape, &random);
  matrix_t y = small_numbers(shape, &random);
  uattn_emulator_t *program = make_program(shape);
  launch_t launch = make_launch(shape, 0);
  add_matrix(&launch, &x, PART_ROWS, PART_ROWS);
  add_matrix(&launch, &y, shape->rows, shape->rows);
  add_number(&launch, index);
  add_out(&launch);
  run(&launch, program);
  for (int32_t column = 0; column < shape->out_columns; ++column)
    for (int32_t row = 0; row < PART_ROWS; ++row)
      assert_out(&launch, column, row,
                 dot(shape, &x, row, &y, PART_ROWS * index + row));
  call_release(&launch.call);
  uattn_emulator_destroy(program);
}

static void row_dot_gives_all_threads_of_a_row_its_product(void **state) {
  (void)state;
  static const struct {
    uattn_dtype_t dtype;
    int32_t rows;
    int32_t columns;
    int32_t index;
  } cases[] = {
      {UATTN_DTYPE_BF16, 64, 64, 0},   {UATTN_DTYPE_F16, 64, 64, 0},
      {UATTN_DTYPE_BF16, 64, 128, 0},  {UATTN_DTYPE_F16, 64, 192, 0},
      {UATTN_DTYPE_BF16, 64, 256, 0},  {UATTN_DTYPE_BF16, 128, 128, 0},
      {UATTN_DTYPE_BF16, 128, 256, 1}, {UATTN_DTYPE_F16, 192, 128, 2},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    const shape_t shape = {"row_dot",        cases[i].dtype, cases[i].rows,
                           cases[i].columns, PART_ROWS,      8,
                           cases[i].rows};
    check_dot(&shape, cases[i].index);
  }
}

/* ---- smem_negate_rows ------------------------------------------------------
 */

typedef struct {
  int32_t index; /* of the 64 rows that change */
  int32_t seen;  /* of those that are looked at */
  bool flips[PART_ROWS];
} negation_t;

/* All columns of the rows that are looked at, 64 a launch. */
static void check_negation(const shape_t *shape,
                           const uattn_emulator_t *program,
                           const negation_t *negation, uint64_t seed) {
  matrix_t tile = different_values(shape), unit = unit_matrix(shape);
  for (int32_t first = 0; first < shape->columns; first += PANEL_COLUMNS) {
    launch_t launch = make_launch(shape, seed);
    add_matrix(&launch, &unit, shape->columns, PART_ROWS);
    add_number(&launch, first);
    add_matrix(&launch, &tile, shape->rows, shape->rows);
    add_number(&launch, negation->index);
    add_number(&launch, negation->seen);
    int32_t *flags =
        call_add_buffer(&launch.call, "flags", PART_ROWS * sizeof *flags, true);
    for (int32_t row = 0; row < PART_ROWS; ++row)
      flags[row] = negation->flips[row] ? -1 : 0;
    add_out(&launch);
    run(&launch, program);
    for (int32_t row = 0; row < PART_ROWS; ++row)
      for (int32_t i = 0; i < PANEL_COLUMNS; ++i) {
        float value =
            value_of(shape, &tile, PART_ROWS * negation->seen + row, first + i);
        bool is_flipped =
            negation->flips[row] && negation->seen == negation->index;
        assert_out(&launch, row, i, is_flipped ? -value : value);
      }
    call_release(&launch.call);
  }
}

/* Row `row` alone; -1: no row; 64 and 65: all rows, every other one. */
static void choose_rows(negation_t *negation, int32_t row) {
  for (int32_t i = 0; i < PART_ROWS; ++i)
    negation->flips[i] =
        i == row || row == PART_ROWS || (row == PART_ROWS + 1 && i % 2);
}

static void smem_negate_rows_flips_the_chosen_rows(void **state) {
  (void)state;
  static const int32_t chosen[] = {-1, 0, 7, 8, 15, 16, 47, 63, 64, 65};
  static const shape_t shapes[] = {
      {"smem_negate_rows", UATTN_DTYPE_BF16, 64, 64, 64, 64, 64},
      {"smem_negate_rows", UATTN_DTYPE_F16, 64, 128, 64, 64, 64},
  };
  for (size_t i = 0; i < COUNT_OF(shapes); ++i) {
    uattn_emulator_t *program = make_program(&shapes[i]);
    for (size_t c = 0; c < COUNT_OF(chosen); ++c)
      for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        negation_t negation = {0};
        choose_rows(&negation, chosen[c]);
        check_negation(&shapes[i], program, &negation, seed);
      }
    uattn_emulator_destroy(program);
  }
}

static void smem_negate_rows_leaves_the_rest_of_the_tile(void **state) {
  (void)state;
  static const shape_t shape = {
      "smem_negate_rows", UATTN_DTYPE_BF16, 128, 128, 64, 64, 128};
  uattn_emulator_t *program = make_program(&shape);
  for (int32_t index = 0; index < 2; ++index)
    for (int32_t seen = 0; seen < 2; ++seen) {
      negation_t negation = {.index = index, .seen = seen};
      choose_rows(&negation, PART_ROWS + 1);
      check_negation(&shape, program, &negation, 0);
    }
  uattn_emulator_destroy(program);
}

/* ---- smem_clear_rows -------------------------------------------------------
 */

static void check_clearing(const shape_t *shape,
                           const uattn_emulator_t *program, int32_t from) {
  matrix_t tile = different_values(shape), unit = unit_matrix(shape);
  for (int32_t first = 0; first < shape->columns; first += PANEL_COLUMNS) {
    launch_t launch = make_launch(shape, 0);
    add_matrix(&launch, &unit, shape->columns, PART_ROWS);
    add_number(&launch, first);
    add_matrix(&launch, &tile, shape->rows, shape->rows);
    add_number(&launch, from);
    add_out(&launch);
    run(&launch, program);
    for (int32_t row = 0; row < shape->rows; ++row)
      for (int32_t i = 0; i < PANEL_COLUMNS; ++i)
        assert_out(&launch, row, i,
                   row < from ? value_of(shape, &tile, row, first + i) : 0.0f);
    call_release(&launch.call);
  }
}

/* 128 threads clear 16 rows at a time: tiles of less, and of a part more. */
static void smem_clear_rows_clears_from_a_row_on(void **state) {
  (void)state;
  static const shape_t shapes[] = {
      {"smem_clear_rows", UATTN_DTYPE_BF16, 8, 128, 8, 8, 8},
      {"smem_clear_rows", UATTN_DTYPE_F16, 24, 128, 24, 24, 24},
      {"smem_clear_rows", UATTN_DTYPE_BF16, 64, 64, 64, 64, 64},
      {"smem_clear_rows", UATTN_DTYPE_BF16, 72, 128, 72, 72, 72},
      {"smem_clear_rows", UATTN_DTYPE_BF16, 176, 64, 176, 176, 176},
  };
  for (size_t i = 0; i < COUNT_OF(shapes); ++i) {
    int32_t rows = shapes[i].rows;
    const int32_t from[] = {INT32_MIN, -1, 0,        1,    7,        8,
                            15,        17, rows - 1, rows, rows + 1, INT32_MAX};
    uattn_emulator_t *program = make_program(&shapes[i]);
    for (size_t f = 0; f < COUNT_OF(from); ++f)
      check_clearing(&shapes[i], program, from[f]);
    uattn_emulator_destroy(program);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(smem_read_gives_each_element_its_place),
      cmocka_unit_test(smem_read_finds_a_box_that_fills_a_part_of_a_slot),
      cmocka_unit_test(row_dot_gives_all_threads_of_a_row_its_product),
      cmocka_unit_test(smem_negate_rows_flips_the_chosen_rows),
      cmocka_unit_test(smem_negate_rows_leaves_the_rest_of_the_tile),
      cmocka_unit_test(smem_clear_rows_clears_from_a_row_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
