/* ldmatrix, stmatrix, movmatrix and mma.sync against plain loops.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"

#include "spec/spec.h"

enum { LANES = 32, ROWS = 64, COLUMNS = 8, MAX_REGISTERS = 4 };

/* 8 matrices of 8 rows of 8 elements, one row after the other. */
typedef struct {
  uint16_t elements[ROWS][COLUMNS];
  uint32_t out[LANES * MAX_REGISTERS];
  uint32_t want[LANES * MAX_REGISTERS];
} matrices_t;

static void check_words(void *data) {
  const matrices_t *matrices = data;
  for (uint32_t i = 0; i < COUNT_OF(matrices->out); ++i)
    if (matrices->out[i] != matrices->want[i])
      fail_msg("lane %u, register %u: 0x%08x, wanted 0x%08x", i / 4, i % 4,
               matrices->out[i], matrices->want[i]);
}

static void draw_elements(matrices_t *matrices) {
  for (uint32_t i = 0; i < ROWS * COLUMNS; ++i)
    matrices->elements[i / COLUMNS][i % COLUMNS] = (uint16_t)(i * 40503u);
  memset(matrices->want, 0xEE, sizeof matrices->want);
}

/* Shared memory holds the elements; %r10 is shared address 0, %d1 this lane's
 * 16 bytes of the result. */
#define SETUP                                                                  \
  "mov.u32 %r10, smem;\nshl.b32 %r11, %thread, 5;\n"                           \
  "cvt.u64.u32 %d2, %r11;\nadd.s64 %d2, %in, %d2;\nadd.u32 %r11, %r10, "       \
  "%r11;\n"                                                                    \
  "ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%d2];\n"                        \
  "st.shared.v4.u32 [%r11], {%r12, %r13, %r14, %r15};\n"                       \
  "ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%d2 + 16];\n"                   \
  "st.shared.v4.u32 [%r11 + 16], {%r12, %r13, %r14, %r15};\nbar.sync 0;\n"     \
  "mul.wide.u32 %d1, %thread, 16;\nadd.s64 %d1, %out, %d1;\n"                  \
  "shl.b32 %r1, %thread, 4;\nadd.u32 %r1, %r10, %r1;\n"

static void expect(matrices_t *matrices, const char *body) {
  emulated_t emulated = {.body = body,
                         .shared_bytes = 4096,
                         .out = matrices->out,
                         .out_bytes = sizeof matrices->out,
                         .in = matrices->elements,
                         .in_bytes = sizeof matrices->elements};
  emulated_run_seeds(&emulated, check_words, matrices);
}

/* The register of `lane` for the matrix of rows `first` and on. */
static uint32_t fragment(const matrices_t *matrices, uint32_t first,
                         uint32_t lane, bool is_transposed) {
  uint32_t row = lane / 4, column = lane % 4 * 2;
  const uint16_t(*matrix)[COLUMNS] = &matrices->elements[first];
  uint32_t low = is_transposed ? matrix[column][row] : matrix[row][column];
  uint32_t high =
      is_transposed ? matrix[column + 1][row] : matrix[row][column + 1];
  return low | high << 16;
}

static void want_fragments(matrices_t *matrices, uint32_t count,
                           uint32_t first_row, bool is_transposed) {
  for (uint32_t lane = 0; lane < LANES; ++lane)
    for (uint32_t i = 0; i < count; ++i)
      matrices->want[4 * lane + i] =
          fragment(matrices, first_row + 8 * i, lane, is_transposed);
}

static void matrices_are_loaded(void **state) {
  (void)state;
  static matrices_t matrices __attribute__((aligned(16)));
  draw_elements(&matrices);
  want_fragments(&matrices, 1, 8, false);
  expect(&matrices,
         SETUP "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1 + 128];\n"
               "st.global.u32 [%d1], %r2;\n");
  want_fragments(&matrices, 2, 0, true);
  expect(&matrices, SETUP "ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 "
                          "{%r2, %r3}, [%r1];\n"
                          "st.global.v2.u32 [%d1], {%r2, %r3};\n");
  want_fragments(&matrices, 4, 0, false);
  expect(&matrices,
         SETUP "cvt.u64.u32 %d3, %r1;\ncvta.shared.u64 %d3, %d3;\n"
               "ldmatrix.sync.aligned.m8n8.x4.b16 {%r2, %r3, %r4, %r5}, "
               "[%d3];\n"
               "st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5};\n");
}

