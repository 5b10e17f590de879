/* Typed builders of the dialect's pipeline ops; lib/dialect/uattn.irdl.mlir
 * says what each op means.
 * Layer: emit. Must not know: plans, how the ops are lowered.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMIT_PIPELINE_BUILDER_H
#define UATTN_EMIT_PIPELINE_BUILDER_H

#include "emit/builder.h"

/* Roles in the order of their index; `count` at most 4. */
void uattn_emit_role(const uattn_builder_t *b, const int64_t *registers,
                     const int64_t *warpgroups, int count, MlirValue *out_role,
                     MlirValue *out_index);
/* scf.index_switch over `role`: the regions of roles 0 .. count - 2 are cases,
 * the last is the default. Each ends with uattn_yield. */
void uattn_emit_role_switch(const uattn_builder_t *b, MlirValue role,
                            const MlirRegion *owned_regions, int count);
MlirValue uattn_emit_elect(const uattn_builder_t *b);
MlirValue uattn_emit_cta_index(const uattn_builder_t *b);

/* Ids of rows and keys, where they start in their tensors (i64), and which are
 * looked at (i32). */
typedef struct {
  MlirValue q_ids;
  MlirValue q_offset;
  MlirValue first_row;
  MlirValue q_tokens;
  MlirValue kv_ids;
  MlirValue kv_offset;
  MlirValue begin;
  MlirValue end;
  int64_t rows;
  int64_t threads;
  int64_t smem_offset;
} uattn_segment_search_t;
void uattn_emit_segment_hull(const uattn_builder_t *b,
                             const uattn_segment_search_t *search,
                             MlirValue *out_first, MlirValue *out_after,
                             MlirValue *out_is_uniform);

typedef struct {
  MlirType tile; /* vector<rows x columns x element> */
  int64_t stage_count;
  int64_t smem_offset;
  int64_t barrier_offset;
  int64_t consumer_warps;
} uattn_ring_description_t;
MlirValue uattn_emit_ring_alloc(const uattn_builder_t *b,
                                const uattn_ring_description_t *ring);

/* Where a tile lies in a [batch, tokens, heads, head_dim] tensor; i32 each. */
typedef struct {
  MlirValue head;
  MlirValue row;
  MlirValue batch;
} uattn_tile_place_t;
void uattn_emit_ring_produce(const uattn_builder_t *b, MlirValue map,
                             uattn_tile_place_t place, MlirValue ring,
                             MlirValue step);
MlirValue uattn_emit_ring_acquire(const uattn_builder_t *b, MlirValue ring,
                                  MlirValue step);
/* The same for a slot into which a box of `rows` rows was copied. */
MlirValue uattn_emit_ring_acquire_rows(const uattn_builder_t *b, MlirValue ring,
                                       MlirValue step, int64_t rows);
void uattn_emit_ring_release(const uattn_builder_t *b, MlirValue ring,
                             MlirValue step);
/* The tile of records from source[offset] on. */
void uattn_emit_ring_produce_records(const uattn_builder_t *b, MlirValue source,
                                     MlirValue offset, MlirValue ring,
                                     MlirValue step);
MlirValue uattn_emit_smem_alloc(const uattn_builder_t *b, MlirType tile,
                                int64_t smem_offset);
MlirValue uattn_emit_smem_columns(const uattn_builder_t *b, MlirValue source,
                                  MlirValue index, int64_t columns);
void uattn_emit_smem_transpose(const uattn_builder_t *b, MlirValue value,
                               MlirValue target);
MlirValue uattn_emit_smem_rows(const uattn_builder_t *b, MlirValue source,
                               MlirValue index, int64_t rows);
/* A null `when` is always. */
void uattn_emit_named_barrier_sync(const uattn_builder_t *b, MlirValue id,
                                   int64_t threads, MlirValue when);
void uattn_emit_named_barrier_arrive(const uattn_builder_t *b, MlirValue id,
                                     int64_t threads, MlirValue when);

/* A null `accumulator` starts from zero. */
typedef struct {
  MlirValue a;
  MlirValue b;
  MlirValue accumulator;
  MlirType result;
  bool transpose_b;
  bool negate_a;
} uattn_wgmma_operands_t;
MlirValue uattn_emit_wgmma(const uattn_builder_t *b,
                           const uattn_wgmma_operands_t *operands);
