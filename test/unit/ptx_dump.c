/* Prints every field of a PTX module.
 * Layer: test. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx_dump.h"

#include <inttypes.h>

static const char *const space_names[] = {
    "generic", "reg", "global", "shared", "local", "const", "param"};

static const char *const type_names[] = {
    "none",  "pred", "b8",     "b16",  "b32", "b64", "b128", "u8",
    "u16",   "u32",  "u64",    "s8",   "s16", "s32", "s64",  "f16",
    "f16x2", "bf16", "bf16x2", "tf32", "f32", "f64"};

static void dump_elements(const ptx_module_t *module, const ptx_entry_t *entry,
                          const ptx_operand_t *operand, const char *opening,
                          const char *closing, uattn_string_t *text) {
  uattn_string_append(text, opening);
  for (uint32_t i = 0; i < operand->element_count; ++i) {
    if (i > 0)
      uattn_string_append(text, " ");
    ptx_dump_operand(module, entry, &operand->elements[i], text);
  }
  if (operand->offset != 0)
    uattn_string_appendf(text, " %+" PRId64, operand->offset);
  uattn_string_append(text, closing);
}

static void dump_offset(const ptx_operand_t *operand, uattn_string_t *text) {
  if (operand->offset != 0)
    uattn_string_appendf(text, "%+" PRId64, operand->offset);
}

void ptx_dump_operand(const ptx_module_t *module, const ptx_entry_t *entry,
                      const ptx_operand_t *operand, uattn_string_t *text) {
  if (operand->is_negated)
    uattn_string_append(text, "not ");
  switch (operand->kind) {
  case PTX_OPERAND_REGISTER:
    uattn_string_appendf(text, "reg#%u=%s", operand->index,
                         entry->registers[operand->index].name);
    break;
  case PTX_OPERAND_SPECIAL:
    uattn_string_appendf(text, "special %s", operand->text);
    break;
  case PTX_OPERAND_INTEGER:
    uattn_string_appendf(text, "int %" PRId64, (int64_t)operand->bits);
    break;
  case PTX_OPERAND_FLOAT:
    uattn_string_appendf(text, "float%d %g bits %" PRIx64,
                         8 * operand->float_bytes, operand->number,
                         operand->bits);
    break;
  case PTX_OPERAND_VARIABLE:
    uattn_string_appendf(text, "var#%u=%s", operand->index,
                         module->variables[operand->index].name);
    dump_offset(operand, text);
    break;
  case PTX_OPERAND_PARAMETER:
    uattn_string_appendf(text, "param#%u=%s", operand->index,
                         entry->params[operand->index].name);
    dump_offset(operand, text);
    break;
  case PTX_OPERAND_LABEL:
    uattn_string_appendf(text, "label %s@%u", operand->text, operand->index);
    break;
  case PTX_OPERAND_VECTOR:
    dump_elements(module, entry, operand, "{", "}", text);
    break;
  case PTX_OPERAND_ADDRESS:
    dump_elements(module, entry, operand, "[", "]", text);
    break;
  case PTX_OPERAND_PAIR:
    dump_elements(module, entry, operand, "(", ")", text);
    break;
  case PTX_OPERAND_SINK:
    uattn_string_append(text, "sink");
    break;
  }
}

static void dump_instruction(const ptx_module_t *module,
                             const ptx_entry_t *entry, uint32_t index,
                             uattn_string_t *text) {
  const ptx_instruction_t *instruction = &entry->instructions[index];
  uattn_string_appendf(text, "  %u: line %d:", index, instruction->line);
  if (instruction->guard >= 0)
    uattn_string_appendf(text, " if %s%s",
                         instruction->guard_is_negated ? "not " : "",
                         entry->registers[instruction->guard].name);
  for (uint32_t i = 0; i < instruction->part_count; ++i)
    uattn_string_appendf(text, "%s%s", i > 0 ? " " : " <",
                         instruction->parts[i]);
  uattn_string_append(text, ">");
  for (uint32_t i = 0; i < instruction->operand_count; ++i) {
    uattn_string_append(text, i > 0 ? ", " : " ");
    ptx_dump_operand(module, entry, &instruction->operands[i], text);
  }
  uattn_string_appendf(text, " | %s\n", instruction->text);
}

static void dump_variable(const ptx_variable_t *variable,
                          uattn_string_t *text) {
  uattn_string_appendf(
      text, "var %s %s %s bytes %zu align %zu entry %d line %d%s",
      variable->name, space_names[variable->space], type_names[variable->type],
      variable->bytes, variable->alignment, (int)variable->entry,
      variable->line, variable->is_extern ? " extern" : "");
  for (size_t i = 0; variable->initial && i < variable->bytes; ++i)
    uattn_string_appendf(text, "%s%02x", i == 0 ? " = " : "",
                         variable->initial[i]);
  uattn_string_append(text, "\n");
}

static void dump_entry(const ptx_module_t *module, const ptx_entry_t *entry,
                       uattn_string_t *text) {
  uattn_string_appendf(
      text,
      "entry %s line %d params %zu bytes reqntid %u %u %u maxntid %u %u %u "
      "maxnreg %u\n",
      entry->name, entry->line, entry->param_bytes, entry->reqntid[0],
      entry->reqntid[1], entry->reqntid[2], entry->maxntid[0],
      entry->maxntid[1], entry->maxntid[2], entry->maxnreg);
  for (uint32_t i = 0; i < entry->param_count; ++i) {
    const ptx_parameter_t *param = &entry->params[i];
    uattn_string_appendf(text, "  param %s %s bytes %zu align %zu at %zu\n",
                         param->name, type_names[param->type], param->bytes,
                         param->alignment, param->offset);
  }
  for (uint32_t i = 0; i < entry->register_count; ++i)
    uattn_string_appendf(text, "  reg %s %s\n", entry->registers[i].name,
                         type_names[entry->registers[i].type]);
  for (uint32_t i = 0; i < entry->instruction_count; ++i)
    dump_instruction(module, entry, i, text);
}

void ptx_dump_module(const ptx_module_t *module, uattn_string_t *text) {
  uattn_string_appendf(text, "version %d.%d target %s\n", module->version_major,
                       module->version_minor, module->target);
  for (uint32_t i = 0; i < module->variable_count; ++i)
    dump_variable(&module->variables[i], text);
  for (uint32_t i = 0; i < module->entry_count; ++i)
    dump_entry(module, &module->entries[i], text);
}
