/* Small artifacts that tests load, change and damage.
 * Layer: test. Must not know: the compiler, devices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sample_artifact.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const char sample_ptx[] = ".version 8.0\n"
                                 ".target sm_90a\n"
                                 ".address_size 64\n"
                                 ".visible .entry uattn_forward()\n"
                                 "{\n"
                                 "  ret;\n"
                                 "}\n";

static uattn_problem_t make_problem(const sample_options_t *options) {
  bool is_capped = options->cap_method != UATTN_CAP_NONE;
  bool is_alsc = options->cap_method == UATTN_CAP_ALSC;
  uattn_problem_t problem = {
      .kind = options->is_backward ? UATTN_OP_BACKWARD : UATTN_OP_FORWARD,
      .dtype = UATTN_DTYPE_BF16,
      .temp_dtype = UATTN_DTYPE_F32,
      .batch = options->is_dynamic ? UATTN_DIM_DYNAMIC : 1,
      .q_tokens = options->is_dynamic ? UATTN_DIM_DYNAMIC : 16,
      .kv_tokens = options->is_dynamic ? UATTN_DIM_DYNAMIC : 24,
      .q_heads = options->is_dynamic ? UATTN_DIM_DYNAMIC : 4,
      .kv_heads = options->is_dynamic ? UATTN_DIM_DYNAMIC : 2,
      .head_dim = 64,
      .cap = {.method = options->cap_method,
              .cap = is_capped ? 30 : 0,
              .alpha = is_alsc ? 4 : 0,
              .beta = is_alsc ? 0.5 : 0},
      .sm_scale = options->sm_scale != 0 ? options->sm_scale : 0.125,
      .window_tokens = options->window_tokens,
      .q_offset = options->q_offset,
      .z_loss_weight = options->z_loss_weight,
  };
  problem.has_operand[UATTN_OPERAND_Q] = true;
  problem.has_operand[UATTN_OPERAND_K] = true;
  problem.has_operand[UATTN_OPERAND_V] = true;
  problem.has_operand[UATTN_OPERAND_TEMP] = options->has_temp;
  problem.has_result[0] = true; /* out or dq */
  if (!options->is_backward)
    return problem;
  problem.has_operand[UATTN_OPERAND_OUT] = true;
  problem.has_operand[UATTN_OPERAND_LSE] = true;
  problem.has_operand[UATTN_OPERAND_DOUT] = true;
  problem.has_result[UATTN_RESULT_DK] = true;
  problem.has_result[UATTN_RESULT_DV] = true;
  problem.has_result[UATTN_RESULT_DTEMP] = options->has_temp;
  return problem;
}

static int32_t add_value(uattn_artifact_function_t *function, const char *name,
                         uattn_dtype_t dtype, int rank,
                         const int64_t shape[4]) {
  uattn_artifact_value_t *value = &function->values[function->value_count];
  value->name = uattn_string_copy(name);
  value->dtype = dtype;
  value->rank = rank;
  memcpy(value->shape, shape, (size_t)rank * sizeof *shape);
  return (int32_t)function->value_count++;
}

static int32_t add_operand(uattn_artifact_function_t *function,
                           const uattn_problem_t *problem,
                           uattn_operand_t operand) {
  int64_t shape[4] = {0};
  int rank = uattn_operand_shape(problem, operand, shape);
  return add_value(function, uattn_operand_name(operand),
                   uattn_operand_dtype(problem, operand), rank, shape);
}

static int32_t add_result(uattn_artifact_function_t *function,
                          const uattn_problem_t *problem, int result) {
  int64_t shape[4] = {0};
  int rank = uattn_result_shape(problem, result, shape);
  return add_value(function, uattn_result_name(problem->kind, result),
                   uattn_result_dtype(problem, result), rank, shape);
}

static void add_return(uattn_artifact_function_t *function, int32_t value) {
  function->result_values[function->result_count++] = value;
}

static void add_scratch(uattn_artifact_step_t *step) {
  step->scratch = uattn_allocate(2 * sizeof *step->scratch);
  step->scratch[0] = step->scratch[1] = UATTN_SCRATCH_Q_ROWS;
  step->scratch_count = 2;
}

