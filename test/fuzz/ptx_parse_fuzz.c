/* What a fuzzer calls: parses and decodes bytes as PTX.
 * Layer: test. Must not know: where the bytes come from.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/ptx_syntax.h"
#include "uattn/emulator.h"

/* Reads every byte that the tree promises; sanitizers watch. */
static volatile size_t bytes_read;

static void read_text(const char *text) {
  UATTN_CHECK(text);
  bytes_read += strlen(text);
}

static void check_operand(const ptx_module_t *module, const ptx_entry_t *entry,
                          const ptx_operand_t *operand, int depth) {
  UATTN_CHECK(depth < 3);
  switch (operand->kind) {
  case PTX_OPERAND_REGISTER:
    UATTN_CHECK(operand->index < entry->register_count);
    break;
  case PTX_OPERAND_VARIABLE:
    UATTN_CHECK(operand->index < module->variable_count);
    break;
  case PTX_OPERAND_PARAMETER:
    UATTN_CHECK(operand->index < entry->param_count);
    break;
  case PTX_OPERAND_LABEL:
    UATTN_CHECK(operand->index <= entry->instruction_count);
    break;
  case PTX_OPERAND_SPECIAL:
    read_text(operand->text);
    break;
  case PTX_OPERAND_VECTOR:
  case PTX_OPERAND_ADDRESS:
  case PTX_OPERAND_PAIR:
    UATTN_CHECK(operand->element_count > 0);
    break;
  case PTX_OPERAND_INTEGER:
  case PTX_OPERAND_FLOAT:
  case PTX_OPERAND_SINK:
    break;
  }
  for (uint32_t i = 0; i < operand->element_count; ++i)
    check_operand(module, entry, &operand->elements[i], depth + 1);
}

static void check_instruction(const ptx_module_t *module,
                              const ptx_entry_t *entry,
                              const ptx_instruction_t *instruction) {
  UATTN_CHECK(instruction->part_count > 0 && instruction->line > 0);
  UATTN_CHECK(instruction->guard < (int32_t)entry->register_count);
  read_text(instruction->text);
  for (uint32_t i = 0; i < instruction->part_count; ++i)
    read_text(instruction->parts[i]);
  for (uint32_t i = 0; i < instruction->operand_count; ++i)
    check_operand(module, entry, &instruction->operands[i], 0);
}

static void check_entry(const ptx_module_t *module, const ptx_entry_t *entry) {
  read_text(entry->name);
  for (uint32_t i = 0; i < entry->param_count; ++i) {
    const ptx_parameter_t *param = &entry->params[i];
    read_text(param->name);
    UATTN_CHECK(param->offset % param->alignment == 0);
    UATTN_CHECK(param->offset + param->bytes <= entry->param_bytes);
  }
  for (uint32_t i = 0; i < entry->register_count; ++i)
    read_text(entry->registers[i].name);
  for (uint32_t i = 0; i < entry->instruction_count; ++i)
    check_instruction(module, entry, &entry->instructions[i]);
}

static void check_module(const ptx_module_t *module) {
  read_text(module->target);
  for (uint32_t i = 0; i < module->variable_count; ++i) {
    const ptx_variable_t *variable = &module->variables[i];
    read_text(variable->name);
    UATTN_CHECK(variable->bytes > 0 || variable->is_extern);
    UATTN_CHECK(variable->entry < (int32_t)module->entry_count);
    for (size_t at = 0; variable->initial && at < variable->bytes; ++at)
      bytes_read += variable->initial[at];
  }
  for (uint32_t i = 0; i < module->entry_count; ++i)
    check_entry(module, &module->entries[i]);
}

/* Every message says where. */
static void check_error(const uattn_error_t *error) {
  const char *message = uattn_error_message(error);
  UATTN_CHECK(strncmp(message, "fuzz:", 5) == 0);
  UATTN_CHECK(strtol(message + 5, NULL, 10) > 0);
  UATTN_CHECK(uattn_error_exit_code(error) == 2);
}

/* What parses may still be refused; nothing is executed. */
static void decode(const char *text, size_t size) {
  uattn_emulator_t *emulator = NULL;
  uattn_error_t *error = uattn_emulator_create("fuzz", text, size, &emulator);
  UATTN_CHECK(!error == !!emulator);
  if (error)
    check_error(error);
  size_t count = emulator ? uattn_emulator_entry_count(emulator) : 0;
  for (size_t i = 0; i < count; ++i)
    read_text(uattn_emulator_entry_name(emulator, i));
  uattn_error_destroy(error);
  uattn_emulator_destroy(emulator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = uattn_allocate(size + 1); /* not a byte more */
  memcpy(text, data, size);
  ptx_module_t *module = NULL;
  uattn_error_t *error = ptx_module_parse("fuzz", text, size, &module);
  UATTN_CHECK(!error == !!module);
  if (error)
    check_error(error);
  if (module)
    check_module(module);
  if (module)
    decode(text, size);
  free(text);
  uattn_error_destroy(error);
  ptx_module_destroy(module);
  return 0;
}
