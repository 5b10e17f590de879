/* Warpgroup products against plain loops: sizes, types, layouts, signs, groups.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_fixture.h"

#include "spec/spec.h"
#include "support/support.h"
#include "wgmma_layout.h"

enum {
  M = 64,
  K = 16,
  MAX_N = 256,
  THREADS = 128,
  B_START = 16384,
  SHARED_BYTES = 65536,
  MAX_REGISTERS = 128
};

typedef struct {
  int n;
  bool is_bf16;
  bool d_is_half;
  bool a_is_registers;
  bool a_is_mn_major;
  bool b_is_mn_major;
  int span_bytes; /* 16: no swizzle */
  bool accumulates;
  int scale_a;
  int scale_b;
  int base_bytes; /* from a place that is aligned to the swizzle */
} product_t;

static float a[M][K], b[K][MAX_N], c[M][MAX_N];
static uint8_t shared_image[SHARED_BYTES] __attribute__((aligned(128)));
/* What the kernel reads: the image, 4 registers of A a thread, D. */
static uint8_t input[SHARED_BYTES + THREADS * 16 + THREADS * MAX_REGISTERS * 4]
    __attribute__((aligned(128)));
static uint32_t found[THREADS * MAX_REGISTERS];

static uint16_t half(float value, bool is_bf16) {
  return is_bf16 ? uattn_bf16_from_float(value) : uattn_f16_from_float(value);
}

static void draw_values(const product_t *product) {
  for (int i = 0; i < M * K; ++i)
    a[i / K][i % K] = (float)(i * 7 % 13) - 6;
  for (int i = 0; i < K * product->n; ++i)
    b[i / product->n][i % product->n] = (float)(i * 5 % 11) - 5;
  for (int i = 0; i < M * product->n; ++i)
    c[i / product->n][i % product->n] = (float)(i * 3 % 17) - 8;
}

/* ---- Matrices in shared memory ---------------------------------------------
 */

static wgmma_layout_t a_layout(const product_t *product) {
  return (wgmma_layout_t){.start = 1024 + (uint32_t)product->base_bytes,
                          .span_bytes = (uint32_t)product->span_bytes,
                          .rows = M,
                          .is_mn_major = product->a_is_mn_major};
}

static wgmma_layout_t b_layout(const product_t *product) {
  return (wgmma_layout_t){.start = B_START + (uint32_t)product->base_bytes,
                          .span_bytes = (uint32_t)product->span_bytes,
                          .rows = (uint32_t)product->n,
                          .is_mn_major = product->b_is_mn_major};
}

static void put(const product_t *product, const wgmma_layout_t *layout, int mn,
                int k, float value) {
  uint16_t bits = half(value, product->is_bf16);
  memcpy(shared_image + wgmma_layout_address(layout, (uint32_t)mn, (uint32_t)k),
         &bits, sizeof bits);
}

static void fill_image(const product_t *product) {
  wgmma_layout_t a_at = a_layout(product), b_at = b_layout(product);
  memset(shared_image, 0x7F, sizeof shared_image); /* no right number */
  for (int k = 0; k < K; ++k) {
    for (int row = 0; row < M; ++row)
      put(product, &a_at, row, k, a[row][k]);
    for (int column = 0; column < product->n; ++column)
      put(product, &b_at, column, k, b[k][column]);
  }
  memcpy(input, shared_image, sizeof shared_image);
}

/* ---- Registers -------------------------------------------------------------
 */

static uint32_t register_count(const product_t *product) {
  return (uint32_t)product->n / (product->d_is_half ? 4 : 2);
}

static uint32_t pack(float low, float high, bool is_bf16) {
  return half(low, is_bf16) | (uint32_t)half(high, is_bf16) << 16;
}

/* Register `i` of D of a thread, from a matrix. */
static uint32_t d_register(const product_t *product, float matrix[M][MAX_N],
                           uint32_t thread, uint32_t i) {
  uint32_t lane = thread % 32, row = thread / 32 * 16 + lane / 4;
  uint32_t column = lane % 4 * 2;
  if (product->d_is_half) {
    const float *at = &matrix[row + 8 * (i % 2)][8 * (i / 2) + column];
    return pack(at[0], at[1], false);
  }
  uint32_t word;
  memcpy(&word, &matrix[row + 8 * (i / 2 % 2)][8 * (i / 4) + column + i % 2],
         sizeof word);
  return word;
}

