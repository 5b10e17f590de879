/* Tensor copies on the emulator against loops over elements: every rank and
 * swizzle, boxes across all edges, element strides, fills, clipped stores.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"

#include "support/support.h"

enum {
  SHARED_BYTES = 16384,
  BOX_AREA = 8192, /* of shared memory, from 1024 on: what the tests look at */
  TENSOR_BYTES = 1 << 16
};

static uint8_t tensor[TENSOR_BYTES] __attribute__((aligned(128)));
static uint8_t tensor_want[TENSOR_BYTES];
static uint8_t area[BOX_AREA] __attribute__((aligned(128)));
static uint8_t area_want[BOX_AREA];

static uint64_t random_state;
static uint32_t draw(uint32_t bound) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((random_state >> 33) % bound);
}

static size_t element_bytes(uattn_element_t element) {
  static const size_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[element];
}

typedef struct {
  uattn_tensor_map_t map;
  int32_t at[5];
  uint32_t offset; /* of the box in the area */
} box_t;

static uint32_t count_along(const box_t *box, int dim) {
  uint32_t stride = dim ? box->map.element_strides[dim] : 1;
  return (box->map.box[dim] + stride - 1) / stride;
}

static uint32_t element_count(const box_t *box) {
  uint32_t count = 1;
  for (int dim = 0; dim < box->map.rank; ++dim)
    count *= count_along(box, dim);
  return count;
}

/* Where element `index` of the box is in the tensor; -1: outside. Stores reach
 * up to the next 16 bytes of the innermost dimension. */
static int64_t tensor_offset(const box_t *box, uint32_t index, bool is_store) {
  int64_t offset = 0, bytes = (int64_t)element_bytes(box->map.element);
  for (int dim = 0; dim < box->map.rank; ++dim) {
    uint32_t count = count_along(box, dim);
    int64_t stride = dim ? box->map.element_strides[dim] : 1;
    int64_t position = box->at[dim] + stride * (index % count);
    int64_t end = (int64_t)box->map.dims[dim];
    if (dim == 0 && is_store)
      end = (end * bytes + 15) / 16 * 16 / bytes;
    index /= count;
    if (position < 0 || position >= end)
      return -1;
    offset += position * (dim ? (int64_t)box->map.strides[dim - 1] : bytes);
  }
  return offset;
}

/* Where it is in the area, which starts at shared address 1024. A swizzle of
 * 32, 64 or 128 bytes puts rows that far apart and exchanges chunks of 16 bytes
 * within such a span, by the number of the 128-byte line. */
static uint32_t area_offset(const box_t *box, uint32_t index) {
  uint32_t bytes = (uint32_t)element_bytes(box->map.element);
  uint32_t columns = box->map.box[0];
  uint32_t pitch = box->map.swizzle ? 16u << box->map.swizzle : columns * bytes;
  uint32_t offset =
      box->offset + index / columns * pitch + index % columns * bytes;
  uint32_t span_chunks = 1u << box->map.swizzle;
  uint32_t chunk = offset / 16, line = offset / 128;
  uint32_t place = chunk % span_chunks;
  chunk = chunk - place + (place ^ line % span_chunks);
  return chunk * 16 + offset % 16;
}

static void fill_value(const box_t *box, uint8_t *out) {
  size_t bytes = element_bytes(box->map.element);
  for (size_t i = 0; i < bytes; ++i)
    out[i] = !box->map.fills_with_nan ? 0 : i % 2 ? 0x7F : 0xF7;
}

static void draw_bytes(uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; ++i)
    bytes[i] = (uint8_t)draw(256);
}

