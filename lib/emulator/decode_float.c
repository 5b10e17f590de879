/* Decodes floating-point arithmetic: modifiers, type, operation.
 * Layer: emulator. Must not know: how operations are computed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fenv.h>

#include "emulator/float_options.h"

static const struct {
  const char *part;
  uint32_t flag;
} modifiers[] = {
    {"rn", EMU_FLOAT_RN},         {"rz", EMU_FLOAT_RZ},
    {"rm", EMU_FLOAT_RM},         {"rp", EMU_FLOAT_RP},
    {"approx", EMU_FLOAT_APPROX}, {"full", EMU_FLOAT_FULL},
    {"ftz", EMU_FLOAT_FTZ},       {"sat", EMU_FLOAT_SAT},
    {"relu", EMU_FLOAT_RELU},     {"NaN", EMU_FLOAT_NAN},
};

uattn_error_t *emu_float_options(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 emu_float_options_t *out_options) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  uint32_t flags = 0;
  for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; ++i)
    if (emu_take(&parts, modifiers[i].part))
      flags |= modifiers[i].flag;
  if (emu_take(&parts, "xorsign")) {
    flags |= EMU_FLOAT_XORSIGN;
    if (!emu_take(&parts, "abs"))
      return emu_unsupported(decoder, syntax, ".xorsign without .abs");
  }
  uint32_t rounding =
      flags & (EMU_FLOAT_ROUNDING | EMU_FLOAT_APPROX | EMU_FLOAT_FULL);
  if (rounding & (rounding - 1))
    return emu_unsupported(decoder, syntax, "two rounding modes");
  out_options->flags = flags;
  out_options->type = emu_take_type(&parts);
  return emu_parts_end(&parts);
}

/* ---- Rounding of the host --------------------------------------------------
 * Values are loaded from rows after the mode is set and stored before it is set
 * back, which keeps the compiler from moving operations out of it. */

void emu_rounding_begin(uint32_t flags) {
  if (flags & EMU_FLOAT_RZ)
    fesetround(FE_TOWARDZERO);
  else if (flags & EMU_FLOAT_RM)
    fesetround(FE_DOWNWARD);
  else if (flags & EMU_FLOAT_RP)
    fesetround(FE_UPWARD);
}

void emu_rounding_end(uint32_t flags) {
  if (flags & (EMU_FLOAT_RZ | EMU_FLOAT_RM | EMU_FLOAT_RP))
    fesetround(FE_TONEAREST);
}

/* ---- Operations ------------------------------------------------------------
 */

static const emu_float_operation_t operations[] = {
    {"add", 3, emu_choose_add_f32, emu_choose_add_f64, emu_choose_add_half},
    {"sub", 3, emu_choose_sub_f32, emu_choose_sub_f64, emu_choose_sub_half},
    {"mul", 3, emu_choose_mul_f32, emu_choose_mul_f64, emu_choose_mul_half},
    {"fma", 4, emu_choose_fma_f32, emu_choose_fma_f64, emu_choose_fma_half},
    {"mad", 4, emu_choose_fma_f32, emu_choose_fma_f64, NULL},
    {"div", 3, emu_choose_div_f32, emu_choose_div_f64, NULL},
    {"rcp", 2, emu_choose_rcp_f32, emu_choose_rcp_f64, NULL},
    {"sqrt", 2, emu_choose_sqrt_f32, emu_choose_sqrt_f64, NULL},
    {"rsqrt", 2, emu_choose_rsqrt_f32, emu_choose_rsqrt_f64, NULL},
    {"min", 3, emu_choose_min_f32, emu_choose_min_f64, emu_choose_min_half},
    {"max", 3, emu_choose_max_f32, emu_choose_max_f64, emu_choose_max_half},
    {"abs", 2, emu_choose_abs_f32, emu_choose_abs_f64, emu_choose_abs_half},
    {"neg", 2, emu_choose_neg_f32, emu_choose_neg_f64, emu_choose_neg_half},
    {"copysign", 3, emu_choose_copysign_f32, emu_choose_copysign_f64, NULL},
    {"ex2", 2, emu_choose_ex2_f32, NULL, emu_choose_ex2_half},
    {"lg2", 2, emu_choose_lg2_f32, NULL, NULL},
    {"sin", 2, emu_choose_sin_f32, NULL, NULL},
    {"cos", 2, emu_choose_cos_f32, NULL, NULL},
    {"tanh", 2, emu_choose_tanh_f32, NULL, emu_choose_tanh_half},
};

