/* The verifier's rules on the attention ops' operands and results.
 * Layer: dialect. Must not know: plans, kernels, which attributes are known.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect_verify.h"
#include "spec/spec.h"

#include <inttypes.h>

/* One operand or result, with what the problem says of it. */
typedef struct {
  const char *role; /* "operand" or "result" */
  const char *name;
  MlirType type;
  int rank;
  int64_t shape[4];
  uattn_dtype_t dtype;
} tensor_t;

static tensor_t operand_tensor(const uattn_problem_t *problem, int index,
                               MlirValue value) {
  uattn_operand_t operand = (uattn_operand_t)index;
  tensor_t tensor = {.role = "operand",
                     .name = uattn_operand_name(operand),
                     .type = mlirValueGetType(value),
                     .dtype = uattn_operand_dtype(problem, operand)};
  tensor.rank = uattn_operand_shape(problem, operand, tensor.shape);
  return tensor;
}

static tensor_t result_tensor(const uattn_problem_t *problem, int index,
                              MlirValue value) {
  tensor_t tensor = {.role = "result",
                     .name = uattn_result_name(problem->kind, index),
                     .type = mlirValueGetType(value),
                     .dtype = uattn_result_dtype(problem, index)};
  tensor.rank = uattn_result_shape(problem, index, tensor.shape);
  return tensor;
}

static bool refuse_element(MlirOperation op, const tensor_t *tensor,
                           const char *wanted) {
  uattn_string_t text =
      uattn_type_text(mlirShapedTypeGetElementType(tensor->type));
  uattn_emit_error(op, "%s %s has element type %s: expected %s", tensor->role,
                   tensor->name, uattn_string_get(&text), wanted);
  uattn_string_release(&text);
  return false;
}

/* Rank and element type; `problem` has its element types only. */
static bool verify_type(MlirOperation op, const tensor_t *tensor) {
  if (!mlirTypeIsARankedTensor(tensor->type)) {
    uattn_string_t text = uattn_type_text(tensor->type);
    uattn_emit_error(op, "%s %s is a %s: expected a tensor of rank %d",
                     tensor->role, tensor->name, uattn_string_get(&text),
                     tensor->rank);
    uattn_string_release(&text);
    return false;
  }
  if (!mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(tensor->type))) {
    uattn_emit_error(op, "%s %s has an encoding: expected none", tensor->role,
                     tensor->name);
    return false;
  }
  int64_t rank = mlirShapedTypeGetRank(tensor->type);
  if (rank != tensor->rank) {
    uattn_emit_error(op, "%s %s has rank %" PRId64 ": expected %d",
                     tensor->role, tensor->name, rank, tensor->rank);
    return false;
  }
  uattn_dtype_t dtype;
  if (uattn_dtype_from_type(mlirShapedTypeGetElementType(tensor->type),
                            &dtype) &&
      dtype == tensor->dtype)
    return true;
  return refuse_element(op, tensor, uattn_dtype_name(tensor->dtype));
}

static void append_shape(uattn_string_t *text, int rank,
                         const int64_t shape[4]) {
  for (int dim = 0; dim < rank; ++dim) {
    if (dim > 0)
      uattn_string_append(text, "x");
    if (shape[dim] == UATTN_DIM_DYNAMIC)
      uattn_string_append(text, "?");
    else
      uattn_string_appendf(text, "%" PRId64, shape[dim]);
  }
}

static bool refuse_shape(MlirOperation op, const tensor_t *tensor,
                         const int64_t found[4]) {
  uattn_string_t text = {0};
  append_shape(&text, tensor->rank, found);
  uattn_string_append(&text, ": expected ");
  append_shape(&text, tensor->rank, tensor->shape);
  uattn_emit_error(op, "%s %s has shape %s", tensor->role, tensor->name,
                   uattn_string_get(&text));
  uattn_string_release(&text);
  return false;
}

/* Static sizes agree; a dynamic one agrees with any, but head_dim, the last
 * dimension of rank 4, is static everywhere. */
