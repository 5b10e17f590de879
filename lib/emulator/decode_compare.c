/* Decodes comparisons and selections: setp, set, selp, slct.
 * Layer: emulator. Must not know: how values are compared.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/compare.h"

/* In the order of emu_comparison_t. */
static const char *const comparisons[] = {
    "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi", "hs",
    "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan", NULL};
/* In the order of emu_bool_operation_t, which starts with none. */
static const char *const bool_operations[] = {"and", "or", "xor", NULL};

static bool is_half(ptx_type_t type) {
  return type == PTX_TYPE_F16 || type == PTX_TYPE_F16X2 ||
         type == PTX_TYPE_BF16 || type == PTX_TYPE_BF16X2;
}

/* Bits are equal or not, the unsigned comparisons are for unsigned integers,
 * the unordered ones for floats. */
static bool comparison_fits(emu_comparison_t comparison, ptx_type_t type) {
  if (ptx_type_is_float(type))
    return comparison < EMU_COMPARE_LO || comparison > EMU_COMPARE_HS;
  if (comparison > EMU_COMPARE_HS)
    return false;
  switch (type) {
  case PTX_TYPE_B16:
  case PTX_TYPE_B32:
  case PTX_TYPE_B64:
    return comparison <= EMU_COMPARE_NE;
  case PTX_TYPE_U16:
  case PTX_TYPE_U32:
  case PTX_TYPE_U64:
    return true;
  case PTX_TYPE_S16:
  case PTX_TYPE_S32:
  case PTX_TYPE_S64:
    return comparison < EMU_COMPARE_LO;
  default:
    return false;
  }
}

/* Takes the comparison, the operation with c, .ftz; the types stay. */
static uattn_error_t *take_comparison(emu_parts_t *parts,
                                      emu_compare_t *compare) {
  int comparison = emu_take_one(parts, comparisons);
  compare->operation =
      (emu_bool_operation_t)(emu_take_one(parts, bool_operations) + 1);
  compare->flushes = emu_take(parts, "ftz");
  if (comparison < 0)
    return emu_unsupported(parts->decoder, parts->syntax,
                           "expected a comparison such as .eq");
  compare->comparison = (emu_comparison_t)comparison;
  return NULL;
}

static uattn_error_t *check_types(const emu_parts_t *parts,
                                  const emu_compare_t *compare) {
  uattn_error_t *error = emu_parts_end(parts);
  if (error)
    return error;
  bool may_flush = compare->type == PTX_TYPE_F32 ||
                   compare->type == PTX_TYPE_F16 ||
                   compare->type == PTX_TYPE_F16X2;
  if (!comparison_fits(compare->comparison, compare->type) ||
      (compare->flushes && !may_flush))
    return emu_unsupported(parts->decoder, parts->syntax,
                           "no such comparison of .%s",
                           emu_type_name(compare->type));
  return NULL;
}

/* Sources a and b into rows[2] and rows[3], c into rows[4]. */
static uattn_error_t *decode_sources(emu_decoder_t *decoder,
                                     const ptx_instruction_t *syntax,
                                     const emu_compare_t *compare,
                                     emu_insn_t *insn) {
  uint32_t count = compare->operation == EMU_BOOL_NONE ? 3 : 4;
  uattn_error_t *error = emu_expect_operands(decoder, syntax, count, count);
  for (uint32_t i = 1; !error && i < 3; ++i)
    error = emu_decode_source(decoder, syntax, &syntax->operands[i],
                              compare->type, &insn->rows[i + 1]);
  if (!error && count == 4)
    error = emu_decode_source(decoder, syntax, &syntax->operands[3],
                              PTX_TYPE_PRED, &insn->rows[4]);
  return error;
}

static uattn_error_t *decode_setp(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  emu_compare_t *compare =
      uattn_arena_allocate(decoder->arena, sizeof *compare);
  emu_parts_t parts = emu_parts(decoder, syntax);
  uattn_error_t *error = take_comparison(&parts, compare);
  compare->type = emu_take_type(&parts);
  if (!error)
    error = check_types(&parts, compare);
  if (!error)
    error = decode_sources(decoder, syntax, compare, insn);
  if (error)
    return error;
  insn->detail = compare;
  insn->execute = emu_choose_setp(compare);
  const ptx_operand_t *target = &syntax->operands[0];
  if (target->kind != PTX_OPERAND_PAIR)
    return emu_decode_target(decoder, syntax, target, PTX_TYPE_PRED,
                             &insn->rows[0]);
  for (uint32_t i = 0; !error && i < 2; ++i)
    error = emu_decode_target(decoder, syntax, &target->elements[i],
                              PTX_TYPE_PRED, &insn->rows[i]);
  return error;
}