static void fill_function(uattn_artifact_function_t *function,
                          const sample_options_t *options) {
  uint32_t op_count = options->op_count ? (uint32_t)options->op_count : 1;
  uattn_problem_t problem = make_problem(options);
  function->name = uattn_string_copy("main");
  uint32_t kernel_count = options->has_no_kernel ? 0
                          : options->is_backward ? 3
                                                 : 1;
  function->values =
      uattn_allocate((op_count * 4 + 12) * sizeof *function->values);
  function->result_values = uattn_allocate(4 * sizeof(int32_t));
  function->steps = uattn_allocate(op_count * sizeof *function->steps);
  int32_t arguments[UATTN_OPERAND_COUNT];
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    arguments[i] = problem.has_operand[i]
                       ? add_operand(function, &problem, (uattn_operand_t)i)
                       : -1;
  function->argument_count = function->value_count;
  for (uint32_t i = 0; i < op_count; ++i) {
    uattn_artifact_step_t *step = &function->steps[function->step_count++];
    step->problem = problem;
    if (!options->is_backward)
      step->problem.has_result[UATTN_RESULT_LSE] =
          options->has_lse && i + 1 == op_count;
    memcpy(step->operand_values, arguments, sizeof arguments);
    for (int r = 0; r < UATTN_RESULT_COUNT; ++r)
      step->result_values[r] =
          step->problem.has_result[r] ? add_result(function, &problem, r) : -1;
    arguments[UATTN_OPERAND_Q] = step->result_values[0];
    step->kernel_count = kernel_count;
    step->first_kernel = i * kernel_count;
    if (options->is_backward)
      add_scratch(step);
    step->plan_text = uattn_string_copy("a sample\n");
  }
  const uattn_artifact_step_t *last = &function->steps[op_count - 1];
  for (int r = 0; r < uattn_result_count(problem.kind); ++r)
    if (last->result_values[r] >= 0)
      add_return(function, last->result_values[r]);
}

static void add_tensor_param(uattn_artifact_kernel_t *kernel,
                             uattn_param_kind_t kind,
                             uattn_param_source_t source, int32_t index,
                             int32_t box_rows) {
  kernel->params[kernel->param_count++] = (uattn_kernel_param_t){
      .kind = kind,
      .source = source,
      .tensor_index = index,
      .box_columns = kind == UATTN_PARAM_TENSOR_MAP ? 64 : 0,
      .box_rows = kind == UATTN_PARAM_TENSOR_MAP ? box_rows : 0};
}

static void add_scalar_param(uattn_artifact_kernel_t *kernel,
                             uattn_quantity_t quantity) {
  kernel->params[kernel->param_count++] = (uattn_kernel_param_t){
      .kind = quantity >= UATTN_QUANTITY_PRE_SCALE ? UATTN_PARAM_F32
                                                   : UATTN_PARAM_I32,
      .quantity = quantity};
}

