/* One compilation: context, module, options, reporting.
 * Layer: compiler. Must not know: how any pass works.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_COMPILER_SESSION_H
#define UATTN_COMPILER_SESSION_H

#include "artifact/artifact.h"
#include "dialect/dialect.h"
#include "target/target.h"
#include "uattn/compiler.h"

typedef struct {
  uattn_compile_options_t options; /* complete, defaults filled in */
  uattn_source_t source;
  MlirContext context;
  MlirModule module;
  int dump_count;
} uattn_session_t;

/* A text that is no diagnostic of MLIR's: a warning of ours. */
void uattn_session_report(const uattn_session_t *session,
                          uattn_severity_t severity, const char *text);

/* Writes `text` to NAME in the dump directory, where there is one. */
UATTN_NODISCARD uattn_error_t *
uattn_session_dump(const uattn_session_t *session, const char *name,
                   const char *text);

/* Runs one pass, or a pipeline's part, on the module and dumps it. `code` is
 * the error's where it fails. */
UATTN_NODISCARD uattn_error_t *uattn_session_run(uattn_session_t *session,
                                                 const char *pass,
                                                 uattn_error_code_t code);

/* Lowers the module to the level `emit` (UATTN_EMIT_PLANNED to _LLVM). */
UATTN_NODISCARD uattn_error_t *uattn_session_lower(uattn_session_t *session,
                                                   uattn_emit_t emit);

/* The module as text. */
char *uattn_session_print(const uattn_session_t *session);

/* build_artifact.c: the module's functions as records without kernels. */
UATTN_NODISCARD uattn_error_t *
uattn_build_functions(const uattn_session_t *session,
                      uattn_artifact_t *artifact);

/* build_kernels.c: PTX and, with an assembler, cubin of every kernel of the
 * lowered module; the steps of `artifact` then name them. */
UATTN_NODISCARD uattn_error_t *
uattn_build_kernels(const uattn_session_t *session, uattn_artifact_t *artifact);

/* The attention ops of a function in order; free `ops`. */
typedef struct {
  MlirOperation *ops;
  size_t count;
} uattn_function_ops_t;
uattn_function_ops_t uattn_function_ops(MlirOperation function);
/* The functions of the module that hold attention ops, likewise. */
uattn_function_ops_t uattn_attention_functions(const uattn_session_t *session);

#endif /* UATTN_COMPILER_SESSION_H */
