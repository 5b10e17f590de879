/* uattn inside a program that uses MLIR itself: load the dialect into its
 * context, verify, run a pipeline.
 *
 * MLIR identifies types by addresses, so the program and uattn must share one
 * libMLIR of the same release; programs with an MLIR of their own exchange
 * text or bytecode with the uattn tools instead.
 *
 * Layer: dialect and passes (public). Must not know: plans, kernels, artifacts,
 * CUDA. SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_MLIR_H
#define UATTN_MLIR_H

#include <mlir-c/IR.h>

#include "uattn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the uattn dialect, and IRDL, in which it is written, into `context`.
 * Does nothing where it is loaded already. A context that holds some other
 * dialect called "uattn" is refused. Not while other threads use `context`. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_dialect_load(MlirContext context);

/* Checks what the dialect's declarations cannot: every rule that the ops'
 * meaning puts on shapes, types and attributes. Diagnostics stand at the op's
 * location, one at least for an op that is wrong. Ops of other dialects are
 * right. Reads `op` and its operands alone, so that passes on disjoint ops may
 * call it at once. Precondition: mlirOperationVerify(op). */
UATTN_EXPORT bool uattn_verify_op(MlirOperation op);

/* uattn_verify_op on `root` and on everything nested in it; false where any
 * of them is wrong, after all have been looked at. */
UATTN_EXPORT bool uattn_verify_module(MlirOperation root);

/* Runs a pipeline such as "builtin.module(uattn-verify,func.func(cse))" on
 * `root`: uattn's passes, and upstream's as far as the program has registered
 * them (mlirRegisterAllPasses). Verifies before the first pass and after each.
 * The text's mistakes come back as an error that names the position; IR that
 * is wrong gives diagnostics through the context and an error that says that
 * the pipeline failed, with `root` in an unspecified but valid state. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_pipeline_run(MlirOperation root, const char *pipeline);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_MLIR_H */
