/* Arithmetic of f16 and bf16, alone and in pairs.
 * Layer: emulator. Must not know: how instructions are decoded or scheduled.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Values are widened to double, where products are exact and sums are rounded
 * to odd, and rounded once to their format. */
#include "emulator/float_options.h"
#include "spec/spec.h"

typedef enum { ADD, SUB, MUL, FMA, MIN, MAX, ABS, NEG, EX2, TANH } operation_t;

typedef struct {
  operation_t operation;
  uint32_t flags;
  bool is_bf16;
} half_t;

static double widen(uint32_t bits, bool is_bf16) {
  return is_bf16 ? uattn_bf16_to_float((uint16_t)bits)
                 : uattn_f16_to_float((uint16_t)bits);
}

static uint32_t flush(const half_t *half, uint32_t bits) {
  uint32_t exponent = half->is_bf16 ? 0x7F80 : 0x7C00;
  return !(half->flags & EMU_FLOAT_FTZ) || (bits & exponent) ? bits
                                                             : bits & 0x8000;
}

/* The functions are computed as f32 and cut off, as an H200 does. */
static uint32_t round_half(const half_t *half, double value) {
  const emu_format_t *format =
      half->is_bf16 ? &emu_format_bf16 : &emu_format_f16;
  bool is_cut = half->operation == EX2 || half->operation == TANH;
  emu_rounding_t rounding = is_cut ? EMU_ROUND_ZERO : EMU_ROUND_NEAREST;
  if (is_cut && value >= (half->is_bf16 ? 0x1p128 : 0x1p16))
    value = INFINITY;
  if (is_cut)
    value = (float)value;
  if ((half->flags & EMU_FLOAT_FTZ) &&
      emu_format_is_tiny(value, format, rounding))
    value = copysign(0, value);
  return emu_format_round(value, format, rounding);
}

static bool is_nan_half(uint32_t bits, bool is_bf16) {
  return (bits & 0x7FFF) > (is_bf16 ? 0x7F80u : 0x7C00u);
}

static int32_t key(uint32_t bits) {
  return (int16_t)(bits & 0x8000 ? bits ^ 0x7FFF : bits);
}

static uint32_t select_half(uint32_t a, uint32_t b, const half_t *half) {
  uint32_t sign = (a ^ b) & 0x8000;
  if (half->flags & EMU_FLOAT_XORSIGN) {
    a &= 0x7FFF;
    b &= 0x7FFF;
  }
  bool a_is_nan = is_nan_half(a, half->is_bf16);
  bool b_is_nan = is_nan_half(b, half->is_bf16);
  if ((a_is_nan && b_is_nan) ||
      ((half->flags & EMU_FLOAT_NAN) && (a_is_nan || b_is_nan)))
    return EMU_NAN_F16;
  bool takes_a = half->operation == MAX ? key(a) > key(b) : key(a) < key(b);
  uint32_t result = a_is_nan ? b : b_is_nan || takes_a ? a : b;
  return half->flags & EMU_FLOAT_XORSIGN ? result | sign : result;
}

static double compute(const half_t *half, double a, double b, double c) {
  switch (half->operation) {
  case ADD:
    return emu_sum_to_odd(a, b);
  case SUB:
    return emu_sum_to_odd(a, -b);
  case MUL:
    return a * b;
  case FMA:
    return emu_sum_to_odd(a * b, c);
  case EX2:
    return exp2(a);
  default:
    return tanh(a);
  }
}

static uint32_t apply(const half_t *half, uint32_t a, uint32_t b, uint32_t c) {
  a = flush(half, a);
  b = flush(half, b);
  c = flush(half, c);
  switch (half->operation) {
  case MIN:
  case MAX:
    return select_half(a, b, half);
  case ABS:
    return is_nan_half(a, half->is_bf16) ? EMU_NAN_F16 : a & 0x7FFF;
  case NEG:
    return is_nan_half(a, half->is_bf16) ? EMU_NAN_F16 : a ^ 0x8000;
  default:
    break;
  }
  double value = compute(half, widen(a, half->is_bf16), widen(b, half->is_bf16),
                         widen(c, half->is_bf16));
  if (half->flags & EMU_FLOAT_SAT)
    value = value > 0 ? (value < 1 ? value : 1) : 0;
  if (half->flags & EMU_FLOAT_RELU)
    value = value < 0 ? 0 : value;
  uint32_t bits = round_half(half, value);
  return (half->flags & EMU_FLOAT_RELU) && bits == 0x8000 ? 0 : bits;
}

static emu_outcome_t run(emu_warp_t *warp, const emu_insn_t *insn,
                         uint32_t lanes, operation_t operation,
                         uint32_t source_count) {
  ptx_type_t type = (ptx_type_t)insn->immediates[1];
  bool is_pair = type == PTX_TYPE_F16X2 || type == PTX_TYPE_BF16X2;
  half_t half = {operation, (uint32_t)insn->immediates[0],
                 type == PTX_TYPE_BF16 || type == PTX_TYPE_BF16X2};
  uint32_t *target = emu_target_word(warp, insn->rows[0]);
  const uint32_t *a = emu_words(warp, insn->rows[1]);
  const uint32_t *b = emu_words(warp, insn->rows[source_count > 1 ? 2 : 1]);
  const uint32_t *c = emu_words(warp, insn->rows[source_count > 2 ? 3 : 1]);
  EMU_FOR_LANES(lane, lanes) {
    uint32_t low =
        apply(&half, a[lane] & 0xFFFF, b[lane] & 0xFFFF, c[lane] & 0xFFFF);
    uint32_t high =
        is_pair ? apply(&half, a[lane] >> 16, b[lane] >> 16, c[lane] >> 16) : 0;
    target[lane] = low | high << 16;
  }
  return EMU_NEXT;
}

#define DEFINE(name, operation, source_count, allowed, required)               \
  static emu_outcome_t name##_half(emu_warp_t *warp, const emu_insn_t *insn,   \
                                   uint32_t lanes) {                           \
    return run(warp, insn, lanes, operation, source_count);                    \
  }                                                                            \
  emu_execute_t emu_choose_##name##_half(uint32_t flags) {                     \
    bool has_required = (flags & (required)) == (required);                    \
    return !has_required || (flags & ~(uint32_t)(allowed)) ? NULL              \
                                                           : name##_half;      \
  }
enum {
  SUM_FLAGS = EMU_FLOAT_RN | EMU_FLOAT_FTZ | EMU_FLOAT_SAT,
  SELECT_FLAGS = EMU_FLOAT_FTZ | EMU_FLOAT_NAN | EMU_FLOAT_XORSIGN,
  FUNCTION_FLAGS = EMU_FLOAT_APPROX | EMU_FLOAT_FTZ
};
DEFINE(add, ADD, 2, SUM_FLAGS, 0)
DEFINE(sub, SUB, 2, SUM_FLAGS, 0)
DEFINE(mul, MUL, 2, SUM_FLAGS, 0)
DEFINE(fma, FMA, 3, SUM_FLAGS | EMU_FLOAT_RELU, EMU_FLOAT_RN)
DEFINE(min, MIN, 2, SELECT_FLAGS, 0)
DEFINE(max, MAX, 2, SELECT_FLAGS, 0)
DEFINE(abs, ABS, 1, EMU_FLOAT_FTZ, 0)
DEFINE(neg, NEG, 1, EMU_FLOAT_FTZ, 0)
DEFINE(ex2, EX2, 1, FUNCTION_FLAGS, EMU_FLOAT_APPROX)
DEFINE(tanh, TANH, 1, EMU_FLOAT_APPROX, EMU_FLOAT_APPROX)
