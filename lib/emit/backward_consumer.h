/* What the parts of a consumer of the backward products share.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMIT_BACKWARD_CONSUMER_H
#define UATTN_EMIT_BACKWARD_CONSUMER_H

#include "emit/kernel_backward.h"

/* What steps add to: dK, then dV, or one of them; or dQ and, for dtemp, sums of
 * a row over its keys of dt, dt y and p y, spread over 8 columns. */
enum {
  UATTN_BACKWARD_GRADIENT, /* of S */
  UATTN_BACKWARD_SUM_OF_DT = 1,
  UATTN_BACKWARD_SUM_OF_DT_Y,
  UATTN_BACKWARD_SUM_OF_P_Y,
  UATTN_BACKWARD_MOST_SUMS
};

typedef struct {
  const uattn_backward_kernel_t *kernel;
  MlirType scores_type;   /* vector<64 x moving x f32> */
  MlirType narrow_type;   /* the same in 16 bits */
  MlirType gradient_type; /* vector<64 x head_dim x f32> */
  MlirType rows_type;     /* vector<64 x f32> */
  MlirValue all_keys;     /* fused: K of the CTA */
  MlirValue records;      /* of a step's rows of q, where keys stay */
  MlirValue first_tile;   /* its 64 rows of K or Q */
  MlirValue second_tile;  /* of V or dout */
  MlirValue first_row;
  /* dq: rows, of q, that stay. Else null: records have them. */
  MlirValue exponent_shift;
  MlirValue gradient_shift;
  MlirValue temp;
  /* Columns that a row sees, rows of i32; null: from the first, to the last. */
  MlirValue begin;
  MlirValue end;
  MlirValue segment_ids; /* of the rows; null without */
  /* With the ranker mask, rows of i1: dkv, keys of the history; dq, rows in
   * either range. And those that see, or are seen by, their own alone. */
  MlirValue is_live;
  MlirValue is_candidate;
} uattn_backward_consumer_t;

static inline bool uattn_backward_has_keys(const uattn_backward_consumer_t *c) {
  return uattn_backward_keys_stay(c->kernel->kind);
}
/* dK or dQ, and so dP and dS. */
static inline bool
uattn_backward_has_gradient(const uattn_backward_consumer_t *c) {
  return c->kernel->kind != UATTN_BACKWARD_DV;
}
static inline bool
uattn_backward_has_value_gradient(const uattn_backward_consumer_t *c) {
  return uattn_backward_has_keys(c) && c->kernel->kind != UATTN_BACKWARD_DK;
}
/* Where dV is among the sums. */
static inline int
uattn_backward_value_gradient(const uattn_backward_consumer_t *c) {
  return uattn_backward_has_gradient(c) ? 1 : 0;
}
static inline bool
uattn_backward_has_dtemp(const uattn_backward_consumer_t *c) {
  return !uattn_backward_has_keys(c) && c->kernel->plan->has_dtemp;
}

/* ---- backward_weights.c ----------------------------------------------------
 */

/* Values of rows of q, all of one type: a tile, or rows. */
typedef struct {
  MlirValue exponent_shift;
  MlirValue gradient_shift;
  MlirValue temp; /* null without */
} uattn_backward_q_values_t;

/* Fields of a record: UATTN_BACKWARD_PARAM_RECORDS. */
enum {
  UATTN_BACKWARD_RECORD_EXPONENT_SHIFT,
  UATTN_BACKWARD_RECORD_GRADIENT_SHIFT,
  UATTN_BACKWARD_RECORD_TEMP,
  UATTN_BACKWARD_RECORD_SEGMENT_ID
};

/* What a step's rows of q bring, over the tile of scores. Where keys stay the
 * gradient shift is null: it is read from the records when it is wanted, so
 * that it holds no registers before. */
uattn_backward_q_values_t
uattn_backward_step_values(const uattn_builder_t *b,
                           const uattn_backward_consumer_t *consumer);
/* y, the normalised capped scores of products. */
MlirValue uattn_backward_emit_cap(const uattn_builder_t *b,
                                  const uattn_backward_consumer_t *consumer,
                                  MlirValue products);
/* log2 p, before masks. */
MlirValue uattn_backward_emit_exponents(
    const uattn_builder_t *b, const uattn_backward_consumer_t *consumer,
    MlirValue y, const uattn_backward_q_values_t *values);
/* What dP + gradient_shift has to be multiplied by to become dS, but for
 * gradient_scale: p f'(x) temp. */
