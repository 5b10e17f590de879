/* The op's problem description: operands, results, types, attributes.
 * Layer: spec (public). Must not know: plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PROBLEM_H
#define UATTN_PROBLEM_H

#include "uattn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  UATTN_DTYPE_BF16 = 0,
  UATTN_DTYPE_F16 = 1,
  UATTN_DTYPE_F32 = 2,
  UATTN_DTYPE_I32 = 3
} uattn_dtype_t;

typedef enum {
  UATTN_CAP_NONE = 0,
  UATTN_CAP_TANH = 1,
  UATTN_CAP_SOFT_SIGN = 2,
  UATTN_CAP_ALSC = 3
} uattn_cap_method_t;

typedef enum { UATTN_OP_FORWARD = 0, UATTN_OP_BACKWARD = 1 } uattn_op_kind_t;

/* Operands in the order of the op; the forward op has the first seven. */
typedef enum {
  UATTN_OPERAND_Q = 0,              /* [batch, q_tokens, q_heads, head_dim] */
  UATTN_OPERAND_K = 1,              /* [batch, kv_tokens, kv_heads, head_dim] */
  UATTN_OPERAND_V = 2,              /* as k */
  UATTN_OPERAND_TEMP = 3,           /* [batch, q_tokens], optional */
  UATTN_OPERAND_BOUNDS = 4,         /* i32 [batch, 4], optional */
  UATTN_OPERAND_Q_SEGMENT_IDS = 5,  /* i32 [batch, q_tokens], optional */
  UATTN_OPERAND_KV_SEGMENT_IDS = 6, /* i32 [batch, kv_tokens], optional */
  UATTN_OPERAND_OUT = 7,            /* backward: as q */
  UATTN_OPERAND_LSE = 8,  /* backward: f32 [batch, q_heads, q_tokens] */
  UATTN_OPERAND_DOUT = 9, /* backward: as q */
  UATTN_OPERAND_DLSE = 10 /* backward: as lse, optional */
} uattn_operand_t;
#define UATTN_FORWARD_OPERAND_COUNT 7
#define UATTN_OPERAND_COUNT 11

/* Results in the order of the ops; the two ops share the indices. */
typedef enum {
  UATTN_RESULT_OUT = 0,  /* forward: as q */
  UATTN_RESULT_LSE = 1,  /* forward: f32 [batch, q_heads, q_tokens], optional */
  UATTN_RESULT_DQ = 0,   /* backward: as q */
  UATTN_RESULT_DK = 1,   /* backward: as k */
  UATTN_RESULT_DV = 2,   /* backward: as v */
  UATTN_RESULT_DTEMP = 3 /* backward: f32 [batch, q_tokens], optional */
} uattn_result_t;
#define UATTN_FORWARD_RESULT_COUNT 2
#define UATTN_RESULT_COUNT 4

/* A dimension that is known only when the kernel is launched. */
#define UATTN_DIM_DYNAMIC (-1)

/* cap(s); parameters that a method does not use are 0. */
typedef struct {
  uattn_cap_method_t method;
  double cap;   /* finite, > 0; 0 for none */
  double alpha; /* alsc only, finite */
  double beta;  /* alsc only, finite */
} uattn_cap_t;

/* Every attribute and shape of one op. Plain data, copied freely. Sizes in
 * elements, window and offset in tokens. */
typedef struct {
  uattn_op_kind_t kind;
  uattn_dtype_t dtype;      /* of q, k, v, out: bf16 or f16 */
  uattn_dtype_t temp_dtype; /* f32, bf16 or f16; read only with temp */
  int64_t batch;            /* or UATTN_DIM_DYNAMIC, as all but head_dim */
  int64_t q_tokens;
  int64_t kv_tokens;
  int64_t q_heads;
  int64_t kv_heads;
  int64_t head_dim;
  uattn_cap_t cap;
  double sm_scale; /* any finite f32 value */
  bool is_causal;
  int64_t window_tokens; /* 0: no window */
  int64_t q_offset;      /* position of row 0 of q */
  double z_loss_weight;  /* backward only, else 0 */
  bool is_deterministic; /* backward only */
  bool has_operand[UATTN_OPERAND_COUNT];
  bool has_result[UATTN_RESULT_COUNT];
} uattn_problem_t;

UATTN_EXPORT size_t uattn_dtype_bytes(uattn_dtype_t dtype);
/* "bf16", "f16", "f32", "i32". */
UATTN_EXPORT const char *uattn_dtype_name(uattn_dtype_t dtype);
/* "none", "tanh", "soft_sign", "alsc". */
UATTN_EXPORT const char *uattn_cap_method_name(uattn_cap_method_t method);
/* False where `name` is no method. */
UATTN_EXPORT bool uattn_cap_method_parse(const char *name,
                                         uattn_cap_method_t *out_method);
/* "q", "kv_segment_ids", ... as the op's operands are called. */
UATTN_EXPORT const char *uattn_operand_name(uattn_operand_t operand);
/* "out", "lse" or "dq", "dk", "dv", "dtemp". */
UATTN_EXPORT const char *uattn_result_name(uattn_op_kind_t kind, int result);
UATTN_EXPORT int uattn_operand_count(uattn_op_kind_t kind);
UATTN_EXPORT int uattn_result_count(uattn_op_kind_t kind);

/* Shape and type that the problem gives to an operand or result, whether it
 * is present or not. `out_shape` has room for 4; the rank is returned.
 * Dimensions may be UATTN_DIM_DYNAMIC. */
UATTN_EXPORT int uattn_operand_shape(const uattn_problem_t *problem,
                                     uattn_operand_t operand,
                                     int64_t out_shape[4]);
UATTN_EXPORT int uattn_result_shape(const uattn_problem_t *problem, int result,
                                    int64_t out_shape[4]);
UATTN_EXPORT uattn_dtype_t uattn_operand_dtype(const uattn_problem_t *problem,
                                               uattn_operand_t operand);
UATTN_EXPORT uattn_dtype_t uattn_result_dtype(const uattn_problem_t *problem,
                                              int result);

/* Checks every rule that needs no MLIR: types, head ratio, head_dim, optional
 * pairs, cap name and parameters, window, finite scale, backward-only
 * attributes. Dynamic dimensions are not checked. The message names the
 * attribute or operand, what was found and what was wanted. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_problem_validate(const uattn_problem_t *problem);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_PROBLEM_H */
