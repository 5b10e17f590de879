/* Multiplies the 16 rows of one warp of a warpgroup.
 * Layer: emulator. Must not know: PTX text, when products happen.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Operands become dense matrices of floats, which are multiplied in loops over
 * columns that the compiler vectorises. */
#include <inttypes.h>
#include <string.h>

#include "emulator/half_floats.h"
#include "emulator/matrix_descriptor.h"
#include "emulator/trace.h"
#include "emulator/vector_clones.h"
#include "emulator/wgmma_product.h"
#include "spec/spec.h"

enum { ROWS = EMU_WGMMA_WARP_ROWS, DEPTH = EMU_WGMMA_K, ROW_LANES = 4 };

typedef struct {
  float a[ROWS][DEPTH];
  float b[DEPTH][EMU_WGMMA_MAX_N];
  float d[ROWS][EMU_WGMMA_MAX_N];
} operands_t;

/* ---- Elements --------------------------------------------------------------
 */

static void widen(const uint8_t *chunk, bool is_bf16,
                  float out[EMU_CHUNK_ELEMENTS]) {
  uint16_t bits[EMU_CHUNK_ELEMENTS];
  memcpy(bits, chunk, sizeof bits);
  if (is_bf16)
    for (int i = 0; i < EMU_CHUNK_ELEMENTS; ++i)
      out[i] = emu_bf16_float(bits[i]);
  else
    for (int i = 0; i < EMU_CHUNK_ELEMENTS; ++i)
      out[i] = emu_f16_float(bits[i]);
}

/* ---- Matrices in shared memory ---------------------------------------------
 */

typedef struct {
  emu_warp_t *warp;
  const emu_product_t *product;
  const char *name; /* "A" or "B" */
  emu_matrix_t matrix;
} reader_t;

static bool reader_start(reader_t *reader, uint64_t descriptor,
                         bool is_mn_major) {
  if (emu_matrix_decode(descriptor, is_mn_major, &reader->matrix))
    return true;
  emu_fault(reader->warp->cta, reader->warp, -1, reader->product->insn,
            "descriptor 0x%016" PRIx64 " of %s has reserved bits set",
            descriptor, reader->name);
  return false;
}

/* NULL after a fault. */
static const uint8_t *read_chunk(const reader_t *reader, uint32_t mn,
                                 uint32_t k) {
  const emu_cta_t *cta = reader->warp->cta;
  uint64_t address = emu_matrix_chunk(&reader->matrix, mn, k);
  if (address + EMU_CHUNK_BYTES <= cta->shared_bytes)
    return cta->shared + address;
  emu_fault(reader->warp->cta, reader->warp, -1, reader->product->insn,
            "%s at shared address %" PRIu64
            " reaches out of bounds: 16 bytes at %" PRIu64
            ", where shared memory has %zu bytes",
            reader->name, reader->matrix.address, address, cta->shared_bytes);
  return NULL;
}

/* target[mn * mn_step + k * k_step] = element (first + mn, k). */
static bool read_matrix(const reader_t *reader, uint32_t first, uint32_t count,
                        float *target, uint32_t mn_step, uint32_t k_step) {
  bool is_mn_major = reader->matrix.is_mn_major;
  uint32_t mn_chunk = is_mn_major ? EMU_CHUNK_ELEMENTS : 1;
  uint32_t k_chunk = is_mn_major ? 1 : EMU_CHUNK_ELEMENTS;
  uint32_t step = is_mn_major ? mn_step : k_step;
  for (uint32_t k = 0; k < DEPTH; k += k_chunk)
    for (uint32_t mn = 0; mn < count; mn += mn_chunk) {
      const uint8_t *chunk = read_chunk(reader, first + mn, k);
      if (!chunk)
        return false;
      float values[EMU_CHUNK_ELEMENTS];
      widen(chunk, reader->product->form->is_bf16, values);
      float *at = target + mn * mn_step + k * k_step;
      for (uint32_t i = 0; i < EMU_CHUNK_ELEMENTS; ++i)
        at[i * step] = values[i];
    }
  return true;
}

/* ---- Registers -------------------------------------------------------------
 * Lane l holds row l / 4 (and the one 8 below), columns 2 * (l % 4) and the
 * next one of every 8. */

static void read_a_registers(const emu_warp_t *warp,
                             const emu_wgmma_form_t *form,
                             operands_t *operands) {
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t *words = emu_words(warp, form->a[i]);
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
      uint32_t row = lane / ROW_LANES + 8 * (i & 1);
      uint32_t column = 2 * (lane % ROW_LANES) + 8 * (i >> 1);
      operands->a[row][column] = emu_low_half(words[lane], form->is_bf16);
      operands->a[row][column + 1] = emu_high_half(words[lane], form->is_bf16);
    }
  }
}

/* Two registers of f32 hold 8 rows of 8 columns, each one column of a pair. */
static void read_d_floats(const emu_warp_t *warp, const emu_wgmma_form_t *form,
                          operands_t *operands) {
  for (uint32_t i = 0; i < form->d_count; i += 2) {
    const uint32_t *even = emu_words(warp, form->d[i]);
    const uint32_t *odd = emu_words(warp, form->d[i + 1]);
    for (uint32_t row = 0; row < 8; ++row) {
      float *at = &operands->d[row + 8 * (i / 2 % 2)][8 * (i / 4)];
      for (uint32_t pair = 0; pair < ROW_LANES; ++pair) {
        at[2 * pair] = emu_float(even[row * ROW_LANES + pair]);
        at[2 * pair + 1] = emu_float(odd[row * ROW_LANES + pair]);
      }
    }
  }
}

