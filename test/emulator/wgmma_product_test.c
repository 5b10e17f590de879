/* Runs wgmma_product.cu against a product in double precision.
 * Layer: test. Must not know: how the emulator multiplies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_call.h"

enum { M = 128, N = 192, K = 256 };

/* Small integers and quarters: products and sums are exact in f32. */
static void fill(uint16_t *matrix, size_t count, uint64_t random) {
  for (size_t i = 0; i < count; ++i) {
    float value = (float)((int)(next_random(&random) % 33) - 16) * 0.25f;
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    matrix[i] = (uint16_t)(bits >> 16);
  }
}

static double value_of(uint16_t bf16) {
  uint32_t bits = (uint32_t)bf16 << 16;
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static void check_product(const char *entry, bool is_transposed) {
  uattn_emulator_t *program = load_program("wgmma_product");
  call_t call = {.grid = {N / 64, M / 64}, .block = {128}, .seed = 5};
  int32_t n = N, k = K;
  uint16_t *a = call_add_buffer(&call, "a", M * K * 2, true);
  uint16_t *b = call_add_buffer(&call, "b", K * N * 2, true);
  float *c = call_add_buffer(&call, "c", M * N * 4, false);
  call_add_value(&call, &n, sizeof n);
  call_add_value(&call, &k, sizeof k);
  fill(a, M * K, 1);
  fill(b, K * N, 2);
  assert_ok(call_run(&call, program, entry));
  for (int row = 0; row < M; ++row)
    for (int column = 0; column < N; ++column) {
      double sum = 0;
      for (int i = 0; i < K; ++i)
        sum += value_of(a[row * K + i]) *
               value_of(b[is_transposed ? column * K + i : i * N + column]);
      assert_true((double)c[row * N + column] == sum);
    }
  call_release(&call);
  uattn_emulator_destroy(program);
}

static void a_k_major_operand_is_multiplied(void **state) {
  (void)state;
  check_product("wgmma_k_major", true);
}

static void an_mn_major_operand_is_multiplied(void **state) {
  (void)state;
  check_product("wgmma_mn_major", false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_k_major_operand_is_multiplied),
      cmocka_unit_test(an_mn_major_operand_is_multiplied),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
