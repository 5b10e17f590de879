/* Gets the artifact that is to be run, compiling a .mlir on the way.
 * Layer: tools. Must not know: MLIR, devices.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_COMPILE_H
#define UATTN_RUN_COMPILE_H

#include "uattn/artifact.h"

/* Whether the file can be read, before anything is begun. */
UATTN_NODISCARD uattn_error_t *run_check_file(const char *file);

typedef enum {
  RUN_KERNELS_NONE, /* the problem alone, for the reference */
  RUN_KERNELS_WANTED,
  RUN_KERNELS_IF_POSSIBLE /* the problem alone where they are refused */
} run_kernels_t;

/* Reads a .uattn, or lets the uattn-compile beside this program make one of a
 * .mlir. Where the compiler has refused the file, said why on stderr and ended
 * with a code other than 0, that is in `*out_exit_code` and there is neither an
 * artifact nor an error. `*out_refusal` is the first line of why there are no
 * kernels (free with free()), else NULL. */
UATTN_NODISCARD uattn_error_t *run_get_artifact(const char *file,
                                                run_kernels_t kernels,
                                                uattn_artifact_t **out_artifact,
                                                int *out_exit_code,
                                                char **out_refusal);

#endif /* UATTN_RUN_COMPILE_H */
