/* From a command to the text or bytecode that it asks for.
 * Layer: tools. Must not know: how options are spelt, where output goes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_TOOLS_OPT_PROCESS_H
#define UATTN_TOOLS_OPT_PROCESS_H

#include "opt_command.h"

/* Parses, verifies, runs the passes and prints, for every piece of the input.
 * The error is a mistake of the command or an unreadable file;
 * `*out_is_right` is false where the IR was wrong, a pass failed or the
 * diagnostics were not those announced. Diagnostics go to stderr at once. */
UATTN_NODISCARD uattn_error_t *opt_process(const opt_command_t *command,
                                           uattn_string_t *out_result,
                                           bool *out_is_right);

#endif /* UATTN_TOOLS_OPT_PROCESS_H */