/* A box that hangs over some edges; the whole tensor fits its memory. */
static box_t draw_box(int rank, uattn_swizzle_t swizzle,
                      uattn_element_t element) {
  box_t box = {.map = {.element = element,
                       .rank = rank,
                       .data = tensor,
                       .swizzle = swizzle}};
  uint32_t bytes = (uint32_t)element_bytes(element);
  uint32_t span = swizzle ? 16u << swizzle : 64;
  uint64_t stride = 0;
  box.map.fills_with_nan = element >= UATTN_ELEMENT_F16 && draw(2);
  box.offset = 128 * draw(9);
  for (int dim = 0; dim < rank; ++dim) {
    uattn_tensor_map_t *map = &box.map;
    map->box[dim] =
        dim ? 1 + draw(rank > 3 ? 2 : 4) : 16 * (1 + draw(span / 16)) / bytes;
    map->element_strides[dim] = draw(3) ? 1 : 1 + draw(3);
    map->dims[dim] = 1 + draw(dim ? 5 : 2 * map->box[0]);
    box.at[dim] = (int32_t)draw(2 * map->box[dim]) - (int32_t)map->box[dim] / 2;
    if (dim == 0) /* whole 16 bytes, as the hardware wants */
      box.at[0] -= box.at[0] % (int32_t)(16 / bytes);
    if (dim)
      map->strides[dim - 1] = stride;
    stride = dim ? stride * map->dims[dim]
                 : (map->dims[0] * bytes + 15) / 16 * 16 + 16 * draw(2);
  }
  return box;
}

/* Loads the box, or stores it, between shared memory from 1024 on and the
 * tensor, with a copy of the area from or to `out`. */
static char *make_body(const box_t *box, const char *before_copy,
                       const char *copy, const char *after_copy) {
  uattn_string_t text = {0};
  static const char *const names[] = {"{%r0}", "{%r0, %r1}", "{%r0, %r1, %r2}",
                                      "{%r0, %r1, %r2, %r3}",
                                      "{%r0, %r1, %r2, %r3, %r4}"};
  for (int dim = 0; dim < box->map.rank; ++dim)
    uattn_string_appendf(&text, "mov.u32 %%r%d, %d;\n", dim, box->at[dim]);
  uattn_string_appendf(&text,
                       "mov.u32 %%r5, smem;\nadd.u32 %%r6, %%r5, %u;\n"
                       "mov.u32 %%r7, %u;\n",
                       1024 + box->offset,
                       element_count(box) *
                           (uint32_t)element_bytes(box->map.element));
  uattn_string_append(&text, before_copy);
  for (const char *c = copy; *c; ++c)
    if (*c == '#')
      uattn_string_appendf(&text, "%d", box->map.rank);
    else if (*c == '@')
      uattn_string_append(&text, names[box->map.rank - 1]);
    else
      uattn_string_append_bytes(&text, c, 1);
  uattn_string_append(&text, after_copy);
  return uattn_string_take(&text);
}

/* All threads copy the area, a word each time: %r10 to %r12, %d10. */
#define COPY_AREA(move)                                                        \
  "{ shl.b32 %r10, %thread, 2;\nAREA: add.u32 %r11, %r10, 1024;\n"             \
  "cvt.u64.u32 %d10, %r10;\nadd.s64 %d10, %out, %d10;\n" move                  \
  "add.u32 %r10, %r10, 128;\nsetp.lt.u32 %p1, %r10, 8192;\n@%p1 bra AREA; }\n"
#define AREA_IN                                                                \
  COPY_AREA("ld.global.u32 %r12, [%d10];\nst.shared.u32 [%r11], %r12;\n")
#define AREA_OUT                                                               \
  "bar.sync 0;\n" COPY_AREA(                                                   \
      "ld.shared.u32 %r12, [%r11];\nst.global.u32 [%d10], %r12;\n")

static void run_box(const box_t *box, char *owned_body, uint64_t seed) {
  emulated_t emulated = {.body = owned_body,
                         .threads = 32,
                         .shared_bytes = SHARED_BYTES,
                         .out = area,
                         .out_bytes = sizeof area,
                         .in = tensor,
                         .in_bytes = sizeof tensor,
                         .map = &box->map,
                         .seed = seed};
  uattn_error_t *error = emulated_run(&emulated);
  free(owned_body);
  assert_ok(error);
}

static void compare(const box_t *box, const uint8_t *found,
                    const uint8_t *wanted, size_t size, const char *what) {
  for (size_t i = 0; i < size; ++i)
    if (found[i] != wanted[i])
      fail_msg("%s: rank %d, swizzle %d, element %d: byte %zu is 0x%02x, "
               "wanted 0x%02x",
               what, box->map.rank, (int)box->map.swizzle,
               (int)box->map.element, i, found[i], wanted[i]);
}

