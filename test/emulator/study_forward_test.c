/* The study kernels, which are right on an H200, against float64.
 * Layer: test. Must not know: how the kernels or the emulator work.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator_call.h"

#include "spec/spec.h"

enum { PANEL_COLUMNS = 64, MAX_ROWS_CHECKED = 128 };

typedef struct {
  const char *program;
  int head_dim;
  bool has_tanh;
  int warpgroups; /* of 64 query rows each */
  int kv_tile;
  int batch;
  int tokens;
  int heads;
  int heads_per_kv;
} study_t;

/* bf16 tensors of batch, tokens, heads, head_dim. */
typedef struct {
  uint16_t *data;
  int heads;
} tensor_t;

static double element(const study_t *study, tensor_t tensor, int batch,
                      int token, int head, int column) {
  size_t row =
      ((size_t)(batch * study->tokens + token) * (size_t)tensor.heads) +
      (size_t)head;
  size_t at = row * (size_t)study->head_dim + (size_t)column;
  return (double)uattn_bf16_to_float(tensor.data[at]);
}

static tensor_t add_tensor(call_t *call, const study_t *study, const char *name,
                           int heads, uint8_t map_bytes[128], int box_rows) {
  size_t row_bytes = (size_t)study->head_dim * 2;
  size_t rows = (size_t)(study->batch * study->tokens * heads);
  tensor_t tensor = {.heads = heads};
  tensor.data = call_add_memory(call, name, rows * row_bytes, true);
  uattn_tensor_map_t map = {
      .element = UATTN_ELEMENT_BF16,
      .rank = 4,
      .data = tensor.data,
      .dims = {(uint64_t)study->head_dim, (uint64_t)heads,
               (uint64_t)study->tokens, (uint64_t)study->batch},
      .strides = {row_bytes, row_bytes * (uint64_t)heads,
                  row_bytes * (uint64_t)(heads * study->tokens)},
      .box = {PANEL_COLUMNS, 1, (uint32_t)box_rows, 1},
      .swizzle = UATTN_SWIZZLE_128B};
  call_add_map(call, map_bytes, &map);
  return tensor;
}

static void draw(const study_t *study, tensor_t tensor, uint64_t *state,
                 double amplitude) {
  size_t count = (size_t)(study->batch * study->tokens * tensor.heads) *
                 (size_t)study->head_dim;
  for (size_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int j = 0; j < 4; ++j)
      sum += (double)(next_random(state) >> 40) / (double)(1 << 24) - 0.5;
    tensor.data[i] = uattn_bf16_from_float((float)(sum * 1.73 * amplitude));
  }
}

/* ---- The reference ---------------------------------------------------------
 */

typedef struct {
  tensor_t q, k, v, out;
} tensors_t;

static double logit(const study_t *study, const tensors_t *t, int batch,
                    int head, int row, int column) {
  double sum = 0;
  for (int d = 0; d < study->head_dim; ++d)
    sum += element(study, t->q, batch, row, head, d) *
           element(study, t->k, batch, column, head / study->heads_per_kv, d);
  sum /= sqrt(study->head_dim);
  return study->has_tanh ? 30 * tanh(sum / 30) : sum;
}

/* Adds the squares of the row's error and of what is wanted. */
static void add_row(const study_t *study, const tensors_t *t, int batch,
                    int head, int row, double *error, double *norm) {
  double *weights = malloc((size_t)study->tokens * sizeof *weights);
  double most = -INFINITY, total = 0;
  assert_non_null(weights);
  for (int j = 0; j < study->tokens; ++j) {
    weights[j] = logit(study, t, batch, head, row, j);
    most = fmax(most, weights[j]);
  }
  for (int j = 0; j < study->tokens; ++j)
    total += weights[j] = exp(weights[j] - most);
  for (int d = 0; d < study->head_dim; ++d) {
    double want = 0;
    for (int j = 0; j < study->tokens; ++j)
      want += weights[j] *
              element(study, t->v, batch, j, head / study->heads_per_kv, d);
    want /= total;
    double found = element(study, t->out, batch, row, head, d);
    *error += (found - want) * (found - want);
    *norm += want * want;
  }
  free(weights);
}

