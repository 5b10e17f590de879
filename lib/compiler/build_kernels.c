/* Kernels of a lowered module: images, launch facts, parameters.
 * Layer: compiler. Must not know: what a kernel does, the artifact's bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "compiler/session.h"
#include "passes/plan_attribute.h"
#include "passes/walk.h"

/* What each of the forward kernel's parameters is made from. */
static uattn_kernel_param_t param_record(uattn_plan_param_t param) {
  static const struct {
    bool is_result;
    int32_t tensor_index;
    uattn_quantity_t quantity;
  } facts[UATTN_FORWARD_PARAM_COUNT] = {
      [UATTN_FORWARD_PARAM_Q] = {false, UATTN_OPERAND_Q, 0},
      [UATTN_FORWARD_PARAM_K] = {false, UATTN_OPERAND_K, 0},
      [UATTN_FORWARD_PARAM_V] = {false, UATTN_OPERAND_V, 0},
      [UATTN_FORWARD_PARAM_OUT] = {true, UATTN_RESULT_OUT, 0},
      [UATTN_FORWARD_PARAM_K_DIAGONAL] = {false, UATTN_OPERAND_K, 0},
      [UATTN_FORWARD_PARAM_V_DIAGONAL] = {false, UATTN_OPERAND_V, 0},
      [UATTN_FORWARD_PARAM_LSE] = {true, UATTN_RESULT_LSE, 0},
      [UATTN_FORWARD_PARAM_TEMP] = {false, UATTN_OPERAND_TEMP, 0},
      [UATTN_FORWARD_PARAM_BOUNDS] = {false, UATTN_OPERAND_BOUNDS, 0},
      [UATTN_FORWARD_PARAM_Q_SEGMENT_IDS] = {false, UATTN_OPERAND_Q_SEGMENT_IDS,
                                             0},
      [UATTN_FORWARD_PARAM_KV_SEGMENT_IDS] = {false,
                                              UATTN_OPERAND_KV_SEGMENT_IDS, 0},
      [UATTN_FORWARD_PARAM_Q_TOKENS] = {false, 0, UATTN_QUANTITY_Q_TOKENS},
      [UATTN_FORWARD_PARAM_KV_TOKENS] = {false, 0, UATTN_QUANTITY_KV_TOKENS},
      [UATTN_FORWARD_PARAM_Q_HEADS] = {false, 0, UATTN_QUANTITY_Q_HEADS},
      [UATTN_FORWARD_PARAM_KV_HEADS] = {false, 0, UATTN_QUANTITY_KV_HEADS},
      [UATTN_FORWARD_PARAM_Q_TILES] = {false, 0, UATTN_QUANTITY_Q_TILES},
      [UATTN_FORWARD_PARAM_Q_OFFSET] = {false, 0, UATTN_QUANTITY_Q_OFFSET},
      [UATTN_FORWARD_PARAM_WINDOW_TOKENS] = {false, 0,
                                             UATTN_QUANTITY_WINDOW_TOKENS},
      [UATTN_FORWARD_PARAM_PRE_SCALE] = {false, 0, UATTN_QUANTITY_PRE_SCALE},
      [UATTN_FORWARD_PARAM_PRE_BIAS] = {false, 0, UATTN_QUANTITY_PRE_BIAS},
      [UATTN_FORWARD_PARAM_POST_SCALE] = {false, 0, UATTN_QUANTITY_POST_SCALE},
      [UATTN_FORWARD_PARAM_LSE_SHIFT] = {false, 0, UATTN_QUANTITY_LSE_SHIFT},
  };
  static const uattn_param_kind_t kinds[] = {
      [UATTN_PLAN_PARAM_TENSOR_MAP] = UATTN_PARAM_TENSOR_MAP,
      [UATTN_PLAN_PARAM_POINTER] = UATTN_PARAM_POINTER,
      [UATTN_PLAN_PARAM_I32] = UATTN_PARAM_I32,
      [UATTN_PLAN_PARAM_F32] = UATTN_PARAM_F32,
  };
  bool is_map = param.kind == UATTN_PLAN_PARAM_TENSOR_MAP;
  uattn_kernel_param_t record = {
      .kind = kinds[param.kind],
      .source = facts[param.what].is_result ? UATTN_PARAM_SOURCE_RESULT
                                            : UATTN_PARAM_SOURCE_OPERAND,
      .tensor_index = facts[param.what].tensor_index,
      .box_columns = is_map ? UATTN_PANEL_COLUMNS : 0,
      .box_rows = param.box_rows,
      .quantity = facts[param.what].quantity,
  };
  return record;
}

