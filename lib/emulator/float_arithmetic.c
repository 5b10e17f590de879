/* Sums, products and fused products of f32 and f64.
 * Layer: emulator. Must not know: how instructions are decoded or scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/float_options.h"

typedef enum { ADD, SUB, MUL, FMA } operation_t;
enum {
  ANY_ROUNDING = EMU_FLOAT_ROUNDING,
  F32_FLAGS = ANY_ROUNDING | EMU_FLOAT_FTZ | EMU_FLOAT_SAT,
  OTHER_ROUNDING = EMU_FLOAT_RZ | EMU_FLOAT_RM | EMU_FLOAT_RP
};

/* A fused product must say how it is rounded. */
static bool lacks_rounding(operation_t operation, uint32_t flags) {
  return operation == FMA && !(flags & ANY_ROUNDING);
}

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

ALWAYS_INLINE float apply_f32(operation_t operation, float a, float b,
                              float c) {
  switch (operation) {
  case ADD:
    return a + b;
  case SUB:
    return a - b;
  case MUL:
    return a * b;
  case FMA:
    break;
  }
  return fmaf(a, b, c);
}

ALWAYS_INLINE uint32_t flush_if(uint32_t bits, uint32_t flags) {
  return flags & EMU_FLOAT_FTZ ? emu_flush_f32(bits) : bits;
}

ALWAYS_INLINE uint32_t finish_f32(float result, uint32_t flags) {
  uint32_t bits = flush_if(emu_float_bits(result), flags);
  if (flags & EMU_FLOAT_SAT)
    bits = result > 0 ? (result < 1 ? bits : 0x3F800000) : 0;
  else
    bits = emu_is_nan_f32(bits) ? EMU_NAN_F32 : bits;
  return bits;
}

/* Products that come out as the least normal number though they are less. */
static __attribute__((noinline)) void
flush_tiny(uint32_t results[EMU_LANES], const uint32_t *a, const uint32_t *b,
           const uint32_t *c, uint32_t flags) {
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
    if (!emu_is_least_f32(results[lane]))
      continue;
    double product = (double)emu_float(emu_flush_f32(a[lane])) *
                     (double)emu_float(emu_flush_f32(b[lane]));
    double exact =
        c ? emu_sum_to_odd(product, emu_float(emu_flush_f32(c[lane])))
          : product;
    if (emu_format_is_tiny(exact, &emu_format_f32, emu_rounding_of(flags)))
      results[lane] &= 0x80000000;
  }
}

/* `flags` is constant in the common cases. */
ALWAYS_INLINE emu_outcome_t run_f32(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes, operation_t operation,
                                    uint32_t flags) {
  uint32_t results[EMU_LANES];
  const uint32_t *a = emu_words(warp, insn->rows[1]);
  const uint32_t *b = emu_words(warp, insn->rows[2]);
  const uint32_t *c = operation == FMA ? emu_words(warp, insn->rows[3]) : b;
  bool has_least = false;
  if (flags & OTHER_ROUNDING)
    emu_rounding_begin(flags);
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
    float result = apply_f32(operation, emu_float(flush_if(a[lane], flags)),
                             emu_float(flush_if(b[lane], flags)),
                             emu_float(flush_if(c[lane], flags)));
    results[lane] = finish_f32(result, flags);
    has_least |= emu_is_least_f32(results[lane]);
  }
  if (flags & OTHER_ROUNDING)
    emu_rounding_end(flags);
  if ((flags & EMU_FLOAT_FTZ) && has_least && operation >= MUL)
    flush_tiny(results, a, b, operation == FMA ? c : NULL, flags);
  emu_set_words(warp, insn->rows[0], lanes, results);
  return EMU_NEXT;
}

#define DEFINE_F32(name, operation)                                            \
  static emu_outcome_t name##_f32(emu_warp_t *warp, const emu_insn_t *insn,    \
                                  uint32_t lanes) {                            \
    return run_f32(warp, insn, lanes, operation, 0);                           \
  }                                                                            \
  static emu_outcome_t name##_ftz_f32(                                         \
      emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes) {              \
    return run_f32(warp, insn, lanes, operation, EMU_FLOAT_FTZ);               \
  }                                                                            \
  static emu_outcome_t name##_any_f32(                                         \
      emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes) {              \
    return run_f32(warp, insn, lanes, operation,                               \
                   (uint32_t)insn->immediates[0]);                             \
  }                                                                            \
  emu_execute_t emu_choose_##name##_f32(uint32_t flags) {                      \
    if ((flags & ~(uint32_t)F32_FLAGS) || lacks_rounding(operation, flags))    \
      return NULL;                                                             \
    flags &= ~(uint32_t)EMU_FLOAT_RN;                                          \
    return flags == 0               ? name##_f32                               \
           : flags == EMU_FLOAT_FTZ ? name##_ftz_f32                           \
                                    : name##_any_f32;                          \
  }

DEFINE_F32(add, ADD)
DEFINE_F32(sub, SUB)
DEFINE_F32(mul, MUL)
DEFINE_F32(fma, FMA)

/* ---- f64 -------------------------------------------------------------------
 */

ALWAYS_INLINE double apply_f64(operation_t operation, double a, double b,
                               double c) {
  switch (operation) {
  case ADD:
    return a + b;
  case SUB:
    return a - b;
  case MUL:
    return a * b;
  case FMA:
    break;
  }
  return fma(a, b, c);
}

ALWAYS_INLINE emu_outcome_t run_f64(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes, operation_t operation) {
  uint64_t *target = emu_target_long(warp, insn->rows[0]);
  const uint64_t *a = emu_longs(warp, insn->rows[1]);
  const uint64_t *b = emu_longs(warp, insn->rows[2]);
  const uint64_t *c = operation == FMA ? emu_longs(warp, insn->rows[3]) : b;
  uint32_t flags = (uint32_t)insn->immediates[0];
  emu_rounding_begin(flags);
  EMU_LANE_LOOP(lanes, target[lane] = emu_double_bits(
                           apply_f64(operation, emu_double(a[lane]),
                                     emu_double(b[lane]), emu_double(c[lane]))))
  emu_rounding_end(flags);
  return EMU_NEXT;
}

#define DEFINE_F64(name, operation)                                            \
  static emu_outcome_t name##_f64(emu_warp_t *warp, const emu_insn_t *insn,    \
                                  uint32_t lanes) {                            \
    return run_f64(warp, insn, lanes, operation);                              \
  }                                                                            \
  emu_execute_t emu_choose_##name##_f64(uint32_t flags) {                      \
    bool is_wrong =                                                            \
        (flags & ~(uint32_t)ANY_ROUNDING) || lacks_rounding(operation, flags); \
    return is_wrong ? NULL : name##_f64;                                       \
  }

DEFINE_F64(add, ADD)
DEFINE_F64(sub, SUB)
DEFINE_F64(mul, MUL)
DEFINE_F64(fma, FMA)
