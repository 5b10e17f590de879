/* Pass uattn-plan: chooses a plan for every attention op.
 * Layer: passes. Must not know: how plans are chosen or obeyed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "passes/pass_runs.h"
#include "passes/plan_attribute.h"
#include "passes/walk.h"

static bool report(MlirOperation op, uattn_error_t *owned_error) {
  if (!owned_error)
    return true;
  uattn_emit_error(op, "%s", uattn_error_message(owned_error));
  uattn_error_destroy(owned_error);
  return false;
}

/* What plans are made for. */
typedef struct {
  const uattn_target_t *target;
  uattn_plan_compiler_t compiler; /* of forward ops */
} purpose_t;

static bool plan_op(MlirOperation op, const purpose_t *purpose) {
  const uattn_target_t *target = purpose->target;
  MlirContext context = mlirOperationGetContext(op);
  MlirAttribute attribute;
  uattn_problem_t problem;
  uattn_problem_from_op(op, &problem);
  if (problem.kind == UATTN_OP_BACKWARD) {
    uattn_backward_plan_t plan;
    if (!report(op, uattn_plan_backward(&problem, target, &plan)))
      return false;
    attribute = uattn_backward_plan_attribute(context, &plan, target);
  } else {
    uattn_forward_plan_t plan;
    if (!report(op,
                uattn_plan_forward(&problem, target, purpose->compiler, &plan)))
      return false;
    attribute = uattn_plan_attribute(context, &plan, target);
  }
  uattn_op_set_attribute(op, UATTN_ATTR_PLAN, attribute);
  return true;
}

/* A plan that is there already was meant. */
static bool needs_plan(MlirOperation op) {
  return mlirAttributeIsNull(uattn_op_get_attribute(op, UATTN_ATTR_PLAN));
}

static bool plan_ops(MlirOperation root, const char *name,
                     const purpose_t *purpose) {
  uattn_op_list_t found = uattn_collect_ops(root, name);
  bool is_ok = true;
  for (size_t i = 0; i < found.count; ++i)
    if (needs_plan(found.ops[i]))
      is_ok &= plan_op(found.ops[i], purpose);
  free(found.ops);
  return is_ok;
}

static bool read_purpose(MlirOperation root,
                         const uattn_pass_options_t *options,
                         purpose_t *out_purpose) {
  const char *chip = uattn_pass_options_get_string(options, "target");
  const char *compiler = uattn_pass_options_get_string(options, "compiler");
  bool is_triton = strcmp(compiler, "triton") == 0;
  *out_purpose = (purpose_t){uattn_target_find(chip),
                             is_triton ? UATTN_PLAN_COMPILER_TRITON
                                       : UATTN_PLAN_COMPILER_UATTN};
  if (!out_purpose->target) {
    uattn_emit_error(root, "target %s is not supported: expected sm_90a", chip);
    return false;
  }
  if (!is_triton && strcmp(compiler, "uattn") != 0) {
    uattn_emit_error(root, "compiler %s is not known: expected uattn or triton",
                     compiler);
    return false;
  }
  return true;
}

bool uattn_plan_run(MlirOperation root, const uattn_pass_options_t *options) {
  purpose_t purpose;
  if (!read_purpose(root, options, &purpose))
    return false;
  bool forward_is_ok = plan_ops(root, UATTN_OPNAME_RANKER_ATTENTION, &purpose);
  bool backward_is_ok =
      plan_ops(root, UATTN_OPNAME_RANKER_ATTENTION_BWD, &purpose);
  return forward_is_ok && backward_is_ok;
}
