/* The rules that an artifact's records obey, each with its message.
 * Layer: artifact. Must not know: MLIR, CUDA, the bytes of the file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "artifact/artifact.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "support/support.h"

#define WRONG(...) uattn_error_create(UATTN_ERROR_IO, __VA_ARGS__)

static uattn_error_t *check_range(const char *what, int64_t found,
                                  int64_t least, int64_t most) {
  if (found >= least && found <= most)
    return NULL;
  return WRONG("%s is %" PRId64 ": wanted %" PRId64 " to %" PRId64, what, found,
               least, most);
}

/* Texts that messages and drivers are given. */
static uattn_error_t *check_name(const char *what, const char *text) {
  if (!text || !*text)
    return WRONG("%s is empty", what);
  for (const char *at = text; *at; ++at)
    if ((unsigned char)*at < 0x20 || *at == 0x7f)
      return WRONG("%s has a control character", what);
  return NULL;
}

static uattn_error_t *check_value(const uattn_artifact_value_t *value) {
  uattn_error_t *error = check_name("its name", value->name);
  if (!error)
    error = check_range("its type", (int64_t)value->dtype, UATTN_DTYPE_BF16,
                        UATTN_DTYPE_I32);
  if (!error)
    error = check_range("its rank", value->rank, 0, 4);
  for (int axis = 0; !error && axis < value->rank; ++axis)
    if (value->shape[axis] != UATTN_DIM_DYNAMIC)
      error = check_range("a dimension", value->shape[axis], 1, INT32_MAX);
  return error;
}

static uattn_error_t *check_values(const uattn_artifact_function_t *function) {
  if (function->argument_count > function->value_count)
    return WRONG("%" PRIu32 " arguments among %" PRIu32 " values",
                 function->argument_count, function->value_count);
  for (uint32_t i = 0; i < function->value_count; ++i) {
    uattn_error_t *error = check_value(&function->values[i]);
    if (error)
      return uattn_error_annotate(error, "value %" PRIu32, i);
  }
  return NULL;
}

/* The value that holds an operand or result of `step`; checks its presence
 * and its type against the op. */
static uattn_error_t *check_tensor(const uattn_artifact_function_t *function,
                                   const char *name, bool is_present,
                                   int32_t index, uattn_dtype_t dtype,
                                   int rank) {
  if (!is_present && index == -1)
    return NULL;
  if (!is_present || index < 0 || (uint32_t)index >= function->value_count)
    return WRONG("%s is value %" PRId32 ": wanted %s", name, index,
                 is_present ? "one of the function's" : "-1, it is absent");
  const uattn_artifact_value_t *value = &function->values[index];
  if (value->dtype != dtype || value->rank != rank)
    return WRONG("%s has type %s and rank %" PRId32 ": wanted %s and %d", name,
                 uattn_dtype_name(value->dtype), value->rank,
                 uattn_dtype_name(dtype), rank);
  return NULL;
}

static uattn_error_t *check_operand(const uattn_artifact_function_t *function,
                                    const uattn_artifact_step_t *step,
                                    int operand, const bool *is_defined) {
  const uattn_problem_t *problem = &step->problem;
  const char *name = uattn_operand_name((uattn_operand_t)operand);
  int64_t shape[4];
  int32_t index = step->operand_values[operand];
  uattn_error_t *error = check_tensor(
      function, name, problem->has_operand[operand], index,
      uattn_operand_dtype(problem, (uattn_operand_t)operand),
      uattn_operand_shape(problem, (uattn_operand_t)operand, shape));
  if (!error && index >= 0 && !is_defined[index])
    error = WRONG("%s reads value %" PRId32 " before it is made", name, index);
  return error;
}

