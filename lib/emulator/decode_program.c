/* Decodes an entry: a row for every register, a function for every
 * instruction.
 * Layer: emulator. Must not know: what the families' instructions do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode_program.h"

#include <string.h>

#include "emulator/decode.h"

static void make_registers(emu_decoder_t *decoder) {
  const ptx_entry_t *entry = decoder->entry;
  emu_program_t *program = decoder->program;
  program->register_rows =
      uattn_arena_allocate(decoder->arena, (entry->register_count + 1) *
                                               sizeof *program->register_rows);
  for (uint32_t i = 0; i < entry->register_count; ++i)
    program->register_rows[i] =
        emu_new_row(decoder, emu_row_kind(entry->registers[i].type));
  program->product_rows = uattn_arena_allocate(
      decoder->arena, (program->word_rows + 1) * sizeof *program->product_rows);
  program->constant_predicates = uattn_arena_allocate(
      decoder->arena, 2 * sizeof *program->constant_predicates);
  program->constant_predicates[1] = EMU_ALL_LANES;
  program->carry = emu_new_row(decoder, EMU_ROW_PREDICATE);
}

/* How many parts of the opcode `name` ("cp.async.ca") fits, 0 for none. */
static uint32_t fitting_parts(const ptx_instruction_t *syntax,
                              const char *name) {
  for (uint32_t i = 0; i < syntax->part_count; ++i) {
    size_t size = strlen(syntax->parts[i]);
    if (strncmp(name, syntax->parts[i], size))
      return 0;
    if (name[size] == '\0')
      return i + 1;
    if (name[size] != '.')
      return 0;
    name += size + 1;
  }
  return 0;
}

static emu_decode_t find_decoder(const ptx_instruction_t *syntax) {
  emu_decode_t found = NULL;
  uint32_t best = 0;
  for (const emu_opcode_t *const *table = emu_opcode_tables; *table; ++table)
    for (const emu_opcode_t *opcode = *table; opcode->opcode; ++opcode) {
      uint32_t parts = opcode->opcode[0] == syntax->parts[0][0]
                           ? fitting_parts(syntax, opcode->opcode)
                           : 0;
      if (parts > best) {
        best = parts;
        found = opcode->decode;
      }
    }
  return found;
}

static const emu_variant_t *find_variant(const ptx_instruction_t *syntax) {
  for (const emu_variant_t *const *table = emu_variant_tables; *table; ++table)
    for (const emu_variant_t *variant = *table; variant->opcode; ++variant)
      if (variant->opcode[0] == syntax->parts[0][0] &&
          fitting_parts(syntax, variant->opcode) == syntax->part_count)
        return variant;
  return NULL;
}

static ptx_type_t type_of_kind(char kind) {
  switch (kind) {
  case 'b':
    return PTX_TYPE_U8;
  case 'h':
    return PTX_TYPE_U16;
  case 'w':
    return PTX_TYPE_U32;
  case 'l':
    return PTX_TYPE_U64;
  case 'f':
    return PTX_TYPE_F32;
  case 'd':
    return PTX_TYPE_F64;
  case 'e':
    return PTX_TYPE_F16;
  case 'g':
    return PTX_TYPE_BF16;
  case 'x':
    return PTX_TYPE_F16X2;
  case 'y':
    return PTX_TYPE_BF16X2;
  default:
    return PTX_TYPE_PRED;
  }
}

static uattn_error_t *decode_variant(emu_decoder_t *decoder,
                                     const ptx_instruction_t *syntax,
                                     const emu_variant_t *variant,
                                     emu_insn_t *insn) {
  ptx_type_t types[EMU_MAX_ROWS];
  uint32_t count = 0;
  while (variant->kinds[count]) {
    types[count] = type_of_kind(variant->kinds[count]);
    ++count;
  }
  insn->execute = variant->execute;
  uattn_error_t *error = emu_expect_operands(decoder, syntax, count, count);
  return error ? error : emu_decode_rows(decoder, syntax, insn, count, types);
}

static bool has_part(const ptx_instruction_t *syntax, const char *part) {
  for (uint32_t i = 1; i < syntax->part_count; ++i)
    if (strcmp(syntax->parts[i], part) == 0)
      return true;
  return false;
}

static bool is_one_of(const char *text, const char *const *names) {
  for (; *names; ++names)
    if (strcmp(text, *names) == 0)
      return true;
  return false;
}

/* What the scheduler wants to know of an instruction. Atomics tell at run time
 * whether they changed anything. */
static void classify(emu_insn_t *insn) {
  static const char *const events[] = {"bar",   "barrier",    "mbarrier", "cp",
                                       "wgmma", "setmaxnreg", NULL};
  static const char *const effects[] = {"st", "stmatrix", NULL};
  const ptx_instruction_t *syntax = insn->syntax;
  const char *opcode = syntax->parts[0];
  bool is_test = has_part(syntax, "test_wait") || has_part(syntax, "try_wait");
  bool is_polling_load =
      strcmp(opcode, "ld") == 0 &&
      (has_part(syntax, "volatile") || has_part(syntax, "relaxed") ||
       has_part(syntax, "acquire"));
  insn->is_poll =
      is_test || is_polling_load || strcmp(opcode, "nanosleep") == 0;
  static const char *const strong[] = {"volatile", "relaxed", "acquire",
                                       "release", NULL};
  bool is_access = strcmp(opcode, "ld") == 0 || strcmp(opcode, "st") == 0;
  insn->is_strong = strcmp(opcode, "atom") == 0 || strcmp(opcode, "red") == 0;
  for (int i = 0; is_access && strong[i]; ++i)
    insn->is_strong |= has_part(syntax, strong[i]);
  insn->is_event = !is_test && is_one_of(opcode, events);
  insn->is_effect = insn->is_event || is_one_of(opcode, effects);
}