static void check_load(const box_t *box, uint64_t seed) {
  size_t bytes = element_bytes(box->map.element);
  draw_bytes(tensor, sizeof tensor);
  draw_bytes(area, sizeof area);
  memcpy(area_want, area, sizeof area);
  for (uint32_t i = 0; i < element_count(box); ++i) {
    uint8_t *target = area_want + area_offset(box, i);
    int64_t offset = tensor_offset(box, i, false);
    if (offset < 0)
      fill_value(box, target);
    else
      memcpy(target, tensor + offset, bytes);
  }
  run_box(
      box,
      make_body(box,
                AREA_IN INIT_MBARRIER(
                    "smem",
                    "1") "@%p15 bra LOADED;\n"
                         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], "
                         "%r7;\n",
                "cp.async.bulk.tensor.#d.shared::cluster.global."
                "mbarrier::complete_tx::bytes [%r6], [%map, @], [%r5];\n",
                "LOADED: " WAIT_PARITY("%r5", "0") AREA_OUT),
      seed);
  compare(box, area, area_want, sizeof area, "load");
}

/* Stores cannot start before the tensor does. */
static box_t not_negative(box_t box) {
  for (int dim = 0; dim < box.map.rank; ++dim)
    if (box.at[dim] < 0)
      box.at[dim] = 0;
  return box;
}

static void check_store(const box_t *given, uint64_t seed) {
  box_t store = not_negative(*given), *box = &store;
  size_t bytes = element_bytes(box->map.element);
  draw_bytes(tensor, sizeof tensor);
  draw_bytes(area, sizeof area);
  memcpy(tensor_want, tensor, sizeof tensor);
  for (uint32_t i = 0; i < element_count(box); ++i) {
    int64_t offset = tensor_offset(box, i, true);
    if (offset >= 0)
      memcpy(tensor_want + offset, area + area_offset(box, i), bytes);
  }
  run_box(box,
          make_body(box,
                    AREA_IN "fence.proxy.async.shared::cta;\nbar.sync 0;\n"
                            "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra STORED;\n",
                    "cp.async.bulk.tensor.#d.global.shared::cta.tile."
                    "bulk_group [%map, @], [%r6];\n",
                    "cp.async.bulk.commit_group;\n"
                    "cp.async.bulk.wait_group 0;\nSTORED:\n"),
          seed);
  compare(box, tensor, tensor_want, sizeof tensor, "store");
}

static void check_all(void (*check)(const box_t *box, uint64_t seed)) {
  static const uattn_element_t elements[] = {
      UATTN_ELEMENT_BF16, UATTN_ELEMENT_U8,  UATTN_ELEMENT_F32,
      UATTN_ELEMENT_F16,  UATTN_ELEMENT_F64, UATTN_ELEMENT_U16};
  random_state = 1;
  for (int rank = 1; rank <= 5; ++rank)
    for (int swizzle = 0; swizzle <= 3; ++swizzle)
      for (size_t i = 0; i < COUNT_OF(elements); ++i) {
        box_t box = draw_box(rank, (uattn_swizzle_t)swizzle, elements[i]);
        check(&box, i + 6 * (uint64_t)rank);
      }
}

static void boxes_are_loaded(void **state) {
  (void)state;
  check_all(check_load);
}

static void boxes_are_stored_and_clipped(void **state) {
  (void)state;
  check_all(check_store);
}

/* A box of 2 rows of 64 bf16, 8 by 64 elements of a tensor of 10 by 100. */
static const box_t simple = {.map = {.element = UATTN_ELEMENT_BF16,
                                     .element_strides = {1, 1},
                                     .rank = 2,
                                     .data = tensor,
                                     .dims = {100, 10},
                                     .strides = {208},
                                     .box = {64, 8},
                                     .swizzle = UATTN_SWIZZLE_128B}};

static void box_outside_is_all_fill(void **state) {
  (void)state;
  static const int32_t places[][2] = {{104, 0}, {-64, 0},       {0, 10},
                                      {0, -8},  {INT32_MIN, 0}, {0, INT32_MAX}};
  for (size_t i = 0; i < COUNT_OF(places); ++i) {
    box_t box = simple;
    memcpy(box.at, places[i], sizeof places[i]);
    check_load(&box, i);
    box.map.fills_with_nan = true;
    check_load(&box, i);
    check_store(&box, i);
  }
}

/* ---- Reductions ------------------------------------------------------------
 */

static float f32_sum(float a, float b) { return a + b; }

