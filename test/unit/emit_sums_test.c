/* Tests of sums in global memory: cleared, added to by several CTAs and loaded,
 * a launch each, run on the emulator.
 * Layer: test. Must not know: in which order a row's sums lie, which thread
 * holds what.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitted_kernel.h"

#include "support/support.h"

enum {
  TILE_ROWS = 64,
  BLOCK_COLUMNS = 64, /* which lie together */
  MOST_ROWS = 200,
  MOST_BLOCKS = 2,
  OFFSET = 192, /* of the sums in memory */
  MEMORY_NUMBERS = OFFSET + MOST_BLOCKS * MOST_ROWS * BLOCK_COLUMNS + 64,
  WARPGROUPS = 4 /* of the launch that adds, two a CTA */
};

/* What is everywhere in memory before: the order does not matter. */
static const float nothing = 1000.0f;

/* What memory must hold, by places. */
typedef struct {
  int32_t rows;
  int32_t blocks;
  float sums[MOST_BLOCKS][MOST_ROWS][BLOCK_COLUMNS];
} sums_t;

typedef struct {
  int32_t block;
  int32_t first_row;
  int32_t limit;
} tile_t;

/* Odd and even rows, rows that others add to, one row, none, a limit before the
 * last row. */
static const tile_t tiles[] = {{0, 0, 200},   {0, 1, 200},   {1, 7, 200},
                               {0, 64, 200},  {0, 147, 200}, {1, 150, 200},
                               {1, 199, 200}, {0, 33, 90},   {0, 34, 90},
                               {1, 120, 90},  {1, 136, 200}, {0, 200, 200}};

static float element_of(int32_t tile, int32_t row, int32_t column) {
  return (float)(64 * (TILE_ROWS * tile + row) + column);
}

/* ---- Launches --------------------------------------------------------------
 */

static uattn_emulator_t *make_program(int32_t blocks) {
  int32_t columns = BLOCK_COLUMNS * blocks;
  uattn_string_t types = {0};
  uattn_string_appendf(&types,
                       "#columns = %d : i64\n!values = vector<64x%dxf32>\n",
                       columns, columns);
  uattn_emulator_t *program = emitted_program("sums", uattn_string_get(&types));
  uattn_string_release(&types);
  return program;
}

static float *begin(call_t *call, const float *memory, uint32_t ctas,
                    uint32_t threads, uint64_t seed) {
  size_t bytes = MEMORY_NUMBERS * sizeof(float);
  *call = (call_t){.grid = {ctas},
                   .block = {threads},
                   .dynamic_shared_bytes = 32768,
                   .seed = seed,
                   .thread_count = 1};
  return memcpy(call_add_buffer(call, "sums", bytes, false), memory, bytes);
}

static void add_numbers(call_t *call, const char *name, const void *numbers,
                        size_t count) {
  memcpy(call_add_buffer(call, name, 4 * count, true), numbers, 4 * count);
}

static void run_and_take(call_t *call, const uattn_emulator_t *program,
                         const char *entry, const float *sums, float *memory) {
  assert_ok(call_run(call, program, entry));
  memcpy(memory, sums, MEMORY_NUMBERS * sizeof(float));
  call_release(call);
}

/* Rows `first_row` on, 64 a CTA. */
static void clear(const uattn_emulator_t *program, int32_t first_row,
                  int32_t limit, uint32_t ctas, float *memory,
                  sums_t *io_wanted) {
  int64_t offset = OFFSET;
  call_t call;
  float *sums = begin(&call, memory, ctas, 128, 0);
  call_add_value(&call, &offset, sizeof offset);
  call_add_value(&call, &first_row, sizeof first_row);
  call_add_value(&call, &limit, sizeof limit);
  run_and_take(&call, program, "sums_clear", sums, memory);
  int32_t end = first_row + TILE_ROWS * (int32_t)ctas;
  for (int32_t block = 0; block < io_wanted->blocks; ++block)
    for (int32_t row = first_row; row < end && row < io_wanted->rows; ++row)
      memset(io_wanted->sums[block][row], 0, sizeof io_wanted->sums[0][0]);
}