static void fill_registers(const product_t *product) {
  uint32_t count = register_count(product);
  for (uint32_t thread = 0; thread < THREADS; ++thread) {
    uint32_t lane = thread % 32, row = thread / 32 * 16 + lane / 4;
    uint32_t words[4];
    for (uint32_t i = 0; i < 4; ++i) {
      const float *at = &a[row + 8 * (i % 2)][8 * (i / 2) + lane % 4 * 2];
      words[i] = pack(at[0], at[1], product->is_bf16);
    }
    memcpy(input + SHARED_BYTES + thread * 16, words, sizeof words);
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t word = d_register(product, c, thread, i);
      memcpy(input + SHARED_BYTES + THREADS * 16 + 4 * (thread * count + i),
             &word, sizeof word);
    }
  }
}

/* ---- The kernel ------------------------------------------------------------
 */

#define COPY_IMAGE                                                             \
  "{ shl.b32 %r10, %thread, 2;\nmov.u32 %r11, smem;\n"                         \
  "COPY: cvt.u64.u32 %d10, %r10;\nadd.s64 %d10, %in, %d10;\n"                  \
  "ld.global.u32 %r12, [%d10];\nadd.u32 %r13, %r10, %r11;\n"                   \
  "st.shared.u32 [%r13], %r12;\nadd.u32 %r10, %r10, 512;\n"                    \
  "setp.lt.u32 %p1, %r10, 65536;\n@%p1 bra COPY; }\n"                          \
  "fence.proxy.async.shared::cta;\nbar.sync 0;\n"

static void append_registers(uattn_string_t *text, uint32_t count) {
  uattn_string_append(text, "{");
  for (uint32_t i = 0; i < count; ++i)
    uattn_string_appendf(text, "%s%%r%u", i ? ", " : "", 100 + i);
  uattn_string_append(text, "}");
}

static void append_product(uattn_string_t *text, const product_t *product,
                           const char *b_descriptor) {
  const char *type = product->is_bf16 ? "bf16" : "f16";
  uattn_string_appendf(text, "wgmma.mma_async.sync.aligned.m64n%dk16.%s.%s.%s ",
                       product->n, product->d_is_half ? "f16" : "f32", type,
                       type);
  append_registers(text, register_count(product));
  uattn_string_append(
      text, product->a_is_registers ? ", {%r20, %r21, %r22, %r23}" : ", %d3");
  uattn_string_appendf(text, ", %s, %%p2, %d, %d", b_descriptor,
                       product->scale_a, product->scale_b);
  if (!product->a_is_registers)
    uattn_string_appendf(text, ", %d", product->a_is_mn_major);
  uattn_string_appendf(text, ", %d;\n", product->b_is_mn_major);
}

static char *make_body(const product_t *product) {
  wgmma_layout_t a_at = a_layout(product), b_at = b_layout(product);
  uattn_string_t text = {0};
  uint32_t count = register_count(product);
  uattn_string_appendf(&text,
                       "mov.u64 %%d3, %llu;\nmov.u64 %%d4, %llu;\n"
                       "mov.u32 %%r24, %d;\nsetp.ne.u32 %%p2, %%r24, 0;\n"
                       "mul.wide.u32 %%d5, %%thread, 16;\n"
                       "add.s64 %%d5, %%in, %%d5;\n"
                       "ld.global.v4.u32 {%%r20, %%r21, %%r22, %%r23}, "
                       "[%%d5 + %d];\n"
                       "mul.wide.u32 %%d6, %%thread, %u;\n"
                       "add.s64 %%d7, %%in, %%d6;\nadd.s64 %%d8, %%out, "
                       "%%d6;\n",
                       (unsigned long long)wgmma_layout_descriptor(&a_at),
                       (unsigned long long)wgmma_layout_descriptor(&b_at),
                       product->accumulates, SHARED_BYTES, 4 * count);
  for (uint32_t i = 0; i < count; ++i)
    uattn_string_appendf(&text, "ld.global.u32 %%r%u, [%%d7 + %u];\n", 100 + i,
                         SHARED_BYTES + THREADS * 16 + 4 * i);
  uattn_string_append(&text, COPY_IMAGE "wgmma.fence.sync.aligned;\n");
  append_product(&text, product, "%d4");
  uattn_string_append(&text, "wgmma.commit_group.sync.aligned;\n"
                             "wgmma.wait_group.sync.aligned 0;\n");
  for (uint32_t i = 0; i < count; ++i)
    uattn_string_appendf(&text, "st.global.u32 [%%d8 + %u], %%r%u;\n", 4 * i,
                         100 + i);
  return uattn_string_take(&text);
}