static bool verify_shape(MlirOperation op, const tensor_t *tensor) {
  int64_t found[4];
  bool agrees = true;
  for (int dim = 0; dim < tensor->rank; ++dim) {
    bool is_dynamic = mlirShapedTypeIsDynamicDim(tensor->type, dim);
    found[dim] = is_dynamic ? UATTN_DIM_DYNAMIC
                            : mlirShapedTypeGetDimSize(tensor->type, dim);
    if (is_dynamic ? dim == 3 : found[dim] != tensor->shape[dim])
      agrees = false;
  }
  if (tensor->rank == 4 && found[3] == UATTN_DIM_DYNAMIC) {
    uattn_emit_error(op,
                     "%s %s has a dynamic head_dim: expected 64, 128, 192 or "
                     "256",
                     tensor->role, tensor->name);
    return false;
  }
  return agrees || refuse_shape(op, tensor, found);
}

typedef bool (*tensor_rule_t)(MlirOperation op, const tensor_t *tensor);

static bool verify_tensors(MlirOperation op, const uattn_op_view_t *view,
                           const uattn_problem_t *problem, tensor_rule_t rule) {
  bool is_right = true;
  for (int index = 0; index < uattn_operand_count(view->kind); ++index) {
    if (mlirValueIsNull(view->operands[index]))
      continue;
    tensor_t tensor = operand_tensor(problem, index, view->operands[index]);
    is_right &= rule(op, &tensor);
  }
  for (int index = 0; index < uattn_result_count(view->kind); ++index) {
    if (mlirValueIsNull(view->results[index]))
      continue;
    tensor_t tensor = result_tensor(problem, index, view->results[index]);
    is_right &= rule(op, &tensor);
  }
  return is_right;
}

static bool verify_element_choice(MlirOperation op, const char *name,
                                  MlirValue value, bool allows_f32,
                                  uattn_dtype_t *out_dtype) {
  tensor_t tensor = {
      .role = "operand", .name = name, .type = mlirValueGetType(value)};
  if (mlirTypeIsAShaped(tensor.type) &&
      uattn_dtype_from_type(mlirShapedTypeGetElementType(tensor.type),
                            out_dtype) &&
      *out_dtype != UATTN_DTYPE_I32 &&
      (allows_f32 || *out_dtype != UATTN_DTYPE_F32))
    return true;
  if (!mlirTypeIsAShaped(tensor.type)) {
    uattn_emit_error(op, "operand %s is no tensor: expected one", name);
    return false;
  }
  return refuse_element(op, &tensor,
                        allows_f32 ? "f32, bf16 or f16" : "bf16 or f16");
}

/* The two element types that a problem may choose. */
static bool verify_chosen_types(MlirOperation op, const uattn_op_view_t *view,
                                uattn_problem_t *types) {
  MlirValue q = view->operands[UATTN_OPERAND_Q];
  MlirValue temp = view->operands[UATTN_OPERAND_TEMP];
  return verify_element_choice(op, "q", q, false, &types->dtype) &&
         (mlirValueIsNull(temp) ||
          verify_element_choice(op, "temp", temp, true, &types->temp_dtype));
}

static bool verify_required_values(MlirOperation op,
                                   const uattn_op_view_t *view) {
  if (!mlirValueIsNull(view->operands[UATTN_OPERAND_Q]))
    return true;
  uattn_emit_error(op, "operand q is missing: expected it always");
  return false;
}

static bool verify_problem(MlirOperation op, const uattn_problem_t *problem) {
  uattn_error_t *error = uattn_problem_validate(problem);
  if (!error)
    error = uattn_problem_check_positions(problem);
  if (!error)
    return true;
  uattn_emit_error(op, "%s", uattn_error_message(error));
  uattn_error_destroy(error);
  return false;
}

/* Each stage may rely on what the ones before it have checked. */
bool uattn_verify_attention_op(MlirOperation op) {
  if (!uattn_verify_segments(op) || !uattn_verify_attributes(op))
    return false;
  uattn_op_view_t view = uattn_op_view(op);
  uattn_problem_t types = {.kind = view.kind};
  if (!verify_required_values(op, &view) ||
      !verify_chosen_types(op, &view, &types) ||
      !verify_tensors(op, &view, &types, verify_type))
    return false;
  uattn_problem_t problem;
  uattn_problem_from_op(op, &problem);
  return verify_tensors(op, &view, &problem, verify_shape) &&
         verify_problem(op, &problem);
}
