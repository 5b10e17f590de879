/* Loads and stores of all state spaces and widths.
 * Layer: emulator. Must not know: where memory is, scheduling.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/access_parts.h"

enum { MOST_ELEMENTS = 8, MOST_BYTES = 32 };

typedef struct {
  ptx_space_t space;
  emu_row_t base;
  int64_t offset;
  uint32_t element_count;
  uint32_t element_bytes;
  bool is_signed;
  emu_row_t elements[MOST_ELEMENTS];
  size_t register_bytes[MOST_ELEMENTS]; /* of loads: 0 for a sink */
} access_t;

/* ---- Execution -------------------------------------------------------------
 */

static uint64_t read_element(const uint8_t *memory, uint32_t bytes) {
  uint64_t value = 0;
  switch (bytes) {
  case 1:
    return *memory;
  case 2: {
    uint16_t half;
    memcpy(&half, memory, sizeof half);
    return half;
  }
  case 4: {
    uint32_t word;
    memcpy(&word, memory, sizeof word);
    return word;
  }
  default:
    memcpy(&value, memory, sizeof value);
    return value;
  }
}

/* Into the register of one lane, extended as the type says. */
static void write_register(emu_warp_t *warp, const access_t *access,
                           uint32_t index, uint32_t lane, uint64_t value) {
  emu_row_t row = access->elements[index];
  if (row.kind == EMU_ROW_NONE)
    return;
  if (access->is_signed) {
    unsigned unused = 64 - 8 * access->element_bytes;
    value = (uint64_t)((int64_t)(value << unused) >> unused);
    value &= UINT64_MAX >> (64 - 8 * access->register_bytes[index]);
  }
  if (row.kind == EMU_ROW_LONG)
    emu_target_long(warp, row)[lane] = value;
  else
    emu_target_word(warp, row)[lane] = (uint32_t)value;
}

static emu_outcome_t execute_load(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  const access_t *access = insn->detail;
  uint64_t addresses[EMU_LANES];
  size_t bytes = (size_t)access->element_count * access->element_bytes;
  emu_addresses(warp, access->base, access->offset, addresses);
  EMU_FOR_LANES(lane, lanes) {
    const uint8_t *memory = emu_memory(warp, insn, lane, access->space,
                                       addresses[lane], bytes, bytes, false);
    if (!memory)
      return EMU_FAULT;
    for (uint32_t i = 0; i < access->element_count; ++i)
      write_register(warp, access, i, lane,
                     read_element(memory + i * access->element_bytes,
                                  access->element_bytes));
  }
  return EMU_NEXT;
}

static void write_element(uint8_t *memory, uint32_t bytes, uint64_t value) {
  uint32_t word = (uint32_t)value;
  uint16_t half = (uint16_t)value;
  switch (bytes) {
  case 1:
    *memory = (uint8_t)value;
    return;
  case 2:
    memcpy(memory, &half, sizeof half);
    return;
  case 4:
    memcpy(memory, &word, sizeof word);
    return;
  default:
    memcpy(memory, &value, sizeof value);
  }
}

static emu_outcome_t execute_store(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  const access_t *access = insn->detail;
  uint64_t addresses[EMU_LANES];
  size_t bytes = (size_t)access->element_count * access->element_bytes;
  emu_addresses(warp, access->base, access->offset, addresses);
  EMU_FOR_LANES(lane, lanes) {
    uint8_t *memory = emu_memory(warp, insn, lane, access->space,
                                 addresses[lane], bytes, bytes, true);
    if (!memory)
      return EMU_FAULT;
    for (uint32_t i = 0; i < access->element_count; ++i) {
      emu_row_t row = access->elements[i];
      write_element(memory + i * access->element_bytes, access->element_bytes,
                    row.kind == EMU_ROW_LONG ? emu_longs(warp, row)[lane]
                                             : emu_words(warp, row)[lane]);
    }
  }
  return EMU_NEXT;
}

/* ---- Decoding --------------------------------------------------------------
 */

