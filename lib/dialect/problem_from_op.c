/* From an attention op to the plain description of its problem.
 * Layer: dialect. Must not know: which problems are right, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect_verify.h"

bool uattn_dtype_from_type(MlirType type, uattn_dtype_t *out_dtype) {
  if (mlirTypeIsABF16(type))
    *out_dtype = UATTN_DTYPE_BF16;
  else if (mlirTypeIsAF16(type))
    *out_dtype = UATTN_DTYPE_F16;
  else if (mlirTypeIsAF32(type))
    *out_dtype = UATTN_DTYPE_F32;
  else if (mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) &&
           mlirIntegerTypeGetWidth(type) == 32)
    *out_dtype = UATTN_DTYPE_I32;
  else
    return false;
  return true;
}

/* Where each size of the problem stands in a tensor: pointers into the
 * problem, NULL where a dimension is none of them. */
typedef struct {
  int64_t *dims[4];
} dim_targets_t;

static dim_targets_t query_dims(uattn_problem_t *p) {
  return (dim_targets_t){{&p->batch, &p->q_tokens, &p->q_heads, &p->head_dim}};
}

static dim_targets_t key_dims(uattn_problem_t *p) {
  return (dim_targets_t){
      {&p->batch, &p->kv_tokens, &p->kv_heads, &p->head_dim}};
}

static dim_targets_t lse_dims(uattn_problem_t *p) {
  return (dim_targets_t){{&p->batch, &p->q_heads, &p->q_tokens}};
}

static dim_targets_t row_dims(uattn_problem_t *p, int64_t *columns) {
  return (dim_targets_t){{&p->batch, columns}};
}

static dim_targets_t operand_dims(uattn_problem_t *problem, int operand) {
  switch ((uattn_operand_t)operand) {
  case UATTN_OPERAND_K:
  case UATTN_OPERAND_V:
    return key_dims(problem);
  case UATTN_OPERAND_TEMP:
  case UATTN_OPERAND_Q_SEGMENT_IDS:
    return row_dims(problem, &problem->q_tokens);
  case UATTN_OPERAND_BOUNDS:
    return row_dims(problem, NULL);
  case UATTN_OPERAND_KV_SEGMENT_IDS:
    return row_dims(problem, &problem->kv_tokens);
  case UATTN_OPERAND_LSE:
  case UATTN_OPERAND_DLSE:
    return lse_dims(problem);
  default:
    return query_dims(problem);
  }
}

static dim_targets_t result_dims(uattn_problem_t *problem, int result) {
  if (problem->kind == UATTN_OP_FORWARD)
    return result == UATTN_RESULT_OUT ? query_dims(problem) : lse_dims(problem);
  if (result == UATTN_RESULT_DQ)
    return query_dims(problem);
  if (result == UATTN_RESULT_DTEMP)
    return row_dims(problem, &problem->q_tokens);
  return key_dims(problem);
}

/* The first tensor that says a size wins. */
static void gather_dims(MlirValue value, dim_targets_t targets) {
  if (mlirValueIsNull(value))
    return;
  MlirType type = mlirValueGetType(value);
  for (intptr_t dim = 0; dim < mlirShapedTypeGetRank(type); ++dim) {
    int64_t *target = targets.dims[dim];
    if (target && *target == UATTN_DIM_DYNAMIC &&
        !mlirShapedTypeIsDynamicDim(type, dim))
      *target = mlirShapedTypeGetDimSize(type, dim);
  }
}

static void gather_shapes(const uattn_op_view_t *view,
                          uattn_problem_t *problem) {
  for (int index = 0; index < UATTN_OPERAND_COUNT; ++index) {
    problem->has_operand[index] = !mlirValueIsNull(view->operands[index]);
    gather_dims(view->operands[index], operand_dims(problem, index));
  }
  for (int index = 0; index < uattn_result_count(view->kind); ++index) {
    problem->has_result[index] = !mlirValueIsNull(view->results[index]);
    gather_dims(view->results[index], result_dims(problem, index));
  }
}

static uattn_dtype_t element_dtype(MlirValue value) {
  uattn_dtype_t dtype = UATTN_DTYPE_F32;
  UATTN_CHECK(uattn_dtype_from_type(
      mlirShapedTypeGetElementType(mlirValueGetType(value)), &dtype));
  return dtype;
}

static uattn_cap_t cap_from_attribute(MlirAttribute attribute) {
  MlirAttribute parameters = uattn_parameters_of_attribute(attribute);
  MlirStringRef method =
      mlirStringAttrGetValue(mlirArrayAttrGetElement(parameters, 0));
  uattn_string_t name = {0};
  uattn_string_append_bytes(&name, method.data, method.length);
  uattn_cap_t cap = {0};
  UATTN_CHECK(uattn_cap_method_parse(uattn_string_get(&name), &cap.method));
  uattn_string_release(&name);
  double *values[] = {&cap.cap, &cap.alpha, &cap.beta};
  for (intptr_t index = 0; index < 3; ++index)
    *values[index] = mlirFloatAttrGetValueDouble(
        mlirArrayAttrGetElement(parameters, index + 1));
  return cap;
}

static void gather_attributes(MlirOperation op, uattn_problem_t *problem) {
  problem->cap = cap_from_attribute(uattn_op_get_attribute(op, UATTN_ATTR_CAP));
  (void)uattn_op_get_f64(op, UATTN_ATTR_SM_SCALE, &problem->sm_scale);
  (void)uattn_op_get_i64(op, UATTN_ATTR_WINDOW_LEN, &problem->window_tokens);
  (void)uattn_op_get_i64(op, UATTN_ATTR_Q_OFFSET, &problem->q_offset);
  (void)uattn_op_get_f64(op, UATTN_ATTR_Z_LOSS_WEIGHT, &problem->z_loss_weight);
  problem->is_causal = uattn_op_has_unit(op, UATTN_ATTR_CAUSAL);
  problem->is_deterministic = uattn_op_has_unit(op, UATTN_ATTR_DETERMINISTIC);
}

void uattn_problem_from_op(MlirOperation op, uattn_problem_t *out_problem) {
  uattn_op_view_t view = uattn_op_view(op);
  uattn_problem_t problem = {.kind = view.kind,
                             .temp_dtype = UATTN_DTYPE_F32,
                             .batch = UATTN_DIM_DYNAMIC,
                             .q_tokens = UATTN_DIM_DYNAMIC,
                             .kv_tokens = UATTN_DIM_DYNAMIC,
                             .q_heads = UATTN_DIM_DYNAMIC,
                             .kv_heads = UATTN_DIM_DYNAMIC,
                             .head_dim = UATTN_DIM_DYNAMIC};
  problem.dtype = element_dtype(view.operands[UATTN_OPERAND_Q]);
  if (!mlirValueIsNull(view.operands[UATTN_OPERAND_TEMP]))
    problem.temp_dtype = element_dtype(view.operands[UATTN_OPERAND_TEMP]);
  gather_shapes(&view, &problem);
  gather_attributes(op, &problem);
  *out_problem = problem;
}
