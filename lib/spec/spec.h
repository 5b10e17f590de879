/* What every layer may know of the problem beyond the public header.
 * Layer: spec. Must not know: masks in tiles, plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_SPEC_SPEC_H
#define UATTN_SPEC_SPEC_H

#include "uattn/problem.h"

/* Constants of the base-2 softmax of one row, with the cap split into a scale
 * before the normalised cap function f and a scale after it:
 *
 *   y_ij = f(pre_scale * <q_i, k_j> + pre_bias)
 *   log2(e) * temp_i * cap(sm_scale * <q_i, k_j>)
 *        = temp_i * post_scale * y_ij + log2(e) * temp_i * lse_shift
 *
 *   none       f(x) = x, pre_scale 1        post_scale sm_scale log2 e
 *   tanh       f(x) = tanh x                pre_scale sm_scale / c
 *   soft_sign  f(x) = x / (1 + |x|)         pre_scale sm_scale / c
 *              both: post_scale c log2 e
 *   alsc       f(x) = 1 / (1 + 2^x)         pre_scale -alpha sm_scale log2 e /
 * c pre_bias -alpha beta log2 e  post_scale c log2 e / n lse_shift -c
 * sigma(alpha beta) / n
 *
 * The last term is the same for all keys of a row: it leaves p alone and is
 * added to lse. Formulas: semantics of the op, "Forward".
 *
 * Backward, lse is given and the term has to be taken out of it again:
 *
 *   t_ij log2(e) = temp_i * (post_scale * y_ij + log2(e) * lse_shift)
 *   lse2_i = log2(e) * (lse_i - temp_i * lse_shift), once for a row
 *   p_ij = 2^(temp_i * post_scale * y_ij - lse2_i)
 *   c_ij = cap(s_ij) = ln(2) * post_scale * y_ij + lse_shift, for dtemp
 *
 * A row without an allowed key has lse = -inf, for which p would be infinite
 * or NaN: make lse2_i = +inf of it, whose p is 0 for every finite y. lse_shift
 * is 0 but for alsc. The cap's slope by <q_i, k_j> follows from the same y:
 *
 *   cap'(s_ij) * sm_scale = gradient_scale * h(y_ij)
 *   ds_ij of the semantics = dt_ij * temp_i * gradient_scale * h(y_ij)
 *
 *   none       h(y) = 1                     gradient_scale sm_scale
 *   tanh       h(y) = 1 - y^2               gradient_scale sm_scale
 *   soft_sign  h(y) = (1 - |y|)^2           gradient_scale sm_scale
 *   alsc       h(y) = y (1 - y)             gradient_scale sm_scale alpha / n
 */
typedef struct {
  double pre_scale;
  double pre_bias;
  double post_scale;
  double lse_shift;
  double gradient_scale;
} uattn_softmax_constants_t;

uattn_softmax_constants_t
uattn_softmax_constants(const uattn_problem_t *problem);

/* Kernels form positions, q_offset + row and row, the ends of their ranges and
 * differences of these in 32 bits: refuses what leaves them. A dynamic number
 * of rows counts as 1; a call's check knows it. */
UATTN_NODISCARD uattn_error_t *
uattn_problem_check_positions(const uattn_problem_t *problem);

/* Conversions between float and the 16-bit types, round to nearest even;
 * NaN stays NaN, f16 overflows to infinity. */
uint16_t uattn_bf16_from_float(float value);
float uattn_bf16_to_float(uint16_t bits);
uint16_t uattn_f16_from_float(float value);
float uattn_f16_to_float(uint16_t bits);

/* `value` as the element type stores it (f32 and i32: unchanged). */
float uattn_round_to_dtype(float value, uattn_dtype_t dtype);

#endif /* UATTN_SPEC_SPEC_H */
