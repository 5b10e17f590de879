/* Tests of columns of tiles in shared memory and of transposes that are written
 * to them, run on the emulator.
 * Layer: test. Must not know: which thread touches what.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitted_tiles.h"

#include "support/support.h"

static const char *type_name(uattn_dtype_t dtype) {
  return dtype == UATTN_DTYPE_BF16 ? "bf16" : "f16";
}

/* ---- smem_columns ----------------------------------------------------------
 */

/* Both orders of smem_rows and smem_columns. */
static void check_part(const matrix_t *tile, const shape_t *shape,
                       const uattn_emulator_t *program, int32_t row_block,
                       int32_t column_block) {
  static const char *const entries[] = {"columns_of_rows", "rows_of_columns"};
  for (size_t e = 0; e < COUNT_OF(entries); ++e) {
    launch_t launch = launch_begin(shape, 0);
    launch_add_matrix(&launch, tile, shape->rows);
    launch_add_number(&launch, row_block);
    launch_add_number(&launch, column_block);
    launch_run(&launch, program, entries[e]);
    for (int32_t column = 0; column < PANEL_COLUMNS; ++column)
      for (int32_t row = 0; row < PART_ROWS; ++row)
        launch_assert_out(&launch, column, row,
                          matrix_value(tile, PART_ROWS * row_block + row,
                                       PANEL_COLUMNS * column_block + column));
    launch_release(&launch);
  }
}

static void check_parts(const shape_t *shape) {
  uattn_string_t types = {0};
  uattn_string_appendf(&types,
                       "!part = !uattn.smem<vector<64x64x%s>>\n"
                       "!block = !uattn.smem<vector<%dx64x%s>>\n",
                       type_name(shape->dtype), shape->rows,
                       type_name(shape->dtype));
  uattn_emulator_t *program = tile_program(shape, uattn_string_get(&types));
  uattn_string_release(&types);
  matrix_t tile = different_values(shape->dtype, shape->rows, shape->columns);
  for (int32_t row = 0; row < shape->rows / PART_ROWS; ++row)
    for (int32_t column = 0; column < shape->columns / PANEL_COLUMNS; ++column)
      check_part(&tile, shape, program, row, column);
  uattn_emulator_destroy(program);
}

static void smem_columns_are_those_of_the_tile(void **state) {
  (void)state;
  static const shape_t shapes[] = {
      {"smem_columns", UATTN_DTYPE_BF16, 64, 64, 64, 64, 64},
      {"smem_columns", UATTN_DTYPE_F16, 64, 256, 64, 64, 64},
      {"smem_columns", UATTN_DTYPE_BF16, 128, 128, 64, 64, 128},
      {"smem_columns", UATTN_DTYPE_BF16, 192, 192, 64, 64, 192},
  };
  for (size_t i = 0; i < COUNT_OF(shapes); ++i)
    check_parts(&shapes[i]);
}

/* ---- smem_transpose --------------------------------------------------------
 */

enum { TARGET_BLOCKS = 2 }; /* of 64 columns */

static uattn_emulator_t *transpose_program(const shape_t *shape) {
  const char *t = type_name(shape->dtype);
  uattn_string_t types = {0};
  uattn_string_appendf(&types,
                       "!unit_map = !uattn.tensor_map<vector<64x64x%s>>\n"
                       "!unit_ring = !uattn.ring<vector<64x64x%s>, 1 : i64>\n"
                       "!unit = !uattn.smem<vector<64x64x%s>>\n"
                       "!all = !uattn.smem<vector<%dx%dx%s>>\n"
                       "!part = !uattn.smem<vector<%dx64x%s>>\n",
                       t, t, t, shape->rows, TARGET_BLOCKS * PANEL_COLUMNS, t,
                       shape->rows, t);
  uattn_emulator_t *program = tile_program(shape, uattn_string_get(&types));
  uattn_string_release(&types);
  return program;
}

/* Block `written` gets the tile, block `seen` is looked at. */
static void check_transpose(const shape_t *shape,
                            const uattn_emulator_t *program, int32_t written,
                            int32_t seen, uint64_t seed) {
  matrix_t tile = different_values(shape->dtype, shape->rows, shape->columns);
  matrix_t unit = unit_matrix(shape->dtype, PART_ROWS);
  launch_t launch = launch_begin(shape, seed);
  launch_add_matrix(&launch, &unit, PART_ROWS);
  launch_add_matrix(&launch, &tile, shape->rows);
  launch_add_number(&launch, written);
  launch_add_number(&launch, seen);
  launch_run(&launch, program, shape->name);
  for (int32_t row = 0; row < shape->rows; ++row)
    for (int32_t i = 0; i < PANEL_COLUMNS; ++i)
      launch_assert_out(&launch, row, i,
                        written == seen ? matrix_value(&tile, row, i) : 0.0f);
  launch_release(&launch);
}

static void smem_transpose_turns_rows_into_columns(void **state) {
  (void)state;
  static const shape_t shapes[] = {
      {"smem_transpose", UATTN_DTYPE_BF16, 16, 64, 16, 16, 16},
      {"smem_transpose", UATTN_DTYPE_F16, 48, 64, 48, 48, 48},
      {"smem_transpose", UATTN_DTYPE_BF16, 64, 64, 64, 64, 64},
      {"smem_transpose", UATTN_DTYPE_F16, 128, 64, 128, 128, 128},
      {"smem_transpose", UATTN_DTYPE_BF16, 256, 64, 256, 256, 256},
  };
  for (size_t i = 0; i < COUNT_OF(shapes); ++i) {
    uattn_emulator_t *program = transpose_program(&shapes[i]);
    for (int32_t written = 0; written < TARGET_BLOCKS; ++written)
      for (int32_t seen = 0; seen < TARGET_BLOCKS; ++seen)
        for (uint64_t seed = 0; seed < SEEDS; ++seed)
          check_transpose(&shapes[i], program, written, seen, seed);
    uattn_emulator_destroy(program);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(smem_columns_are_those_of_the_tile),
      cmocka_unit_test(smem_transpose_turns_rows_into_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
