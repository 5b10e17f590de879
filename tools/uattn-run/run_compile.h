/* Gets the artifact that is to be run, compiling a .mlir on the way.
 * Layer: tools. Must not know: MLIR, devices.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_COMPILE_H
#define UATTN_RUN_COMPILE_H

#include "uattn/artifact.h"

/* Whether the file can be read, before anything is begun. */
UATTN_NODISCARD uattn_error_t *run_check_file(const char *file);

/* Reads a .uattn, or lets the uattn-compile beside this program make one of a
 * .mlir: with kernels, or for the reference alone. Where the compiler has
 * refused the file, said why on stderr and ended with a code other than 0, that
 * is in `*out_exit_code` and there is neither an artifact nor an error. */
UATTN_NODISCARD uattn_error_t *run_get_artifact(const char *file,
                                                bool wants_kernels,
                                                uattn_artifact_t **out_artifact,
                                                int *out_exit_code);

#endif /* UATTN_RUN_COMPILE_H */
