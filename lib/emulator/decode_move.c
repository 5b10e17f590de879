/* Moves: copies, packing and unpacking, special registers.
 * Layer: emulator. Must not know: memory, scheduling.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode.h"
#include "emulator/decode_program.h"
#include "emulator/hazards.h"

static emu_outcome_t move_words(emu_warp_t *warp, const emu_insn_t *insn,
                                uint32_t lanes) {
  if (insn->passes_on)
    emu_hazards_pass_on(warp, insn, lanes, NULL);
  emu_set_words(warp, insn->rows[0], lanes, emu_words(warp, insn->rows[1]));
  return EMU_NEXT;
}

static emu_outcome_t move_longs(emu_warp_t *warp, const emu_insn_t *insn,
                                uint32_t lanes) {
  if (insn->passes_on)
    emu_hazards_pass_on(warp, insn, lanes, NULL);
  emu_set_longs(warp, insn->rows[0], lanes, emu_longs(warp, insn->rows[1]));
  return EMU_NEXT;
}

static emu_outcome_t move_predicate(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes) {
  if (insn->passes_on)
    emu_hazards_pass_on(warp, insn, lanes, NULL);
  emu_set_predicate(warp, insn->rows[0], lanes,
                    emu_predicate(warp, insn->rows[1]));
  return EMU_NEXT;
}

static emu_outcome_t move_special(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  uint64_t value = emu_special_read(warp, (int)insn->immediates[0]);
  if (insn->rows[0].kind == EMU_ROW_LONG) {
    uint64_t *target = emu_target_long(warp, insn->rows[0]);
    EMU_LANE_LOOP(lanes, target[lane] = value)
  } else {
    uint32_t *target = emu_target_word(warp, insn->rows[0]);
    EMU_LANE_LOOP(lanes, target[lane] = (uint32_t)value)
  }
  return EMU_NEXT;
}

/* ---- Vectors ---------------------------------------------------------------
 * immediates: element count, bits of an element. */

enum { MOST_ELEMENTS = 4, PACKED_ROW = MOST_ELEMENTS };

static uint64_t element_bits(const emu_warp_t *warp, emu_row_t row,
                             uint32_t lane) {
  return row.kind == EMU_ROW_LONG ? emu_longs(warp, row)[lane]
                                  : emu_words(warp, row)[lane];
}

static emu_outcome_t pack(emu_warp_t *warp, const emu_insn_t *insn,
                          uint32_t lanes) {
  uint32_t bits = (uint32_t)insn->immediates[1];
  EMU_FOR_LANES(lane, lanes) {
    uint64_t packed = 0;
    for (uint32_t i = 0; i < (uint32_t)insn->immediates[0]; ++i)
      packed |= element_bits(warp, insn->rows[i], lane) << (i * bits);
    if (insn->rows[PACKED_ROW].kind == EMU_ROW_LONG)
      emu_target_long(warp, insn->rows[PACKED_ROW])[lane] = packed;
    else
      emu_target_word(warp, insn->rows[PACKED_ROW])[lane] = (uint32_t)packed;
  }
  return EMU_NEXT;
}

static emu_outcome_t unpack(emu_warp_t *warp, const emu_insn_t *insn,
                            uint32_t lanes) {
  uint32_t bits = (uint32_t)insn->immediates[1];
  uint64_t packed[EMU_LANES];
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    packed[lane] = element_bits(warp, insn->rows[PACKED_ROW], lane);
  for (uint32_t i = 0; i < (uint32_t)insn->immediates[0]; ++i) {
    uint32_t words[EMU_LANES];
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
      words[lane] =
          (uint32_t)(packed[lane] >> (i * bits)) & UINT32_MAX >> (32 - bits);
    emu_set_words(warp, insn->rows[i], lanes, words);
  }
  return EMU_NEXT;
}

static uattn_error_t *decode_vector(emu_decoder_t *decoder,
                                    const ptx_instruction_t *syntax,
                                    ptx_type_t type, emu_insn_t *insn) {
  bool is_pack = syntax->operands[1].kind == PTX_OPERAND_VECTOR;
  const ptx_operand_t *vector = &syntax->operands[is_pack ? 1 : 0];
  const ptx_operand_t *scalar = &syntax->operands[is_pack ? 0 : 1];
  uint32_t count = vector->element_count;
  size_t bytes = ptx_type_bytes(type);
  bool is_possible = (count == 2 || count == 4) && (bytes == 4 || bytes == 8) &&
                     scalar->kind != PTX_OPERAND_VECTOR;
  if (!is_possible)
    return emu_unsupported(decoder, syntax,
                           "%u elements in .%s: expected 2 or 4 in 32 or 64 "
                           "bits",
                           count, emu_type_name(type));
  size_t element_bytes = bytes / count;
  ptx_type_t element = element_bytes == 1   ? PTX_TYPE_B8
                       : element_bytes == 2 ? PTX_TYPE_B16
                                            : PTX_TYPE_B32;
  insn->immediates[0] = count;
  insn->immediates[1] = (int64_t)(8 * element_bytes);
  insn->execute = is_pack ? pack : unpack;
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < count; ++i)
    error = (is_pack ? emu_decode_source : emu_decode_target)(
        decoder, syntax, &vector->elements[i], element, &insn->rows[i]);
  if (!error)
    error = (is_pack ? emu_decode_target : emu_decode_source)(
        decoder, syntax, scalar, type, &insn->rows[PACKED_ROW]);
  if (!error && insn->rows[PACKED_ROW].kind == EMU_ROW_NONE)
    error =
        emu_unsupported(decoder, syntax, "expected a register as destination");
  return error;
}

static uattn_error_t *decode_mov(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  ptx_type_t type = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 2, 2);
  if (error)
    return error;
  const ptx_operand_t *source = &syntax->operands[1];
  if (source->kind == PTX_OPERAND_VECTOR ||
      syntax->operands[0].kind == PTX_OPERAND_VECTOR)
    return decode_vector(decoder, syntax, type, insn);
  if (source->kind == PTX_OPERAND_SPECIAL) {
    int special = emu_special_find(source->text);
    if (special >= 0 && emu_special_is_dynamic(special)) {
      insn->execute = move_special;
      insn->immediates[0] = special;
      if (ptx_type_bytes(type) != ptx_type_bytes(emu_special_type(special)))
        return emu_unsupported(decoder, syntax, "%s has not the width of .%s",
                               source->text, emu_type_name(type));
      return emu_decode_rows(decoder, syntax, insn, 1, &type);
    }
  }
  const ptx_type_t types[] = {type, type};
  switch (emu_row_kind(type)) {
  case EMU_ROW_WORD:
    insn->execute = move_words;
    break;
  case EMU_ROW_LONG:
    insn->execute = move_longs;
    break;
  case EMU_ROW_PREDICATE:
    insn->execute = move_predicate;
    break;
  case EMU_ROW_NONE:
    return emu_unsupported(decoder, syntax, "moves of .%s",
                           emu_type_name(type));
  }
  insn->passes_on = source->kind == PTX_OPERAND_REGISTER &&
                    syntax->operands[0].kind == PTX_OPERAND_REGISTER;
  return emu_decode_rows(decoder, syntax, insn, 2, types);
}

const emu_opcode_t emu_move_opcodes[] = {
    {"mov", decode_mov},
    {NULL, NULL},
};