/* ---- Comparing -------------------------------------------------------------
 */

static void check_product(void *data) {
  const product_t *product = data;
  static float want[M][MAX_N];
  float sign = (float)(product->scale_a * product->scale_b);
  for (int row = 0; row < M; ++row)
    for (int column = 0; column < product->n; ++column) {
      float sum = 0;
      for (int k = 0; k < K; ++k)
        sum += a[row][k] * b[k][column];
      want[row][column] =
          sign * sum + (product->accumulates ? c[row][column] : 0);
    }
  uint32_t count = register_count(product);
  for (uint32_t thread = 0; thread < THREADS; ++thread)
    for (uint32_t i = 0; i < count; ++i)
      if (found[thread * count + i] != d_register(product, want, thread, i))
        fail_msg("n %d, span %d, a %s%s, b %s: thread %u, register %u: 0x%08x, "
                 "wanted 0x%08x",
                 product->n, product->span_bytes,
                 product->a_is_registers ? "registers" : "shared",
                 product->a_is_mn_major ? " mn-major" : "",
                 product->b_is_mn_major ? "mn-major" : "k-major", thread, i,
                 found[thread * count + i],
                 d_register(product, want, thread, i));
}

static void expect_product(product_t product) {
  draw_values(&product);
  fill_image(&product);
  fill_registers(&product);
  char *body = make_body(&product);
  emulated_t emulated = {.body = body,
                         .threads = THREADS,
                         .shared_bytes = SHARED_BYTES,
                         .out = found,
                         .out_bytes = sizeof found,
                         .in = input,
                         .in_bytes = sizeof input};
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    emulated.seed = seed;
    memset(found, 0xEE, sizeof found);
    assert_ok(emulated_run(&emulated));
    check_product(&product);
  }
  free(body);
}

static const product_t usual = {.n = 64,
                                .is_bf16 = true,
                                .span_bytes = 128,
                                .accumulates = true,
                                .scale_a = 1,
                                .scale_b = 1};

static void every_layout_is_read(void **state) {
  (void)state;
  for (int span = 16; span <= 128; span *= 2)
    for (int majors = 0; majors < 4; ++majors) {
      product_t product = usual;
      product.span_bytes = span;
      product.a_is_mn_major = majors & 1;
      product.b_is_mn_major = majors >> 1;
      expect_product(product);
    }
}

static void every_size_is_computed(void **state) {
  (void)state;
  static const int sizes[] = {8, 16, 24, 40, 128, 176, 256};
  for (size_t i = 0; i < COUNT_OF(sizes); ++i) {
    product_t product = usual;
    product.n = sizes[i];
    product.a_is_registers = i % 2;
    expect_product(product);
    product.b_is_mn_major = true;
    product.span_bytes = sizes[i] % 64 ? 16 : 128;
    expect_product(product);
  }
}

static void types_signs_and_scales_are_heeded(void **state) {
  (void)state;
  product_t product = usual;
  product.is_bf16 = false;
  expect_product(product);
  product.a_is_registers = true;
  expect_product(product);
  product.d_is_half = true;
  product.n = 96;
  expect_product(product);
  product.scale_a = -1;
  expect_product(product);
  product.scale_b = -1;
  expect_product(product);
  product = usual;
  product.scale_b = -1;
  product.accumulates = false;
  expect_product(product);
}

/* A k step of 16 in a tile of 64 columns adds 32 bytes to the address. */
static void addresses_inside_a_swizzle_are_read(void **state) {
  (void)state;
  for (int step = 1; step < 4; ++step) {
    product_t product = usual;
    product.base_bytes = 32 * step;
    expect_product(product);
  }
}

/* ---- Groups ----------------------------------------------------------------
 * D starts at 0 and grows by the same product in each group; wait_group 1
 * leaves the last one open. */