static void fill_kernel(uattn_artifact_kernel_t *kernel,
                        const sample_options_t *options,
                        const uattn_problem_t *problem) {
  static const uattn_quantity_t scalars[] = {
      UATTN_QUANTITY_BATCH,      UATTN_QUANTITY_Q_TOKENS,
      UATTN_QUANTITY_KV_TOKENS,  UATTN_QUANTITY_Q_HEADS,
      UATTN_QUANTITY_KV_HEADS,   UATTN_QUANTITY_Q_TILES,
      UATTN_QUANTITY_PRE_SCALE,  UATTN_QUANTITY_PRE_BIAS,
      UATTN_QUANTITY_POST_SCALE, UATTN_QUANTITY_LSE_SHIFT,
      UATTN_QUANTITY_Q_OFFSET,   UATTN_QUANTITY_WINDOW_TOKENS};
  kernel->entry = uattn_string_copy("uattn_forward");
  kernel->rows_per_cta = 128;
  kernel->threads = 384;
  kernel->dynamic_smem_bytes = 100000;
  kernel->entry_registers = 168;
  kernel->sm_scale_sign = options->sm_scale_sign;
  kernel->largest_post_scale = options->largest_post_scale;
  kernel->params = uattn_allocate(24 * sizeof *kernel->params);
  add_tensor_param(kernel, UATTN_PARAM_TENSOR_MAP, UATTN_PARAM_SOURCE_OPERAND,
                   UATTN_OPERAND_Q, 128);
  add_tensor_param(kernel, UATTN_PARAM_TENSOR_MAP, UATTN_PARAM_SOURCE_OPERAND,
                   UATTN_OPERAND_K, 64);
  add_tensor_param(kernel, UATTN_PARAM_TENSOR_MAP, UATTN_PARAM_SOURCE_OPERAND,
                   UATTN_OPERAND_V, 64);
  add_tensor_param(kernel, UATTN_PARAM_TENSOR_MAP, UATTN_PARAM_SOURCE_RESULT,
                   UATTN_RESULT_OUT, 64);
  if (options->has_temp)
    add_tensor_param(kernel, UATTN_PARAM_POINTER, UATTN_PARAM_SOURCE_OPERAND,
                     UATTN_OPERAND_TEMP, 0);
  if (problem->has_result[UATTN_RESULT_LSE])
    add_tensor_param(kernel, UATTN_PARAM_POINTER, UATTN_PARAM_SOURCE_RESULT,
                     UATTN_RESULT_LSE, 0);
  for (size_t i = 0; i < sizeof scalars / sizeof *scalars; ++i)
    add_scalar_param(kernel, scalars[i]);
}

static void add_backward_operands(uattn_artifact_kernel_t *kernel) {
  static const uattn_operand_t mapped[] = {UATTN_OPERAND_Q, UATTN_OPERAND_K,
                                           UATTN_OPERAND_V, UATTN_OPERAND_DOUT};
  for (size_t i = 0; i < sizeof mapped / sizeof *mapped; ++i)
    add_tensor_param(kernel, UATTN_PARAM_TENSOR_MAP, UATTN_PARAM_SOURCE_OPERAND,
                     (int32_t)mapped[i], 64);
  for (int32_t i = 0; i < 2; ++i)
    add_tensor_param(kernel, UATTN_PARAM_POINTER, UATTN_PARAM_SOURCE_SCRATCH, i,
                     0);
  add_scalar_param(kernel, UATTN_QUANTITY_PRE_SCALE);
  add_scalar_param(kernel, UATTN_QUANTITY_PRE_BIAS);
  add_scalar_param(kernel, UATTN_QUANTITY_POST_SCALE);
  add_scalar_param(kernel, UATTN_QUANTITY_GRADIENT_SCALE);
}

/* Row data; dk and dv; dq and dtemp. */
static void fill_backward_kernels(uattn_artifact_kernel_t kernels[3],
                                  const sample_options_t *options) {
  static const char *const entries[] = {"uattn_rows", "uattn_keys",
                                        "uattn_queries"};
  for (int i = 0; i < 3; ++i)
    kernels[i] = (uattn_artifact_kernel_t){
        .entry = uattn_string_copy(entries[i]),
        .grid_rule = i == 1 ? UATTN_GRID_KV_TILES : UATTN_GRID_Q_TILES,
        .rows_per_cta = i == 0 ? 32 : 64,
        .threads = 128,
        .sm_scale_sign = options->sm_scale_sign,
        .largest_post_scale = options->largest_post_scale,
        .params = uattn_allocate(24 * sizeof *kernels->params)};
  uattn_artifact_kernel_t *rows = &kernels[0];
  add_tensor_param(rows, UATTN_PARAM_POINTER, UATTN_PARAM_SOURCE_OPERAND,
                   UATTN_OPERAND_LSE, 0);
  if (options->has_temp)
    add_tensor_param(rows, UATTN_PARAM_POINTER, UATTN_PARAM_SOURCE_OPERAND,
                     UATTN_OPERAND_TEMP, 0);
  add_tensor_param(rows, UATTN_PARAM_POINTER, UATTN_PARAM_SOURCE_SCRATCH, 0, 0);
  add_tensor_param(rows, UATTN_PARAM_POINTER, UATTN_PARAM_SOURCE_SCRATCH, 1, 0);
  add_scalar_param(rows, UATTN_QUANTITY_Q_TILES);
  add_scalar_param(rows, UATTN_QUANTITY_LSE_SHIFT);
  add_scalar_param(rows, UATTN_QUANTITY_Z_LOSS_WEIGHT);
  uattn_artifact_kernel_t *keys = &kernels[1];
  add_backward_operands(keys);
  add_tensor_param(keys, UATTN_PARAM_TENSOR_MAP, UATTN_PARAM_SOURCE_RESULT,
                   UATTN_RESULT_DK, 64);
  add_tensor_param(keys, UATTN_PARAM_TENSOR_MAP, UATTN_PARAM_SOURCE_RESULT,
                   UATTN_RESULT_DV, 64);
  add_scalar_param(keys, UATTN_QUANTITY_KV_TILES);
  uattn_artifact_kernel_t *queries = &kernels[2];
  add_backward_operands(queries);
  add_tensor_param(queries, UATTN_PARAM_TENSOR_MAP, UATTN_PARAM_SOURCE_RESULT,
                   UATTN_RESULT_DQ, 64);
  if (options->has_temp)
    add_tensor_param(queries, UATTN_PARAM_POINTER, UATTN_PARAM_SOURCE_RESULT,
                     UATTN_RESULT_DTEMP, 0);
  add_scalar_param(queries, UATTN_QUANTITY_Q_TILES);
}