/* What set writes for true, of pairs into each half; 0 where there is no such
 * set. */
static uint32_t true_value(ptx_type_t target, ptx_type_t source) {
  if (source == PTX_TYPE_F16X2 || source == PTX_TYPE_BF16X2) {
    if (target == PTX_TYPE_U32 || target == PTX_TYPE_S32)
      return 0xFFFF;
    return target != source ? 0 : target == PTX_TYPE_F16X2 ? 0x3C00 : 0x3F80;
  }
  switch (target) {
  case PTX_TYPE_U32:
  case PTX_TYPE_S32:
    return UINT32_MAX;
  case PTX_TYPE_F32:
    return is_half(source) ? 0 : 0x3F800000;
  case PTX_TYPE_U16:
  case PTX_TYPE_S16:
    return is_half(source) ? 0xFFFF : 0;
  case PTX_TYPE_F16:
    return source == PTX_TYPE_BF16 ? 0 : 0x3C00;
  case PTX_TYPE_BF16:
    return source == PTX_TYPE_F16 ? 0 : 0x3F80;
  default:
    return 0;
  }
}

static uattn_error_t *decode_set(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 emu_insn_t *insn) {
  emu_compare_t *compare =
      uattn_arena_allocate(decoder->arena, sizeof *compare);
  emu_parts_t parts = emu_parts(decoder, syntax);
  uattn_error_t *error = take_comparison(&parts, compare);
  ptx_type_t target = emu_take_type(&parts);
  compare->type = emu_take_type(&parts);
  if (!error)
    error = check_types(&parts, compare);
  uint32_t value = true_value(target, compare->type);
  if (!error && !value)
    error =
        emu_unsupported(decoder, syntax, "no set of .%s from .%s",
                        emu_type_name(target), emu_type_name(compare->type));
  if (!error)
    error = decode_sources(decoder, syntax, compare, insn);
  if (error)
    return error;
  insn->detail = compare;
  insn->execute = emu_choose_set(compare);
  insn->immediates[0] = value;
  return emu_decode_rows(decoder, syntax, insn, 1, &target);
}

static bool is_selectable(ptx_type_t type) {
  size_t bytes = ptx_type_bytes(type);
  return bytes >= 2 && bytes <= 8;
}

static uattn_error_t *decode_selp(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  ptx_type_t type = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error && !is_selectable(type))
    error =
        emu_unsupported(decoder, syntax, "no selp of .%s", emu_type_name(type));
  if (!error)
    error = emu_expect_operands(decoder, syntax, 4, 4);
  insn->execute =
      ptx_type_bytes(type) == 8 ? emu_execute_selp_long : emu_execute_selp_word;
  const ptx_type_t types[] = {type, type, type, PTX_TYPE_PRED};
  return error ? error : emu_decode_rows(decoder, syntax, insn, 4, types);
}

static uattn_error_t *decode_slct(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  bool flushes = emu_take(&parts, "ftz");
  ptx_type_t type = emu_take_type(&parts);
  ptx_type_t sign = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  bool is_right = is_selectable(type) &&
                  (sign == PTX_TYPE_F32 || (sign == PTX_TYPE_S32 && !flushes));
  if (!error && !is_right)
    error = emu_unsupported(decoder, syntax, "no slct of .%s by .%s",
                            emu_type_name(type), emu_type_name(sign));
  if (!error)
    error = emu_expect_operands(decoder, syntax, 4, 4);
  insn->execute = emu_execute_slct;
  insn->immediates[0] = sign;
  const ptx_type_t types[] = {type, type, type, sign};
  return error ? error : emu_decode_rows(decoder, syntax, insn, 4, types);
}

const emu_opcode_t emu_compare_opcodes[] = {
    {"setp", decode_setp}, {"set", decode_set}, {"selp", decode_selp},
    {"slct", decode_slct}, {NULL, NULL},
};
