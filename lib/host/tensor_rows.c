/* Rows of a caller's tensors, of any type and strides, as float32.
 * Layer: host. Must not know: masks, softmax, threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host/tensor_rows.h"

#include <string.h>

#include "host/host_clones.h"
#include "spec/spec.h"

/* Numbers of a type at a distance of `stride` elements. */
typedef struct {
  char *address;
  uattn_dtype_t dtype;
  int64_t stride;
} run_t;

HOST_INLINE float float_of_bits(uint32_t bits) {
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* uattn_f16_to_float without branches and without subnormal floats, which a
 * caller's floating point mode may take for zeros. */
HOST_INLINE float widen_f16(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t magnitude = (uint32_t)(half & 0x7fff) << 13;
  uint32_t small_bits = magnitude | UINT32_C(0x38800000);
  float small = float_of_bits(small_bits) - 0x1p-14f;
  uint32_t bits = 0;
  memcpy(&bits, &small, sizeof bits);
  uint32_t normal = magnitude + (UINT32_C(112) << 23);
  bits = magnitude >= (UINT32_C(1) << 23) ? normal : bits;
  bits = magnitude >= (UINT32_C(31) << 23) ? magnitude | 0x7f800000 : bits;
  return float_of_bits(bits | sign);
}

HOST_VECTOR_CLONES
static void widen_dense(const void *restrict numbers, uattn_dtype_t dtype,
                        int64_t count, float *restrict out_numbers) {
  const uint16_t *halves = numbers;
  if (dtype == UATTN_DTYPE_F32)
    memcpy(out_numbers, numbers, (size_t)count * sizeof(float));
  else if (dtype == UATTN_DTYPE_BF16)
    for (int64_t i = 0; i < count; ++i)
      out_numbers[i] = float_of_bits((uint32_t)halves[i] << 16);
  else
    for (int64_t i = 0; i < count; ++i)
      out_numbers[i] = widen_f16(halves[i]);
}

static char *run_address(run_t run, int64_t index) {
  return run.address +
         index * run.stride * (int64_t)uattn_dtype_bytes(run.dtype);
}

static void run_load(run_t run, int64_t first, int64_t count,
                     float *out_numbers) {
  if (run.stride == 1) {
    widen_dense(run_address(run, first), run.dtype, count, out_numbers);
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    widen_dense(run_address(run, first + i), run.dtype, 1, out_numbers + i);
}

static void run_store(run_t run, int64_t count, const float *numbers) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t half = run.dtype == UATTN_DTYPE_F16
                        ? uattn_f16_from_float(numbers[i])
                        : uattn_bf16_from_float(numbers[i]);
    if (run.dtype == UATTN_DTYPE_F32)
      memcpy(run_address(run, i), &numbers[i], sizeof numbers[i]);
    else
      memcpy(run_address(run, i), &half, sizeof half);
  }
}

/* The head_dim numbers of a row of a block. */
static run_t row_run(const uattn_tensor_t *tensor, uattn_row_block_t block,
                     int64_t row) {
  int64_t element = block.batch * tensor->strides[0] +
                    (block.first + row) * tensor->strides[1] +
                    block.head * tensor->strides[2];
  int64_t bytes = (int64_t)uattn_dtype_bytes(tensor->dtype);
  return (run_t){(char *)tensor->data + element * bytes, tensor->dtype,
                 tensor->strides[3]};
}

void uattn_rows_load(const uattn_tensor_t *tensor, uattn_row_block_t block,
                     int64_t pitch, float *out_rows) {
  for (int64_t row = 0; row < block.count; ++row)
    run_load(row_run(tensor, block, row), 0, tensor->shape[3],
             out_rows + row * pitch);
}

void uattn_rows_load_transposed(const uattn_tensor_t *tensor,
                                uattn_row_block_t block, float *out_columns) {
  enum { PIECE = 64 };
  float piece[PIECE];
  int64_t head_dim = tensor->shape[3];
  for (int64_t row = 0; row < block.count; ++row)
    for (int64_t first = 0; first < head_dim; first += PIECE) {
      int64_t count = head_dim - first < PIECE ? head_dim - first : PIECE;
      run_load(row_run(tensor, block, row), first, count, piece);
      for (int64_t d = 0; d < count; ++d)
        out_columns[(first + d) * UATTN_BLOCK_ROWS + row] = piece[d];
    }
}

void uattn_rows_store(const uattn_tensor_t *tensor, uattn_row_block_t block,
                      int64_t pitch, const float *rows) {
  for (int64_t row = 0; row < block.count; ++row)
    run_store(row_run(tensor, block, row), tensor->shape[3],
              rows + row * pitch);
}

/* One number a token. */
static run_t number_run(const uattn_tensor_t *tensor, uattn_row_block_t block) {
  int token = tensor->rank - 1;
  int64_t element =
      block.batch * tensor->strides[0] + block.first * tensor->strides[token];
  if (token == 2)
    element += block.head * tensor->strides[1];
  int64_t bytes = (int64_t)uattn_dtype_bytes(tensor->dtype);
  return (run_t){(char *)tensor->data + element * bytes, tensor->dtype,
                 tensor->strides[token]};
}

void uattn_numbers_load(const uattn_tensor_t *tensor, uattn_row_block_t block,
                        float *out_numbers) {
  run_load(number_run(tensor, block), 0, block.count, out_numbers);
}

void uattn_numbers_store(const uattn_tensor_t *tensor, uattn_row_block_t block,
                         const float *numbers) {
  run_store(number_run(tensor, block), block.count, numbers);
}

void uattn_integers_load(const uattn_tensor_t *tensor, uattn_row_block_t block,
                         int32_t *out_integers) {
  run_t run = number_run(tensor, block);
  for (int64_t i = 0; i < block.count; ++i)
    memcpy(&out_integers[i], run_address(run, i), sizeof *out_integers);
}