static uattn_error_t *check_result(const uattn_artifact_function_t *function,
                                   const uattn_artifact_step_t *step,
                                   int result, bool *is_defined) {
  const uattn_problem_t *problem = &step->problem;
  int32_t index = step->result_values[result];
  if (result >= uattn_result_count(problem->kind))
    return index == -1 ? NULL
                       : WRONG("result %d is value %" PRId32 ": wanted -1",
                               result, index);
  const char *name = uattn_result_name(problem->kind, result);
  int64_t shape[4];
  uattn_error_t *error =
      check_tensor(function, name, problem->has_result[result], index,
                   uattn_result_dtype(problem, result),
                   uattn_result_shape(problem, result, shape));
  if (error || index < 0)
    return error;
  if (is_defined[index])
    return WRONG("%s makes value %" PRId32 " a second time", name, index);
  is_defined[index] = true;
  return NULL;
}

static bool has_tensor(const uattn_artifact_step_t *step,
                       const uattn_kernel_param_t *param) {
  const uattn_problem_t *problem = &step->problem;
  int32_t index = param->tensor_index;
  if (index < 0)
    return false;
  switch (param->source) {
  case UATTN_PARAM_SOURCE_OPERAND:
    return index < uattn_operand_count(problem->kind) &&
           problem->has_operand[index];
  case UATTN_PARAM_SOURCE_RESULT:
    return index < uattn_result_count(problem->kind) &&
           problem->has_result[index];
  case UATTN_PARAM_SOURCE_SCRATCH:
    break;
  }
  return (uint32_t)index < step->scratch_count;
}

/* The box of a map against the tensor that the op has there. */
static uattn_error_t *check_box(const uattn_problem_t *problem,
                                const uattn_kernel_param_t *param) {
  bool is_result = param->source == UATTN_PARAM_SOURCE_RESULT;
  int64_t shape[4];
  int32_t index = param->tensor_index;
  uattn_operand_t operand = (uattn_operand_t)index;
  int rank = is_result ? uattn_result_shape(problem, index, shape)
                       : uattn_operand_shape(problem, operand, shape);
  size_t bytes =
      uattn_dtype_bytes(is_result ? uattn_result_dtype(problem, index)
                                  : uattn_operand_dtype(problem, operand));
  size_t row_bytes = (size_t)param->box_columns * bytes;
  if (rank != 4)
    return WRONG("it maps a tensor of rank %d: wanted 4", rank);
  if (row_bytes > 128 || row_bytes % 16 != 0)
    return WRONG("its box rows are %zu bytes: wanted a multiple of 16, at "
                 "most 128",
                 row_bytes);
  return NULL;
}

static uattn_error_t *check_param(const uattn_artifact_step_t *step,
                                  const uattn_kernel_param_t *param) {
  static const char *const sources[] = {
      [UATTN_PARAM_SOURCE_OPERAND] = "operand",
      [UATTN_PARAM_SOURCE_RESULT] = "result",
      [UATTN_PARAM_SOURCE_SCRATCH] = "scratch"};
  if (param->kind != UATTN_PARAM_TENSOR_MAP &&
      param->kind != UATTN_PARAM_POINTER)
    return NULL;
  if (!has_tensor(step, param))
    return WRONG("it takes %s %" PRId32 ", which the op lacks",
                 sources[param->source], param->tensor_index);
  return param->kind == UATTN_PARAM_TENSOR_MAP
             ? check_box(&step->problem, param)
             : NULL;
}

static uattn_error_t *check_scratch(const uattn_artifact_step_t *step) {
  uattn_error_t *error = check_range("its scratch count", step->scratch_count,
                                     0, UATTN_STEP_SCRATCH_LIMIT);
  for (uint32_t i = 0; !error && i < step->scratch_count; ++i)
    error = uattn_error_annotate(check_range("its kind", step->scratch[i],
                                             UATTN_SCRATCH_Q_ROWS,
                                             UATTN_SCRATCH_Q_SUMS),
                                 "scratch %" PRIu32, i);
  return error;
}

