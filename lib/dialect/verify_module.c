/* The semantic verifier's entry: which rules which op obeys.
 * Layer: dialect. Must not know: the rules themselves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect_verify.h"

#include <string.h>

static bool is_ours(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  size_t size = sizeof UATTN_NAMESPACE ".";
  return name.length >= size &&
         memcmp(name.data, UATTN_NAMESPACE ".", size - 1) == 0;
}

bool uattn_verify_op(MlirOperation op) {
  if (!is_ours(op))
    return true;
  return uattn_is_attention_op(op) ? uattn_verify_attention_op(op)
                                   : uattn_verify_pipeline_op(op);
}

static MlirWalkResult verify_visited(MlirOperation op, void *user_data) {
  bool *is_right = user_data;
  *is_right &= uattn_verify_op(op);
  return MlirWalkResultAdvance;
}

bool uattn_verify_module(MlirOperation root) {
  bool is_right = true;
  mlirOperationWalk(root, verify_visited, &is_right, MlirWalkPreOrder);
  return is_right;
}
