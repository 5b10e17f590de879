/* Finds the function of an artifact that is to be run.
 * Layer: tools. Must not know: devices, values.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_function.h"

#include <inttypes.h>

#include "support/support.h"

static uattn_error_t *name_functions(const uattn_artifact_t *artifact,
                                     const char *file) {
  uattn_string_t names = {0};
  for (uint32_t i = 0; i < artifact->function_count; ++i)
    uattn_string_appendf(&names, "%s%s", i > 0 ? ", " : "",
                         artifact->functions[i].name);
  uattn_error_t *error = uattn_error_create(
      UATTN_ERROR_INVALID_ARGUMENT,
      "`%s` has %" PRIu32 " functions: expected --function=NAME of one of %s",
      file, artifact->function_count, uattn_string_get(&names));
  uattn_string_release(&names);
  return error;
}

uattn_error_t *run_find_function(const uattn_artifact_t *artifact,
                                 const char *file, const char *name,
                                 uint32_t *out_function) {
  if (artifact->function_count == 0)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "`%s` has no function: expected one", file);
  if (!name && artifact->function_count > 1)
    return name_functions(artifact, file);
  int64_t found = name ? uattn_artifact_find_function(artifact, name) : 0;
  if (found < 0)
    return uattn_error_annotate(name_functions(artifact, file),
                                "no function %s", name);
  *out_function = (uint32_t)found;
  return NULL;
}
