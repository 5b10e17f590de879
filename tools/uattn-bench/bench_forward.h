/* What a function reaches on a GPU, beside cuBLAS, and what bounds it.
 * Layer: tools. Must not know: MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_BENCH_FORWARD_H
#define UATTN_BENCH_FORWARD_H

#include "tools/uattn-run/run_command.h"

/* Of the command, file, function, inputs, shapes and seed are read. Where the
 * compiler has refused the file, that is in `*out_exit_code`. */
UATTN_NODISCARD uattn_error_t *bench_forward(const run_command_t *command,
                                             int *out_exit_code);

#endif /* UATTN_BENCH_FORWARD_H */
