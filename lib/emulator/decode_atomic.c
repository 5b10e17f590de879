/* Decodes atomic operations: atom and red.
 * Layer: emulator. Must not know: what the operations compute.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/access_parts.h"
#include "emulator/atomic.h"

/* In the order of emu_atomic_operation_t. */
static const char *const operations[] = {
    "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec", NULL};

static bool is_half(ptx_type_t type) {
  return type == PTX_TYPE_F16 || type == PTX_TYPE_F16X2 ||
         type == PTX_TYPE_BF16 || type == PTX_TYPE_BF16X2;
}

static bool is_one_of(ptx_type_t type, const ptx_type_t *types) {
  for (; *types != PTX_TYPE_NONE; ++types)
    if (type == *types)
      return true;
  return false;
}

/* Which types an operation has; `is_vector`: with .v2 and the like, where there
 * are floats alone. */
static bool operation_fits(const emu_atomic_t *atomic, bool has_noftz) {
  static const ptx_type_t sums[] = {PTX_TYPE_U32, PTX_TYPE_S32, PTX_TYPE_U64,
                                    PTX_TYPE_F32, PTX_TYPE_F64, PTX_TYPE_NONE};
  static const ptx_type_t orders[] = {PTX_TYPE_U32, PTX_TYPE_S32, PTX_TYPE_U64,
                                      PTX_TYPE_S64, PTX_TYPE_NONE};
  static const ptx_type_t bits[] = {PTX_TYPE_B32, PTX_TYPE_B64, PTX_TYPE_NONE};
  static const ptx_type_t swaps[] = {PTX_TYPE_B16, PTX_TYPE_B32, PTX_TYPE_B64,
                                     PTX_TYPE_NONE};
  ptx_type_t type = atomic->type;
  if (is_half(type))
    return has_noftz && (atomic->operation == EMU_ATOMIC_ADD ||
                         (atomic->element_count > 1 &&
                          (atomic->operation == EMU_ATOMIC_MIN ||
                           atomic->operation == EMU_ATOMIC_MAX)));
  if (has_noftz ||
      (atomic->element_count > 1 &&
       !(type == PTX_TYPE_F32 && atomic->operation == EMU_ATOMIC_ADD)))
    return false;
  switch (atomic->operation) {
  case EMU_ATOMIC_ADD:
    return is_one_of(type, sums);
  case EMU_ATOMIC_MIN:
  case EMU_ATOMIC_MAX:
    return is_one_of(type, orders);
  case EMU_ATOMIC_AND:
  case EMU_ATOMIC_OR:
  case EMU_ATOMIC_XOR:
  case EMU_ATOMIC_EXCHANGE:
    return is_one_of(type, bits);
  case EMU_ATOMIC_COMPARE:
    return is_one_of(type, swaps);
  case EMU_ATOMIC_INCREMENT:
  case EMU_ATOMIC_DECREMENT:
    return type == PTX_TYPE_U32;
  }
  return false;
}

static uattn_error_t *check_form(const emu_parts_t *parts,
                                 const emu_access_parts_t *words,
                                 const emu_atomic_t *atomic, int operation,
                                 bool has_noftz) {
  uattn_error_t *error = emu_parts_end(parts);
  if (error)
    return error;
  size_t bytes = ptx_type_bytes(atomic->type) * words->vector;
  bool is_reachable = words->space == PTX_SPACE_GLOBAL ||
                      words->space == PTX_SPACE_SHARED ||
                      words->space == PTX_SPACE_GENERIC;
  bool is_vector = words->vector > 1;
  if (operation < 0 || !operation_fits(atomic, has_noftz) || bytes > 16 ||
      (!atomic->has_result && atomic->operation >= EMU_ATOMIC_EXCHANGE &&
       atomic->operation <= EMU_ATOMIC_COMPARE))
    return emu_unsupported(parts->decoder, parts->syntax,
                           "no such atomic operation on .%s",
                           emu_type_name(atomic->type));
  if (!is_reachable || (is_vector && words->space == PTX_SPACE_SHARED))
    return emu_unsupported(parts->decoder, parts->syntax,
                           "no atomic operation in this state space");
  if (words->order == EMU_ORDER_VOLATILE || words->is_mmio)
    return emu_unsupported(parts->decoder, parts->syntax,
                           "no such memory order");
  return NULL;
}