/* All tiles of blocks that there are. */
static void add(const uattn_emulator_t *program, uint64_t seed, float *memory,
                sums_t *io_wanted) {
  int32_t offsets[COUNT_OF(tiles)], first_rows[COUNT_OF(tiles)];
  int32_t limits[COUNT_OF(tiles)], count = 0, turn = WARPGROUPS;
  float x[BLOCK_COLUMNS], y[COUNT_OF(tiles) * TILE_ROWS];
  for (int32_t column = 0; column < BLOCK_COLUMNS; ++column)
    x[column] = element_of(0, 0, column);
  for (size_t i = 0; i < COUNT_OF(tiles); ++i) {
    const tile_t *tile = &tiles[i];
    if (tile->block >= io_wanted->blocks)
      continue;
    offsets[count] = OFFSET + tile->block * io_wanted->rows * BLOCK_COLUMNS;
    first_rows[count] = tile->first_row;
    limits[count] = tile->limit;
    for (int32_t r = 0; r < TILE_ROWS; ++r) {
      y[count * TILE_ROWS + r] = element_of(count, r, 0);
      int32_t row = tile->first_row + r;
      for (int32_t c = 0; row < tile->limit && c < BLOCK_COLUMNS; ++c)
        io_wanted->sums[tile->block][row][c] += element_of(count, r, c);
    }
    ++count;
  }
  call_t call;
  float *sums = begin(&call, memory, WARPGROUPS / 2, 256, seed);
  add_numbers(&call, "offsets", offsets, COUNT_OF(offsets));
  add_numbers(&call, "first_rows", first_rows, COUNT_OF(first_rows));
  add_numbers(&call, "limits", limits, COUNT_OF(limits));
  add_numbers(&call, "x", x, COUNT_OF(x));
  add_numbers(&call, "y", y, COUNT_OF(y));
  call_add_value(&call, &count, sizeof count);
  call_add_value(&call, &turn, sizeof turn);
  run_and_take(&call, program, "sums_add", sums, memory);
}

/* ---- What is there ----------------------------------------------------------
 */

static void check_load(const uattn_emulator_t *program, int32_t first_row,
                       float *memory, const sums_t *wanted) {
  int32_t columns = BLOCK_COLUMNS * wanted->blocks;
  size_t count = (size_t)columns;
  int64_t offset = OFFSET;
  call_t call;
  (void)begin(&call, memory, 1, 128, 0);
  call_add_value(&call, &offset, sizeof offset);
  call_add_value(&call, &first_row, sizeof first_row);
  call_add_value(&call, &wanted->rows, sizeof wanted->rows);
  call_add_value(&call, &columns, sizeof columns);
  float *one_hot =
      call_add_buffer(&call, "one_hot", count * count * sizeof(float), true);
  for (size_t i = 0; i < count; ++i)
    one_hot[i * count + i] = 1.0f;
  const float *out =
      call_add_buffer(&call, "out", count * TILE_ROWS * sizeof *out, false);
  assert_ok(call_run(&call, program, "sums_load"));
  for (int32_t c = 0; c < columns; ++c)
    for (int32_t r = 0; r < TILE_ROWS; ++r) {
      int32_t row = first_row + r;
      float value =
          row < wanted->rows
              ? wanted->sums[c / BLOCK_COLUMNS][row][c % BLOCK_COLUMNS]
              : 0.0f;
      if (out[c * TILE_ROWS + r] != value)
        fail_msg("row %d, column %d: %.9g, not %.9g", row, c,
                 (double)out[c * TILE_ROWS + r], (double)value);
    }
  call_release(&call);
}

static void check_loads(const uattn_emulator_t *program, float *memory,
                        const sums_t *wanted) {
  static const int32_t first_rows[] = {0, 1, 64, 101, 137, 199, 200};
  for (size_t i = 0; i < COUNT_OF(first_rows); ++i)
    check_load(program, first_rows[i], memory, wanted);
}

