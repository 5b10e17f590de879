/* Launches of emitted kernels that work on tiles of 16-bit floats in shared
 * memory.
 * Layer: test. Must not know: what the kernels do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitted_tiles.h"

#include "support/support.h"

enum { SMEM_BYTES = 131104 };

uattn_emulator_t *tile_program(const shape_t *shape, const char *more_types) {
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
  uattn_string_append(&text, more_types);
  uattn_emulator_t *program =
      emitted_program(shape->name, uattn_string_get(&text));
  uattn_string_release(&text);
  return program;
}

/* ---- Values ---------------------------------------------------------------
 */

float matrix_value(const matrix_t *matrix, int32_t row, int32_t column) {
  uint16_t bits = matrix->bits[row][column];
  return matrix->dtype == UATTN_DTYPE_BF16 ? uattn_bf16_to_float(bits)
                                           : uattn_f16_to_float(bits);
}

static uint16_t bits_of(uattn_dtype_t dtype, float value) {
  return dtype == UATTN_DTYPE_BF16 ? uattn_bf16_from_float(value)
                                   : uattn_f16_from_float(value);
}

matrix_t different_values(uattn_dtype_t dtype, int32_t rows, int32_t columns) {
  matrix_t matrix = {.dtype = dtype, .rows = rows, .columns = columns};
  for (int32_t row = 0; row < rows; ++row)
    for (int32_t column = 0; column < columns; ++column) {
      int32_t index = row * columns + column;
      matrix.bits[row][column] =
          (uint16_t)(0x2000 + index / 2 + (index % 2 ? 0x8000 : 0));
    }
  return matrix;
}

matrix_t small_numbers(uattn_dtype_t dtype, int32_t rows, int32_t columns,
                       uint64_t *random) {
  matrix_t matrix = {.dtype = dtype, .rows = rows, .columns = columns};
  for (int32_t row = 0; row < rows; ++row)
    for (int32_t column = 0; column < columns; ++column)
      matrix.bits[row][column] =
          bits_of(dtype, (float)(next_random(random) % 31) - 15.0f);
  return matrix;
}

matrix_t unit_matrix(uattn_dtype_t dtype, int32_t size) {
  matrix_t matrix = {.dtype = dtype, .rows = size, .columns = size};
  for (int32_t i = 0; i < size; ++i)
    matrix.bits[i][i] = bits_of(dtype, 1.0f);
  return matrix;
}

/* ---- Launches --------------------------------------------------------------
 */

launch_t launch_begin(const shape_t *shape, uint64_t seed) {
  launch_t launch = {.shape = *shape,
                     .call = {.block = {256},
                              .dynamic_shared_bytes = SMEM_BYTES,
                              .seed = seed,
                              .thread_count = 1}};
  return launch;
}

void launch_add_matrix(launch_t *launch, const matrix_t *matrix,
                       int32_t box_rows) {
  size_t row_bytes = (size_t)matrix->columns * sizeof(uint16_t);
  size_t bytes = (size_t)matrix->rows * row_bytes;
  uint8_t *data = call_add_memory(&launch->call, "matrix", bytes, true);
  for (int32_t row = 0; row < matrix->rows; ++row)
    memcpy(data + (size_t)row * row_bytes, matrix->bits[row], row_bytes);
  const uattn_tensor_map_t map = {
      .element = matrix->dtype == UATTN_DTYPE_BF16 ? UATTN_ELEMENT_BF16
                                                   : UATTN_ELEMENT_F16,
      .rank = 4,
      .data = data,
      .dims = {(uint64_t)matrix->columns, 1, (uint64_t)matrix->rows, 1},
      .strides = {row_bytes, row_bytes, bytes},
      .box = {PANEL_COLUMNS, 1, (uint32_t)box_rows, 1},
      .swizzle = UATTN_SWIZZLE_128B};
  call_add_map(&launch->call, launch->maps[launch->map_count++], &map);
}

void launch_add_number(launch_t *launch, int32_t number) {
  int32_t *place = &launch->numbers[launch->number_count++];
  *place = number;
  call_add_value(&launch->call, place, sizeof *place);
}

static void add_out(launch_t *launch) {
  size_t columns = (size_t)launch->shape.out_columns;
  launch_add_number(launch, launch->shape.out_columns);
  float *one_hot = call_add_buffer(&launch->call, "one_hot",
                                   columns * columns * sizeof(float), true);
  for (size_t i = 0; i < columns; ++i)
    one_hot[i * columns + i] = 1.0f;
  launch->out = call_add_buffer(&launch->call, "out",
                                columns * PART_ROWS * sizeof(float), false);
}

void launch_run(launch_t *launch, const uattn_emulator_t *program,
                const char *entry) {
  add_out(launch);
  assert_ok(call_run(&launch->call, program, entry));
}

void launch_assert_out(const launch_t *launch, int32_t outer, int32_t inner,
                       float wanted) {
  float found = launch->out[outer * PART_ROWS + inner];
  if (found != wanted)
    fail_msg("%s of %dx%d: out[%d][%d] is %.9g, not %.9g", launch->shape.name,
             launch->shape.rows, launch->shape.columns, outer, inner,
             (double)found, (double)wanted);
}

void launch_release(launch_t *launch) { call_release(&launch->call); }
