/* The modifiers of floating-point instructions, as flags.
 * Layer: emulator. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_FLOAT_OPTIONS_H
#define UATTN_EMULATOR_FLOAT_OPTIONS_H

#include "emulator/decode.h"
#include "emulator/float_format.h"

enum {
  EMU_FLOAT_RN = 1,
  EMU_FLOAT_RZ = 2,
  EMU_FLOAT_RM = 4,
  EMU_FLOAT_RP = 8,
  EMU_FLOAT_APPROX = 16,
  EMU_FLOAT_FULL = 32,
  EMU_FLOAT_FTZ = 64,
  EMU_FLOAT_SAT = 128,
  EMU_FLOAT_RELU = 256,
  EMU_FLOAT_NAN = 512,
  EMU_FLOAT_XORSIGN = 1024, /* .xorsign.abs */
  EMU_FLOAT_ROUNDING = EMU_FLOAT_RN | EMU_FLOAT_RZ | EMU_FLOAT_RM | EMU_FLOAT_RP
};

typedef struct {
  ptx_type_t type;
  uint32_t flags;
} emu_float_options_t;

/* Takes all of the opcode's parts. */
UATTN_NODISCARD uattn_error_t *
emu_float_options(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                  emu_float_options_t *out_options);

/* The host rounds as `flags` say until emu_rounding_end. */
void emu_rounding_begin(uint32_t flags);
void emu_rounding_end(uint32_t flags);

static inline emu_rounding_t emu_rounding_of(uint32_t flags) {
  return flags & EMU_FLOAT_RZ   ? EMU_ROUND_ZERO
         : flags & EMU_FLOAT_RM ? EMU_ROUND_DOWN
         : flags & EMU_FLOAT_RP ? EMU_ROUND_UP
                                : EMU_ROUND_NEAREST;
}

/* The least normal f32, where .ftz must look at the exact result. */
static inline bool emu_is_least_f32(uint32_t bits) {
  return (bits & 0x7FFFFFFF) == 0x00800000;
}

/* What executes an operation of one type; NULL where the flags do not go with
 * it, or one of those that it needs is missing. */
typedef emu_execute_t (*emu_float_choose_t)(uint32_t flags);

typedef struct {
  const char *opcode;
  uint32_t operand_count; /* with the target */
  emu_float_choose_t f32; /* float_*.c; NULL: not of this type */
  emu_float_choose_t f64;
  emu_float_choose_t half; /* half_*.c: f16, f16x2, bf16 and bf16x2, whose
                              detail is the type */
} emu_float_operation_t;

/* float_arithmetic.c */
emu_execute_t emu_choose_add_f32(uint32_t flags);
emu_execute_t emu_choose_sub_f32(uint32_t flags);
emu_execute_t emu_choose_mul_f32(uint32_t flags);
emu_execute_t emu_choose_fma_f32(uint32_t flags);
emu_execute_t emu_choose_add_f64(uint32_t flags);
emu_execute_t emu_choose_sub_f64(uint32_t flags);
emu_execute_t emu_choose_mul_f64(uint32_t flags);
emu_execute_t emu_choose_fma_f64(uint32_t flags);
/* float_divide.c */
emu_execute_t emu_choose_div_f32(uint32_t flags);
emu_execute_t emu_choose_rcp_f32(uint32_t flags);
emu_execute_t emu_choose_sqrt_f32(uint32_t flags);
emu_execute_t emu_choose_rsqrt_f32(uint32_t flags);
emu_execute_t emu_choose_div_f64(uint32_t flags);
emu_execute_t emu_choose_rcp_f64(uint32_t flags);
emu_execute_t emu_choose_sqrt_f64(uint32_t flags);
emu_execute_t emu_choose_rsqrt_f64(uint32_t flags);
/* float_select.c */
emu_execute_t emu_choose_min_f32(uint32_t flags);
emu_execute_t emu_choose_max_f32(uint32_t flags);
emu_execute_t emu_choose_abs_f32(uint32_t flags);
emu_execute_t emu_choose_neg_f32(uint32_t flags);
emu_execute_t emu_choose_copysign_f32(uint32_t flags);
emu_execute_t emu_choose_min_f64(uint32_t flags);
emu_execute_t emu_choose_max_f64(uint32_t flags);
emu_execute_t emu_choose_abs_f64(uint32_t flags);
emu_execute_t emu_choose_neg_f64(uint32_t flags);
emu_execute_t emu_choose_copysign_f64(uint32_t flags);
/* float_functions.c */
emu_execute_t emu_choose_ex2_f32(uint32_t flags);
emu_execute_t emu_choose_lg2_f32(uint32_t flags);
emu_execute_t emu_choose_sin_f32(uint32_t flags);
emu_execute_t emu_choose_cos_f32(uint32_t flags);
emu_execute_t emu_choose_tanh_f32(uint32_t flags);
/* half_arithmetic.c; insn->immediates: flags, then the type */
emu_execute_t emu_choose_add_half(uint32_t flags);
emu_execute_t emu_choose_sub_half(uint32_t flags);
emu_execute_t emu_choose_mul_half(uint32_t flags);
emu_execute_t emu_choose_fma_half(uint32_t flags);
emu_execute_t emu_choose_min_half(uint32_t flags);
emu_execute_t emu_choose_max_half(uint32_t flags);
emu_execute_t emu_choose_abs_half(uint32_t flags);
emu_execute_t emu_choose_neg_half(uint32_t flags);
emu_execute_t emu_choose_ex2_half(uint32_t flags);
emu_execute_t emu_choose_tanh_half(uint32_t flags);

#endif /* UATTN_EMULATOR_FLOAT_OPTIONS_H */
