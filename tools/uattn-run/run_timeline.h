/* The picture of an emulated run, from the options to the file.
 * Layer: tools. Must not know: how it is made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_TIMELINE_H
#define UATTN_RUN_TIMELINE_H

#include "run_command.h"
#include "uattn/emulator.h"

/* NULL where the command wants none. */
UATTN_NODISCARD uattn_error_t *
run_timeline_create(const run_command_t *command,
                    uattn_emulator_timeline_t **out_timeline);

/* Writes it whole or not at all; nothing for NULL. */
UATTN_NODISCARD uattn_error_t *
run_timeline_write(const run_command_t *command,
                   uattn_emulator_timeline_t *timeline);

#endif /* UATTN_RUN_TIMELINE_H */
