/* Tests of ordinary accesses to tiles in shared memory, run on the emulator:
 * the tiles come by tensor copies, whose layout is the emulator's.
 * Layer: test. Must not know: which thread touches what.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitted_tiles.h"

/* ---- smem_read -------------------------------------------------------------
 */

static void check_read(const shape_t *shape, int32_t index) {
  matrix_t tile = different_values(shape->dtype, shape->rows, shape->columns);
  uattn_emulator_t *program = tile_program(shape, "");
  launch_t launch = launch_begin(shape, 0);
  launch_add_matrix(&launch, &tile, shape->rows);
  launch_add_number(&launch, index);
  launch_run(&launch, program, shape->name);
  for (int32_t column = 0; column < shape->columns; ++column)
    for (int32_t row = 0; row < PART_ROWS; ++row)
      launch_assert_out(&launch, column, row,
                        matrix_value(&tile, PART_ROWS * index + row, column));
  launch_release(&launch);
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

static float dot(const matrix_t *x, int32_t x_row, const matrix_t *y,
                 int32_t y_row) {
  float sum = 0;
  for (int32_t column = 0; column < x->columns; ++column)
    sum += matrix_value(x, x_row, column) * matrix_value(y, y_row, column);
  return sum;
}

static void check_dot(const shape_t *shape, int32_t index) {
  uint64_t random = (uint64_t)shape->columns;
  matrix_t x = small_numbers(shape->dtype, PART_ROWS, shape->columns, &random);
  matrix_t y =
      small_numbers(shape->dtype, shape->rows, shape->columns, &random);
  uattn_emulator_t *program = tile_program(shape, "");
  launch_t launch = launch_begin(shape, 0);
  launch_add_matrix(&launch, &x, PART_ROWS);
  launch_add_matrix(&launch, &y, shape->rows);
  launch_add_number(&launch, index);
  launch_run(&launch, program, shape->name);
  for (int32_t column = 0; column < shape->out_columns; ++column)
    for (int32_t row = 0; row < PART_ROWS; ++row)
      launch_assert_out(&launch, column, row,
                        dot(&x, row, &y, PART_ROWS * index + row));
  launch_release(&launch);
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

/* ---- smem_negate_rows, smem_drop_rows ---------------------------------------
 */

typedef struct {
  int32_t index; /* of the 64 rows that change */
  int32_t seen;  /* of those that are looked at */
  bool rows[PART_ROWS];
} choice_t;

/* What is chosen is multiplied by `factor`. All columns of the rows that are
 * looked at, 64 a launch. */
static void check_change(const shape_t *shape, const uattn_emulator_t *program,
                         const choice_t *choice, float factor, uint64_t seed) {
  matrix_t tile = different_values(shape->dtype, shape->rows, shape->columns);
  matrix_t unit = unit_matrix(shape->dtype, shape->columns);
  for (int32_t first = 0; first < shape->columns; first += PANEL_COLUMNS) {
    launch_t launch = launch_begin(shape, seed);
    launch_add_matrix(&launch, &unit, PART_ROWS);
    launch_add_number(&launch, first);
    launch_add_matrix(&launch, &tile, shape->rows);
    launch_add_number(&launch, choice->index);
    launch_add_number(&launch, choice->seen);
    int32_t *flags =
        call_add_buffer(&launch.call, "flags", PART_ROWS * sizeof *flags, true);
    for (int32_t row = 0; row < PART_ROWS; ++row)
      flags[row] = choice->rows[row] ? -1 : 0;
    launch_run(&launch, program, shape->name);
    for (int32_t row = 0; row < PART_ROWS; ++row)
      for (int32_t i = 0; i < PANEL_COLUMNS; ++i) {
        float value =
            matrix_value(&tile, PART_ROWS * choice->seen + row, first + i);
        bool is_changed = choice->rows[row] && choice->seen == choice->index;
        launch_assert_out(&launch, row, i, is_changed ? factor * value : value);
      }
    launch_release(&launch);
  }
}

/* Row `row` alone; -1: no row; 64 and 65: all rows, every other one. */
static void choose_rows(choice_t *choice, int32_t row) {
  for (int32_t i = 0; i < PART_ROWS; ++i)
    choice->rows[i] =
        i == row || row == PART_ROWS || (row == PART_ROWS + 1 && i % 2);
}

static void check_changes(const shape_t *shapes, size_t count, float factor) {
  static const int32_t chosen[] = {-1, 0, 7, 8, 15, 16, 47, 63, 64, 65};
  for (size_t i = 0; i < count; ++i) {
    uattn_emulator_t *program = tile_program(&shapes[i], "");
    for (size_t c = 0; c < COUNT_OF(chosen); ++c)
      for (uint64_t seed = 0; seed < SEEDS; ++seed) {
        choice_t choice = {0};
        choose_rows(&choice, chosen[c]);
        check_change(&shapes[i], program, &choice, factor, seed);
      }
    uattn_emulator_destroy(program);
  }
}

static void smem_negate_rows_flips_the_chosen_rows(void **state) {
  (void)state;
  static const shape_t shapes[] = {
      {"smem_negate_rows", UATTN_DTYPE_BF16, 64, 64, 64, 64, 64},
      {"smem_negate_rows", UATTN_DTYPE_F16, 64, 128, 64, 64, 64},
  };
  check_changes(shapes, COUNT_OF(shapes), -1.0f);
}

static void smem_drop_rows_clears_the_chosen_rows(void **state) {
  (void)state;
  static const shape_t shapes[] = {
      {"smem_drop_rows", UATTN_DTYPE_BF16, 64, 64, 64, 64, 64},
      {"smem_drop_rows", UATTN_DTYPE_F16, 64, 192, 64, 64, 64},
  };
  check_changes(shapes, COUNT_OF(shapes), 0.0f);
}

static void check_rest(const shape_t *shape, float factor) {
  uattn_emulator_t *program = tile_program(shape, "");
  for (int32_t index = 0; index < 2; ++index)
    for (int32_t seen = 0; seen < 2; ++seen) {
      choice_t choice = {.index = index, .seen = seen};
      choose_rows(&choice, PART_ROWS + 1);
      check_change(shape, program, &choice, factor, 0);
    }
  uattn_emulator_destroy(program);
}

static void row_changes_leave_the_rest_of_the_tile(void **state) {
  (void)state;
  static const shape_t negate = {
      "smem_negate_rows", UATTN_DTYPE_BF16, 128, 128, 64, 64, 128};
  static const shape_t drop = {
      "smem_drop_rows", UATTN_DTYPE_BF16, 128, 128, 64, 64, 128};
  check_rest(&negate, -1.0f);
  check_rest(&drop, 0.0f);
}

/* ---- smem_clear_rows -------------------------------------------------------
 */

static void check_clearing(const shape_t *shape,
                           const uattn_emulator_t *program, int32_t from) {
  matrix_t tile = different_values(shape->dtype, shape->rows, shape->columns);
  matrix_t unit = unit_matrix(shape->dtype, shape->columns);
  for (int32_t first = 0; first < shape->columns; first += PANEL_COLUMNS) {
    launch_t launch = launch_begin(shape, 0);
    launch_add_matrix(&launch, &unit, PART_ROWS);
    launch_add_number(&launch, first);
    launch_add_matrix(&launch, &tile, shape->rows);
    launch_add_number(&launch, from);
    launch_run(&launch, program, shape->name);
    for (int32_t row = 0; row < shape->rows; ++row)
      for (int32_t i = 0; i < PANEL_COLUMNS; ++i)
        launch_assert_out(&launch, row, i,
                          row < from ? matrix_value(&tile, row, first + i)
                                     : 0.0f);
    launch_release(&launch);
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
    uattn_emulator_t *program = tile_program(&shapes[i], "");
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
      cmocka_unit_test(smem_drop_rows_clears_the_chosen_rows),
      cmocka_unit_test(row_changes_leave_the_rest_of_the_tile),
      cmocka_unit_test(smem_clear_rows_clears_from_a_row_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