static uattn_artifact_kernel_t kernel_record(const uattn_forward_plan_t *plan,
                                             uint32_t image_index) {
  uattn_forward_layout_t layout = uattn_forward_layout(plan);
  uattn_plan_param_t params[UATTN_FORWARD_PARAM_COUNT];
  int count = uattn_forward_params(plan, params);
  uattn_string_t entry = {0};
  uattn_forward_kernel_name(plan, &entry);
  uattn_artifact_kernel_t record = {
      .entry = uattn_string_take(&entry),
      .image_index = image_index,
      .grid_rule = UATTN_GRID_Q_TILES,
      .rows_per_cta = layout.q_tile_rows,
      .threads = layout.threads,
      .dynamic_smem_bytes = layout.total_bytes,
      .sm_scale_sign = (int32_t)plan->scale_sign,
      /* With temp the kernel looks itself. */
      .largest_post_scale = plan->has_fixed_maximum && !plan->has_temp
                                ? UATTN_FIXED_MAXIMUM_LIMIT
                                : 0,
      .params = uattn_allocate((size_t)count * sizeof *record.params),
      .param_count = (uint32_t)count,
  };
  for (int i = 0; i < count; ++i)
    record.params[i] = param_record(params[i]);
  return record;
}

/* ---- Images ---------------------------------------------------------------
 */

/* Kernels of two plans may have one name, their modules have not. */
static uattn_error_t *dump_kernel(const uattn_session_t *session,
                                  MlirOperation gpu_module, const char *suffix,
                                  const char *text) {
  MlirStringRef symbol;
  uattn_string_t name = {0};
  UATTN_CHECK(uattn_op_get_string(gpu_module, "sym_name", &symbol));
  uattn_string_appendf(&name, "%.*s.%s", (int)symbol.length, symbol.data,
                       suffix);
  uattn_error_t *error =
      uattn_session_dump(session, uattn_string_get(&name), text);
  uattn_string_release(&name);
  return error;
}

static void warn(const uattn_session_t *session,
                 const uattn_assembly_report_t *report, const char *kernel) {
  uattn_string_t lines = {0};
  uattn_assembly_report_warn(report, kernel, &lines);
  char *rest = NULL;
  char *text = uattn_string_take(&lines);
  for (char *line = strtok_r(text, "\n", &rest); line;
       line = strtok_r(NULL, "\n", &rest)) {
    uattn_string_t message = {0};
    uattn_string_appendf(&message, "%s: warning: %s\n",
                         session->options.source_name, line);
    uattn_session_report(session, UATTN_SEVERITY_WARNING,
                         uattn_string_get(&message));
    uattn_string_release(&message);
  }
  free(text);
}

static bool wants_cubin(const uattn_session_t *session) {
  return session->options.emit != UATTN_EMIT_PTX &&
         (session->options.ptxas_path || session->options.nvjitlink_path);
}

/* nvJitLink compiles for linking and then ignores setmaxnreg, so that kernels
 * spill and their products are serialized; the driver compiles a PTX as a
 * whole. */
static bool is_better_left_to_driver(const uattn_session_t *session,
                                     const uattn_assembly_report_t *report) {
  return !session->options.ptxas_path && report->is_setmaxnreg_ignored &&
         session->options.emit == UATTN_EMIT_ARTIFACT;
}

static void tell_left_to_driver(const uattn_session_t *session,
                                const char *kernel) {
  uattn_string_t message = {0};
  uattn_string_appendf(&message,
                       "%s: warning: %s is left to the driver to compile: "
                       "nvJitLink ignores its setmaxnreg, ptxas would not\n",
                       session->options.source_name, kernel);
  uattn_session_report(session, UATTN_SEVERITY_WARNING,
                       uattn_string_get(&message));
  uattn_string_release(&message);
}

static uattn_error_t *assemble(const uattn_session_t *session,
                               MlirOperation gpu_module,
                               uattn_artifact_image_t *image,
                               uattn_artifact_kernel_t *kernel) {
  const uattn_assembler_t assembler = {
      .ptxas_path = session->options.ptxas_path,
      .nvjitlink_path = session->options.nvjitlink_path,
      .scratch_directory = session->options.scratch_directory};
  uattn_assembly_t assembly;
  uattn_error_t *error =
      uattn_target_assemble(&assembler, image->ptx, image->chip, &assembly);
  if (error)
    return uattn_error_annotate(error, "assembling %s", kernel->entry);
  if (is_better_left_to_driver(session, &assembly.report)) {
    free(assembly.cubin);
    tell_left_to_driver(session, kernel->entry);
  } else {
    image->cubin = assembly.cubin;
    image->cubin_bytes = assembly.cubin_bytes;
    kernel->entry_registers = assembly.report.registers;
    warn(session, &assembly.report, kernel->entry);
  }
  error = dump_kernel(session, gpu_module, "ptxas.txt", assembly.messages);
  free(assembly.messages);
  return error;
}

