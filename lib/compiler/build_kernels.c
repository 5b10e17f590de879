/* Kernels of a lowered module: images, launch facts, parameters.
 * Layer: compiler. Must not know: what a kernel does, the artifact's bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "compiler/session.h"
#include "passes/plan_attribute.h"
#include "passes/walk.h"

/* What a kernel parameter is made from. */
typedef struct {
  uattn_param_source_t source;
  int32_t tensor_index;
  uattn_quantity_t quantity;
} param_fact_t;

#define OPERAND(name)                                                          \
  { UATTN_PARAM_SOURCE_OPERAND, UATTN_OPERAND_##name, UATTN_QUANTITY_NONE }
#define RESULT(name)                                                           \
  { UATTN_PARAM_SOURCE_RESULT, UATTN_RESULT_##name, UATTN_QUANTITY_NONE }
#define SCRATCH(index)                                                         \
  { UATTN_PARAM_SOURCE_SCRATCH, index, UATTN_QUANTITY_NONE }
#define QUANTITY(name)                                                         \
  { UATTN_PARAM_SOURCE_OPERAND, 0, UATTN_QUANTITY_##name }

static const param_fact_t forward_facts[UATTN_FORWARD_PARAM_COUNT] = {
    [UATTN_FORWARD_PARAM_Q] = OPERAND(Q),
    [UATTN_FORWARD_PARAM_K] = OPERAND(K),
    [UATTN_FORWARD_PARAM_V] = OPERAND(V),
    [UATTN_FORWARD_PARAM_OUT] = RESULT(OUT),
    [UATTN_FORWARD_PARAM_K_DIAGONAL] = OPERAND(K),
    [UATTN_FORWARD_PARAM_V_DIAGONAL] = OPERAND(V),
    [UATTN_FORWARD_PARAM_LSE] = RESULT(LSE),
    [UATTN_FORWARD_PARAM_TEMP] = OPERAND(TEMP),
    [UATTN_FORWARD_PARAM_BOUNDS] = OPERAND(BOUNDS),
    [UATTN_FORWARD_PARAM_Q_SEGMENT_IDS] = OPERAND(Q_SEGMENT_IDS),
    [UATTN_FORWARD_PARAM_KV_SEGMENT_IDS] = OPERAND(KV_SEGMENT_IDS),
    [UATTN_FORWARD_PARAM_Q_TOKENS] = QUANTITY(Q_TOKENS),
    [UATTN_FORWARD_PARAM_KV_TOKENS] = QUANTITY(KV_TOKENS),
    [UATTN_FORWARD_PARAM_Q_HEADS] = QUANTITY(Q_HEADS),
    [UATTN_FORWARD_PARAM_KV_HEADS] = QUANTITY(KV_HEADS),
    [UATTN_FORWARD_PARAM_Q_TILES] = QUANTITY(Q_TILES),
    [UATTN_FORWARD_PARAM_Q_OFFSET] = QUANTITY(Q_OFFSET),
    [UATTN_FORWARD_PARAM_WINDOW_TOKENS] = QUANTITY(WINDOW_TOKENS),
    [UATTN_FORWARD_PARAM_PRE_SCALE] = QUANTITY(PRE_SCALE),
    [UATTN_FORWARD_PARAM_PRE_BIAS] = QUANTITY(PRE_BIAS),
    [UATTN_FORWARD_PARAM_POST_SCALE] = QUANTITY(POST_SCALE),
    [UATTN_FORWARD_PARAM_LSE_SHIFT] = QUANTITY(LSE_SHIFT),
};

/* The scratch that a backward op may have; which of it the kernels take says
 * their plan. */
enum {
  EXPONENT_SHIFT_SCRATCH,
  GRADIENT_SHIFT_SCRATCH,
  DTEMP_SHARE_SCRATCH,
  RECORDS_SCRATCH,
  DQ_SUMS_SCRATCH,
  BACKWARD_SCRATCH_COUNT
};
static const uattn_scratch_kind_t backward_scratch[BACKWARD_SCRATCH_COUNT] = {
    [EXPONENT_SHIFT_SCRATCH] = UATTN_SCRATCH_Q_ROWS,
    [GRADIENT_SHIFT_SCRATCH] = UATTN_SCRATCH_Q_ROWS,
    [DTEMP_SHARE_SCRATCH] = UATTN_SCRATCH_Q_ROWS,
    [RECORDS_SCRATCH] = UATTN_SCRATCH_Q_RECORDS,
    [DQ_SUMS_SCRATCH] = UATTN_SCRATCH_Q_SUMS,
};

static const param_fact_t backward_facts[UATTN_BACKWARD_PARAM_COUNT] = {
    [UATTN_BACKWARD_PARAM_Q] = OPERAND(Q),
    [UATTN_BACKWARD_PARAM_K] = OPERAND(K),
    [UATTN_BACKWARD_PARAM_V] = OPERAND(V),
    [UATTN_BACKWARD_PARAM_OUT] = OPERAND(OUT),
    [UATTN_BACKWARD_PARAM_DOUT] = OPERAND(DOUT),
    [UATTN_BACKWARD_PARAM_DQ] = RESULT(DQ),
    [UATTN_BACKWARD_PARAM_DK] = RESULT(DK),
    [UATTN_BACKWARD_PARAM_DV] = RESULT(DV),
    [UATTN_BACKWARD_PARAM_LSE] = OPERAND(LSE),
    [UATTN_BACKWARD_PARAM_DLSE] = OPERAND(DLSE),
    [UATTN_BACKWARD_PARAM_TEMP] = OPERAND(TEMP),
    [UATTN_BACKWARD_PARAM_BOUNDS] = OPERAND(BOUNDS),
    [UATTN_BACKWARD_PARAM_Q_SEGMENT_IDS] = OPERAND(Q_SEGMENT_IDS),
    [UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS] = OPERAND(KV_SEGMENT_IDS),
    [UATTN_BACKWARD_PARAM_EXPONENT_SHIFT] = SCRATCH(EXPONENT_SHIFT_SCRATCH),
    [UATTN_BACKWARD_PARAM_GRADIENT_SHIFT] = SCRATCH(GRADIENT_SHIFT_SCRATCH),
    [UATTN_BACKWARD_PARAM_DTEMP_SHARE] = SCRATCH(DTEMP_SHARE_SCRATCH),
    [UATTN_BACKWARD_PARAM_RECORDS] = SCRATCH(RECORDS_SCRATCH),
    [UATTN_BACKWARD_PARAM_DQ_SUMS] = SCRATCH(DQ_SUMS_SCRATCH),
    [UATTN_BACKWARD_PARAM_DTEMP] = RESULT(DTEMP),
    [UATTN_BACKWARD_PARAM_Q_TOKENS] = QUANTITY(Q_TOKENS),
    [UATTN_BACKWARD_PARAM_KV_TOKENS] = QUANTITY(KV_TOKENS),
    [UATTN_BACKWARD_PARAM_Q_HEADS] = QUANTITY(Q_HEADS),
    [UATTN_BACKWARD_PARAM_KV_HEADS] = QUANTITY(KV_HEADS),
    [UATTN_BACKWARD_PARAM_TILES] = QUANTITY(Q_TILES), /* dkv: KV_TILES */
    [UATTN_BACKWARD_PARAM_Q_OFFSET] = QUANTITY(Q_OFFSET),
    [UATTN_BACKWARD_PARAM_WINDOW_TOKENS] = QUANTITY(WINDOW_TOKENS),
    [UATTN_BACKWARD_PARAM_PRE_SCALE] = QUANTITY(PRE_SCALE),
    [UATTN_BACKWARD_PARAM_PRE_BIAS] = QUANTITY(PRE_BIAS),
    [UATTN_BACKWARD_PARAM_POST_SCALE] = QUANTITY(POST_SCALE),
    [UATTN_BACKWARD_PARAM_LSE_SHIFT] = QUANTITY(LSE_SHIFT),
    [UATTN_BACKWARD_PARAM_Z_LOSS_WEIGHT] = QUANTITY(Z_LOSS_WEIGHT),
    [UATTN_BACKWARD_PARAM_GRADIENT_SCALE] = QUANTITY(GRADIENT_SCALE),
};

static uattn_kernel_param_t param_record(const param_fact_t *fact,
                                         uattn_plan_param_t param) {
  static const uattn_param_kind_t kinds[] = {
      [UATTN_PLAN_PARAM_TENSOR_MAP] = UATTN_PARAM_TENSOR_MAP,
      [UATTN_PLAN_PARAM_POINTER] = UATTN_PARAM_POINTER,
      [UATTN_PLAN_PARAM_I32] = UATTN_PARAM_I32,
      [UATTN_PLAN_PARAM_F32] = UATTN_PARAM_F32,
  };
  bool is_map = param.kind == UATTN_PLAN_PARAM_TENSOR_MAP;
  return (uattn_kernel_param_t){
      .kind = kinds[param.kind],
      .source = fact->source,
      .tensor_index = fact->tensor_index,
      .box_columns = is_map ? UATTN_PANEL_COLUMNS : 0,
      .box_rows = param.box_rows,
      .quantity = fact->quantity,
  };
}

static uattn_artifact_kernel_t
forward_kernel_record(const uattn_forward_plan_t *plan, uint32_t image_index) {
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
    record.params[i] = param_record(&forward_facts[params[i].what], params[i]);
  return record;
}

/* Where each scratch is among those that the plan's kernels take, -1 where none
 * does; returns how many do. */
static uint32_t number_scratch(const uattn_backward_plan_t *plan,
                               int32_t out_places[BACKWARD_SCRATCH_COUNT]) {
  uattn_backward_kernel_kind_t kinds[UATTN_BACKWARD_KERNEL_COUNT];
  bool is_taken[BACKWARD_SCRATCH_COUNT] = {false};
  int32_t kernel_count = uattn_backward_kernels(plan, kinds);
  for (int32_t k = 0; k < kernel_count; ++k) {
    uattn_plan_param_t params[UATTN_BACKWARD_PARAM_COUNT];
    int count = uattn_backward_params(plan, kinds[k], params);
    for (int i = 0; i < count; ++i) {
      const param_fact_t *fact = &backward_facts[params[i].what];
      if (fact->source == UATTN_PARAM_SOURCE_SCRATCH)
        is_taken[fact->tensor_index] = true;
    }
  }
  int32_t taken = 0;
  for (int i = 0; i < BACKWARD_SCRATCH_COUNT; ++i)
    out_places[i] = is_taken[i] ? taken++ : -1;
  return (uint32_t)taken;
}

static uattn_artifact_kernel_t
backward_kernel_record(const uattn_backward_plan_t *plan,
                       uattn_backward_kernel_kind_t kind,
                       uint32_t image_index) {
  uattn_backward_layout_t layout = uattn_backward_layout(plan, kind);
  uattn_plan_param_t params[UATTN_BACKWARD_PARAM_COUNT];
  int count = uattn_backward_params(plan, kind, params);
  bool keys_stay = uattn_backward_keys_stay(kind);
  uattn_string_t entry = {0};
  uattn_backward_kernel_name(plan, kind, &entry);
  uattn_artifact_kernel_t record = {
      .entry = uattn_string_take(&entry),
      .image_index = image_index,
      .grid_rule = keys_stay ? UATTN_GRID_KV_TILES : UATTN_GRID_Q_TILES,
      .rows_per_cta = layout.rows_per_cta,
      .threads = layout.threads,
      .dynamic_smem_bytes = layout.total_bytes,
      .params = uattn_allocate((size_t)count * sizeof *record.params),
      .param_count = (uint32_t)count,
  };
  int32_t scratch[BACKWARD_SCRATCH_COUNT];
  number_scratch(plan, scratch);
  for (int i = 0; i < count; ++i) {
    record.params[i] = param_record(&backward_facts[params[i].what], params[i]);
    if (record.params[i].source == UATTN_PARAM_SOURCE_SCRATCH)
      record.params[i].tensor_index = scratch[record.params[i].tensor_index];
    if (keys_stay && params[i].what == UATTN_BACKWARD_PARAM_TILES)
      record.params[i].quantity = UATTN_QUANTITY_KV_TILES;
  }
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

static uint32_t module_of_kernel(MlirOperation op, intptr_t kernel_index,
                                 const uattn_op_list_t *modules) {
  MlirAttribute kernel = mlirArrayAttrGetElement(
      uattn_op_get_attribute(op, UATTN_ATTR_KERNELS), kernel_index);
  MlirStringRef root = mlirSymbolRefAttrGetRootReference(kernel);
  for (size_t i = 0; i < modules->count; ++i)
    if (is_called(modules->ops[i], root))
      return (uint32_t)i;
  UATTN_CHECK(!"the op's gpu.module");
  return 0;
}

/* The record of a kernel of `op`. */
static uattn_artifact_kernel_t
kernel_record(MlirOperation op, uint32_t kernel_index, uint32_t image_index) {
  const uattn_target_t *target;
  if (uattn_op_is(op, UATTN_OPNAME_RANKER_ATTENTION_BWD)) {
    uattn_backward_plan_t plan;
    UATTN_CHECK(uattn_backward_plan_from_op(op, &plan, &target));
    uattn_backward_kernel_kind_t kinds[UATTN_BACKWARD_KERNEL_COUNT];
    UATTN_CHECK((int32_t)kernel_index < uattn_backward_kernels(&plan, kinds));
    return backward_kernel_record(&plan, kinds[kernel_index], image_index);
  }
  uattn_forward_plan_t plan;
  UATTN_CHECK(uattn_plan_from_op(op, &plan, &target));
  return forward_kernel_record(&plan, image_index);
}

static void add_scratch(MlirOperation op, uattn_artifact_step_t *step) {
  if (!uattn_op_is(op, UATTN_OPNAME_RANKER_ATTENTION_BWD))
    return;
  uattn_backward_plan_t plan;
  const uattn_target_t *target;
  int32_t places[BACKWARD_SCRATCH_COUNT];
  UATTN_CHECK(uattn_backward_plan_from_op(op, &plan, &target));
  step->scratch_count = number_scratch(&plan, places);
  step->scratch = uattn_allocate(step->scratch_count * sizeof *step->scratch);
  for (int i = 0; i < BACKWARD_SCRATCH_COUNT; ++i)
    if (places[i] >= 0)
      step->scratch[places[i]] = backward_scratch[i];
}

/* The kernels of an op are those of modules that follow each other: they were
 * made together, and what tells one kernel's name from another's is in the
 * names of all. Only a source that was lowered before can have them in another
 * order. Those that an earlier op has built are there. */
static uattn_error_t *build_step(const uattn_session_t *session,
                                 MlirOperation op,
                                 const uattn_op_list_t *modules,
                                 uattn_artifact_t *artifact,
                                 uattn_artifact_step_t *step) {
  uattn_string_t plan_text = {0};
  UATTN_CHECK(uattn_op_append_plan_text(op, &plan_text));
  free(step->plan_text);
  step->plan_text = uattn_string_take(&plan_text);
  step->first_kernel = module_of_kernel(op, 0, modules);
  step->kernel_count = (uint32_t)mlirArrayAttrGetNumElements(
      uattn_op_get_attribute(op, UATTN_ATTR_KERNELS));
  add_scratch(op, step);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; i < step->kernel_count && !error; ++i) {
    uint32_t index = module_of_kernel(op, i, modules);
    if (index != step->first_kernel + i)
      return uattn_error_create(
          UATTN_ERROR_INVALID_ARGUMENT,
          "the gpu.modules of an op's kernels are not in the order in which "
          "the op names them: expected one after the other");
    if (artifact->kernels[index].entry)
      continue;
    artifact->kernels[index] = kernel_record(op, i, index);
    error = build_image(session, modules->ops[index], &artifact->images[index],
                        &artifact->kernels[index]);
  }
  return error;
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