/* Of rows that are all one number the order does not matter. */
static void check_uniform_rows(const float *memory, const sums_t *wanted) {
  for (int32_t i = 0; i < MEMORY_NUMBERS; ++i) {
    int32_t row = (i - OFFSET) / BLOCK_COLUMNS; /* of all blocks' */
    bool is_sum = i >= OFFSET && row < wanted->blocks * wanted->rows;
    float value = is_sum
                      ? wanted->sums[row / wanted->rows][row % wanted->rows][0]
                      : nothing;
    if (memory[i] != value)
      fail_msg("number %d, row %d: %.9g, not %.9g", i, row, (double)memory[i],
               (double)value);
  }
}

static void check_rest(const float *memory, const sums_t *wanted) {
  int32_t end = OFFSET + wanted->blocks * wanted->rows * BLOCK_COLUMNS;
  for (int32_t i = 0; i < MEMORY_NUMBERS; ++i)
    if ((i < OFFSET || i >= end) && memory[i] != nothing)
      fail_msg("number %d outside of the sums: %.9g", i, (double)memory[i]);
}

static void make_memory(int32_t blocks, float *memory, sums_t *out_wanted) {
  *out_wanted = (sums_t){.rows = MOST_ROWS, .blocks = blocks};
  for (int32_t i = 0; i < MEMORY_NUMBERS; ++i)
    memory[i] = nothing;
  for (int32_t block = 0; block < MOST_BLOCKS; ++block)
    for (int32_t row = 0; row < MOST_ROWS; ++row)
      for (int32_t c = 0; c < BLOCK_COLUMNS; ++c)
        out_wanted->sums[block][row][c] = nothing;
}

/* ---- Tests ------------------------------------------------------------------
 */

static float memory[MEMORY_NUMBERS];
static sums_t wanted;

static void sums_clear_clears_the_rows_below_the_limit(void **state) {
  (void)state;
  static const struct {
    int32_t first_row;
    uint32_t ctas;
  } cases[] = {{0, 1}, {0, 4}, {5, 2}, {136, 1}, {137, 1}, {199, 1}, {200, 1}};
  for (int32_t blocks = 1; blocks <= MOST_BLOCKS; ++blocks) {
    uattn_emulator_t *program = make_program(blocks);
    for (size_t i = 0; i < COUNT_OF(cases); ++i) {
      make_memory(blocks, memory, &wanted);
      clear(program, cases[i].first_row, MOST_ROWS, cases[i].ctas, memory,
            &wanted);
      check_uniform_rows(memory, &wanted);
    }
    uattn_emulator_destroy(program);
  }
}

/* Rows before 3 are never cleared: what is added comes to what was there. */
static void sums_are_those_of_all_tiles(void **state) {
  (void)state;
  for (int32_t blocks = 1; blocks <= MOST_BLOCKS; ++blocks) {
    uattn_emulator_t *program = make_program(blocks);
    make_memory(blocks, memory, &wanted);
    clear(program, 3, MOST_ROWS, 4, memory, &wanted);
    check_loads(program, memory, &wanted);
    for (uint64_t seed = 0; seed < 3; ++seed) {
      add(program, seed, memory, &wanted);
      check_loads(program, memory, &wanted);
      check_rest(memory, &wanted);
    }
    clear(program, 0, MOST_ROWS, 4, memory, &wanted);
    check_uniform_rows(memory, &wanted);
    uattn_emulator_destroy(program);
  }
}

/* Bytes were once counted in 32 bits: of so many rows none was cleared. */
static void sums_clear_counts_rows_of_long_sums(void **state) {
  (void)state;
  static const int32_t limits[] = {(1 << 23) - 1, 1 << 23, INT32_MAX};
  uattn_emulator_t *program = make_program(1);
  for (size_t i = 0; i < COUNT_OF(limits); ++i) {
    make_memory(1, memory, &wanted);
    clear(program, 0, limits[i], 2, memory, &wanted);
    check_uniform_rows(memory, &wanted);
  }
  uattn_emulator_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_clear_clears_the_rows_below_the_limit),
      cmocka_unit_test(sums_are_those_of_all_tiles),
      cmocka_unit_test(sums_clear_counts_rows_of_long_sums),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
