/* The rules that a problem obeys, each with its message.
 * Layer: spec. Must not know: masks in tiles, plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "uattn/problem.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

/* Positions are q_offset + row; this far from the limits of int64_t they and
 * their differences stay exact. */
#define Q_OFFSET_LIMIT (INT64_C(1) << 62)

#define INVALID(...)                                                           \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static bool is_finite_f32(double value) { return fabs(value) <= FLT_MAX; }

static uattn_error_t *check_types(const uattn_problem_t *problem) {
  if (problem->kind != UATTN_OP_FORWARD && problem->kind != UATTN_OP_BACKWARD)
    return INVALID("op kind is %d: expected forward (0) or backward (1)",
                   (int)problem->kind);
  if (problem->dtype != UATTN_DTYPE_BF16 && problem->dtype != UATTN_DTYPE_F16)
    return INVALID("q has element type %s: expected bf16 or f16",
                   uattn_dtype_name(problem->dtype));
  if (problem->has_operand[UATTN_OPERAND_TEMP] &&
      problem->temp_dtype != UATTN_DTYPE_F32 &&
      problem->temp_dtype != UATTN_DTYPE_BF16 &&
      problem->temp_dtype != UATTN_DTYPE_F16)
    return INVALID("temp has element type %s: expected f32, bf16 or f16",
                   uattn_dtype_name(problem->temp_dtype));
  return NULL;
}

static uattn_error_t *check_size(const char *name, int64_t size) {
  if (size == UATTN_DIM_DYNAMIC || (size > 0 && size <= INT32_MAX))
    return NULL;
  return INVALID("%s is %" PRId64 ": expected 1 to %d", name, size, INT32_MAX);
}

static uattn_error_t *check_shape(const uattn_problem_t *problem) {
  uattn_error_t *error = check_size("batch", problem->batch);
  if (!error)
    error = check_size("q_tokens", problem->q_tokens);
  if (!error)
    error = check_size("kv_tokens", problem->kv_tokens);
  if (!error)
    error = check_size("q_heads", problem->q_heads);
  if (!error)
    error = check_size("kv_heads", problem->kv_heads);
  if (error)
    return error;
  int64_t head_dim = problem->head_dim;
  if (head_dim == UATTN_DIM_DYNAMIC)
    return INVALID("head_dim is dynamic: expected 64, 128, 192 or 256");
  if (head_dim < 64 || head_dim > 256 || head_dim % 64 != 0)
    return INVALID("head_dim is %" PRId64 ": expected 64, 128, 192 or 256",
                   head_dim);
  if (problem->q_heads > 0 && problem->kv_heads > 0 &&
      problem->q_heads % problem->kv_heads != 0)
    return INVALID("q has %" PRId64 " heads, not a multiple of the %" PRId64
                   " kv heads",
                   problem->q_heads, problem->kv_heads);
  return NULL;
}

static bool is_optional_operand(uattn_operand_t operand) {
  switch (operand) {
  case UATTN_OPERAND_TEMP:
  case UATTN_OPERAND_BOUNDS:
  case UATTN_OPERAND_Q_SEGMENT_IDS:
  case UATTN_OPERAND_KV_SEGMENT_IDS:
  case UATTN_OPERAND_DLSE:
    return true;
  default:
    return false;
  }
}

static uattn_error_t *check_operands(const uattn_problem_t *problem) {
  int count = uattn_operand_count(problem->kind);
  for (int index = 0; index < UATTN_OPERAND_COUNT; ++index) {
    uattn_operand_t operand = (uattn_operand_t)index;
    bool is_present = problem->has_operand[index];
    if (is_present && index >= count)
      return INVALID("operand %s is given to the forward op: expected it on "
                     "the backward op alone",
                     uattn_operand_name(operand));
    if (!is_present && index < count && !is_optional_operand(operand))
      return INVALID("operand %s is missing: expected it always",
                     uattn_operand_name(operand));
  }
  bool has_q_ids = problem->has_operand[UATTN_OPERAND_Q_SEGMENT_IDS];
  if (has_q_ids != problem->has_operand[UATTN_OPERAND_KV_SEGMENT_IDS])
    return INVALID("operand %s is given without %s: expected both or neither",
                   has_q_ids ? "q_segment_ids" : "kv_segment_ids",
                   has_q_ids ? "kv_segment_ids" : "q_segment_ids");
  return NULL;
}

