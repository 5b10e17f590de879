/* What the parts of the backward kernels share.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMIT_KERNEL_BACKWARD_H
#define UATTN_EMIT_KERNEL_BACKWARD_H

#include "emit/builder.h"
#include "emit/forward_kernel.h"
#include "emit/pipeline_builder.h"
#include "plan/plan.h"

/* Values of the function's entry block. */
typedef struct {
  const uattn_backward_plan_t *plan;
  uattn_backward_kernel_kind_t kind;
  uattn_backward_layout_t layout;
  MlirValue params[UATTN_BACKWARD_PARAM_COUNT]; /* null where absent */
  MlirValue batch;
  MlirValue head;      /* of the tiles that stay */
  MlirValue first_row; /* of the CTA's tiles that stay */
  MlirValue index_in_role;
  /* Tiles that stay: K and V, or Q and dout (rows: out and dout). */
  MlirValue first_tile;
  MlirValue second_tile;
  /* Tiles that move past: Q and dout, or K and V. Null for rows. */
  MlirValue first_ring;
  MlirValue second_ring;
  MlirValue records_ring; /* where keys stay */
  MlirValue steps;
  /* dkv: rows of q that move past, one range or, with the ranker mask, two that
   * do not meet; tiles of a head, and how many of them are the first range's.
   */
  MlirValue moving_begin[2];
  MlirValue moving_end[2];
  MlirValue first_tiles;
  MlirValue moving_tiles;
  /* rows and dkv with the ranker mask: bounds (positions, lower ones from 0).
   * dkv: steps after `steps` with the candidates' own rows, one a head and
   * consumer. */
  MlirValue history_lower;
  MlirValue history_upper;
  MlirValue candidate_lower;
  MlirValue candidate_upper;
  MlirValue own_steps;
  /* dq: the forward's view of the CTA, whose keys are the same. */
  uattn_forward_plan_t forward_plan;
  uattn_forward_kernel_t forward;
  MlirValue zero;
  MlirValue one;
} uattn_backward_kernel_t;

/* Where the tile of `step` lies in the tensors that move past; the query head
 * that it belongs to, or that the CTA belongs to. */
typedef struct {
  uattn_tile_place_t place;
  MlirValue q_head;
  MlirValue end; /* dkv: of the rows of q that count */
} uattn_backward_step_t;
uattn_backward_step_t
uattn_backward_emit_step(const uattn_builder_t *b,
                         const uattn_backward_kernel_t *kernel, MlirValue step);

/* The ring's step of `step`. */
MlirValue uattn_backward_emit_ring_step(const uattn_builder_t *b,
                                        const uattn_backward_kernel_t *kernel,
                                        MlirValue step);
/* dkv: where the rows of q lie that are the own ones of consumer step % C, of
 * query head step / C of the group. */
uattn_tile_place_t
uattn_backward_emit_own_place(const uattn_builder_t *b,
                              const uattn_backward_kernel_t *kernel,
                              MlirValue step);

/* (batch * q_heads + q_head) * q_tokens, i64: where rows of lse lie. */
MlirValue uattn_backward_emit_row_offset(const uattn_builder_t *b,
                                         const uattn_backward_kernel_t *kernel,
                                         MlirValue q_head);

/* Where the batch begins in a tensor of [batch, tokens]. */
MlirValue uattn_backward_token_offset(const uattn_builder_t *b,
                                      const uattn_backward_kernel_t *kernel,
                                      uattn_backward_param_t tokens);
/* The first of the consumer's rows that stay; its rows of a tile that stays;
 * its named barrier. */
MlirValue uattn_backward_own_row(const uattn_builder_t *b,
                                 const uattn_backward_kernel_t *kernel);
MlirValue uattn_backward_acquire_rows(const uattn_builder_t *b,
                                      const uattn_backward_kernel_t *kernel,
                                      MlirValue tile);
MlirValue uattn_backward_store_barrier(const uattn_builder_t *b,
                                       const uattn_backward_kernel_t *kernel);
/* first + row, rows of i32. */
MlirValue uattn_backward_row_positions(const uattn_builder_t *b,
                                       MlirValue first);
/* lower <= row < upper, rows of i1 from rows of i32. */
MlirValue uattn_backward_is_within(const uattn_builder_t *b, MlirValue rows,
                                   MlirValue lower, MlirValue upper);
/* Where the record of a row of a head lies, in numbers; i64. */
MlirValue
uattn_backward_emit_record_offset(const uattn_builder_t *b,
                                  const uattn_backward_kernel_t *kernel,
                                  MlirValue q_head, MlirValue first_row);
/* Sums of dQ of a head's rows. */
uattn_sums_t uattn_backward_emit_sums(const uattn_builder_t *b,
                                      const uattn_backward_kernel_t *kernel,
                                      MlirValue q_head, MlirValue first_row);

/* z_loss_weight lse + dlse of rows of q; `lse` is theirs. */
MlirValue
uattn_backward_emit_lse_gradient(const uattn_builder_t *b,
                                 const uattn_backward_kernel_t *kernel,
                                 MlirValue first_row, MlirValue lse);
/* Values of rows of q, f32 rows: `param` is [batch, q_heads, q_tokens], of the
 * CTA's head. */
MlirValue uattn_backward_load_rows(const uattn_builder_t *b,
                                   const uattn_backward_kernel_t *kernel,
                                   uattn_backward_param_t param,
                                   MlirValue first_row);
/* The same of [batch, q_tokens], as `rows`. */
MlirValue uattn_backward_load_of_batch(const uattn_builder_t *b,
                                       const uattn_backward_kernel_t *kernel,
                                       uattn_backward_param_t param,
                                       MlirValue first_row, MlirType rows);
void uattn_backward_store_rows(const uattn_builder_t *b,
                               const uattn_backward_kernel_t *kernel,
                               uattn_backward_param_t param,
                               MlirValue first_row, MlirValue rows);

/* backward_rows.c, backward_products.c, backward_fused.c: the region of a
 * consumer warpgroup. */
MlirRegion uattn_backward_emit_rows(const uattn_builder_t *b,
                                    const uattn_backward_kernel_t *kernel);
MlirRegion uattn_backward_emit_dtemp(const uattn_builder_t *b,
                                     const uattn_backward_kernel_t *kernel);
MlirRegion uattn_backward_emit_products(const uattn_builder_t *b,
                                        const uattn_backward_kernel_t *kernel);
MlirRegion uattn_backward_emit_finish(const uattn_builder_t *b,
                                      const uattn_backward_kernel_t *kernel);

#endif /* UATTN_EMIT_KERNEL_BACKWARD_H */
