/* Reads a problem from the attributes of a custom call.
 * Layer: python_bindings. Must not know: how the op is computed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "op_attributes.h"

#include <string.h>

#include "call_frame.h"

static uattn_error_t *missing(const char *name, const char *wanted) {
  return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                            "attribute %s is missing or of another type: "
                            "expected %s",
                            name, wanted);
}

static uattn_error_t *read_f32(const ffi_attributes_t *attributes,
                               const char *name, double *out_value) {
  float value = 0;
  if (!uattn_xla_find_scalar(attributes, name, FFI_DTYPE_F32, &value))
    return missing(name, "an f32");
  *out_value = (double)value;
  return NULL;
}

static uattn_error_t *read_i64(const ffi_attributes_t *attributes,
                               const char *name, int64_t *out_value) {
  if (!uattn_xla_find_scalar(attributes, name, FFI_DTYPE_S64, out_value))
    return missing(name, "an s64");
  return NULL;
}

static uattn_error_t *read_flag(const ffi_attributes_t *attributes,
                                const char *name, bool *out_value) {
  uint8_t value = 0;
  if (!uattn_xla_find_scalar(attributes, name, FFI_DTYPE_PRED, &value))
    return missing(name, "a pred");
  *out_value = value != 0;
  return NULL;
}

static uattn_error_t *read_method(const ffi_attributes_t *attributes,
                                  uattn_cap_method_t *out_method) {
  ffi_bytes_t text;
  if (!uattn_xla_find_text(attributes, "cap_method", &text))
    return missing("cap_method", "a text");
  for (int i = UATTN_CAP_NONE; i <= UATTN_CAP_ALSC; ++i) {
    const char *name = uattn_cap_method_name((uattn_cap_method_t)i);
    if (strlen(name) == text.size && memcmp(name, text.data, text.size) == 0) {
      *out_method = (uattn_cap_method_t)i;
      return NULL;
    }
  }
  return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                            "cap_method is %.*s: expected none, tanh, "
                            "soft_sign or alsc",
                            uattn_xla_shown_size(&text), text.data);
}

static uattn_error_t *read_flags(const char *name, const ffi_array_t *array,
                                 bool *out_flags) {
  for (size_t i = 0; i < array->size; ++i) {
    int32_t value = ((const int32_t *)array->data)[i];
    if (value != 0 && value != 1)
      return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                                "%s[%zu] is %d: expected 0 or 1", name, i,
                                (int)value);
    out_flags[i] = value == 1;
  }
  return NULL;
}

/* Forward and backward are told apart by the number of operands. */
static uattn_error_t *read_presence(const ffi_attributes_t *attributes,
                                    uattn_problem_t *problem) {
  ffi_array_t operands, results;
  if (!uattn_xla_find_array(attributes, "operandSegmentSizes", FFI_DTYPE_S32,
                            &operands) ||
      (operands.size != UATTN_FORWARD_OPERAND_COUNT &&
       operands.size != UATTN_OPERAND_COUNT))
    return missing("operandSegmentSizes", "7 or 11 s32");
  problem->kind = operands.size == UATTN_OPERAND_COUNT ? UATTN_OP_BACKWARD
                                                       : UATTN_OP_FORWARD;
  size_t result_count = (size_t)uattn_result_count(problem->kind);
  if (!uattn_xla_find_array(attributes, "resultSegmentSizes", FFI_DTYPE_S32,
                            &results) ||
      results.size != result_count)
    return missing("resultSegmentSizes",
                   result_count == UATTN_RESULT_COUNT ? "4 s32" : "2 s32");
  uattn_error_t *error =
      read_flags("operandSegmentSizes", &operands, problem->has_operand);
  if (!error)
    error = read_flags("resultSegmentSizes", &results, problem->has_result);
  return error;
}

static uattn_error_t *read_backward(const ffi_attributes_t *attributes,
                                    uattn_problem_t *problem) {
  uattn_error_t *error =
      read_f32(attributes, "z_loss_weight", &problem->z_loss_weight);
  if (!error)
    error = read_flag(attributes, "deterministic", &problem->is_deterministic);
  return error;
}

/* The last two are the backward op's. */
static const char *const known_names[] = {
    "artifact",           "cap",      "cap_alpha",           "cap_beta",
    "cap_method",         "causal",   "operandSegmentSizes", "q_offset",
    "resultSegmentSizes", "sm_scale", "window_len",          "deterministic",
    "z_loss_weight"};

static bool is_known(const ffi_bytes_t *name, uattn_op_kind_t kind) {
  size_t count = sizeof known_names / sizeof *known_names;
  if (kind == UATTN_OP_FORWARD)
    count -= 2;
  for (size_t i = 0; i < count; ++i)
    if (strlen(known_names[i]) == name->size &&
        memcmp(known_names[i], name->data, name->size) == 0)
      return true;
  return false;
}

static uattn_error_t *check_names(const ffi_attributes_t *attributes,
                                  uattn_op_kind_t kind) {
  for (int64_t i = 0; i < attributes->size; ++i)
    if (!is_known(attributes->names[i], kind))
      return uattn_error_create(
          UATTN_ERROR_INVALID_ARGUMENT,
          "attribute %.*s is unknown: expected those of the op",
          uattn_xla_shown_size(attributes->names[i]),
          attributes->names[i]->data);
  return NULL;
}

uattn_error_t *uattn_xla_read_problem(const ffi_attributes_t *attributes,
                                      uattn_problem_t *out_problem) {
  uattn_problem_t problem = {.dtype = UATTN_DTYPE_BF16,
                             .temp_dtype = UATTN_DTYPE_F32,
                             .batch = UATTN_DIM_DYNAMIC,
                             .q_tokens = UATTN_DIM_DYNAMIC,
                             .kv_tokens = UATTN_DIM_DYNAMIC,
                             .q_heads = UATTN_DIM_DYNAMIC,
                             .kv_heads = UATTN_DIM_DYNAMIC,
                             .head_dim = UATTN_DIM_DYNAMIC};
  uattn_error_t *error = read_presence(attributes, &problem);
  if (!error)
    error = read_method(attributes, &problem.cap.method);
  if (!error)
    error = read_f32(attributes, "cap", &problem.cap.cap);
  if (!error)
    error = read_f32(attributes, "cap_alpha", &problem.cap.alpha);
  if (!error)
    error = read_f32(attributes, "cap_beta", &problem.cap.beta);
  if (!error)
    error = read_f32(attributes, "sm_scale", &problem.sm_scale);
  if (!error)
    error = read_flag(attributes, "causal", &problem.is_causal);
  if (!error)
    error = read_i64(attributes, "window_len", &problem.window_tokens);
  if (!error)
    error = read_i64(attributes, "q_offset", &problem.q_offset);
  if (!error && problem.kind == UATTN_OP_BACKWARD)
    error = read_backward(attributes, &problem);
  if (!error)
    error = check_names(attributes, problem.kind);
  if (!error)
    *out_problem = problem;
  return error;
}
