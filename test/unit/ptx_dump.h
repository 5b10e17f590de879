/* A PTX module as text, for comparison.
 * Layer: test. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PTX_DUMP_H
#define UATTN_PTX_DUMP_H

#include "emulator/ptx_syntax.h"

void ptx_dump_operand(const ptx_module_t *module, const ptx_entry_t *entry,
                      const ptx_operand_t *operand, uattn_string_t *text);
void ptx_dump_module(const ptx_module_t *module, uattn_string_t *text);

#endif /* UATTN_PTX_DUMP_H */
