/* Finds the sizes of a function's arguments from files and options.
 * Layer: tools. Must not know: devices, what the arguments hold.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_SHAPES_H
#define UATTN_RUN_SHAPES_H

#include "artifact/artifact.h"
#include "npy.h"
#include "run_command.h"

/* `arrays` are the inputs that are given, of the first arguments; they fit
 * rank and type. `out_shapes` has room for all arguments. A size that nothing
 * tells is an error that names it. */
UATTN_NODISCARD uattn_error_t *
run_find_shapes(const uattn_artifact_function_t *function,
                const uattn_function_dims_t *dims,
                const uattn_npy_array_t *arrays, const run_command_t *command,
                int64_t (*out_shapes)[4]);

#endif /* UATTN_RUN_SHAPES_H */
