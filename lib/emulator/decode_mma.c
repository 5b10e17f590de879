/* mma.sync of m16n8k8 and m16n8k16, f16 and bf16.
 * Layer: emulator. Must not know: shared memory, how warps are scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode_mma.h"
#include "emulator/half_floats.h"
#include "spec/spec.h"

enum { M = 16, N = 8, MAX_K = 16, GROUP = 4 /* lanes of a row */ };

typedef struct {
  uint32_t k;
  bool is_bf16;
  bool c_is_half;
  bool d_is_half;
  emu_row_t a[4];
  emu_row_t b[2];
  emu_row_t c[4];
  emu_row_t d[4];
} mma_form_t;

/* ---- Execution -------------------------------------------------------------
 * PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16": with g = lane / 4 and
 * t = lane % 4, registers of A hold rows g and g + 8 (in turn), columns 2 t and
 * 2 t + 1, then 8 more; those of B columns g, rows likewise. */

static void read_a(const emu_warp_t *warp, const mma_form_t *form,
                   float a[M][MAX_K]) {
  for (uint32_t i = 0; i < form->k / 4; ++i) {
    const uint32_t *words = emu_words(warp, form->a[i]);
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
      float *at =
          &a[lane / GROUP + 8 * (i & 1)][2 * (lane % GROUP) + 8 * (i >> 1)];
      at[0] = emu_low_half(words[lane], form->is_bf16);
      at[1] = emu_high_half(words[lane], form->is_bf16);
    }
  }
}

static void read_b(const emu_warp_t *warp, const mma_form_t *form,
                   float b[MAX_K][N]) {
  for (uint32_t i = 0; i < form->k / 8; ++i) {
    const uint32_t *words = emu_words(warp, form->b[i]);
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
      uint32_t row = 2 * (lane % GROUP) + 8 * i;
      b[row][lane / GROUP] = emu_low_half(words[lane], form->is_bf16);
      b[row + 1][lane / GROUP] = emu_high_half(words[lane], form->is_bf16);
    }
  }
}

static void read_c(const emu_warp_t *warp, const mma_form_t *form,
                   float c[M][N]) {
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    for (uint32_t half = 0; half < 2; ++half) {
      float *at = &c[lane / GROUP + 8 * half][2 * (lane % GROUP)];
      if (form->c_is_half) {
        uint32_t word = emu_words(warp, form->c[half])[lane];
        at[0] = emu_low_half(word, false);
        at[1] = emu_high_half(word, false);
      } else {
        at[0] = emu_float(emu_words(warp, form->c[2 * half])[lane]);
        at[1] = emu_float(emu_words(warp, form->c[2 * half + 1])[lane]);
      }
    }
}

static void write_d(emu_warp_t *warp, const mma_form_t *form, float d[M][N]) {
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    for (uint32_t half = 0; half < 2; ++half) {
      const float *at = &d[lane / GROUP + 8 * half][2 * (lane % GROUP)];
      if (form->d_is_half) {
        emu_target_word(warp, form->d[half])[lane] =
            uattn_f16_from_float(at[0]) | (uint32_t)uattn_f16_from_float(at[1])
                                              << 16;
      } else {
        emu_target_word(warp, form->d[2 * half])[lane] = emu_float_bits(at[0]);
        emu_target_word(warp, form->d[2 * half + 1])[lane] =
            emu_float_bits(at[1]);
      }
    }
}

static emu_outcome_t execute(emu_warp_t *warp, const emu_insn_t *insn,
                             uint32_t lanes) {
  const mma_form_t *form = insn->detail;
  float a[M][MAX_K], b[MAX_K][N], sums[M][N];
  if (lanes != EMU_ALL_LANES) {
    emu_fault(warp->cta, warp, -1, insn,
              "executed by lanes 0x%08x: expected all 32", lanes);
    return EMU_FAULT;
  }
  read_a(warp, form, a);
  read_b(warp, form, b);
  read_c(warp, form, sums);
  for (uint32_t row = 0; row < M; ++row)
    for (uint32_t k = 0; k < form->k; ++k)
      for (uint32_t column = 0; column < N; ++column)
        sums[row][column] += a[row][k] * b[k][column];
  write_d(warp, form, sums);
  return EMU_NEXT;
}

/* ---- Decoding --------------------------------------------------------------
 */

static uattn_error_t *read_opcode(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  mma_form_t *form) {
  static const char *const shapes[] = {"m16n8k8", "m16n8k16", NULL};
  emu_parts_t parts = emu_parts(decoder, syntax);
  int shape = emu_take_one(&parts, shapes);
  bool has_words = emu_take(&parts, "sync") && emu_take(&parts, "aligned") &&
                   emu_take(&parts, "row") && emu_take(&parts, "col");
  ptx_type_t types[4];
  for (int i = 0; i < 4; ++i)
    types[i] = emu_take_type(&parts);
  form->k = shape == 0 ? 8 : 16;
  form->is_bf16 = types[1] == PTX_TYPE_BF16;
  form->d_is_half = types[0] == PTX_TYPE_F16;
  form->c_is_half = types[3] == PTX_TYPE_F16;
  bool is_f32 = types[0] == PTX_TYPE_F32 && types[3] == PTX_TYPE_F32;
  bool is_half = types[1] == PTX_TYPE_F16 &&
                 (form->d_is_half || types[0] == PTX_TYPE_F32) &&
                 (form->c_is_half || types[3] == PTX_TYPE_F32);
  if (shape < 0 || !has_words || types[1] != types[2] ||
      !(is_half || (form->is_bf16 && is_f32)))
    return emu_unsupported(decoder, syntax,
                           "expected .sync.aligned.m16n8k8 or .m16n8k16 with "
                           ".row.col, .f16 or .bf16, and sums of .f32 or (of "
                           ".f16) .f16");
  return emu_parts_end(&parts);
}

static uattn_error_t *read_vector(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  uint32_t index, uint32_t count,
                                  emu_row_t *out_rows) {
  const ptx_operand_t *operand = &syntax->operands[index];
  if (operand->kind != PTX_OPERAND_VECTOR || operand->element_count != count)
    return emu_unsupported(decoder, syntax,
                           "operand %u: expected {} with %u registers",
                           index + 1, count);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < count; ++i) {
    const ptx_operand_t *element = &operand->elements[i];
    error = index == 0 ? emu_decode_target(decoder, syntax, element,
                                           PTX_TYPE_B32, &out_rows[i])
                       : emu_decode_source(decoder, syntax, element,
                                           PTX_TYPE_B32, &out_rows[i]);
    if (!error && out_rows[i].kind == EMU_ROW_NONE)
      error = emu_unsupported(decoder, syntax, "expected a register of D");
  }
  return error;
}

uattn_error_t *emu_decode_mma(emu_decoder_t *decoder,
                              const ptx_instruction_t *syntax,
                              emu_insn_t *insn) {
  mma_form_t *form = uattn_arena_allocate(decoder->arena, sizeof *form);
  insn->detail = form;
  insn->is_aligned = true;
  insn->execute = execute;
  uattn_error_t *error = read_opcode(decoder, syntax, form);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 4, 4);
  if (!error)
    error = read_vector(decoder, syntax, 0, form->d_is_half ? 2 : 4, form->d);
  if (!error)
    error = read_vector(decoder, syntax, 1, form->k / 4, form->a);
  if (!error)
    error = read_vector(decoder, syntax, 2, form->k / 8, form->b);
  if (!error)
    error = read_vector(decoder, syntax, 3, form->c_is_half ? 2 : 4, form->c);
  return error;
}