static uattn_error_t *decode_guard(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  if (syntax->guard < 0)
    return NULL;
  insn->guard = decoder->program->register_rows[syntax->guard];
  insn->guard.is_negated = syntax->guard_is_negated;
  if (insn->guard.kind == EMU_ROW_PREDICATE)
    return NULL;
  return emu_unsupported(decoder, syntax, "the guard is no predicate");
}

/* The registers that the decoders of operands have seen. */
static void keep_registers(emu_decoder_t *decoder, emu_insn_t *insn) {
  uint32_t count = decoder->source_count + decoder->target_count;
  emu_row_t *rows = uattn_arena_allocate(decoder->arena, count * sizeof *rows);
  for (uint32_t i = 0; i < decoder->source_count; ++i)
    rows[i] = decoder->sources[i];
  for (uint32_t i = 0; i < decoder->target_count; ++i)
    rows[decoder->source_count + i] = decoder->targets[i];
  insn->registers = rows;
  insn->source_count = (uint16_t)decoder->source_count;
  insn->target_count = (uint16_t)decoder->target_count;
}

static void mark_products(const emu_program_t *program, emu_insn_t *insn) {
  uint32_t count = (uint32_t)insn->source_count + insn->target_count;
  for (uint32_t i = 0; i < count; ++i)
    insn->touches_products |= insn->registers[i].kind == EMU_ROW_WORD &&
                              program->product_rows[insn->registers[i].index];
}

static uattn_error_t *decode_operation(emu_decoder_t *decoder,
                                       const ptx_instruction_t *syntax,
                                       emu_insn_t *insn) {
  const emu_variant_t *variant = find_variant(syntax);
  if (variant)
    return decode_variant(decoder, syntax, variant, insn);
  emu_decode_t decode = find_decoder(syntax);
  if (!decode)
    return emu_unsupported(decoder, syntax,
                           "the emulator does not know this instruction, or "
                           "not with these parts");
  uattn_error_t *error = decode(decoder, syntax, insn);
  UATTN_CHECK(error || insn->execute);
  return error;
}

static uattn_error_t *decode_instruction(emu_decoder_t *decoder,
                                         const ptx_instruction_t *syntax,
                                         emu_insn_t *insn) {
  insn->syntax = syntax;
  classify(insn);
  decoder->source_count = decoder->target_count = 0;
  uattn_error_t *error = decode_guard(decoder, syntax, insn);
  if (!error)
    error = decode_operation(decoder, syntax, insn);
  if (!error)
    keep_registers(decoder, insn);
  return error;
}

static emu_outcome_t execute_end(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes) {
  (void)warp;
  (void)insn;
  (void)lanes;
  return EMU_EXITED;
}

/* What lanes that run past the last instruction execute. */
static const char *const end_parts[] = {"ret"};
static const ptx_instruction_t end_of_entry = {.parts = end_parts,
                                               .part_count = 1,
                                               .guard = -1,
                                               .text = "(end of the entry)"};

static uattn_error_t *decode_entry(emu_decoder_t *decoder) {
  const ptx_entry_t *entry = decoder->entry;
  emu_program_t *program = decoder->program;
  program->insn_count = entry->instruction_count + 1;
  program->insns = uattn_arena_allocate(
      decoder->arena, program->insn_count * sizeof *program->insns);
  make_registers(decoder);
  uattn_error_t *error = emu_variables_place(decoder);
  for (uint32_t i = 0; !error && i < entry->instruction_count; ++i)
    error = decode_instruction(decoder, &entry->instructions[i],
                               &program->insns[i]);
  for (uint32_t i = 0; !error && i < entry->instruction_count; ++i)
    mark_products(program, &program->insns[i]);
  program->insns[entry->instruction_count] =
      (emu_insn_t){.execute = execute_end, .syntax = &end_of_entry};
  return error;
}

uattn_error_t *emu_program_create(const ptx_module_t *module,
                                  const ptx_entry_t *entry,
                                  emu_program_t **out_program) {
  uattn_arena_t *arena = uattn_arena_create();
  emu_program_t *program = uattn_arena_allocate(arena, sizeof *program);
  *program = (emu_program_t){.arena = arena, .module = module, .entry = entry};
  emu_decoder_t decoder = {
      .module = module, .entry = entry, .program = program, .arena = arena};
  uattn_error_t *error = decode_entry(&decoder);
  if (error)
    emu_program_destroy(program);
  else
    *out_program = program;
  return error;
}

void emu_program_destroy(emu_program_t *program) {
  if (program)
    uattn_arena_destroy(program->arena);
}