/* `io_tied` may be NULL; both values are replaced by what the wait returns. */
void uattn_emit_wgmma_wait(const uattn_builder_t *b, int64_t pending,
                           MlirValue *io_value, MlirValue *io_tied);

MlirValue uattn_emit_cap_apply(const uattn_builder_t *b, const char *method,
                               MlirValue scores);
MlirValue uattn_emit_exp2_apply(const uattn_builder_t *b, MlirValue exponents,
                                int64_t polynomial_period);
/* A null `begin` is no lower limit. */
MlirValue uattn_emit_mask_apply(const uattn_builder_t *b, MlirValue scores,
                                MlirValue first_key, MlirValue end,
                                MlirValue begin);
MlirValue uattn_emit_row_index(const uattn_builder_t *b, MlirType rows);
MlirValue uattn_emit_scalar_load(const uattn_builder_t *b, MlirValue source,
                                 MlirValue offset);
MlirValue uattn_emit_column_load(const uattn_builder_t *b, MlirValue source,
                                 MlirValue offset, MlirValue first_column,
                                 MlirValue limit, MlirType tile);
MlirValue uattn_emit_column_read(const uattn_builder_t *b, MlirValue records,
                                 int64_t field, MlirType tile);
MlirValue uattn_emit_smem_read(const uattn_builder_t *b, MlirValue source);
MlirValue uattn_emit_row_dot(const uattn_builder_t *b, MlirValue x, MlirValue y,
                             MlirType rows);
void uattn_emit_smem_negate_rows(const uattn_builder_t *b, MlirValue tile,
                                 MlirValue flags, MlirValue barrier);
void uattn_emit_smem_drop_rows(const uattn_builder_t *b, MlirValue tile,
                               MlirValue flags, MlirValue barrier);
MlirValue uattn_emit_warpgroup_all(const uattn_builder_t *b, MlirValue flags,
                                   MlirValue barrier);
MlirValue uattn_emit_warp_any(const uattn_builder_t *b, MlirValue flags);
void uattn_emit_smem_clear_rows(const uattn_builder_t *b, MlirValue tile,
                                MlirValue first);
void uattn_emit_warp_sync(const uattn_builder_t *b);
void uattn_emit_async_proxy_fence_op(const uattn_builder_t *b);
MlirValue uattn_emit_row_broadcast(const uattn_builder_t *b, MlirValue rows,
                                   MlirType tile);
MlirValue uattn_emit_fold_columns(const uattn_builder_t *b, const char *kind,
                                  MlirValue tile, MlirType folded);
MlirValue uattn_emit_row_load(const uattn_builder_t *b, MlirValue source,
                              MlirValue offset, MlirValue first_row,
                              MlirValue limit, MlirType rows);
void uattn_emit_row_store(const uattn_builder_t *b, MlirValue rows,
                          MlirValue target, MlirValue offset,
                          MlirValue first_row, MlirValue limit);
/* fields[0 .. 3]: rows. */
void uattn_emit_record_store(const uattn_builder_t *b,
                             const MlirValue fields[4], MlirValue target,
                             MlirValue offset, MlirValue first_row,
                             MlirValue limit);
void uattn_emit_tile_store(const uattn_builder_t *b, MlirValue value,
                           MlirValue staging, MlirValue map,
                           uattn_tile_place_t place, MlirValue barrier);

/* Rows of sums in global memory: where they start and how many there are. */
typedef struct {
  MlirValue memory;
  MlirValue offset;
  MlirValue first_row;
  MlirValue limit;
} uattn_sums_t;
void uattn_emit_sums_clear(const uattn_builder_t *b, uattn_sums_t sums,
                           int64_t columns);
void uattn_emit_sums_add(const uattn_builder_t *b, MlirValue value,
                         MlirValue staging, uattn_sums_t sums,
                         MlirValue barrier);
MlirValue uattn_emit_sums_load(const uattn_builder_t *b, uattn_sums_t sums,
                               MlirType tile);

#endif /* UATTN_EMIT_PIPELINE_BUILDER_H */
