/* Artifacts by name, and their kernels on each GPU; kept until the process
 * ends, as XLA's executables may launch them until then.
 * Layer: python_bindings. Must not know: XLA's call frames.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_XLA_KERNEL_REGISTRY_H
#define UATTN_XLA_KERNEL_REGISTRY_H

#include "uattn/runtime.h"

/* NULL where the artifact's kernels are not on that GPU yet. Waits for no GPU
 * and allocates nothing. */
const uattn_program_t *
uattn_xla_find_program(const char *name, size_t name_size, int32_t ordinal);

/* Loads the kernels where they are not there yet. The artifact's op must be
 * `problem` but for sizes and types, which every launch checks. */
UATTN_NODISCARD uattn_error_t *
uattn_xla_load_program(const char *name, size_t name_size, int32_t ordinal,
                       const uattn_problem_t *problem);

#endif /* UATTN_XLA_KERNEL_REGISTRY_H */