static void check_reduction(const char *copy, float (*reduce)(float, float)) {
  box_t box = {.map = {.element = UATTN_ELEMENT_F32,
                       .rank = 2,
                       .data = tensor,
                       .dims = {20, 5},
                       .strides = {80},
                       .box = {16, 4},
                       .element_strides = {1, 1}},
               .at = {8, 3}};
  float *tensor_values = (float *)tensor, *area_values = (float *)area;
  for (int i = 0; i < 100; ++i)
    tensor_values[i] = (float)i / 8;
  for (int i = 0; i < 64; ++i)
    area_values[i] = (float)(63 - i) / 4;
  memcpy(tensor_want, tensor, sizeof tensor);
  for (uint32_t i = 0; i < 64; ++i) {
    int64_t offset = tensor_offset(&box, i, true);
    if (offset < 0)
      continue;
    float value = reduce(tensor_values[offset / 4], area_values[i]);
    memcpy(tensor_want + offset, &value, sizeof value);
  }
  run_box(&box,
          make_body(&box,
                    AREA_IN "fence.proxy.async;\nbar.sync 0;\n"
                            "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra STORED;\n",
                    copy,
                    "cp.async.bulk.commit_group;\n"
                    "cp.async.bulk.wait_group 0;\nSTORED:\n"),
          3);
  compare(&box, tensor, tensor_want, sizeof tensor, "reduction");
}

static void boxes_are_reduced(void **state) {
  (void)state;
  check_reduction("cp.reduce.async.bulk.tensor.#d.global.shared::cta.add."
                  "bulk_group [%map, @], [%r6];\n",
                  f32_sum);
}

/* ---- Wrong use -------------------------------------------------------------
 */

static void expect_fault(const box_t *box, const char *copy, const char *part) {
  char *body =
      make_body(box,
                INIT_MBARRIER("smem", "1") "setp.ne.u32 %p0, %thread, 0;\n"
                                           "@%p0 bra END;\n",
                copy, "cp.async.bulk.commit_group;\nEND:\n");
  emulated_t emulated = {.body = body,
                         .threads = 32,
                         .shared_bytes = SHARED_BYTES,
                         .out = area,
                         .out_bytes = sizeof area,
                         .in = tensor,
                         .in_bytes = sizeof tensor,
                         .map = &box->map};
  assert_emulated_fault(&emulated, part);
  free(body);
}

#define LOAD                                                                   \
  "cp.async.bulk.tensor.2d.shared::cluster.global."                            \
  "mbarrier::complete_tx::bytes "

static void wrong_use_is_a_fault(void **state) {
  (void)state;
  box_t box = simple;
  expect_fault(&box, LOAD "[%r6 + 64], [%map, @], [%r5];\n",
               "misaligned: expected a multiple of 128");
  expect_fault(&box, LOAD "[%r6 + 15360], [%map, @], [%r5];\n",
               "out of bounds");
  expect_fault(&box, LOAD "[%r6], [%map, @], [%r5 + 8];\n",
               "is not initialised");
  expect_fault(&box, LOAD "[%r6], [%out, @], [%r5];\n", "no tensor map");
  expect_fault(&box, LOAD "[%r6], [%map, {4, 0}], [%r5];\n",
               "coordinate 0 is 4, 8 bytes: expected a multiple of 16");
  expect_fault(&box,
               "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
               "[%map, {0, -1}], [%r6];\n",
               "coordinate 1 of a store is -1");
  expect_fault(&box,
               "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group "
               "[%map, {%r0, %r1, %r0}], [%r6];\n",
               "a tensor map of 2 dimensions: expected 3");
  expect_fault(&box,
               "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor."
               "bulk_group [%map, @], [%r6];\n",
               "has no .xor");
  expect_fault(&box,
               "mov.u16 %h0, 3;\ncp.async.bulk.tensor.2d.shared::cluster."
               "global.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%r6], [%map, @], [%r5], %h0;\n",
               "CTA mask 0x3");
  box.map.dims[1] = 1000; /* reaches past the memory */
  box.at[1] = 500;
  expect_fault(&box, LOAD "[%r6], [%map, @], [%r5];\n", "out of bounds");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_are_loaded),
      cmocka_unit_test(boxes_are_stored_and_clipped),
      cmocka_unit_test(box_outside_is_all_fill),
      cmocka_unit_test(boxes_are_reduced),
      cmocka_unit_test(wrong_use_is_a_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