static void waits_cover_their_groups(void **state) {
  (void)state;
  product_t product = usual;
  product.a_is_registers = true;
  product.n = 8;
  draw_values(&product);
  memset(c, 0, sizeof c);
  fill_image(&product);
  fill_registers(&product);
  char *body = make_body(&product);
  /* the one group of the body becomes three: the sums double and triple */
  char *start = strstr(body, "wgmma.mma_async");
  char *end = strstr(body, "wgmma.wait_group");
  uattn_string_t text = {0};
  uattn_string_append_bytes(&text, body, (size_t)(end - body));
  uattn_string_append_bytes(&text, start, (size_t)(end - start));
  uattn_string_append(&text, "wgmma.wait_group.sync.aligned 1;\n");
  uattn_string_append_bytes(&text, start, (size_t)(end - start));
  uattn_string_append(&text, end);
  free(body);
  product.accumulates = true;
  emulated_t emulated = {.body = uattn_string_get(&text),
                         .threads = THREADS,
                         .shared_bytes = SHARED_BYTES,
                         .out = found,
                         .out_bytes = sizeof found,
                         .in = input,
                         .in_bytes = sizeof input};
  for (int row = 0; row < M; ++row)
    for (int k = 0; k < K; ++k)
      a[row][k] *= 3; /* of what is wanted */
  emulated_run_seeds(&emulated, check_product, &product);
  uattn_string_release(&text);
}

/* ---- Wrong use -------------------------------------------------------------
 */

static void expect_fault(uint32_t threads, const char *before,
                         const char *part) {
  uattn_string_t text = {0};
  product_t product = usual;
  product.n = 8;
  uattn_string_appendf(&text,
                       "mov.u64 %%d3, 64;\nmov.u64 %%d4, 64;\n"
                       "setp.eq.u32 %%p2, %%thread, %%thread;\n%s",
                       before);
  append_product(&text, &product, "%d4");
  uattn_string_append(&text, "wgmma.commit_group.sync.aligned;\n"
                             "wgmma.wait_group.sync.aligned 0;\n");
  emulated_t emulated = {.body = uattn_string_get(&text),
                         .threads = threads,
                         .shared_bytes = 4096,
                         .out = found,
                         .out_bytes = sizeof found};
  assert_emulated_fault(&emulated, part);
  uattn_string_release(&text);
}

static void wrong_use_is_a_fault(void **state) {
  (void)state;
  expect_fault(96, "", "96 threads: expected whole warpgroups of 128");
  expect_fault(128, "mov.u64 %d4, 0x0000400000000040;\n",
               "of B has reserved bits set");
  expect_fault(128, "mov.u64 %d3, 0x3fff;\n", "A at shared address 262128");
  expect_fault(128, "cvt.u64.u32 %d4, %thread;\n", "expected one for the warp");
  expect_fault(128, "and.b32 %r1, %thread, 1;\nsetp.eq.u32 %p2, %r1, 0;\n",
               "scale-d is true in lanes 0x55555555");
}

static void unknown_words_are_refused(void **state) {
  (void)state;
  assert_refused("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f0}, "
                 "%d0, %d1, %p0, 1, 1, 0, 0;",
                 "expected .m64nNk16");
  assert_refused("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 "
                 "{%f0, %f1, %f2, %f3}, %d0, %d1, %p0, 1, 1;",
                 "expected .m64nNk16");
  assert_refused("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                 "{%f0, %f1, %f2}, %d0, %d1, %p0, 1, 1, 0, 0;",
                 "4 registers of D");
  assert_refused("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                 "{%f0, %f1, %f2, %f3}, %d0, %d1, %p0, 2, 1, 0, 0;",
                 "expected 1 or -1");
  assert_refused("wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 "
                 "{%f0, %f1, %f2, %f3}, %d0, %d1, %r0, 0, %p0, 1, 1, 0, 0;",
                 ".sp");
  assert_refused("wgmma.wait_group.sync.aligned -1;", "a number of groups");
  assert_refused("wgmma.fence.aligned;", "no .sync.aligned");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_layout_is_read),
      cmocka_unit_test(every_size_is_computed),
      cmocka_unit_test(types_signs_and_scales_are_heeded),
      cmocka_unit_test(addresses_inside_a_swizzle_are_read),
      cmocka_unit_test(waits_cover_their_groups),
      cmocka_unit_test(wrong_use_is_a_fault),
      cmocka_unit_test(unknown_words_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
