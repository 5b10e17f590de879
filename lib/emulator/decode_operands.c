/* Operands: registers, immediates and addresses become rows.
 * Layer: emulator. Must not know: what instructions do with their rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode.h"
#include "emulator/decode_program.h"
#include "spec/spec.h"

emu_row_kind_t emu_row_kind(ptx_type_t type) {
  if (type == PTX_TYPE_PRED)
    return EMU_ROW_PREDICATE;
  size_t bytes = ptx_type_bytes(type);
  if (bytes == 0 || bytes > 8)
    return EMU_ROW_NONE;
  return bytes == 8 ? EMU_ROW_LONG : EMU_ROW_WORD;
}

const char *emu_type_name(ptx_type_t type) {
  static const char *const names[] = {
      "none",  "pred", "b8",     "b16",  "b32", "b64", "b128", "u8",
      "u16",   "u32",  "u64",    "s8",   "s16", "s32", "s64",  "f16",
      "f16x2", "bf16", "bf16x2", "tf32", "f32", "f64"};
  return (size_t)type < sizeof names / sizeof *names ? names[type] : "?";
}

/* ---- Constants -------------------------------------------------------------
 */

/* Makes room for one more row of `row_bytes` after `count` of them. */
static void *grow(uattn_arena_t *arena, void *rows, uint32_t count,
                  size_t row_bytes) {
  if (count & (count - 1))
    return rows;
  void *grown =
      uattn_arena_allocate(arena, (count ? 2 * (size_t)count : 1) * row_bytes);
  if (count)
    memcpy(grown, rows, count * row_bytes);
  return grown;
}

emu_row_t emu_constant_word(emu_decoder_t *decoder, uint32_t value) {
  emu_program_t *program = decoder->program;
  uint32_t index = 0;
  while (index < program->constant_word_count &&
         program->constant_words[(size_t)index * EMU_LANES] != value)
    ++index;
  if (index == program->constant_word_count) {
    program->constant_words =
        grow(decoder->arena, program->constant_words, index,
             EMU_LANES * sizeof *program->constant_words);
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
      program->constant_words[(size_t)index * EMU_LANES + lane] = value;
    ++program->constant_word_count;
  }
  return (emu_row_t){.kind = EMU_ROW_WORD, .is_constant = true, .index = index};
}

emu_row_t emu_constant_long(emu_decoder_t *decoder, uint64_t value) {
  emu_program_t *program = decoder->program;
  uint32_t index = 0;
  while (index < program->constant_long_count &&
         program->constant_longs[(size_t)index * EMU_LANES] != value)
    ++index;
  if (index == program->constant_long_count) {
    program->constant_longs =
        grow(decoder->arena, program->constant_longs, index,
             EMU_LANES * sizeof *program->constant_longs);
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
      program->constant_longs[(size_t)index * EMU_LANES + lane] = value;
    ++program->constant_long_count;
  }
  return (emu_row_t){.kind = EMU_ROW_LONG, .is_constant = true, .index = index};
}

emu_row_t emu_constant_predicate(bool value) {
  return (emu_row_t){
      .kind = EMU_ROW_PREDICATE, .is_constant = true, .index = value ? 1 : 0};
}

emu_row_t emu_new_row(emu_decoder_t *decoder, emu_row_kind_t kind) {
  emu_program_t *program = decoder->program;
  emu_row_t row = {.kind = kind};
  if (kind == EMU_ROW_WORD)
    row.index = program->word_rows++;
  else if (kind == EMU_ROW_LONG)
    row.index = program->long_rows++;
  else if (kind == EMU_ROW_PREDICATE)
    row.index = program->predicate_rows++;
  return row;
}

