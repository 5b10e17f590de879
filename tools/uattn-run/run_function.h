/* Finds the function of an artifact that is to be run.
 * Layer: tools. Must not know: devices, values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_FUNCTION_H
#define UATTN_RUN_FUNCTION_H

#include "artifact/artifact.h"

/* By `name`, or the only one where that is NULL. Errors speak of `file` and
 * list the functions. */
UATTN_NODISCARD uattn_error_t *
run_find_function(const uattn_artifact_t *artifact, const char *file,
                  const char *name, uint32_t *out_function);

#endif /* UATTN_RUN_FUNCTION_H */
