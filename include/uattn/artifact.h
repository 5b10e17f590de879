/* Compiled artifacts: the file that a compiler writes and a runtime loads.
 * Layer: artifact (public). Must not know: MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_ARTIFACT_H
#define UATTN_ARTIFACT_H

#include "uattn/problem.h"
#include "uattn/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable once parsed; may be shared between threads. */
typedef struct uattn_artifact uattn_artifact_t;

/* The format that this library writes. It reads every minor number of its
 * major number up to its own, and refuses others by name. */
#define UATTN_ARTIFACT_FORMAT_MAJOR 1
#define UATTN_ARTIFACT_FORMAT_MINOR 2

/* Checks and copies a file's bytes; they need not outlive the call. A torn,
 * foreign or newer file gives an error that says what was found and wanted. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_artifact_parse(const void *bytes, size_t size,
                     uattn_artifact_t **out_artifact);

/* Reads and parses `path`. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_artifact_read(const char *path, uattn_artifact_t **out_artifact);

/* Accepts NULL. */
UATTN_EXPORT void uattn_artifact_destroy(uattn_artifact_t *artifact);

/* Functions by position in the source; names are borrowed from the artifact. */
UATTN_EXPORT size_t
uattn_artifact_function_count(const uattn_artifact_t *artifact);
UATTN_EXPORT const char *
uattn_artifact_function_name(const uattn_artifact_t *artifact, size_t function);
/* -1 where no function has that name. */
UATTN_EXPORT int64_t uattn_artifact_find_function(
    const uattn_artifact_t *artifact, const char *name);

/* An argument or result of a function. Dimensions past `rank` are 0. */
typedef struct {
  const char *name; /* "q", or "arg0" where the source does not say; borrowed */
  uattn_dtype_t dtype;
  int32_t rank;
  int64_t shape[4]; /* UATTN_DIM_DYNAMIC where free */
} uattn_value_info_t;

UATTN_EXPORT size_t uattn_artifact_argument_count(
    const uattn_artifact_t *artifact, size_t function);
UATTN_EXPORT size_t
uattn_artifact_result_count(const uattn_artifact_t *artifact, size_t function);
/* Indices must be below the counts. */
UATTN_EXPORT uattn_value_info_t uattn_artifact_argument(
    const uattn_artifact_t *artifact, size_t function, size_t argument);
UATTN_EXPORT uattn_value_info_t uattn_artifact_result(
    const uattn_artifact_t *artifact, size_t function, size_t result);

/* Ops of a function, in order of the source, and the plan that each one's
 * kernels obey, as uattn-opt's --uattn-print-plan prints it; "" of an op
 * without kernels. Borrowed from the artifact; `op` is below the count. */
UATTN_EXPORT size_t uattn_artifact_op_count(const uattn_artifact_t *artifact,
                                            size_t function);
UATTN_EXPORT const char *
uattn_artifact_plan_text(const uattn_artifact_t *artifact, size_t function,
                         size_t op);

/* Memory that a launch with these arguments wants, as
 * uattn_function_workspace_bytes says it of a loaded program. Of the arguments
 * only rank, shape and dtype are read. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_artifact_workspace_bytes(const uattn_artifact_t *artifact,
                               size_t function, const uattn_tensor_t *arguments,
                               size_t argument_count, size_t *out_bytes);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_ARTIFACT_H */