/* A constant row of `type`'s kind with the low bits of `bits`. */
static emu_row_t constant_of(emu_decoder_t *decoder, ptx_type_t type,
                             uint64_t bits) {
  switch (emu_row_kind(type)) {
  case EMU_ROW_PREDICATE:
    return emu_constant_predicate((bits & 1) != 0);
  case EMU_ROW_LONG:
    return emu_constant_long(decoder, bits);
  default:
    break;
  }
  size_t bytes = ptx_type_bytes(type);
  uint32_t mask = bytes >= 4 ? UINT32_MAX : (1u << (8 * bytes)) - 1;
  return emu_constant_word(decoder, (uint32_t)bits & mask);
}

/* ---- Sources and targets ---------------------------------------------------
 */

static uattn_error_t *float_immediate(emu_decoder_t *decoder,
                                      const ptx_instruction_t *syntax,
                                      const ptx_operand_t *operand,
                                      ptx_type_t type, emu_row_t *out_row) {
  uint64_t bits = 0;
  if (type == PTX_TYPE_F16 || type == PTX_TYPE_BF16) {
    float value = (float)operand->number;
    bits = type == PTX_TYPE_F16 ? uattn_f16_from_float(value)
                                : uattn_bf16_from_float(value);
  } else if (type == PTX_TYPE_F32 || type == PTX_TYPE_B32) {
    bits = operand->float_bytes == 4 ? operand->bits
                                     : emu_float_bits((float)operand->number);
  } else if (type == PTX_TYPE_F64 || type == PTX_TYPE_B64) {
    bits = operand->float_bytes == 8 ? operand->bits
                                     : emu_double_bits(operand->number);
  } else {
    return emu_unsupported(decoder, syntax, "a floating-point constant as .%s",
                           emu_type_name(type));
  }
  *out_row = constant_of(decoder, type, bits);
  return NULL;
}

static uattn_error_t *integer_immediate(emu_decoder_t *decoder,
                                        const ptx_instruction_t *syntax,
                                        const ptx_operand_t *operand,
                                        ptx_type_t type, emu_row_t *out_row) {
  if (type == PTX_TYPE_F32 || type == PTX_TYPE_F64 || type == PTX_TYPE_TF32)
    return emu_unsupported(decoder, syntax,
                           "an integer constant as .%s: expected a "
                           "floating-point constant",
                           emu_type_name(type));
  *out_row = constant_of(decoder, type, operand->bits);
  return NULL;
}

static uattn_error_t *special_source(emu_decoder_t *decoder,
                                     const ptx_instruction_t *syntax,
                                     const ptx_operand_t *operand,
                                     emu_row_t *out_row) {
  int special = emu_special_find(operand->text);
  if (special < 0)
    return emu_unsupported(decoder, syntax, "special register %s is unknown",
                           operand->text);
  if (emu_special_is_dynamic(special))
    return emu_unsupported(decoder, syntax, "%s can only be read by mov",
                           operand->text);
  *out_row = emu_special_row(decoder, special);
  return NULL;
}

static uattn_error_t *register_row(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   const ptx_operand_t *operand,
                                   emu_row_t *out_row) {
  *out_row = decoder->program->register_rows[operand->index];
  const ptx_register_t *reg = &decoder->entry->registers[operand->index];
  if (out_row->kind == EMU_ROW_NONE)
    return emu_unsupported(decoder, syntax, "registers of type .%s (%s)",
                           emu_type_name(reg->type), reg->name);
  if (operand->is_negated && out_row->kind != EMU_ROW_PREDICATE)
    return emu_unsupported(decoder, syntax, "negated operand %s", reg->name);
  out_row->is_negated = operand->is_negated;
  return NULL;
}

/* The row of what is read, of the operand's own width; `type` is for
 * constants. */
