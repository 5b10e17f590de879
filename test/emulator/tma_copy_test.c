/* Runs tma_copy.cu: tiles by tensor maps against plain loops.
 * Layer: test. Must not know: how the emulator copies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_call.h"

enum {
  COLUMNS = 76, /* of a pitch of 80: the last tile hangs over */
  PITCH = 80,
  ROWS = 50,
  TILES_X = 3,
  TILES_Y = 4,
  TILE_COLUMNS = 32,
  TILE_ROWS = 16
};

static uattn_tensor_map_t map_of(void *data, uattn_swizzle_t swizzle,
                                 bool fills_with_nan) {
  return (uattn_tensor_map_t){
      .element = UATTN_ELEMENT_F32,
      .rank = 2,
      .data = data,
      .dims = {COLUMNS, ROWS},
      .strides = {PITCH * sizeof(float)},
      .box = {TILE_COLUMNS, TILE_ROWS},
      .swizzle = swizzle,
      .fills_with_nan = fills_with_nan,
  };
}

/* Where 16-byte piece `piece` of a row lies; rows of 128 bytes. */
static int swizzled_piece(uattn_swizzle_t swizzle, int row, int piece) {
  switch (swizzle) {
  case UATTN_SWIZZLE_128B:
    return piece ^ row % 8;
  case UATTN_SWIZZLE_NONE:
    return piece;
  default:
    fail_msg("rows of 128 bytes take no other swizzle");
    return piece;
  }
}

static void check_raw(const float *raw, const float *source,
                      uattn_swizzle_t swizzle, bool fills_with_nan) {
  for (int y = 0; y < TILES_Y * TILE_ROWS; ++y)
    for (int x = 0; x < TILES_X * TILE_COLUMNS; ++x) {
      int row = y % TILE_ROWS;
      int column = x % TILE_COLUMNS;
      const float *tile = raw + (y / TILE_ROWS * TILES_X + x / TILE_COLUMNS) *
                                    (TILE_ROWS * TILE_COLUMNS);
      float found =
          tile[row * TILE_COLUMNS +
               swizzled_piece(swizzle, row, column / 4) * 4 + column % 4];
      if (x < COLUMNS && y < ROWS)
        assert_true(found == source[y * PITCH + x]);
      else if (fills_with_nan)
        assert_true(isnan(found));
      else
        assert_true(found == 0.0f);
    }
}

/* Nothing outside the tensor is written: the pitch's rest keeps its -1. */
static void check_target(const float *target, const float *source) {
  for (int y = 0; y < ROWS; ++y)
    for (int x = 0; x < PITCH; ++x)
      assert_true(target[y * PITCH + x] ==
                  (x < COLUMNS ? 2.0f * source[y * PITCH + x] + 1.0f : -1.0f));
}

static void copy_tiles(uattn_swizzle_t swizzle, bool fills_with_nan,
                       uint64_t seed) {
  uattn_emulator_t *program = load_program("tma_copy");
  call_t call = {.grid = {TILES_X, TILES_Y}, .block = {128}, .seed = seed};
  size_t bytes = ROWS * PITCH * sizeof(float);
  float *source = call_add_memory(&call, "source", bytes, true);
  float *target = call_add_memory(&call, "target", bytes, false);
  for (int i = 0; i < ROWS * PITCH; ++i) {
    source[i] = (float)(i + 1);
    target[i] = -1.0f;
  }
  uint8_t maps[2][128];
  uattn_tensor_map_t source_map = map_of(source, swizzle, fills_with_nan);
  uattn_tensor_map_t target_map = map_of(target, swizzle, false);
  call_add_map(&call, maps[0], &source_map);
  call_add_map(&call, maps[1], &target_map);
  float *raw = call_add_buffer(
      &call, "raw",
      TILES_X * TILES_Y * TILE_ROWS * TILE_COLUMNS * sizeof(float), false);
  assert_ok(call_run(&call, program, "tma_copy"));
  check_raw(raw, source, swizzle, fills_with_nan);
  check_target(target, source);
  call_release(&call);
  uattn_emulator_destroy(program);
}

static void tiles_are_copied_in_rows(void **state) {
  (void)state;
  copy_tiles(UATTN_SWIZZLE_NONE, false, 1);
}

static void tiles_are_copied_with_the_swizzle(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; ++seed)
    copy_tiles(UATTN_SWIZZLE_128B, false, seed);
}

static void what_is_outside_can_be_nan(void **state) {
  (void)state;
  copy_tiles(UATTN_SWIZZLE_128B, true, 1);
}

/* Boxes that hang over the ends add only what is inside. */
static void tiles_are_added_in_three_dimensions(void **state) {
  (void)state;
  enum { X = 12, Y = 5, Z = 3, BLOCKS = 5 };
  uattn_emulator_t *program = load_program("tma_copy");
  call_t call = {.grid = {BLOCKS}, .block = {64}};
  int *target =
      call_add_memory(&call, "target", X * Y * Z * sizeof(int), false);
  for (int i = 0; i < X * Y * Z; ++i)
    target[i] = i;
  uint8_t bytes[128];
  uattn_tensor_map_t map = {
      .element = UATTN_ELEMENT_I32,
      .rank = 3,
      .data = target,
      .dims = {X, Y, Z},
      .strides = {X * sizeof(int), X * Y * sizeof(int)},
      .box = {8, 4, 2},
  };
  int32_t at[3] = {8, 2, 2};
  call_add_map(&call, bytes, &map);
  for (int i = 0; i < 3; ++i)
    call_add_value(&call, &at[i], sizeof at[i]);
  assert_ok(call_run(&call, program, "tma_reduce"));
  for (int i = 0; i < X * Y * Z; ++i) {
    int x = i % X - at[0], y = i / X % Y - at[1], z = i / X / Y - at[2];
    bool is_inside = x >= 0 && x < 8 && y >= 0 && y < 4 && z >= 0 && z < 2;
    int added = (z * 4 + y) * 8 + x;
    assert_int_equal(target[i],
                     i + (is_inside ? added * BLOCKS * (BLOCKS + 1) / 2 : 0));
  }
  call_release(&call);
  uattn_emulator_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tiles_are_copied_in_rows),
      cmocka_unit_test(tiles_are_copied_with_the_swizzle),
      cmocka_unit_test(what_is_outside_can_be_nan),
      cmocka_unit_test(tiles_are_added_in_three_dimensions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
