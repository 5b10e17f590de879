/* Tests of records of rows: written to global memory, copied to shared memory
 * and read by columns, run on the emulator.
 * Layer: test. Must not know: which thread touches what.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitted_kernel.h"

#include "support/support.h"

enum {
  ROWS = 64, /* of a CTA */
  MOST_CTAS = 4,
  MOST_ROWS = ROWS * MOST_CTAS,
  FIELDS = 4,
  MEMORY_RECORDS = 400
};

/* What is in memory before. */
static const float nothing = -1.0f;

/* Its bits too are an integer that f32 holds, and no two are equal. */
static float number_of(int32_t index, int32_t field) {
  uint32_t bits = (uint32_t)(0x4000 + FIELDS * index + field) << 16;
  float number;
  memcpy(&number, &bits, sizeof number);
  return number;
}

static float bits_as_number(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return (float)bits;
}

static uattn_emulator_t *make_program(int32_t columns, int32_t field) {
  uattn_string_t types = {0};
  uattn_string_appendf(&types,
                       "!records = !uattn.ring<vector<%dx4xf32>, 2 : i64>\n"
                       "!tile = !uattn.smem<vector<%dx4xf32>>\n"
                       "!values = vector<64x%dxf32>\n"
                       "!bits = vector<64x%dxi32>\n"
                       "#field = %d : i64\n",
                       columns, columns, columns, columns, field);
  uattn_emulator_t *program =
      emitted_program("records", uattn_string_get(&types));
  uattn_string_release(&types);
  return program;
}

/* ---- record_store ----------------------------------------------------------
 */

typedef struct {
  int64_t offset; /* of record 0, in numbers */
  int32_t first_row;
  int32_t limit;
  uint32_t ctas;
} store_t;

/* Record i of what is stored has number_of(i, field). */
static void store(const uattn_emulator_t *program, const store_t *what,
                  uint64_t seed, float out_memory[MEMORY_RECORDS * FIELDS]) {
  call_t call = {
      .grid = {what->ctas}, .block = {128}, .seed = seed, .thread_count = 1};
  for (int32_t field = 0; field < FIELDS; ++field) {
    float *rows =
        call_add_buffer(&call, "field", MOST_ROWS * sizeof *rows, true);
    for (int32_t row = 0; row < MOST_ROWS; ++row)
      rows[row] = number_of(row, field);
  }
  size_t bytes = MEMORY_RECORDS * FIELDS * sizeof(float);
  float *memory = call_add_buffer(&call, "records", bytes, false);
  for (int32_t i = 0; i < MEMORY_RECORDS * FIELDS; ++i)
    memory[i] = nothing;
  call_add_value(&call, &what->offset, sizeof what->offset);
  call_add_value(&call, &what->first_row, sizeof what->first_row);
  call_add_value(&call, &what->limit, sizeof what->limit);
  assert_ok(call_run(&call, program, "record_store"));
  memcpy(out_memory, memory, bytes);
  call_release(&call);
}

static float stored(const store_t *what, int32_t number) {
  int64_t row = (number - what->offset) / FIELDS;
  int64_t index = row - what->first_row;
  bool is_written = number >= what->offset && index >= 0 &&
                    index < (int64_t)ROWS * what->ctas && row < what->limit;
  return is_written ? number_of((int32_t)index, number % FIELDS) : nothing;
}

static void record_store_writes_the_rows_below_the_limit(void **state) {
  (void)state;
  static const store_t cases[] = {
      {0, 0, 64, 1},   {12, 0, 64, 1},   {40, 1, 300, 2},  {8, 3, 4, 1},
      {0, 64, 100, 1}, {20, 5, 133, 3},  {0, 64, 64, 1},   {0, 64, 10, 1},
      {0, 0, 63, 1},   {0, 100, 360, 4}, {160, 0, 193, 4},
  };
  static float memory[MEMORY_RECORDS * FIELDS];
  uattn_emulator_t *program = make_program(8, 0);
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    store(program, &cases[i], i, memory);
    for (int32_t number = 0; number < MEMORY_RECORDS * FIELDS; ++number)
      if (memory[number] != stored(&cases[i], number))
        fail_msg("case %zu: number %d is %g, not %g", i, number,
                 (double)memory[number], (double)stored(&cases[i], number));
  }
  uattn_emulator_destroy(program);
}

/* ---- column_read -----------------------------------------------------------
 */

typedef struct {
  int32_t columns; /* records of a step */
  int32_t field;
  int32_t steps;
  int32_t first; /* record */
} read_t;

static void check_read(const uattn_emulator_t *program, const read_t *what,
                       const float *memory, int32_t takes_bits, uint64_t seed) {
  size_t columns = (size_t)what->columns;
  int64_t offset = what->first * FIELDS;
  call_t call = {.block = {256},
                 .dynamic_shared_bytes = 65568,
                 .seed = seed,
                 .thread_count = 1};
  size_t bytes = MEMORY_RECORDS * FIELDS * sizeof(float);
  memcpy(call_add_buffer(&call, "records", bytes, true), memory, bytes);
  call_add_value(&call, &offset, sizeof offset);
  call_add_value(&call, &what->steps, sizeof what->steps);
  call_add_value(&call, &takes_bits, sizeof takes_bits);
  call_add_value(&call, &what->columns, sizeof what->columns);
  float *one_hot = call_add_buffer(&call, "one_hot",
                                   columns * columns * sizeof(float), true);
  for (size_t i = 0; i < columns; ++i)
    one_hot[i * columns + i] = 1.0f;
  int32_t count = what->steps * what->columns;
  float *out =
      call_add_buffer(&call, "out", (size_t)count * ROWS * sizeof *out, false);
  assert_ok(call_run(&call, program, "column_read"));
  for (int32_t i = 0; i < count; ++i)
    for (int32_t row = 0; row < ROWS; ++row) {
      float wanted = number_of(what->first + i, what->field);
      if (takes_bits)
        wanted = bits_as_number(wanted);
      if (out[i * ROWS + row] != wanted)
        fail_msg("field %d of record %d, row %d: %g, not %g", what->field,
                 what->first + i, row, (double)out[i * ROWS + row],
                 (double)wanted);
    }
  call_release(&call);
}

/* More steps than the ring has slots. */
static void column_read_gives_each_column_its_record(void **state) {
  (void)state;
  static const read_t cases[] = {{64, 0, 3, 0},  {64, 1, 1, 5}, {64, 2, 1, 64},
                                 {64, 3, 3, 1},  {8, 2, 5, 3},  {24, 1, 4, 100},
                                 {128, 3, 2, 0}, {256, 1, 1, 0}};
  static const store_t all = {0, 0, MOST_ROWS, MOST_CTAS};
  static float memory[MEMORY_RECORDS * FIELDS];
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    uattn_emulator_t *program = make_program(cases[i].columns, cases[i].field);
    store(program, &all, 0, memory);
    for (int32_t takes_bits = 0; takes_bits < 2; ++takes_bits)
      check_read(program, &cases[i], memory, takes_bits, i);
    uattn_emulator_destroy(program);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(record_store_writes_the_rows_below_the_limit),
      cmocka_unit_test(column_read_gives_each_column_its_record),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