/* What ldmatrix has read, stmatrix puts back: here 2 KB further up. */
static void stores_undo_loads(void **state) {
  (void)state;
  static matrices_t matrices __attribute__((aligned(16)));
  static const char *const stores[] = {"", ".trans"};
  draw_elements(&matrices);
  for (size_t i = 0; i < COUNT_OF(stores); ++i) {
    char body[2048];
    (void)snprintf(body, sizeof body, "%s%s%s%s%s",
                   SETUP "ldmatrix.sync.aligned.m8n8.x4", stores[i],
                   ".shared.b16 {%r2, %r3, %r4, %r5}, [%r1];\n"
                   "stmatrix.sync.aligned.m8n8.x4",
                   stores[i],
                   ".shared.b16 [%r1 + 2048], {%r2, %r3, %r4, %r5};\n"
                   "bar.warp.sync 0xffffffff;\n"
                   "ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1 + 2048];\n"
                   "st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5};\n");
    memcpy(matrices.want, matrices.elements, sizeof matrices.want);
    expect(&matrices, body);
  }
}

static void one_transpose_remains(void **state) {
  (void)state;
  static matrices_t matrices __attribute__((aligned(16)));
  draw_elements(&matrices);
  for (uint32_t lane = 0; lane < LANES; ++lane)
    matrices.want[4 * lane] = fragment(&matrices, 16, lane, true);
  expect(&matrices,
         SETUP "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1 + 256];\n"
               "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r2;\n"
               "st.global.u32 [%d1], %r3;\n");
  expect(&matrices,
         SETUP "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r2}, "
               "[%r1 + 256];\n"
               "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1 + 2048], "
               "{%r2};\n"
               "bar.warp.sync 0xffffffff;\nshl.b32 %r3, %thread, 2;\n"
               "add.u32 %r3, %r3, %r10;\nld.shared.u32 %r4, [%r3 + 2048];\n"
               "st.global.u32 [%d1], %r4;\n");
}

/* ---- mma.sync --------------------------------------------------------------
 * A is 16 rows of `k`, B `k` rows of 8 columns, held as fragments. */

typedef struct {
  float a[16][16];
  float b[16][8];
  float c[16][8];
} operands_t;

static void draw_operands(operands_t *operands) {
  for (int i = 0; i < 256; ++i)
    operands->a[i / 16][i % 16] = (float)(i * 7 % 11) - 5;
  for (int i = 0; i < 128; ++i) {
    operands->b[i / 8][i % 8] = (float)(i * 5 % 9) / 2 - 2;
    operands->c[i / 8][i % 8] = (float)(i % 13) * 4 - 20;
  }
}

static uint32_t pack(float low, float high, bool is_bf16) {
  return is_bf16 ? uattn_bf16_from_float(low) |
                       (uint32_t)uattn_bf16_from_float(high) << 16
                 : uattn_f16_from_float(low) |
                       (uint32_t)uattn_f16_from_float(high) << 16;
}

static uint32_t word_of(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}

typedef struct {
  const char *opcode;
  const char *registers; /* of D, A, B and C */
  int k;
  bool is_bf16;
  bool is_half; /* C and D */
} mma_case_t;

/* Registers of a lane in the order A (4), B (2), C (4), as the kernel loads
 * them, 16 words a lane. */
static void fill_fragments(const mma_case_t *mma, const operands_t *operands,
                           uint32_t lane, uint32_t out[16]) {
  uint32_t g = lane / 4, t = lane % 4 * 2;
  for (uint32_t i = 0; i < 4; ++i) {
    const float *row = operands->a[g + 8 * (i % 2)];
    out[i] = pack(row[t + 8 * (i / 2)], row[t + 1 + 8 * (i / 2)], mma->is_bf16);
  }
  for (uint32_t i = 0; i < 2; ++i)
    out[4 + i] = pack(operands->b[t + 8 * i][g], operands->b[t + 1 + 8 * i][g],
                      mma->is_bf16);
  for (uint32_t i = 0; i < 4; ++i)
    out[6 + i] = word_of(operands->c[g + 8 * (i / 2)][t + i % 2]);
  if (mma->is_half)
    for (uint32_t i = 0; i < 2; ++i)
      out[6 + i] =
          pack(operands->c[g + 8 * i][t], operands->c[g + 8 * i][t + 1], false);
}

static float product(const mma_case_t *mma, const operands_t *operands,
                     uint32_t row, uint32_t column) {
  float sum = operands->c[row][column];
  for (int k = 0; k < mma->k; ++k)
    sum += operands->a[row][k] * operands->b[k][column];
  return sum;
}