static uattn_error_t *check_step_kernels(const uattn_artifact_t *artifact,
                                         const uattn_artifact_step_t *step) {
  if (step->first_kernel > artifact->kernel_count ||
      step->kernel_count > artifact->kernel_count - step->first_kernel)
    return WRONG("its kernels are %" PRIu32 " from %" PRIu32
                 " on: wanted them among %" PRIu32,
                 step->kernel_count, step->first_kernel,
                 artifact->kernel_count);
  for (uint32_t k = 0; k < step->kernel_count; ++k) {
    uint32_t index = step->first_kernel + k;
    const uattn_artifact_kernel_t *kernel = &artifact->kernels[index];
    for (uint32_t p = 0; p < kernel->param_count; ++p) {
      uattn_error_t *error = check_param(step, &kernel->params[p]);
      if (error)
        return uattn_error_annotate(
            error, "kernel %" PRIu32 ", parameter %" PRIu32, index, p);
    }
  }
  return NULL;
}

static uattn_error_t *check_step(const uattn_artifact_t *artifact,
                                 const uattn_artifact_function_t *function,
                                 const uattn_artifact_step_t *step,
                                 bool *is_defined) {
  const uattn_problem_t *problem = &step->problem;
  uattn_error_t *error = check_range("its element type", problem->dtype,
                                     UATTN_DTYPE_BF16, UATTN_DTYPE_I32);
  if (!error)
    error = check_range("its temp type", problem->temp_dtype, UATTN_DTYPE_BF16,
                        UATTN_DTYPE_I32);
  if (!error)
    error = uattn_problem_validate(problem);
  for (int i = 0; !error && i < UATTN_OPERAND_COUNT; ++i)
    error = check_operand(function, step, i, is_defined);
  for (int i = 0; !error && i < UATTN_RESULT_COUNT; ++i)
    error = check_result(function, step, i, is_defined);
  if (!error)
    error = check_scratch(step);
  if (!error)
    error = check_step_kernels(artifact, step);
  return error;
}

static uattn_error_t *check_flow(const uattn_artifact_t *artifact,
                                 const uattn_artifact_function_t *function,
                                 bool *is_defined) {
  for (uint32_t i = 0; i < function->argument_count; ++i)
    is_defined[i] = true;
  for (uint32_t i = 0; i < function->step_count; ++i) {
    uattn_error_t *error =
        check_step(artifact, function, &function->steps[i], is_defined);
    if (error)
      return uattn_error_annotate(error, "op %" PRIu32, i);
  }
  for (uint32_t i = 0; i < function->result_count; ++i) {
    int32_t index = function->result_values[i];
    if (index < 0 || (uint32_t)index >= function->value_count ||
        !is_defined[index])
      return WRONG("result %" PRIu32 " is value %" PRId32
                   ": wanted an argument or the result of an op",
                   i, index);
  }
  return NULL;
}

static uattn_error_t *
check_function(const uattn_artifact_t *artifact,
               const uattn_artifact_function_t *function) {
  uattn_error_t *error = check_name("its name", function->name);
  if (!error)
    error = check_values(function);
  bool *is_defined = NULL;
  if (!error) {
    is_defined = uattn_try_allocate(function->value_count);
    if (!is_defined)
      error = uattn_error_create(UATTN_ERROR_INTERNAL, "out of host memory");
  }
  if (!error)
    error = check_flow(artifact, function, is_defined);
  free(is_defined);
  if (!error) {
    uattn_function_dims_t dims = {0};
    error = uattn_function_dims_create(function, &dims);
    uattn_function_dims_release(&dims);
  }
  return error;
}

static uattn_error_t *check_quantity(const uattn_kernel_param_t *param) {
  int64_t quantity = param->quantity;
  if (param->kind == UATTN_PARAM_I32)
    return check_range("its quantity", quantity, UATTN_QUANTITY_BATCH,
                       UATTN_QUANTITY_KV_TILES);
  if (param->kind == UATTN_PARAM_F32)
    return check_range("its quantity", quantity, UATTN_QUANTITY_PRE_SCALE,
                       UATTN_QUANTITY_GRADIENT_SCALE);
  return NULL;
}