static emu_float_choose_t chooser(const emu_float_operation_t *operation,
                                  ptx_type_t type) {
  switch (type) {
  case PTX_TYPE_F32:
    return operation->f32;
  case PTX_TYPE_F64:
    return operation->f64;
  case PTX_TYPE_F16:
  case PTX_TYPE_F16X2:
  case PTX_TYPE_BF16:
  case PTX_TYPE_BF16X2:
    return operation->half;
  default:
    return NULL;
  }
}

static const emu_float_operation_t *
find_operation(const ptx_instruction_t *syntax) {
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i)
    if (strcmp(operations[i].opcode, syntax->parts[0]) == 0)
      return &operations[i];
  return NULL;
}

static uattn_error_t *decode_float(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  emu_float_options_t options;
  uattn_error_t *error = emu_float_options(decoder, syntax, &options);
  if (error)
    return error;
  const emu_float_operation_t *operation = find_operation(syntax);
  UATTN_CHECK(operation);
  /* Of bf16, only the exponential flushes, and nothing saturates. */
  bool is_bf16 =
      options.type == PTX_TYPE_BF16 || options.type == PTX_TYPE_BF16X2;
  bool flushes_bf16 = strcmp(operation->opcode, "ex2") == 0;
  if (is_bf16 && (options.flags & EMU_FLOAT_SAT ||
                  (!(options.flags & EMU_FLOAT_FTZ) == flushes_bf16)))
    return emu_unsupported(decoder, syntax,
                           "%s does not exist for .%s with these modifiers",
                           operation->opcode, emu_type_name(options.type));
  emu_float_choose_t choose = chooser(operation, options.type);
  insn->execute = choose ? choose(options.flags) : NULL;
  if (!insn->execute)
    return emu_unsupported(decoder, syntax,
                           "%s does not exist for .%s with these modifiers",
                           operation->opcode, emu_type_name(options.type));
  insn->immediates[0] = options.flags;
  insn->immediates[1] = options.type;
  const ptx_type_t types[] = {options.type, options.type, options.type,
                              options.type};
  error = emu_expect_operands(decoder, syntax, operation->operand_count,
                              operation->operand_count);
  if (!error)
    error =
        emu_decode_rows(decoder, syntax, insn, operation->operand_count, types);
  return error;
}

/* ---- testp -----------------------------------------------------------------
 */

static const char *const tests[] = {
    "finite", "infinite", "number", "notanumber", "normal", "subnormal", NULL};

static bool test_of(int64_t test, int class) {
  switch (test) {
  case 0:
    return class != FP_INFINITE && class != FP_NAN;
  case 1:
    return class == FP_INFINITE;
  case 2:
    return class != FP_NAN;
  case 3:
    return class == FP_NAN;
  case 4:
    return class == FP_NORMAL || class == FP_ZERO;
  default:
    return class == FP_SUBNORMAL;
  }
}

static emu_outcome_t execute_testp(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  uint32_t result = 0;
  EMU_FOR_LANES(lane, lanes) {
    int class =
        insn->rows[1].kind == EMU_ROW_LONG
            ? fpclassify(emu_double(emu_longs(warp, insn->rows[1])[lane]))
            : fpclassify(emu_float(emu_words(warp, insn->rows[1])[lane]));
    result |= (uint32_t)test_of(insn->immediates[0], class) << lane;
  }
  emu_set_predicate(warp, insn->rows[0], lanes, result);
  return EMU_NEXT;
}

static uattn_error_t *decode_testp(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  insn->immediates[0] = emu_take_one(&parts, tests);
  ptx_type_t type = emu_take_type(&parts);
  const ptx_type_t types[] = {PTX_TYPE_PRED, type};
  insn->execute = execute_testp;
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error && (insn->immediates[0] < 0 ||
                 (type != PTX_TYPE_F32 && type != PTX_TYPE_F64)))
    error =
        emu_unsupported(decoder, syntax, "expected a test and .f32 or .f64");
  if (!error)
    error = emu_expect_operands(decoder, syntax, 2, 2);
  return error ? error : emu_decode_rows(decoder, syntax, insn, 2, types);
}

const emu_opcode_t emu_float_opcodes[] = {
    {"add", decode_float},  {"sub", decode_float},      {"mul", decode_float},
    {"fma", decode_float},  {"mad", decode_float},      {"div", decode_float},
    {"rcp", decode_float},  {"sqrt", decode_float},     {"rsqrt", decode_float},
    {"min", decode_float},  {"max", decode_float},      {"abs", decode_float},
    {"neg", decode_float},  {"copysign", decode_float}, {"ex2", decode_float},
    {"lg2", decode_float},  {"sin", decode_float},      {"cos", decode_float},
    {"tanh", decode_float}, {"testp", decode_testp},    {NULL, NULL},
};
