/* Decodes cvt: rounding, modifiers, and the pair of types.
 * Layer: emulator. Must not know: how values are converted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/convert.h"

static bool is_integer(ptx_type_t type) {
  return type >= PTX_TYPE_U8 && type <= PTX_TYPE_S64;
}

static bool is_scalar_float(ptx_type_t type) {
  return type == PTX_TYPE_F16 || type == PTX_TYPE_BF16 ||
         type == PTX_TYPE_F32 || type == PTX_TYPE_F64;
}

static bool is_half_pair(ptx_type_t type) {
  return type == PTX_TYPE_F16X2 || type == PTX_TYPE_BF16X2;
}

/* In the order of emu_rounding_t. */
static const char *const float_roundings[] = {"rn", "rz",  "rm",
                                              "rp", "rna", NULL};
static const char *const integer_roundings[] = {"rni", "rzi", "rmi", "rpi",
                                                NULL};

typedef struct {
  int float_rounding;   /* -1: none is named */
  int integer_rounding; /* likewise */
} named_t;

static named_t take_parts(emu_parts_t *parts, emu_conversion_t *conversion) {
  named_t named = {.float_rounding = emu_take_one(parts, float_roundings),
                   .integer_rounding = emu_take_one(parts, integer_roundings)};
  conversion->flushes = emu_take(parts, "ftz");
  conversion->saturates = emu_take(parts, "sat");
  conversion->is_relu = emu_take(parts, "relu");
  conversion->is_finite = emu_take(parts, "satfinite");
  conversion->target = emu_take_type(parts);
  conversion->source = emu_take_type(parts);
  int rounding = named.float_rounding >= 0     ? named.float_rounding
                 : named.integer_rounding >= 0 ? named.integer_rounding
                                               : EMU_ROUND_NEAREST;
  conversion->rounding = (emu_rounding_t)rounding;
  conversion->rounds_to_integer = named.integer_rounding >= 0;
  return named;
}

/* What executes a conversion; NULL where there is none of this kind. */
static emu_execute_t choose(const emu_conversion_t *conversion,
                            const named_t *named) {
  bool from_integer = is_integer(conversion->source);
  bool to_integer = is_integer(conversion->target);
  bool has_half_options = conversion->is_relu || conversion->is_finite;
  if (is_half_pair(conversion->target) || conversion->target == PTX_TYPE_TF32)
    return conversion->source == PTX_TYPE_F32 && named->float_rounding >= 0 &&
                   !conversion->saturates && !conversion->flushes
               ? (conversion->target == PTX_TYPE_TF32 ? emu_convert_floats
                                                      : emu_convert_pair)
               : NULL;
  if (named->float_rounding == EMU_ROUND_AWAY)
    return NULL;
  if (from_integer && to_integer)
    return named->float_rounding < 0 && named->integer_rounding < 0 &&
                   !has_half_options && !conversion->flushes
               ? emu_convert_integers
               : NULL;
  if (is_scalar_float(conversion->source) && to_integer)
    return named->integer_rounding >= 0 && !has_half_options
               ? emu_convert_to_integer
               : NULL;
  if (from_integer && is_scalar_float(conversion->target))
    return named->float_rounding >= 0 && !has_half_options
               ? emu_convert_from_integer
               : NULL;
  return is_scalar_float(conversion->source) &&
                 is_scalar_float(conversion->target)
             ? emu_convert_floats
             : NULL;
}

/* Narrowing needs a rounding; a float in its own type has none but to an
 * integer. */
static bool rounding_fits(const emu_conversion_t *conversion,
                          const named_t *named) {
  if (!is_scalar_float(conversion->source) ||
      !is_scalar_float(conversion->target))
    return true;
  size_t from = ptx_type_bytes(conversion->source);
  size_t to = ptx_type_bytes(conversion->target);
  bool is_same = conversion->source == conversion->target;
  if (is_same)
    return named->float_rounding < 0;
  return named->integer_rounding < 0 &&
         (to > from || named->float_rounding >= 0);
}

static uattn_error_t *decode_cvt(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 emu_insn_t *insn) {
  emu_conversion_t *conversion =
      uattn_arena_allocate(decoder->arena, sizeof *conversion);
  emu_parts_t parts = emu_parts(decoder, syntax);
  named_t named = take_parts(&parts, conversion);
  uattn_error_t *error = emu_parts_end(&parts);
  if (error)
    return error;
  insn->detail = conversion;
  insn->execute = choose(conversion, &named);
  if (!insn->execute || !rounding_fits(conversion, &named))
    return emu_unsupported(
        decoder, syntax, "no conversion from .%s to .%s with these modifiers",
        emu_type_name(conversion->source), emu_type_name(conversion->target));
  bool is_pair = is_half_pair(conversion->target);
  uint32_t count = is_pair ? 3 : 2;
  error = emu_expect_operands(decoder, syntax, count, count);
  if (!error)
    error = emu_decode_wide_target(decoder, syntax, &syntax->operands[0],
                                   conversion->target, &insn->rows[0]);
  if (!error)
    conversion->register_bytes =
        emu_register_bytes(decoder, &syntax->operands[0]);
  for (uint32_t i = 1; !error && i < count; ++i)
    error = emu_decode_wide_source(decoder, syntax, &syntax->operands[i],
                                   conversion->source, &insn->rows[i]);
  if (!error && insn->rows[0].kind == EMU_ROW_NONE)
    error =
        emu_unsupported(decoder, syntax, "expected a register as destination");
  return error;
}

const emu_opcode_t emu_convert_opcodes[] = {
    {"cvt", decode_cvt},
    {NULL, NULL},
};