static uattn_error_t *source_row(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 const ptx_operand_t *operand, ptx_type_t type,
                                 emu_row_t *out_row, size_t *out_bytes) {
  *out_bytes = ptx_type_bytes(type);
  switch (operand->kind) {
  case PTX_OPERAND_REGISTER:
    *out_bytes = ptx_type_bytes(decoder->entry->registers[operand->index].type);
    return register_row(decoder, syntax, operand, out_row);
  case PTX_OPERAND_SPECIAL: {
    uattn_error_t *error = special_source(decoder, syntax, operand, out_row);
    *out_bytes = out_row->kind == EMU_ROW_LONG ? 8 : 4;
    return error;
  }
  case PTX_OPERAND_INTEGER:
    return integer_immediate(decoder, syntax, operand, type, out_row);
  case PTX_OPERAND_FLOAT:
    return float_immediate(decoder, syntax, operand, type, out_row);
  case PTX_OPERAND_VARIABLE:
  case PTX_OPERAND_PARAMETER: {
    uint64_t base = operand->kind == PTX_OPERAND_VARIABLE
                        ? decoder->program->variable_offsets[operand->index]
                        : decoder->entry->params[operand->index].offset;
    if (*out_bytes != 4 && *out_bytes != 8)
      return emu_unsupported(decoder, syntax, "an address as .%s",
                             emu_type_name(type));
    *out_row = constant_of(decoder, type, base + (uint64_t)operand->offset);
    return NULL;
  }
  default:
    return emu_unsupported(decoder, syntax,
                           "expected a register or a constant as operand");
  }
}

static uattn_error_t *check_width(const emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  const ptx_operand_t *operand, ptx_type_t type,
                                  emu_row_t row, size_t bytes) {
  bool is_predicate = row.kind == EMU_ROW_PREDICATE;
  if (is_predicate == (type == PTX_TYPE_PRED) &&
      (is_predicate || bytes == ptx_type_bytes(type)))
    return NULL;
  const char *name = operand->kind == PTX_OPERAND_REGISTER
                         ? decoder->entry->registers[operand->index].name
                         : operand->text;
  return emu_unsupported(decoder, syntax, "%s has not the width of .%s",
                         name ? name : "an operand", emu_type_name(type));
}

/* Keeps which registers the instruction reads and writes. */
static void note(emu_row_t *list, uint32_t *count, const ptx_operand_t *operand,
                 emu_row_t row) {
  if (operand->kind != PTX_OPERAND_REGISTER)
    return;
  UATTN_CHECK(*count < EMU_MAX_OPERANDS);
  list[(*count)++] = row;
}

static void note_source(emu_decoder_t *decoder, const ptx_operand_t *operand,
                        emu_row_t row) {
  note(decoder->sources, &decoder->source_count, operand, row);
}

uattn_error_t *emu_decode_source(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 const ptx_operand_t *operand, ptx_type_t type,
                                 emu_row_t *out_row) {
  size_t bytes = 0;
  uattn_error_t *error =
      source_row(decoder, syntax, operand, type, out_row, &bytes);
  if (!error)
    error = check_width(decoder, syntax, operand, type, *out_row, bytes);
  if (!error)
    note_source(decoder, operand, *out_row);
  return error;
}

static uattn_error_t *wide_row(emu_decoder_t *decoder,
                               const ptx_instruction_t *syntax,
                               const ptx_operand_t *operand, ptx_type_t type,
                               emu_row_t *out_row) {
  size_t bytes = 0;
  uattn_error_t *error =
      source_row(decoder, syntax, operand, type, out_row, &bytes);
  if (!error &&
      (out_row->kind == EMU_ROW_PREDICATE || bytes < ptx_type_bytes(type)))
    error = check_width(decoder, syntax, operand, type, *out_row, bytes);
  return error;
}

uattn_error_t *emu_decode_wide_source(emu_decoder_t *decoder,
                                      const ptx_instruction_t *syntax,
                                      const ptx_operand_t *operand,
                                      ptx_type_t type, emu_row_t *out_row) {
  uattn_error_t *error = wide_row(decoder, syntax, operand, type, out_row);
  if (!error)
    note_source(decoder, operand, *out_row);
  return error;
}