static void write_d_floats(emu_warp_t *warp, const emu_wgmma_form_t *form,
                           const operands_t *operands) {
  for (uint32_t i = 0; i < form->d_count; i += 2) {
    uint32_t *even = emu_target_word(warp, form->d[i]);
    uint32_t *odd = emu_target_word(warp, form->d[i + 1]);
    for (uint32_t row = 0; row < 8; ++row) {
      const float *at = &operands->d[row + 8 * (i / 2 % 2)][8 * (i / 4)];
      for (uint32_t pair = 0; pair < ROW_LANES; ++pair) {
        even[row * ROW_LANES + pair] = emu_float_bits(at[2 * pair]);
        odd[row * ROW_LANES + pair] = emu_float_bits(at[2 * pair + 1]);
      }
    }
  }
}

/* A register of f16 holds both columns of a pair. */
static void read_d_halves(const emu_warp_t *warp, const emu_wgmma_form_t *form,
                          operands_t *operands) {
  for (uint32_t i = 0; i < form->d_count; ++i) {
    const uint32_t *words = emu_words(warp, form->d[i]);
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
      float *at = &operands->d[lane / ROW_LANES + 8 * (i % 2)]
                              [8 * (i / 2) + 2 * (lane % ROW_LANES)];
      at[0] = emu_low_half(words[lane], false);
      at[1] = emu_high_half(words[lane], false);
    }
  }
}

static void write_d_halves(emu_warp_t *warp, const emu_wgmma_form_t *form,
                           const operands_t *operands) {
  for (uint32_t i = 0; i < form->d_count; ++i) {
    uint32_t *words = emu_target_word(warp, form->d[i]);
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
      const float *at = &operands->d[lane / ROW_LANES + 8 * (i % 2)]
                                    [8 * (i / 2) + 2 * (lane % ROW_LANES)];
      words[lane] = uattn_f16_from_float(at[0]) |
                    (uint32_t)uattn_f16_from_float(at[1]) << 16;
    }
  }
}

/* ---- The product -----------------------------------------------------------
 */

EMU_VECTOR_CLONES
static void multiply(operands_t *operands, uint32_t n) {
  for (uint32_t row = 0; row < ROWS; ++row) {
    float *restrict d = operands->d[row];
    for (uint32_t k = 0; k < DEPTH; k += 4) {
      const float *a = &operands->a[row][k];
      const float a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
      const float *restrict b0 = operands->b[k];
      const float *restrict b1 = operands->b[k + 1];
      const float *restrict b2 = operands->b[k + 2];
      const float *restrict b3 = operands->b[k + 3];
      for (uint32_t i = 0; i < n; ++i)
        d[i] = (((d[i] + a0 * b0[i]) + a1 * b1[i]) + a2 * b2[i]) + a3 * b3[i];
    }
  }
}

static bool read_a(emu_warp_t *warp, const emu_product_t *product,
                   operands_t *operands) {
  const emu_wgmma_form_t *form = product->form;
  if (form->a_is_registers) {
    read_a_registers(warp, form, operands);
  } else {
    reader_t reader = {.warp = warp, .product = product, .name = "A"};
    uint32_t first = warp->index % EMU_WGMMA_WARPS * ROWS;
    if (!reader_start(&reader, product->a_descriptor, form->a_is_mn_major) ||
        !read_matrix(&reader, first, ROWS, operands->a[0], DEPTH, 1))
      return false;
  }
  if (form->is_negated)
    for (uint32_t i = 0; i < ROWS * DEPTH; ++i)
      operands->a[i / DEPTH][i % DEPTH] = -operands->a[i / DEPTH][i % DEPTH];
  return true;
}

static bool read_b(emu_warp_t *warp, const emu_product_t *product,
                   operands_t *operands) {
  const emu_wgmma_form_t *form = product->form;
  reader_t reader = {.warp = warp, .product = product, .name = "B"};
  return reader_start(&reader, product->b_descriptor, form->b_is_mn_major) &&
         read_matrix(&reader, 0, form->n, operands->b[0], 1, EMU_WGMMA_MAX_N);
}

static void clear_d(operands_t *operands, uint32_t n) {
  for (uint32_t row = 0; row < ROWS; ++row)
    memset(operands->d[row], 0, n * sizeof operands->d[row][0]);
}

bool emu_product_execute(emu_warp_t *warp, const emu_product_t *product) {
  const emu_wgmma_form_t *form = product->form;
  operands_t operands;
  if (!read_a(warp, product, &operands) || !read_b(warp, product, &operands))
    return false;
  if (!product->accumulates)
    clear_d(&operands, form->n);
  else if (form->d_is_half)
    read_d_halves(warp, form, &operands);
  else
    read_d_floats(warp, form, &operands);
  multiply(&operands, form->n);
  if (form->d_is_half)
    write_d_halves(warp, form, &operands);
  else
    write_d_floats(warp, form, &operands);
  if (warp->cta->trace)
    emu_trace_product(warp, product, operands.a[0], operands.b[0],
                      operands.d[0]);
  return true;
}
