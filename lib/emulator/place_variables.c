/* Gives the variables of a program their places in the state spaces.
 * Layer: emulator. Must not know: instructions, launches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode_program.h"

/* Static variables lie before dynamic shared memory, which starts aligned for
 * any type; local memory of the threads is kept apart likewise. */
enum { LEAST_ALIGNMENT = 16 };

typedef struct {
  const emu_decoder_t *decoder;
  bool *is_used; /* by the entry, of module->variables[i] */
} placing_t;

static void mark_used(placing_t *placing, const ptx_operand_t *operand) {
  if (operand->kind == PTX_OPERAND_VARIABLE)
    placing->is_used[operand->index] = true;
  for (uint32_t i = 0; i < operand->element_count; ++i)
    mark_used(placing, &operand->elements[i]);
}

static void mark_all_used(placing_t *placing) {
  const ptx_entry_t *entry = placing->decoder->entry;
  for (uint32_t i = 0; i < entry->instruction_count; ++i)
    for (uint32_t j = 0; j < entry->instructions[i].operand_count; ++j)
      mark_used(placing, &entry->instructions[i].operands[j]);
}

static size_t align_up(size_t value, size_t alignment) {
  return alignment ? (value + alignment - 1) / alignment * alignment : value;
}

/* The size of the space that holds `variable`, NULL where none does. */
static size_t *space_of(emu_program_t *program,
                        const ptx_variable_t *variable) {
  switch (variable->space) {
  case PTX_SPACE_SHARED:
    return &program->static_shared_bytes;
  case PTX_SPACE_LOCAL:
    return &program->local_bytes;
  case PTX_SPACE_GLOBAL:
    return &program->global_bytes;
  case PTX_SPACE_CONST:
    return &program->const_bytes;
  default:
    return NULL;
  }
}

static bool is_dynamic(const ptx_variable_t *variable) {
  return variable->space == PTX_SPACE_SHARED && variable->is_extern;
}

/* Places everything of a size; false where the sizes overflow. */
static bool place_static(placing_t *placing) {
  const ptx_module_t *module = placing->decoder->module;
  emu_program_t *program = placing->decoder->program;
  for (uint32_t i = 0; i < module->variable_count; ++i) {
    const ptx_variable_t *variable = &module->variables[i];
    bool is_of_module = variable->space == PTX_SPACE_GLOBAL ||
                        variable->space == PTX_SPACE_CONST;
    size_t *space = space_of(program, variable);
    if (is_dynamic(variable) || !space ||
        (!is_of_module && !placing->is_used[i]))
      continue;
    size_t place = align_up(*space, variable->alignment);
    program->variable_offsets[i] =
        place + (variable->space == PTX_SPACE_GLOBAL ? EMU_GLOBAL_WINDOW : 0);
    if (place < *space || !uattn_size_add(place, variable->bytes, space))
      return false;
  }
  return true;
}

static void place_dynamic(placing_t *placing) {
  const ptx_module_t *module = placing->decoder->module;
  emu_program_t *program = placing->decoder->program;
  size_t alignment = LEAST_ALIGNMENT;
  for (uint32_t i = 0; i < module->variable_count; ++i)
    if (is_dynamic(&module->variables[i]) && placing->is_used[i] &&
        module->variables[i].alignment > alignment)
      alignment = module->variables[i].alignment;
  program->static_shared_bytes =
      align_up(program->static_shared_bytes, alignment);
  for (uint32_t i = 0; i < module->variable_count; ++i)
    if (is_dynamic(&module->variables[i]))
      program->variable_offsets[i] = program->static_shared_bytes;
}

static uattn_error_t *check_externs(const placing_t *placing) {
  const ptx_module_t *module = placing->decoder->module;
  for (uint32_t i = 0; i < module->variable_count; ++i) {
    const ptx_variable_t *variable = &module->variables[i];
    if (placing->is_used[i] && variable->is_extern && !is_dynamic(variable))
      return uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                                "%s:%d: %s is defined in another module: "
                                "expected one module with all variables",
                                module->name, variable->line, variable->name);
  }
  return NULL;
}

uattn_error_t *emu_variables_place(const emu_decoder_t *decoder) {
  const ptx_module_t *module = decoder->module;
  emu_program_t *program = decoder->program;
  placing_t placing = {.decoder = decoder,
                       .is_used = uattn_arena_allocate(
                           decoder->arena, (module->variable_count + 1) *
                                               sizeof *placing.is_used)};
  program->variable_offsets = uattn_arena_allocate(
      decoder->arena,
      (module->variable_count + 1) * sizeof *program->variable_offsets);
  mark_all_used(&placing);
  uattn_error_t *error = check_externs(&placing);
  if (!error && !place_static(&placing))
    error = uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                               "%s: the variables of %s are too large",
                               module->name, decoder->entry->name);
  if (error)
    return error;
  place_dynamic(&placing);
  program->local_bytes = align_up(program->local_bytes, LEAST_ALIGNMENT);
  return NULL;
}
