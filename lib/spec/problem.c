/* Names and sizes of the op's types, operands and results.
 * Layer: spec. Must not know: masks in tiles, plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "uattn/problem.h"

#include <string.h>

static const struct {
  const char *name;
  size_t bytes;
} dtypes[] = {
    [UATTN_DTYPE_BF16] = {"bf16", 2},
    [UATTN_DTYPE_F16] = {"f16", 2},
    [UATTN_DTYPE_F32] = {"f32", 4},
    [UATTN_DTYPE_I32] = {"i32", 4},
};

static const char *const cap_methods[] = {
    [UATTN_CAP_NONE] = "none",
    [UATTN_CAP_TANH] = "tanh",
    [UATTN_CAP_SOFT_SIGN] = "soft_sign",
    [UATTN_CAP_ALSC] = "alsc",
};

static const char *const operands[UATTN_OPERAND_COUNT] = {
    "q",   "k",   "v",    "temp", "bounds", "q_segment_ids", "kv_segment_ids",
    "out", "lse", "dout", "dlse",
};

static const char *const forward_results[] = {"out", "lse"};
static const char *const backward_results[] = {"dq", "dk", "dv", "dtemp"};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* A number outside the enumeration, as a caller's slip may pass it. */
static const char unknown[] = "unknown";

size_t uattn_dtype_bytes(uattn_dtype_t dtype) {
  return (size_t)dtype < COUNT_OF(dtypes) ? dtypes[dtype].bytes : 0;
}

const char *uattn_dtype_name(uattn_dtype_t dtype) {
  return (size_t)dtype < COUNT_OF(dtypes) ? dtypes[dtype].name : unknown;
}

const char *uattn_cap_method_name(uattn_cap_method_t method) {
  return (size_t)method < COUNT_OF(cap_methods) ? cap_methods[method] : unknown;
}

bool uattn_cap_method_parse(const char *name, uattn_cap_method_t *out_method) {
  for (size_t method = 0; method < COUNT_OF(cap_methods); ++method) {
    if (strcmp(name, cap_methods[method]) == 0) {
      *out_method = (uattn_cap_method_t)method;
      return true;
    }
  }
  return false;
}

const char *uattn_operand_name(uattn_operand_t operand) {
  return (size_t)operand < COUNT_OF(operands) ? operands[operand] : unknown;
}

const char *uattn_result_name(uattn_op_kind_t kind, int result) {
  if (result < 0 || result >= uattn_result_count(kind))
    return unknown;
  return kind == UATTN_OP_FORWARD ? forward_results[result]
                                  : backward_results[result];
}

int uattn_operand_count(uattn_op_kind_t kind) {
  return kind == UATTN_OP_FORWARD ? UATTN_FORWARD_OPERAND_COUNT
                                  : UATTN_OPERAND_COUNT;
}

int uattn_result_count(uattn_op_kind_t kind) {
  return kind == UATTN_OP_FORWARD ? UATTN_FORWARD_RESULT_COUNT
                                  : UATTN_RESULT_COUNT;
}