uattn_artifact_t *sample_artifact(const sample_options_t *options) {
  uattn_artifact_t *artifact = uattn_artifact_create();
  artifact->functions = uattn_allocate(sizeof *artifact->functions);
  artifact->function_count = 1;
  uattn_artifact_function_t *function = artifact->functions;
  fill_function(function, options);
  if (options->has_no_kernel)
    return artifact;
  for (uint32_t i = 0; i < function->step_count; ++i)
    artifact->kernel_count += function->steps[i].kernel_count;
  artifact->kernels =
      uattn_allocate(artifact->kernel_count * sizeof *artifact->kernels);
  for (uint32_t i = 0; i < function->step_count; ++i) {
    const uattn_artifact_step_t *step = &function->steps[i];
    uattn_artifact_kernel_t *kernels = &artifact->kernels[step->first_kernel];
    if (options->is_backward)
      fill_backward_kernels(kernels, options);
    else
      fill_kernel(kernels, options, &step->problem);
  }
  artifact->images = uattn_allocate(sizeof *artifact->images);
  artifact->image_count = 1;
  artifact->images->chip = uattn_string_copy("sm_90a");
  artifact->images->ptx = uattn_string_copy(sample_ptx);
  if (options->has_cubin) {
    artifact->images->cubin_bytes = 7;
    artifact->images->cubin = uattn_allocate(7);
    memcpy(artifact->images->cubin, "\x7f\x45LF\0\1\2", 7);
  }
  return artifact;
}

void sample_artifact_return_argument(uattn_artifact_t *artifact) {
  uattn_artifact_function_t *function = artifact->functions;
  uint32_t at = function->argument_count;
  memmove(&function->values[at + 1], &function->values[at],
          (function->value_count - at) * sizeof *function->values);
  function->values[at] =
      (uattn_artifact_value_t){.name = uattn_string_copy("extra"),
                               .dtype = UATTN_DTYPE_I32,
                               .rank = 1,
                               .shape = {UATTN_DIM_DYNAMIC}};
  ++function->value_count;
  ++function->argument_count;
  for (uint32_t i = 0; i < function->step_count; ++i) {
    uattn_artifact_step_t *step = &function->steps[i];
    for (int o = 0; o < UATTN_OPERAND_COUNT; ++o)
      step->operand_values[o] += step->operand_values[o] >= (int32_t)at;
    for (int r = 0; r < UATTN_RESULT_COUNT; ++r)
      step->result_values[r] += step->result_values[r] >= (int32_t)at;
  }
  for (uint32_t i = 0; i < function->result_count; ++i)
    function->result_values[i] += function->result_values[i] >= (int32_t)at;
  add_return(function, (int32_t)at);
}
