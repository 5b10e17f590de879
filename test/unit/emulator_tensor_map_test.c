/* Which tensor maps are refused, by the rules of the driver.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "uattn/emulator.h"

static uint8_t memory[64] __attribute__((aligned(64)));

/* A tensor of 3 dimensions that is right. */
static uattn_tensor_map_t valid(void) {
  return (uattn_tensor_map_t){.element = UATTN_ELEMENT_BF16,
                              .rank = 3,
                              .data = memory,
                              .dims = {128, 16, 1000},
                              .strides = {256, 4096},
                              .box = {64, 1, 128},
                              .element_strides = {1, 0, 8},
                              .swizzle = UATTN_SWIZZLE_128B};
}

static void refuse(const uattn_tensor_map_t *map, const char *message) {
  uint8_t bytes[128];
  assert_error(uattn_emulator_encode_tensor_map(map, bytes),
               UATTN_ERROR_INVALID_ARGUMENT, message);
}

static void accept(const uattn_tensor_map_t *map) {
  uint8_t bytes[128];
  assert_ok(uattn_emulator_encode_tensor_map(map, bytes));
}

static void limits_are_accepted(void **state) {
  (void)state;
  uattn_tensor_map_t map = valid();
  accept(&map);
  map.dims[2] = UINT64_C(1) << 32;
  map.strides[1] = (UINT64_C(1) << 40) - 16;
  map.box[2] = 256;
  map.strides[0] = 0;
  accept(&map);
  map = valid();
  map.rank = 1;
  map.swizzle = UATTN_SWIZZLE_NONE;
  map.box[0] = 256;
  accept(&map);
  map.element = UATTN_ELEMENT_F64;
  map.fills_with_nan = true;
  accept(&map);
}

static void kinds_are_checked(void **state) {
  (void)state;
  uattn_tensor_map_t map = valid();
  map.element = (uattn_element_t)10;
  refuse(&map, "tensor map: element type 10: expected one of uattn_element_t");
  map = valid();
  map.rank = 0;
  refuse(&map, "tensor map: rank 0: expected 1 to 5");
  map.rank = 6;
  refuse(&map, "tensor map: rank 6: expected 1 to 5");
  map = valid();
  map.swizzle = (uattn_swizzle_t)4;
  refuse(&map, "tensor map: swizzle 4: expected one of uattn_swizzle_t");
  map = valid();
  map.element = UATTN_ELEMENT_U16;
  map.fills_with_nan = true;
  refuse(&map, "tensor map: fill with NaN of a type that has none: expected "
               "f16, bf16, f32 or f64");
  map = valid();
  map.data = NULL;
  uint8_t bytes[128];
  uattn_error_t *error = uattn_emulator_encode_tensor_map(&map, bytes);
  assert_non_null(error);
  uattn_error_destroy(error);
  map.data = memory + 8;
  error = uattn_emulator_encode_tensor_map(&map, bytes);
  assert_non_null(error);
  assert_non_null(
      strstr(uattn_error_message(error), "expected a multiple of 16 bytes"));
  uattn_error_destroy(error);
}

static void sizes_are_checked(void **state) {
  (void)state;
  uattn_tensor_map_t map = valid();
  map.dims[1] = 0;
  refuse(&map, "tensor map: dims[1] 0: expected 1 to 4294967296");
  map.dims[1] = (UINT64_C(1) << 32) + 1;
  refuse(&map, "tensor map: dims[1] 4294967297: expected 1 to 4294967296");
  map = valid();
  map.strides[0] = 264;
  refuse(&map, "tensor map: strides[0] 264 bytes: expected a multiple of 16 "
               "below 1099511627776");
  map.strides[0] = UINT64_C(1) << 40;
  refuse(&map, "tensor map: strides[0] 1099511627776 bytes: expected a "
               "multiple of 16 below 1099511627776");
  map = valid();
  map.element_strides[2] = 9;
  refuse(&map, "tensor map: element_strides[2] 9: expected 1 to 8");
}

static void boxes_are_checked(void **state) {
  (void)state;
  uattn_tensor_map_t map = valid();
  map.box[1] = 0;
  refuse(&map, "tensor map: box[1] 0: expected 1 to 256");
  map.box[1] = 257;
  refuse(&map, "tensor map: box[1] 257: expected 1 to 256");
  map = valid();
  map.box[0] = 60;
  refuse(&map,
         "tensor map: box[0] 60 spans 120 bytes: expected a multiple of 16");
  map.box[0] = 128;
  refuse(&map, "tensor map: box[0] 128 spans 256 bytes: expected at most the "
               "128 of the swizzle");
  map.box[0] = 32;
  map.swizzle = UATTN_SWIZZLE_32B;
  refuse(&map, "tensor map: box[0] 32 spans 64 bytes: expected at most the 32 "
               "of the swizzle");
  map = valid();
  map.box[1] = 16;
  refuse(&map,
         "tensor map: the box has 262144 bytes: expected less than 262144");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_are_accepted),
      cmocka_unit_test(kinds_are_checked),
      cmocka_unit_test(sizes_are_checked),
      cmocka_unit_test(boxes_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
