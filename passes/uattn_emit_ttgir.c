/* Pass uattn-emit-ttgir: the planned forward op becomes a kernel that Triton
 * compiles.
 * Layer: passes. Must not know: what the kernel does.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A .ttgir file is a module with one kernel. What Triton's ops or this kernel
 * cannot say is refused at the op. */
#include <stdlib.h>

#include "passes/pass_runs.h"
#include "passes/plan_attribute.h"
#include "passes/ttgir.h"
#include "passes/walk.h"

/* ---- Match ----------------------------------------------------------------
 */

/* The forward op that the module is about; null after a diagnostic. */
static MlirOperation find_op(MlirOperation root) {
  MlirOperation none = {NULL}, op = none;
  uattn_op_list_t backward =
      uattn_collect_ops(root, UATTN_OPNAME_RANKER_ATTENTION_BWD);
  uattn_op_list_t forward =
      uattn_collect_ops(root, UATTN_OPNAME_RANKER_ATTENTION);
  if (backward.count > 0)
    uattn_emit_error(backward.ops[0],
                     "the backward op has no kernel in Triton's ops: expected "
                     "the forward op");
  else if (forward.count != 1)
    uattn_emit_error(forward.count > 1 ? forward.ops[1] : root,
                     "the module has %zu attention ops: expected 1, as a "
                     ".ttgir file has one kernel",
                     forward.count);
  else
    op = forward.ops[0];
  free(backward.ops);
  free(forward.ops);
  return op;
}

/* ---- Check ----------------------------------------------------------------
 */

/* Whether the module is one function of `op` and a return. */
static bool stands_alone(MlirOperation root, MlirOperation op) {
  MlirOperation function = mlirOperationGetParentOperation(op);
  MlirBlock top = mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0));
  MlirBlock body = mlirOperationGetBlock(op);
  MlirOperation end = mlirOperationGetNextInBlock(op);
  MlirOperation first = mlirBlockGetFirstOperation(top);
  if (!mlirOperationEqual(first, function) ||
      !mlirOperationIsNull(mlirOperationGetNextInBlock(first)))
    return false;
  return mlirOperationEqual(mlirBlockGetFirstOperation(body), op) &&
         !mlirOperationIsNull(end) &&
         mlirOperationIsNull(mlirOperationGetNextInBlock(end));
}

static bool check_place(MlirOperation root, MlirOperation op) {
  if (stands_alone(root, op))
    return true;
  uattn_emit_error(op, "the module holds more than this op: expected one "
                       "function with the op and its return, since nothing "
                       "else becomes part of the kernel");
  return false;
}

/* Positions are i32 in the kernel. */
static const int64_t max_position = INT64_C(1) << 30;

static bool check_position(MlirOperation op, const char *name, int64_t value) {
  if (value >= -max_position && value <= max_position)
    return true;
  uattn_emit_error(op, "%s is %lld: expected at most 2^30 in size", name,
                   (long long)value);
  return false;
}

static bool check_problem(MlirOperation op, const uattn_problem_t *problem) {
  int64_t head_dim = problem->head_dim;
  if (head_dim != uattn_ttgir_power_of_two((int32_t)head_dim)) {
    uattn_emit_error(op,
                     "head_dim is %lld: expected a power of two, as every "
                     "dimension of a tensor of Triton's",
                     (long long)head_dim);
    return false;
  }
  return check_position(op, UATTN_ATTR_WINDOW_LEN, problem->window_tokens) &&
         check_position(op, UATTN_ATTR_Q_OFFSET, problem->q_offset);
}

/* ---- Replace --------------------------------------------------------------
 */

/* What Triton asks for, and what the launch needs to know. */
static void set_module_attributes(MlirOperation root,
                                  const uattn_forward_plan_t *plan) {
  MlirContext context = mlirOperationGetContext(root);
  uattn_builder_t b = {.context = context};
  int32_t q_tile_rows = plan->consumer_warpgroups * UATTN_WARPGROUP_ROWS;
  const struct {
    const char *name;
    MlirAttribute value;
  } attributes[] = {
      {"ttg.num-ctas", uattn_attribute_i32(&b, 1)},
      {"ttg.num-warps", uattn_attribute_i32(&b, 4)},
      {"ttg.target", uattn_attribute_string(&b, "cuda:90")},
      {"ttg.threads-per-warp", uattn_attribute_i32(&b, 32)},
      {"uattn.kv_tile_rows",
       uattn_attribute_i32(&b, uattn_ttgir_power_of_two(plan->kv_tile_rows))},
      {"uattn.q_tile_rows", uattn_attribute_i32(&b, q_tile_rows)},
  };
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i)
    uattn_op_set_attribute(root, attributes[i].name, attributes[i].value);
}

static void replace(MlirOperation root, MlirOperation op,
                    const uattn_problem_t *problem,
                    const uattn_forward_plan_t *plan) {
  MlirOperation function = mlirOperationGetParentOperation(op);
  uattn_builder_t module = uattn_builder_at_end(mlirOperationGetBlock(function),
                                                mlirOperationGetLocation(op));
  uattn_string_t name = {0};
  uattn_forward_kernel_name(plan, &name);
  mlirOperationDestroy(function);
  uattn_ttgir_emit_kernel(&module, problem, plan, uattn_string_get(&name));
  set_module_attributes(root, plan);
  uattn_string_release(&name);
}

bool uattn_emit_ttgir_run(MlirOperation root,
                          const uattn_pass_options_t *options) {
  (void)options;
  if (!mlirContextGetAllowUnregisteredDialects(mlirOperationGetContext(root))) {
    uattn_emit_error(root, "Triton's dialects are not registered: expected "
                           "--allow-unregistered-dialect");
    return false;
  }
  uattn_problem_t problem;
  uattn_forward_plan_t plan;
  const uattn_target_t *target;
  MlirOperation op = find_op(root);
  if (mlirOperationIsNull(op) || !check_place(root, op) ||
      !uattn_plan_from_op(op, &plan, &target))
    return false;
  uattn_problem_from_op(op, &problem);
  if (!check_problem(op, &problem))
    return false;
  replace(root, op, &problem, &plan);
  return true;
}