/* The value operand: one register or constant, or a vector of them. */
static uattn_error_t *decode_values(emu_decoder_t *decoder,
                                    const ptx_instruction_t *syntax,
                                    const ptx_operand_t *operand,
                                    ptx_type_t type, bool is_load,
                                    access_t *access) {
  bool is_vector = operand->kind == PTX_OPERAND_VECTOR;
  uint32_t count = is_vector ? operand->element_count : 1;
  if (count != access->element_count)
    return emu_unsupported(decoder, syntax, "%u values: expected %u", count,
                           access->element_count);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < count; ++i) {
    const ptx_operand_t *element = is_vector ? &operand->elements[i] : operand;
    error = (is_load ? emu_decode_wide_target : emu_decode_wide_source)(
        decoder, syntax, element, type, &access->elements[i]);
    access->register_bytes[i] = emu_register_bytes(decoder, element);
  }
  return error;
}

static uattn_error_t *check_form(const emu_parts_t *parts,
                                 const emu_access_parts_t *words,
                                 ptx_type_t type, bool is_load) {
  uattn_error_t *error = emu_parts_end(parts);
  if (error)
    return error;
  size_t bytes = ptx_type_bytes(type) * words->vector;
  bool is_strong =
      words->order != EMU_ORDER_WEAK && words->order != EMU_ORDER_VOLATILE;
  bool is_wrong_order = is_load ? words->order == EMU_ORDER_RELEASE
                                : words->order == EMU_ORDER_ACQUIRE;
  bool is_read_only =
      words->space == PTX_SPACE_CONST || words->space == PTX_SPACE_PARAM;
  if (is_wrong_order || words->order == EMU_ORDER_ACQ_REL)
    return emu_unsupported(parts->decoder, parts->syntax,
                           "no such memory order");
  if (is_strong != (words->scope >= 0))
    return emu_unsupported(parts->decoder, parts->syntax,
                           "expected a scope with .relaxed, .acquire and "
                           ".release alone");
  if (bytes == 0 || bytes > MOST_BYTES || ptx_type_bytes(type) > 8)
    return emu_unsupported(parts->decoder, parts->syntax,
                           "no access of %u elements of .%s", words->vector,
                           emu_type_name(type));
  if (!is_load && is_read_only)
    return emu_unsupported(parts->decoder, parts->syntax,
                           "stores to this state space");
  return NULL;
}

static uattn_error_t *decode_access(emu_decoder_t *decoder,
                                    const ptx_instruction_t *syntax,
                                    emu_insn_t *insn, bool is_load) {
  emu_access_parts_t words;
  emu_parts_t parts = emu_parts(decoder, syntax);
  access_t *access = uattn_arena_allocate(decoder->arena, sizeof *access);
  uattn_error_t *error = emu_take_access(&parts, &words);
  ptx_type_t type = emu_take_type(&parts);
  if (!error)
    error = check_form(&parts, &words, type, is_load);
  uint32_t count = words.has_cache_policy ? 3 : 2;
  if (!error)
    error = emu_expect_operands(decoder, syntax, count, count);
  if (!error)
    error = emu_decode_policy(decoder, syntax, &words);
  if (error)
    return error;
  access->space = words.space;
  access->element_count = words.vector;
  access->element_bytes = (uint32_t)ptx_type_bytes(type);
  access->is_signed = ptx_type_is_signed(type);
  insn->detail = access;
  insn->execute = is_load ? execute_load : execute_store;
  if (emu_reaches_others(&words))
    decoder->program->has_global_communication = true;
  error = emu_decode_address(decoder, syntax, &syntax->operands[is_load],
                             &access->base, &access->offset);
  return error ? error
               : decode_values(decoder, syntax, &syntax->operands[!is_load],
                               type, is_load, access);
}

static uattn_error_t *decode_ld(emu_decoder_t *decoder,
                                const ptx_instruction_t *syntax,
                                emu_insn_t *insn) {
  return decode_access(decoder, syntax, insn, true);
}

static uattn_error_t *decode_st(emu_decoder_t *decoder,
                                const ptx_instruction_t *syntax,
                                emu_insn_t *insn) {
  return decode_access(decoder, syntax, insn, false);
}

const emu_opcode_t emu_memory_opcodes[] = {
    {"ld", decode_ld},
    {"ldu", decode_ld},
    {"st", decode_st},
    {NULL, NULL},
};