static uattn_error_t *check_results(const uattn_problem_t *problem) {
  bool is_forward = problem->kind == UATTN_OP_FORWARD;
  int count = uattn_result_count(problem->kind);
  int optional = is_forward ? UATTN_RESULT_LSE : UATTN_RESULT_DTEMP;
  for (int result = 0; result < UATTN_RESULT_COUNT; ++result) {
    bool is_present = problem->has_result[result];
    if (is_present && result >= count)
      return INVALID("the forward op has a result %d: expected out and lse "
                     "alone",
                     result);
    if (!is_present && result < optional)
      return INVALID("result %s is missing: expected it always",
                     uattn_result_name(problem->kind, result));
  }
  if (!is_forward && problem->has_result[UATTN_RESULT_DTEMP] &&
      !problem->has_operand[UATTN_OPERAND_TEMP])
    return INVALID("result dtemp is asked for without operand temp: expected "
                   "temp too");
  return NULL;
}

static uattn_error_t *check_unused(const char *name, double value,
                                   const char *method) {
  if (value == 0)
    return NULL;
  return INVALID("cap %s has %s %g, which it does not use: expected 0", method,
                 name, value);
}

static uattn_error_t *check_cap(const uattn_cap_t *cap) {
  const char *method = uattn_cap_method_name(cap->method);
  uattn_error_t *error = NULL;
  switch (cap->method) {
  case UATTN_CAP_NONE:
    error = check_unused("cap", cap->cap, method);
    break;
  case UATTN_CAP_TANH:
  case UATTN_CAP_SOFT_SIGN:
  case UATTN_CAP_ALSC:
    /* Positive as the f32 that the op holds. */
    if (!is_finite_f32(cap->cap) || !((float)cap->cap > 0))
      error = INVALID("cap %s has cap %g: expected a finite number above 0",
                      method, cap->cap);
    break;
  default:
    return INVALID("cap method is %d: expected none, tanh, soft_sign or alsc",
                   (int)cap->method);
  }
  if (error)
    return error;
  if (cap->method != UATTN_CAP_ALSC) {
    error = check_unused("alpha", cap->alpha, method);
    return error ? error : check_unused("beta", cap->beta, method);
  }
  if (!is_finite_f32(cap->alpha))
    return INVALID("cap alsc has alpha %g: expected a finite number",
                   cap->alpha);
  if (!is_finite_f32(cap->beta))
    return INVALID("cap alsc has beta %g: expected a finite number", cap->beta);
  return NULL;
}

static uattn_error_t *check_masks(const uattn_problem_t *problem) {
  if (problem->window_tokens < 0)
    return INVALID("window_len is %" PRId64 ": expected above 0",
                   problem->window_tokens);
  if (problem->q_offset < -Q_OFFSET_LIMIT || problem->q_offset > Q_OFFSET_LIMIT)
    return INVALID("q_offset is %" PRId64 ": expected -2^62 to 2^62",
                   problem->q_offset);
  return NULL;
}

static uattn_error_t *check_scalars(const uattn_problem_t *problem) {
  if (!is_finite_f32(problem->sm_scale))
    return INVALID("sm_scale is %g: expected a finite f32 number",
                   problem->sm_scale);
  if (problem->kind == UATTN_OP_BACKWARD) {
    if (!is_finite_f32(problem->z_loss_weight))
      return INVALID("z_loss_weight is %g: expected a finite f32 number",
                     problem->z_loss_weight);
    return NULL;
  }
  if (problem->z_loss_weight != 0)
    return INVALID("z_loss_weight is %g on the forward op: expected it on the "
                   "backward op alone",
                   problem->z_loss_weight);
  if (problem->is_deterministic)
    return INVALID("deterministic is set on the forward op: expected it on the "
                   "backward op alone");
  return NULL;
}

uattn_error_t *uattn_problem_validate(const uattn_problem_t *problem) {
  uattn_error_t *error = check_types(problem);
  if (!error)
    error = check_operands(problem);
  if (!error)
    error = check_results(problem);
  if (!error)
    error = check_shape(problem);
  if (!error)
    error = check_cap(&problem->cap);
  if (!error)
    error = check_masks(problem);
  if (!error)
    error = check_scalars(problem);
  return error;
}
