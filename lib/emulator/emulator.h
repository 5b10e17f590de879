/* The emulator object, for the layer's own files.
 * Layer: emulator. Must not know: how entries are run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_EMULATOR_H
#define UATTN_EMULATOR_EMULATOR_H

#include "emulator/decode_program.h"
#include "uattn/emulator.h"

struct uattn_emulator {
  ptx_module_t *module;
  emu_program_t **programs; /* of module->entries[i] */
};

#endif /* UATTN_EMULATOR_EMULATOR_H */
