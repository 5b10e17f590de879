/* What a function reaches on a GPU, beside cuBLAS, and what bounds it.
 * Layer: tools. Must not know: MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_BENCH_FUNCTION_H
#define UATTN_BENCH_FUNCTION_H

#include "tools/uattn-run/run_command.h"
#include "uattn/problem.h"

/* Of the command, file, function, inputs, shapes and seed are read. `kind`
 * UATTN_OP_BACKWARD wants a function with a backward op, UATTN_OP_FORWARD one
 * without. All kernels of a call are timed together. Where the compiler has
 * refused the file, that is in `*out_exit_code`. */
UATTN_NODISCARD uattn_error_t *bench_function(const run_command_t *command,
                                              uattn_op_kind_t kind,
                                              int *out_exit_code);

#endif /* UATTN_BENCH_FUNCTION_H */