uattn_error_t *emu_decode_wide_target(emu_decoder_t *decoder,
                                      const ptx_instruction_t *syntax,
                                      const ptx_operand_t *operand,
                                      ptx_type_t type, emu_row_t *out_row) {
  if (operand->kind == PTX_OPERAND_SINK) {
    *out_row = (emu_row_t){.kind = EMU_ROW_NONE};
    return NULL;
  }
  if (operand->kind != PTX_OPERAND_REGISTER || operand->is_negated)
    return emu_unsupported(decoder, syntax,
                           "expected a register as destination");
  uattn_error_t *error = wide_row(decoder, syntax, operand, type, out_row);
  if (!error)
    note(decoder->targets, &decoder->target_count, operand, *out_row);
  return error;
}

uattn_error_t *emu_decode_target(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 const ptx_operand_t *operand, ptx_type_t type,
                                 emu_row_t *out_row) {
  uattn_error_t *error =
      emu_decode_wide_target(decoder, syntax, operand, type, out_row);
  if (!error && out_row->kind != EMU_ROW_NONE)
    error = check_width(
        decoder, syntax, operand, type, *out_row,
        ptx_type_bytes(decoder->entry->registers[operand->index].type));
  return error;
}

uattn_error_t *emu_decode_rows(emu_decoder_t *decoder,
                               const ptx_instruction_t *syntax,
                               emu_insn_t *insn, uint32_t count,
                               const ptx_type_t *types) {
  UATTN_CHECK(count <= EMU_MAX_ROWS);
  if (count > syntax->operand_count)
    return emu_expect_operands(decoder, syntax, count, count);
  uattn_error_t *error = emu_decode_target(
      decoder, syntax, &syntax->operands[0], types[0], &insn->rows[0]);
  if (!error && insn->rows[0].kind == EMU_ROW_NONE)
    error =
        emu_unsupported(decoder, syntax, "expected a register as destination");
  for (uint32_t i = 1; !error && i < count; ++i)
    error = emu_decode_source(decoder, syntax, &syntax->operands[i], types[i],
                              &insn->rows[i]);
  return error;
}

size_t emu_register_bytes(const emu_decoder_t *decoder,
                          const ptx_operand_t *operand) {
  return operand->kind == PTX_OPERAND_REGISTER
             ? ptx_type_bytes(decoder->entry->registers[operand->index].type)
             : 0;
}

uattn_error_t *emu_decode_immediate(const emu_decoder_t *decoder,
                                    const ptx_instruction_t *syntax,
                                    const ptx_operand_t *operand,
                                    int64_t *out_value) {
  if (operand->kind != PTX_OPERAND_INTEGER)
    return emu_unsupported(decoder, syntax,
                           "expected an integer constant as operand");
  *out_value = (int64_t)operand->bits;
  return NULL;
}

uattn_error_t *emu_decode_address(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  const ptx_operand_t *operand,
                                  emu_row_t *out_base, int64_t *out_offset) {
  if (operand->kind != PTX_OPERAND_ADDRESS || operand->element_count == 0)
    return emu_unsupported(decoder, syntax, "expected an address in brackets");
  const ptx_operand_t *base = &operand->elements[0];
  *out_offset = operand->offset;
  if (base->kind == PTX_OPERAND_REGISTER) {
    *out_offset += base->offset;
    uattn_error_t *error = register_row(decoder, syntax, base, out_base);
    if (!error &&
        (out_base->kind == EMU_ROW_PREDICATE ||
         ptx_type_bytes(decoder->entry->registers[base->index].type) < 4))
      error = emu_unsupported(decoder, syntax,
                              "an address in a register of less than 32 bits");
    if (!error)
      note_source(decoder, base, *out_base);
    return error;
  }
  if (base->kind != PTX_OPERAND_VARIABLE &&
      base->kind != PTX_OPERAND_PARAMETER && base->kind != PTX_OPERAND_INTEGER)
    return emu_unsupported(decoder, syntax, "expected a base address");
  return emu_decode_source(decoder, syntax, base, PTX_TYPE_U64, out_base);
}