MlirValue uattn_backward_emit_factor(const uattn_builder_t *b,
                                     const uattn_backward_consumer_t *consumer,
                                     MlirValue y, MlirValue p,
                                     const uattn_backward_q_values_t *values);

/* ---- backward_masks.c ------------------------------------------------------
 */

/* Fills what the consumer knows of its rows' masks. */
void uattn_backward_emit_limits(const uattn_builder_t *b,
                                uattn_backward_consumer_t *consumer);
/* Exponents of a step: -inf where a row must not see a column. */
MlirValue uattn_backward_emit_mask(const uattn_builder_t *b,
                                   const uattn_backward_consumer_t *consumer,
                                   MlirValue step,
                                   const uattn_backward_step_t *at,
                                   MlirValue exponents);
/* With the ranker mask: zeros in rows of the step's tiles that do not count,
 * which may be dead and hold NaN. */
void uattn_backward_emit_clear(const uattn_builder_t *b,
                               const uattn_backward_consumer_t *consumer,
                               MlirValue step, const uattn_backward_step_t *at);

/* ---- backward_own.c --------------------------------------------------------
 */

/* With the ranker mask: what candidates' own keys add. */
void uattn_backward_emit_own(const uattn_builder_t *b,
                             const uattn_backward_consumer_t *consumer,
                             MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]);

/* ---- backward_products.c ---------------------------------------------------
 */

/* A loop of `steps` that carries the sums; `emit_one` builds a step of it. */
typedef void uattn_backward_emit_step_t(
    const uattn_builder_t *b, const uattn_backward_consumer_t *consumer,
    MlirValue step, MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]);
void uattn_backward_emit_loop(const uattn_builder_t *b,
                              const uattn_backward_consumer_t *consumer,
                              MlirValue steps,
                              uattn_backward_emit_step_t *emit_one,
                              MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]);
/* A consumer that knows its rows, and no tiles yet. */
uattn_backward_consumer_t
uattn_backward_consumer(const uattn_builder_t *b,
                        const uattn_backward_kernel_t *kernel);
void uattn_backward_acquire_tiles(const uattn_builder_t *b,
                                  uattn_backward_consumer_t *consumer);
void uattn_backward_emit_results(
    const uattn_builder_t *b, const uattn_backward_consumer_t *consumer,
    const MlirValue sums[UATTN_BACKWARD_MOST_SUMS]);

/* ---- backward_fused.c ------------------------------------------------------
 */

/* How consumers divide a step's dQ: not at all, where the kernel has none; a
 * block of 64 columns each; or all of it in turns. */
typedef enum {
  UATTN_BACKWARD_DQ_NONE,
  UATTN_BACKWARD_DQ_BLOCK,
  UATTN_BACKWARD_DQ_TURNS
} uattn_backward_dq_share_t;
uattn_backward_dq_share_t
uattn_backward_dq_share(const uattn_backward_kernel_t *kernel);
/* All consumers meet: dS of the step is in shared memory; or, behind the last
 * step, K may be overwritten, which another consumer's dQ reads. */
void uattn_backward_meet(const uattn_builder_t *b,
                         const uattn_backward_kernel_t *kernel);
/* dS of the consumer's keys, 16 bits, into shared memory; the consumers meet.
 */
void uattn_backward_put_ds(const uattn_builder_t *b,
                           const uattn_backward_consumer_t *consumer,
                           MlirValue step, MlirValue ds);
/* The consumer's block of dQ, started and not waited for; adds it to the sums.
 */
MlirValue
uattn_backward_emit_query_gradient(const uattn_builder_t *b,
                                   const uattn_backward_consumer_t *consumer,
                                   MlirValue step);
void uattn_backward_add_query_gradient(
    const uattn_builder_t *b, const uattn_backward_consumer_t *consumer,
    MlirValue step, MlirValue dq);
/* Both, where it is the consumer's turn. */
void uattn_backward_add_in_turn(const uattn_builder_t *b,
                                const uattn_backward_consumer_t *consumer,
                                MlirValue step);
/* With the ranker mask, before the first step: zeros in keys that nobody may
 * see, which may hold NaN. */
void uattn_backward_drop_dead_keys(const uattn_builder_t *b,
                                   const uattn_backward_consumer_t *consumer);

/* How many sums there are, and each one's type. */
int uattn_backward_sum_count(const uattn_backward_consumer_t *consumer);
MlirType uattn_backward_sum_type(const uattn_builder_t *b,
                                 const uattn_backward_consumer_t *consumer,
                                 int sum);

#endif /* UATTN_EMIT_BACKWARD_CONSUMER_H */