static uattn_error_t *build_image(const uattn_session_t *session,
                                  MlirOperation gpu_module,
                                  uattn_artifact_image_t *image,
                                  uattn_artifact_kernel_t *kernel) {
  uattn_ptx_t text = {NULL, NULL};
  uattn_error_t *error =
      uattn_target_emit_ptx(gpu_module, session->options.chip, &text);
  if (error)
    return error;
  image->chip = uattn_string_copy(session->options.chip);
  image->ptx = text.ptx;
  error = dump_kernel(session, gpu_module, "ll", text.llvm_ir);
  free(text.llvm_ir);
  if (!error)
    error = dump_kernel(session, gpu_module, "ptx", image->ptx);
  if (!error && wants_cubin(session))
    error = assemble(session, gpu_module, image, kernel);
  return error;
}

/* ---- Ops ------------------------------------------------------------------
 */

/* gpu.modules in order; kernel i of the artifact is that of module i. */
static bool is_called(MlirOperation module, MlirStringRef name) {
  MlirStringRef symbol;
  return uattn_op_get_string(module, "sym_name", &symbol) &&
         mlirStringRefEqual(symbol, name);
}

static uint32_t module_of_op(MlirOperation op, const uattn_op_list_t *modules) {
  MlirAttribute kernel = mlirArrayAttrGetElement(
      uattn_op_get_attribute(op, UATTN_ATTR_KERNELS), 0);
  MlirStringRef root = mlirSymbolRefAttrGetRootReference(kernel);
  for (size_t i = 0; i < modules->count; ++i)
    if (is_called(modules->ops[i], root))
      return (uint32_t)i;
  UATTN_CHECK(!"the op's gpu.module");
  return 0;
}

static uattn_error_t *build_step(const uattn_session_t *session,
                                 MlirOperation op,
                                 const uattn_op_list_t *modules,
                                 uattn_artifact_t *artifact,
                                 uattn_artifact_step_t *step) {
  uattn_forward_plan_t plan;
  const uattn_target_t *target;
  uattn_string_t plan_text = {0};
  uint32_t index = module_of_op(op, modules);
  UATTN_CHECK(uattn_plan_from_op(op, &plan, &target));
  uattn_forward_plan_print(&plan, target, &plan_text);
  free(step->plan_text);
  step->plan_text = uattn_string_take(&plan_text);
  step->first_kernel = index;
  step->kernel_count = 1;
  if (artifact->kernels[index].entry)
    return NULL; /* an earlier op built it */
  artifact->kernels[index] = kernel_record(&plan, index);
  return build_image(session, modules->ops[index], &artifact->images[index],
                     &artifact->kernels[index]);
}

/* A gpu.module that came with the source and that no op uses would be a kernel
 * without a launch. */
static uattn_error_t *check_all_used(const uattn_session_t *session,
                                     const uattn_op_list_t *modules,
                                     const uattn_artifact_t *artifact) {
  for (size_t i = 0; i < modules->count; ++i) {
    if (artifact->kernels[i].entry)
      continue;
    uattn_emit_error(modules->ops[i], "a gpu.module is the kernel of no op: "
                                      "expected those that uattn makes");
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "%s is not a module of uattn ops",
                              session->options.source_name);
  }
  return NULL;
}

uattn_error_t *uattn_build_kernels(const uattn_session_t *session,
                                   uattn_artifact_t *artifact) {
  uattn_op_list_t modules =
      uattn_collect_ops(mlirModuleGetOperation(session->module), "gpu.module");
  uattn_function_ops_t functions = uattn_attention_functions(session);
  uattn_error_t *error = NULL;
  artifact->kernel_count = artifact->image_count = (uint32_t)modules.count;
  artifact->kernels =
      uattn_allocate((modules.count + 1) * sizeof *artifact->kernels);
  artifact->images =
      uattn_allocate((modules.count + 1) * sizeof *artifact->images);
  for (size_t f = 0; f < functions.count && !error; ++f) {
    uattn_function_ops_t ops = uattn_function_ops(functions.ops[f]);
    for (size_t i = 0; i < ops.count && !error; ++i)
      error = build_step(session, ops.ops[i], &modules, artifact,
                         &artifact->functions[f].steps[i]);
    free(ops.ops);
  }
  if (!error)
    error = check_all_used(session, &modules, artifact);
  free(functions.ops);
  free(modules.ops);
  return error;
}
