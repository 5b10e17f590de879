/* The registers that an instruction names, which it reads and which it writes,
 * and how it reads their bits.
 * Layer: emulator. Must not know: values, how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode.h"
#include "emulator/decode_program.h"
#include "emulator/trace_parts.h"

typedef struct {
  const emu_program_t *program;
  const ptx_instruction_t *syntax;
  ptx_type_t types[8]; /* of the opcode, from the left */
  uint32_t type_count;
  uint32_t operand; /* the outermost one that is looked at */
  bool is_target;
  bool is_address; /* inside brackets: the opcode's types are not its own */
  emu_trace_operand_t *found;
  uint32_t found_count;
} finder_t;

static bool opcode_is(const ptx_instruction_t *syntax, const char *name) {
  return strcmp(syntax->parts[0], name) == 0;
}

static bool has_part(const ptx_instruction_t *syntax, const char *name) {
  for (uint32_t i = 1; i < syntax->part_count; ++i)
    if (strcmp(syntax->parts[i], name) == 0)
      return true;
  return false;
}

/* Instructions write their first operand, but for those that give it to
 * somebody else; an address in brackets is read. */
static bool writes_first(const ptx_instruction_t *syntax) {
  static const char *const readers[] = {"nanosleep", "bra", "brx", "setmaxnreg",
                                        "st",        "red", "cp"};
  for (size_t i = 0; i < sizeof readers / sizeof *readers; ++i)
    if (opcode_is(syntax, readers[i]))
      return false;
  if (opcode_is(syntax, "bar") || opcode_is(syntax, "barrier"))
    return has_part(syntax, "red");
  return syntax->operand_count > 0 &&
         syntax->operands[0].kind != PTX_OPERAND_ADDRESS;
}

/* ---- Types -----------------------------------------------------------------
 */

static void find_types(finder_t *finder) {
  const ptx_instruction_t *syntax = finder->syntax;
  for (uint32_t i = 1; i < syntax->part_count && finder->type_count < 8; ++i) {
    const char *part = syntax->parts[i];
    ptx_type_t type = ptx_type_parse(part, strlen(part));
    if (type != PTX_TYPE_NONE)
      finder->types[finder->type_count++] = type;
  }
}

/* Registers of matrices hold pairs; the opcode has a type an operand. */
static ptx_type_t matrix_type(const finder_t *finder) {
  ptx_type_t type = finder->operand < finder->type_count
                        ? finder->types[finder->operand]
                        : PTX_TYPE_NONE;
  if (type == PTX_TYPE_BF16)
    return PTX_TYPE_BF16X2;
  return type == PTX_TYPE_F16 ? PTX_TYPE_F16X2 : type;
}

/* Compilers keep floats in registers of bits: the opcode says what they are,
 * its first type of what is written, its last one of what is read. */
static ptx_type_t type_of(const finder_t *finder, ptx_type_t declared) {
  size_t bytes = ptx_type_bytes(declared);
  if (finder->is_address || ptx_type_is_float(declared) || bytes == 0)
    return declared;
  if (opcode_is(finder->syntax, "mma") || opcode_is(finder->syntax, "wgmma")) {
    ptx_type_t type = matrix_type(finder);
    return ptx_type_bytes(type) == bytes ? type : declared;
  }
  ptx_type_t found = declared;
  for (uint32_t i = 0; i < finder->type_count; ++i) {
    if (ptx_type_bytes(finder->types[i]) != bytes)
      continue;
    found = finder->types[i];
    if (finder->is_target)
      break;
  }
  return found;
}

/* ---- Registers -------------------------------------------------------------
 */

static void add(finder_t *finder, const char *name, emu_row_t row,
                ptx_type_t type) {
  row.is_negated = false;
  if (row.kind == EMU_ROW_NONE ||
      finder->found_count == EMU_TRACE_MOST_OPERANDS)
    return;
  for (uint32_t i = 0; i < finder->found_count; ++i) {
    const emu_trace_operand_t *other = &finder->found[i];
    if (other->row.kind == row.kind && other->row.index == row.index &&
        other->is_target == finder->is_target)
      return;
  }
  finder->found[finder->found_count++] =
      (emu_trace_operand_t){.name = name,
                            .row = row,
                            .type = type_of(finder, type),
                            .is_target = finder->is_target};
}

/* Those that change while a thread runs have no row: what was read is what was
 * written. */
static void add_special(finder_t *finder, const char *name) {
  const emu_program_t *program = finder->program;
  int special = emu_special_find(name);
  for (uint32_t i = 0; special >= 0 && i < program->special_count; ++i)
    if (program->specials[i].special == (uint32_t)special)
      add(finder, name, program->specials[i].row, emu_special_type(special));
}

static void add_register(finder_t *finder, uint32_t index) {
  const ptx_register_t *reg = &finder->program->entry->registers[index];
  add(finder, reg->name, finder->program->register_rows[index], reg->type);
}

static void look(finder_t *finder, const ptx_operand_t *operand) {
  if (operand->kind == PTX_OPERAND_REGISTER)
    add_register(finder, operand->index);
  else if (operand->kind == PTX_OPERAND_SPECIAL)
    add_special(finder, operand->text);
  if (operand->kind != PTX_OPERAND_VECTOR &&
      operand->kind != PTX_OPERAND_PAIR && operand->kind != PTX_OPERAND_ADDRESS)
    return;
  bool was_address = finder->is_address;
  finder->is_address |= operand->kind == PTX_OPERAND_ADDRESS;
  for (uint32_t i = 0; i < operand->element_count; ++i)
    look(finder, &operand->elements[i]);
  finder->is_address = was_address;
}

uint32_t
emu_trace_operands(const emu_program_t *program, const emu_insn_t *insn,
                   emu_trace_operand_t out_operands[EMU_TRACE_MOST_OPERANDS]) {
  const ptx_instruction_t *syntax = insn->syntax;
  finder_t finder = {
      .program = program, .syntax = syntax, .found = out_operands};
  bool writes = writes_first(syntax);
  bool is_product = opcode_is(syntax, "wgmma");
  find_types(&finder);
  for (uint32_t i = 0; i < syntax->operand_count; ++i) {
    finder.operand = i;
    finder.is_target = i == 0 && writes;
    if (i > 0 || !is_product)
      look(&finder, &syntax->operands[i]);
  }
  return finder.found_count;
}