static void check_rows(const study_t *study, const tensors_t *tensors) {
  int rows = study->batch * study->heads * study->tokens;
  int step = rows / MAX_ROWS_CHECKED;
  double error = 0, norm = 0;
  for (int i = 0; i < rows; i += step | 1) {
    double row_error = 0, row_norm = 0;
    add_row(study, tensors, i / (study->heads * study->tokens),
            i / study->tokens % study->heads, i % study->tokens, &row_error,
            &row_norm);
    if (!(row_error < 3e-4 * row_norm))
      fail_msg("%s: row %d has the relative error %.2e", study->program, i,
               sqrt(row_error / row_norm));
    error += row_error;
    norm += row_norm;
  }
  if (!(error < 9e-6 * norm))
    fail_msg("%s: relative error %.2e", study->program, sqrt(error / norm));
}

/* ---- The launch ------------------------------------------------------------
 */

static void check_schedule(const study_t *study, uint64_t seed) {
  uattn_emulator_t *program = load_program(study->program);
  call_t call = {.seed = seed};
  uint8_t maps[3][128];
  int tile_rows = 64 * study->warpgroups;
  int kv_heads = study->heads / study->heads_per_kv;
  int32_t blocks = study->tokens / study->kv_tile;
  float scale = 1 / sqrtf((float)study->head_dim), log2e = 1.44269504f;
  float exp_scale = (study->has_tanh ? 30 : scale) * log2e;
  float tanh_scale = scale / 30;
  tensors_t tensors = {
      .q = add_tensor(&call, study, "q", study->heads, maps[0], tile_rows),
      .k = add_tensor(&call, study, "k", kv_heads, maps[1], study->kv_tile),
      .v = add_tensor(&call, study, "v", kv_heads, maps[2], study->kv_tile)};
  size_t out_bytes = (size_t)(study->batch * study->tokens * study->heads) *
                     (size_t)study->head_dim * 2;
  tensors.out =
      (tensor_t){.data = call_add_buffer(&call, "out", out_bytes, false),
                 .heads = study->heads};
  memset(tensors.out.data, 0xFF, out_bytes);
  uint64_t state = 17;
  draw(study, tensors.q, &state, study->has_tanh ? 6 : 1);
  draw(study, tensors.k, &state, 1);
  draw(study, tensors.v, &state, 1);
  call_add_value(&call, &study->tokens, 4);
  call_add_value(&call, &study->heads, 4);
  call_add_value(&call, &study->heads_per_kv, 4);
  call_add_value(&call, &blocks, 4);
  call_add_value(&call, &exp_scale, 4);
  call_add_value(&call, &tanh_scale, 4);
  call.grid[0] = (uint32_t)(study->tokens / tile_rows);
  call.grid[1] = (uint32_t)study->heads;
  call.grid[2] = (uint32_t)study->batch;
  call.block[0] = (uint32_t)(128 * (study->warpgroups + 1));
  call.dynamic_shared_bytes =
      (size_t)((tile_rows + 4 * study->kv_tile) * study->head_dim * 2 + 512);
  assert_ok(call_run(&call, program, "kern"));
  check_rows(study, &tensors);
  call_release(&call);
  uattn_emulator_destroy(program);
}

/* Right, and without a finding, in so many orders. */
enum { SCHEDULES = 20 };

static void check_study(const study_t *study) {
  for (uint64_t i = 0; i < SCHEDULES; ++i)
    check_schedule(study, i);
}

static void head_dim_128(void **state) {
  (void)state;
  check_study(
      &(study_t){"../study/fwd_d128_none", 128, false, 2, 128, 1, 384, 2, 1});
}

static void head_dim_128_grouped_heads(void **state) {
  (void)state;
  check_study(
      &(study_t){"../study/fwd_d128_none", 128, false, 2, 128, 2, 256, 4, 2});
}

static void head_dim_128_tanh(void **state) {
  (void)state;
  check_study(
      &(study_t){"../study/fwd_d128_tanh", 128, true, 2, 128, 1, 256, 2, 1});
}

static void head_dim_128_kv_tile_176(void **state) {
  (void)state;
  check_study(&(study_t){"../study/fwd_d128_none_kv176", 128, false, 2, 176, 1,
                         1408, 1, 1});
}

static void head_dim_64(void **state) {
  (void)state;
  check_study(
      &(study_t){"../study/fwd_d64_none", 64, false, 2, 128, 2, 256, 2, 1});
}

static void head_dim_64_three_warpgroups(void **state) {
  (void)state;
  check_study(
      &(study_t){"../study/fwd_d64_none_3wg", 64, false, 3, 128, 1, 384, 2, 1});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(head_dim_128),
      cmocka_unit_test(head_dim_128_grouped_heads),
      cmocka_unit_test(head_dim_128_tanh),
      cmocka_unit_test(head_dim_128_kv_tile_176),
      cmocka_unit_test(head_dim_64),
      cmocka_unit_test(head_dim_64_three_warpgroups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