static void want_product(const mma_case_t *mma, const operands_t *operands,
                         uint32_t lane, uint32_t want[4]) {
  uint32_t g = lane / 4, t = lane % 4 * 2;
  for (uint32_t i = 0; i < 4; ++i)
    want[i] = word_of(product(mma, operands, g + 8 * (i / 2), t + i % 2));
  if (mma->is_half)
    for (uint32_t i = 0; i < 2; ++i)
      want[i] = pack(product(mma, operands, g + 8 * i, t),
                     product(mma, operands, g + 8 * i, t + 1), false);
}

static const char load_fragments[] =
    "mul.wide.u32 %d1, %thread, 16;\nadd.s64 %d1, %out, %d1;\n"
    "mul.wide.u32 %d2, %thread, 64;\nadd.s64 %d2, %in, %d2;\n"
    "ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d2];\n"
    "ld.global.v2.u32 {%r14, %r15}, [%d2 + 16];\n"
    "ld.global.v2.u32 {%r16, %r17}, [%d2 + 24];\n"
    "ld.global.v2.u32 {%r18, %r19}, [%d2 + 32];\n"
    "mov.b32 %f0, %r16;\nmov.b32 %f1, %r17;\n"
    "mov.b32 %f2, %r18;\nmov.b32 %f3, %r19;\n";

static void check_mma(const mma_case_t *mma) {
  static matrices_t matrices;
  static uint32_t fragments[LANES][16] __attribute__((aligned(16)));
  operands_t operands;
  char body[2048];
  draw_operands(&operands);
  memset(matrices.want, 0xEE, sizeof matrices.want);
  for (uint32_t lane = 0; lane < LANES; ++lane) {
    fill_fragments(mma, &operands, lane, fragments[lane]);
    uint32_t want[4];
    want_product(mma, &operands, lane, want);
    memcpy(&matrices.want[4 * lane], want, mma->is_half ? 8 : 16);
  }
  (void)snprintf(body, sizeof body, "%s%s %s;\n%s", load_fragments, mma->opcode,
                 mma->registers,
                 mma->is_half
                     ? "st.global.v2.u32 [%d1], {%r16, %r17};\n"
                     : "st.global.v4.f32 [%d1], {%f0, %f1, %f2, %f3};\n");
  emulated_t emulated = {.body = body,
                         .out = matrices.out,
                         .out_bytes = sizeof matrices.out,
                         .in = fragments,
                         .in_bytes = sizeof fragments};
  emulated_run_seeds(&emulated, check_words, &matrices);
}

static void warp_products_are_right(void **state) {
  (void)state;
  static const mma_case_t cases[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
       "{%f0, %f1, %f2, %f3}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, "
       "{%f0, %f1, %f2, %f3}",
       16, true, false},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
       "{%f0, %f1, %f2, %f3}, {%r10, %r11}, {%r14}, {%f0, %f1, %f2, %f3}", 8,
       false, false},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
       "{%r16, %r17}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%r16, %r17}", 16,
       false, true},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i)
    check_mma(&cases[i]);
}

/* ---- Wrong use -------------------------------------------------------------
 */

static void wrong_use_is_a_fault(void **state) {
  (void)state;
  static uint32_t out[LANES];
  emulated_t emulated = {.body = "add.u32 %r1, %thread, 0;\n"
                                 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
                                 "{%r2}, [%r1];\n",
                         .shared_bytes = 1024,
                         .out = out,
                         .out_bytes = sizeof out};
  assert_emulated_fault(&emulated, "misaligned: expected a multiple of 16");
  emulated.body = "shl.b32 %r1, %thread, 4;\n"
                  "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r1 + 768], "
                  "{%r2, %r3, %r4, %r5};\n";
  assert_emulated_fault(&emulated, "out of bounds");
}

static void unknown_words_are_refused(void **state) {
  (void)state;
  assert_refused("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r0}, [%r1];",
                 "no .x1, .x2 or .x4");
  assert_refused("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0}, [%r1];",
                 "2 registers");
  assert_refused("ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r0, [%r1];",
                 "1 registers");
  assert_refused("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r2}, "
                 "[%r1];",
                 "no .m8n8");
  assert_refused("stmatrix.sync.aligned.m8n8.x1.global.b16 [%r1], {%r0};",
                 "global");
  assert_refused("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, "
                 "{%f0, %f1, %f2, %f3};",
                 "expected .sync.aligned.m16n8k8");
  assert_refused("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 "
                 "{%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, "
                 "{%f0, %f1, %f2, %f3};",
                 "expected .sync.aligned.m16n8k8");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_are_loaded),
      cmocka_unit_test(stores_undo_loads),
      cmocka_unit_test(one_transpose_remains),
      cmocka_unit_test(warp_products_are_right),
      cmocka_unit_test(wrong_use_is_a_fault),
      cmocka_unit_test(unknown_words_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
