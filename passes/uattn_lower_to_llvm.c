/* Pass uattn-lower-to-llvm: upstream's conversions to the llvm dialect.
 * Layer: passes. Must not know: kernels, layouts.
 * SPDX-License-Identifier: Apache-2.0 */
#include <mlir-c/Pass.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/dialect.h"
#include "passes/pass_runs.h"
#include "passes/walk.h"

/* In kernels alone: what a host function holds is not ours to convert.
 * convert-cf-to-llvm itself runs on builtin.module only. */
static const char conversions[] =
    "gpu.module(convert-scf-to-cf,convert-vector-to-llvm,"
    "convert-math-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,"
    "convert-to-llvm{filter-dialects=cf},reconcile-unrealized-casts,"
    "canonicalize,cse)";

/* Upstream's conversions pass over what they do not know. */
static MlirWalkResult refuse_own_op(MlirOperation op, void *user_data) {
  static const char prefix[] = UATTN_NAMESPACE ".";
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (strncmp(name.data, prefix, sizeof prefix - 1) != 0)
    return MlirWalkResultAdvance;
  uattn_emit_error(op,
                   "a kernel holds %.*s: expected kernels that "
                   "uattn-distribute-tiles has made",
                   (int)name.length, name.data);
  *(bool *)user_data = false;
  return MlirWalkResultInterrupt;
}

static bool check_kernels(MlirOperation root) {
  uattn_op_list_t modules = uattn_collect_ops(root, "gpu.module");
  bool is_right = true;
  for (size_t i = 0; i < modules.count && is_right; ++i)
    mlirOperationWalk(modules.ops[i], refuse_own_op, &is_right,
                      MlirWalkPreOrder);
  free(modules.ops);
  return is_right;
}

static void append_error(MlirStringRef text, void *user_data) {
  uattn_string_append_bytes(user_data, text.data, text.length);
}

bool uattn_lower_to_llvm_run(MlirOperation root,
                             const uattn_pass_options_t *options) {
  (void)options;
  if (!check_kernels(root))
    return false;
  MlirContext context = mlirOperationGetContext(root);
  MlirPassManager manager = mlirPassManagerCreateOnOperation(
      context, mlirStringRefCreateFromCString("builtin.module"));
  uattn_string_t error = {0};
  MlirLogicalResult parsed = mlirOpPassManagerAddPipeline(
      mlirPassManagerGetAsOpPassManager(manager),
      mlirStringRefCreateFromCString(conversions), append_error, &error);
  UATTN_CHECK(mlirLogicalResultIsSuccess(parsed));
  uattn_string_release(&error);
  MlirLogicalResult converted = mlirPassManagerRunOnOp(manager, root);
  mlirPassManagerDestroy(manager);
  return mlirLogicalResultIsSuccess(converted);
}