static uattn_error_t *check_params(const uattn_artifact_kernel_t *kernel) {
  uattn_error_t *error = check_range("its parameter count", kernel->param_count,
                                     0, UATTN_KERNEL_PARAM_LIMIT);
  size_t bytes = 0;
  for (uint32_t i = 0; !error && i < kernel->param_count; ++i) {
    const uattn_kernel_param_t *param = &kernel->params[i];
    error = check_range("its kind", param->kind, UATTN_PARAM_TENSOR_MAP,
                        UATTN_PARAM_F32);
    if (!error)
      error = check_range(
          "its source", param->source, UATTN_PARAM_SOURCE_OPERAND,
          param->kind == UATTN_PARAM_POINTER ? UATTN_PARAM_SOURCE_SCRATCH
                                             : UATTN_PARAM_SOURCE_RESULT);
    if (!error && param->kind == UATTN_PARAM_TENSOR_MAP) {
      error = check_range("its box columns", param->box_columns, 1, 256);
      if (!error)
        error = check_range("its box rows", param->box_rows, 1, 256);
    }
    if (!error)
      error = check_quantity(param);
    if (error)
      return uattn_error_annotate(error, "parameter %" PRIu32, i);
    size_t alignment = uattn_param_alignment(param->kind);
    bytes = (bytes + alignment - 1) / alignment * alignment +
            uattn_param_bytes(param->kind);
  }
  if (!error)
    error = check_range("the size of its parameters", (int64_t)bytes, 0,
                        UATTN_KERNEL_PARAM_BYTES_LIMIT);
  return error;
}

static uattn_error_t *check_kernel(const uattn_artifact_t *artifact,
                                   const uattn_artifact_kernel_t *kernel) {
  uattn_error_t *error = check_name("its entry", kernel->entry);
  if (!error && kernel->image_index >= artifact->image_count)
    error = WRONG("its image is %" PRIu32 ": wanted one of %" PRIu32,
                  kernel->image_index, artifact->image_count);
  if (!error)
    error = check_range("its grid rule", kernel->grid_rule, UATTN_GRID_Q_TILES,
                        UATTN_GRID_KV_TILES);
  if (!error)
    error = check_range("its rows a CTA", kernel->rows_per_cta, 1, 1 << 20);
  if (!error)
    error = check_range("its thread count", kernel->threads, 1, 1024);
  if (!error)
    error = check_range("its dynamic shared memory", kernel->dynamic_smem_bytes,
                        0, 1 << 20);
  if (!error)
    error = check_range("its register count", kernel->entry_registers, 0, 1024);
  if (!error)
    error = check_range("its sign of sm_scale", kernel->sm_scale_sign, -1, 1);
  if (!error && !(kernel->largest_post_scale >= 0 &&
                  kernel->largest_post_scale < INFINITY))
    error = WRONG("its largest post-scale is %g: wanted a finite number of at "
                  "least 0",
                  kernel->largest_post_scale);
  if (!error)
    error = check_params(kernel);
  return error;
}

static uattn_error_t *check_image(const uattn_artifact_image_t *image) {
  uattn_error_t *error = check_name("its chip", image->chip);
  if (!error && !image->cubin_bytes && (!image->ptx || !*image->ptx))
    error = WRONG("it has neither cubin nor PTX");
  return error;
}

uattn_error_t *uattn_artifact_validate(const uattn_artifact_t *artifact) {
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < artifact->image_count; ++i)
    error = uattn_error_annotate(check_image(&artifact->images[i]),
                                 "image %" PRIu32, i);
  for (uint32_t i = 0; !error && i < artifact->kernel_count; ++i)
    error = uattn_error_annotate(check_kernel(artifact, &artifact->kernels[i]),
                                 "kernel %" PRIu32, i);
  for (uint32_t i = 0; !error && i < artifact->function_count; ++i)
    error =
        uattn_error_annotate(check_function(artifact, &artifact->functions[i]),
                             "function %" PRIu32, i);
  return error;
}
