/* The public emulator object: a module and its decoded entries.
 * Layer: emulator. Must not know: how entries are run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/emulator.h"

#include <stdlib.h>

static uattn_error_t *decode_entries(uattn_emulator_t *emulator) {
  const ptx_module_t *module = emulator->module;
  emulator->programs =
      uattn_allocate((module->entry_count + 1) * sizeof *emulator->programs);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < module->entry_count; ++i)
    error =
        emu_program_create(module, &module->entries[i], &emulator->programs[i]);
  return error;
}

uattn_error_t *uattn_emulator_create(const char *name, const char *ptx,
                                     size_t size,
                                     uattn_emulator_t **out_emulator) {
  uattn_emulator_t *emulator = uattn_allocate(sizeof *emulator);
  uattn_error_t *error = ptx_module_parse(name, ptx, size, &emulator->module);
  if (!error)
    error = decode_entries(emulator);
  if (error)
    uattn_emulator_destroy(emulator);
  else
    *out_emulator = emulator;
  return error;
}

void uattn_emulator_destroy(uattn_emulator_t *emulator) {
  if (!emulator)
    return;
  if (emulator->programs)
    for (uint32_t i = 0; i < emulator->module->entry_count; ++i)
      emu_program_destroy(emulator->programs[i]);
  free(emulator->programs);
  ptx_module_destroy(emulator->module);
  free(emulator);
}

size_t uattn_emulator_entry_count(const uattn_emulator_t *emulator) {
  return emulator->module->entry_count;
}

const char *uattn_emulator_entry_name(const uattn_emulator_t *emulator,
                                      size_t entry) {
  return emulator->module->entries[entry].name;
}
