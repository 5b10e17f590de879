/* Pass uattn-lower-to-pipeline: a kernel for every planned op.
 * Layer: passes. Must not know: what the kernel does.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The op stays where it is, as the description of the launch, and names its
 * kernels; ops that need the same kernel share it. */
#include <stdlib.h>

#include "emit/emit.h"
#include "passes/pass_runs.h"
#include "passes/plan_attribute.h"
#include "passes/walk.h"

/* The gpu.module called `name` in the body of `root`, or null. */
static MlirOperation find_module(MlirOperation root, const char *name) {
  MlirOperation none = {NULL};
  uattn_op_list_t modules = uattn_collect_ops(root, "gpu.module");
  MlirOperation found = none;
  for (size_t i = 0; i < modules.count; ++i) {
    MlirStringRef symbol;
    if (uattn_op_get_string(modules.ops[i], "sym_name", &symbol) &&
        uattn_string_ref_is(symbol, name))
      found = modules.ops[i];
  }
  free(modules.ops);
  return found;
}

/* The body of a new gpu.module. */
static uattn_builder_t append_module(MlirOperation root, MlirLocation location,
                                     const char *name) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0));
  uattn_builder_t outer = uattn_builder_at_end(body, location), inner;
  uattn_op_t op = uattn_op("gpu.module");
  uattn_op_attribute(&op, "sym_name", uattn_attribute_string(&outer, name));
  uattn_op_region(&op, uattn_region_create(&outer, NULL, 0, &inner));
  uattn_op_append(&outer, &op);
  return inner;
}

/* Two plans of one kernel name differ in their decisions and the sign of the
 * scale only, which this name holds. */
static void append_module_name(const uattn_forward_plan_t *plan,
                               uattn_string_t *out_name) {
  uattn_forward_kernel_name(plan, out_name);
  uattn_string_appendf(
      out_name, "_%dx%dx%d_r%d_%d_%d%s%s", plan->consumer_warpgroups,
      plan->kv_tile_rows, plan->stage_count, plan->entry_registers,
      plan->producer_registers, plan->consumer_registers,
      plan->is_ping_pong ? "" : "_free",
      plan->scale_sign == UATTN_SCALE_SIGN_NEGATIVE ? "_negated" : "");
  if (plan->has_fixed_maximum)
    uattn_string_append(out_name, "_fixed");
  if (plan->polynomial_period > 0)
    uattn_string_appendf(out_name, "_poly%d", plan->polynomial_period);
}

static MlirAttribute kernel_reference(MlirContext context,
                                      const uattn_string_t *module,
                                      const uattn_string_t *kernel) {
  return uattn_attribute_parse(context, "@%s::@%s", uattn_string_get(module),
                               uattn_string_get(kernel));
}

static bool lower_forward(MlirOperation root, MlirOperation op) {
  uattn_forward_plan_t plan;
  const uattn_target_t *target;
  if (!uattn_plan_from_op(op, &plan, &target))
    return false;
  MlirContext context = mlirOperationGetContext(op);
  uattn_string_t module_name = {0}, kernel_name = {0};
  append_module_name(&plan, &module_name);
  uattn_forward_kernel_name(&plan, &kernel_name);
  const char *name = uattn_string_get(&module_name);
  if (mlirOperationIsNull(find_module(root, name))) {
    uattn_builder_t body =
        append_module(root, mlirOperationGetLocation(op), name);
    uattn_emit_forward_kernel(&body, &plan);
  }
  MlirAttribute kernel = kernel_reference(context, &module_name, &kernel_name);
  uattn_op_set_attribute(op, UATTN_ATTR_KERNELS,
                         mlirArrayAttrGet(context, 1, &kernel));
  uattn_string_release(&module_name);
  uattn_string_release(&kernel_name);
  return true;
}

static MlirAttribute lower_backward_kernel(MlirOperation root, MlirOperation op,
                                           const uattn_backward_plan_t *plan,
                                           uattn_backward_kernel_kind_t kind) {
  uattn_string_t module_name = {0}, kernel_name = {0};
  uattn_backward_kernel_name(plan, kind, &kernel_name);
  uattn_string_appendf(&module_name, "%s_%dx%dx%d_r%d_%d_%d",
                       uattn_string_get(&kernel_name),
                       plan->consumer_warpgroups, plan->moving_tile_rows,
                       plan->stage_count, plan->entry_registers,
                       plan->producer_registers, plan->consumer_registers);
  const char *name = uattn_string_get(&module_name);
  if (mlirOperationIsNull(find_module(root, name))) {
    uattn_builder_t body =
        append_module(root, mlirOperationGetLocation(op), name);
    uattn_emit_backward_kernel(&body, plan, kind);
  }
  MlirAttribute kernel =
      kernel_reference(mlirOperationGetContext(op), &module_name, &kernel_name);
  uattn_string_release(&module_name);
  uattn_string_release(&kernel_name);
  return kernel;
}

static bool lower_backward(MlirOperation root, MlirOperation op) {
  uattn_backward_plan_t plan;
  const uattn_target_t *target;
  MlirAttribute kernels[UATTN_BACKWARD_KERNEL_COUNT];
  if (!uattn_backward_plan_from_op(op, &plan, &target))
    return false;
  uattn_backward_kernel_kind_t kinds[UATTN_BACKWARD_KERNEL_COUNT];
  int32_t count = uattn_backward_kernels(&plan, kinds);
  for (int32_t i = 0; i < count; ++i)
    kernels[i] = lower_backward_kernel(root, op, &plan, kinds[i]);
  uattn_op_set_attribute(
      op, UATTN_ATTR_KERNELS,
      mlirArrayAttrGet(mlirOperationGetContext(op), count, kernels));
  return true;
}

static bool lower_ops(MlirOperation root, const char *name,
                      bool (*lower)(MlirOperation root, MlirOperation op)) {
  uattn_op_list_t found = uattn_collect_ops(root, name);
  bool is_ok = true;
  for (size_t i = 0; i < found.count; ++i)
    is_ok &= lower(root, found.ops[i]);
  free(found.ops);
  return is_ok;
}

bool uattn_lower_to_pipeline_run(MlirOperation root,
                                 const uattn_pass_options_t *options) {
  (void)options;
  bool forward_is_ok =
      lower_ops(root, UATTN_OPNAME_RANKER_ATTENTION, lower_forward);
  bool backward_is_ok =
      lower_ops(root, UATTN_OPNAME_RANKER_ATTENTION_BWD, lower_backward);
  bool is_ok = forward_is_ok && backward_is_ok;
  if (is_ok)
    uattn_op_set_attribute(root, "gpu.container_module",
                           mlirUnitAttrGet(mlirOperationGetContext(root)));
  return is_ok;
}
