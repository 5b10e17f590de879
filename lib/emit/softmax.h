/* Online softmax in base 2 over the score tiles of one warpgroup.
 * Layer: emit. Must not know: where scores come from, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMIT_SOFTMAX_H
#define UATTN_EMIT_SOFTMAX_H

#include "emit/builder.h"
#include "plan/plan.h"

/* Values that stay the same for all key tiles; "rows" are vector<64xf32>.
 * With y = f(pre x + bias) the normalised capped score of a product x (see
 * uattn_softmax_constants_t), p = 2^(scale y - scale max y). `scale` is
 * positive in every row: the sign of temp goes into pre and bias, which works
 * because tanh and soft_sign are odd and 1 / (1 + 2^-x) = 1 - 1 / (1 + 2^x). */
typedef struct {
  uattn_cap_method_t cap_method;
  int32_t polynomial_period; /* of the plan */
  /* Scores are so bounded that 2^(scale y) itself stays in range: the maximum
   * is 0 throughout. */
  bool has_fixed_maximum;
  MlirType tile_type;   /* vector<64 x kv x f32> */
  MlirType rows_type;   /* vector<64 x f32> */
  MlirType sums_type;   /* vector<64 x 8 x f32>: see fold_columns */
  MlirValue pre;        /* f32 or rows; null where f takes x as it is */
  MlirValue bias;       /* f32 or rows; null without */
  MlirValue scale;      /* f32, or rows with temp */
  MlirValue lse_offset; /* rows or f32, natural log; null without */
  /* Rows of i1 in which q's sign has to be flipped before the products, null
   * where none: without a cap the scores are taken as they are. */
  MlirValue negates_q;
} uattn_softmax_t;

/* Kernel parameters, f32; null where the plan has none. `temp` is rows. */
typedef struct {
  MlirValue pre_scale;
  MlirValue pre_bias;
  MlirValue post_scale;
  MlirValue lse_shift;
  MlirValue temp;
} uattn_softmax_inputs_t;

uattn_softmax_t uattn_softmax_create(const uattn_builder_t *b,
                                     const uattn_forward_plan_t *plan,
                                     const uattn_softmax_inputs_t *inputs);

/* The running maximum of y (rows) and the sums of p (vector<64x8xf32>). */
typedef struct {
  MlirValue max;
  MlirValue sums;
} uattn_softmax_state_t;

/* f(pre x + bias) for products: a tile or rows. */
MlirValue uattn_softmax_cap(const uattn_builder_t *b,
                            const uattn_softmax_t *softmax, MlirValue products);

/* Probabilities, f32 and unnormalised, of the first tile of capped scores. */
MlirValue uattn_softmax_first(const uattn_builder_t *b,
                              const uattn_softmax_t *softmax, MlirValue capped,
                              uattn_softmax_state_t *out_state);

/* Rows that have seen one key, of capped score `capped` (rows), where `sees`
 * (rows of i1); the maximum of other rows stays. Returns p (rows), 0 in others.
 */
MlirValue uattn_softmax_start(const uattn_builder_t *b,
                              const uattn_softmax_t *softmax, MlirValue capped,
                              MlirValue sees, MlirValue *io_max);

/* The same for any later tile. What was accumulated before has to be multiplied
 * by `rescale` (rows), which the state's sums already are; where the warp-wide
 * flag `is_needed` is false that factor is 1 in all rows of the warp. It is
 * as long as no row's maximum grew by more than a factor that p can bear:
 * until then the old maximum stays. */
typedef struct {
  MlirValue rescale;
  MlirValue is_needed; /* i1 */
} uattn_softmax_growth_t;
MlirValue uattn_softmax_next(const uattn_builder_t *b,
                             const uattn_softmax_t *softmax, MlirValue capped,
                             bool is_masked, uattn_softmax_state_t *io_state,
                             uattn_softmax_growth_t *out_growth);
/* tile * rescale, skipped by warps that need none. */
MlirValue uattn_softmax_rescale(const uattn_builder_t *b,
                                const uattn_softmax_growth_t *growth,
                                MlirValue tile);

/* Rows each. `is_empty` (i1) says that the row saw no key: its inverse sum is 0
 * and its lse -inf. Null where that cannot be. */
typedef struct {
  MlirValue inverse_sum; /* 1 / sum p */
  MlirValue lse;         /* natural log */
  MlirValue is_empty;
} uattn_softmax_result_t;

/* A row that is not live (i1 rows; null: all are) counts as empty, whatever
 * was computed for it. */
uattn_softmax_result_t uattn_softmax_finish(const uattn_builder_t *b,
                                            const uattn_softmax_t *softmax,
                                            const uattn_softmax_state_t *state,
                                            MlirValue is_live,
                                            bool may_be_empty);

/* A scalar or rows, repeated to `type` (rows or a tile). */
MlirValue uattn_softmax_spread(const uattn_builder_t *b, MlirValue value,
                               MlirType type);

#endif /* UATTN_EMIT_SOFTMAX_H */