/* The elements of one operand. */
static uattn_error_t *decode_elements(emu_decoder_t *decoder,
                                      const ptx_instruction_t *syntax,
                                      const ptx_operand_t *operand,
                                      const emu_atomic_t *atomic,
                                      bool is_target, emu_row_t *rows) {
  bool is_vector = operand->kind == PTX_OPERAND_VECTOR;
  uint32_t count = is_vector ? operand->element_count : 1;
  bool is_sink = is_target && operand->kind == PTX_OPERAND_SINK;
  if (count != atomic->element_count && !is_sink)
    return emu_unsupported(decoder, syntax, "%u values: expected %u", count,
                           atomic->element_count);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < count; ++i)
    error = (is_target ? emu_decode_target : emu_decode_source)(
        decoder, syntax, is_vector ? &operand->elements[i] : operand,
        atomic->type, &rows[i]);
  return error;
}

static uattn_error_t *decode_operands(emu_decoder_t *decoder,
                                      const ptx_instruction_t *syntax,
                                      const emu_access_parts_t *words,
                                      emu_atomic_t *atomic) {
  bool is_compare = atomic->operation == EMU_ATOMIC_COMPARE;
  uint32_t first = atomic->has_result;
  uint32_t count = first + 2u + is_compare + words->has_cache_policy;
  uattn_error_t *error = emu_expect_operands(decoder, syntax, count, count);
  if (!error && atomic->has_result)
    error = decode_elements(decoder, syntax, &syntax->operands[0], atomic, true,
                            atomic->results);
  if (!error)
    error = emu_decode_address(decoder, syntax, &syntax->operands[first],
                               &atomic->base, &atomic->offset);
  if (!error)
    error = decode_elements(decoder, syntax, &syntax->operands[first + 1],
                            atomic, false, atomic->values);
  if (!error && is_compare)
    error = emu_decode_source(decoder, syntax, &syntax->operands[first + 2],
                              atomic->type, &atomic->replacement);
  return error ? error : emu_decode_policy(decoder, syntax, words);
}

static uattn_error_t *decode_atomic(emu_decoder_t *decoder,
                                    const ptx_instruction_t *syntax,
                                    emu_insn_t *insn, bool has_result) {
  emu_access_parts_t words;
  emu_parts_t parts = emu_parts(decoder, syntax);
  emu_atomic_t *atomic = uattn_arena_allocate(decoder->arena, sizeof *atomic);
  uattn_error_t *error = emu_take_access(&parts, &words);
  int operation = emu_take_one(&parts, operations);
  bool has_noftz = emu_take(&parts, "noftz");
  atomic->has_result = has_result;
  atomic->operation = (emu_atomic_operation_t)operation;
  atomic->type = emu_take_type(&parts);
  atomic->space = words.space;
  atomic->element_count = words.vector;
  if (!error)
    error = check_form(&parts, &words, atomic, operation, has_noftz);
  if (!error)
    error = decode_operands(decoder, syntax, &words, atomic);
  insn->detail = atomic;
  insn->execute = emu_execute_atomic;
  if (words.space != PTX_SPACE_SHARED)
    decoder->program->has_global_communication = true;
  return error;
}

static uattn_error_t *decode_atom(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  return decode_atomic(decoder, syntax, insn, true);
}

static uattn_error_t *decode_red(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 emu_insn_t *insn) {
  return decode_atomic(decoder, syntax, insn, false);
}

const emu_opcode_t emu_atomic_opcodes[] = {
    {"atom", decode_atom},
    {"red", decode_red},
    {NULL, NULL},
};
