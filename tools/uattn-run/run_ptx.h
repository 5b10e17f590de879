/* Runs a kernel of a .ptx file on the emulator as a description says.
 * Layer: tools. Must not know: attention, artifacts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_PTX_H
#define UATTN_RUN_PTX_H

#include "run_command.h"

/* Reads PTX, description and inputs, runs, writes outputs. `*out_exit_code` is
 * 1 where schedules differ. */
UATTN_NODISCARD uattn_error_t *run_ptx(const run_command_t *command,
                                       int *out_exit_code);

#endif /* UATTN_RUN_PTX_H */
