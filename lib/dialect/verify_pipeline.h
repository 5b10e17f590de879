/* What the rules of the pipeline level's ops share.
 * Layer: dialect. Must not know: plans, kernels, how an op is lowered.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_DIALECT_VERIFY_PIPELINE_H
#define UATTN_DIALECT_VERIFY_PIPELINE_H

#include "dialect/dialect_verify.h"

/* A rank-2 vector type with static sizes. */
typedef struct {
  int64_t rows;
  int64_t columns;
  MlirType element;
} uattn_tile_t;

/* A warpgroup multiplies so many rows. */
#define UATTN_WARPGROUP_ROWS 64
/* Columns that lie together in shared memory, and in sums. */
#define UATTN_COLUMN_BLOCK 64
/* Numbers of a record. */
#define UATTN_RECORD_NUMBERS 4

/* False where `type` is no vector of rank 2. */
bool uattn_tile_from_vector(MlirType type, uattn_tile_t *out_tile);
bool uattn_tile_equals(const uattn_tile_t *a, const uattn_tile_t *b);
/* Of an smem, ring or tensor map type that is well formed. */
uattn_tile_t uattn_inner_tile(MlirType type);

MlirType uattn_operand_type(MlirOperation op, intptr_t index);
MlirType uattn_result_type(MlirOperation op, intptr_t index);

/* Diagnostics "WHAT is TYPE: expected WANTED"; always false. */
bool uattn_refuse_type(MlirOperation op, const char *what, MlirType type,
                       const char *wanted);
bool uattn_refuse_tile(MlirOperation op, const char *what, MlirType type,
                       const uattn_tile_t *wanted);

/* The attribute is an i64 of at least `least` that `multiple` divides. */
bool uattn_verify_i64(MlirOperation op, const char *name, int64_t least,
                      int64_t multiple);
/* The attribute is absent or a unit. */
bool uattn_verify_unit(MlirOperation op, const char *name);
/* The map's box covers the tile's rows and divides its columns. */
bool uattn_verify_box(MlirOperation op, MlirType map, const uattn_tile_t *tile);

/* One rule an op. The types of operands and results are well formed and as
 * the declaration says. */
bool uattn_verify_role(MlirOperation op);
bool uattn_verify_segment_hull(MlirOperation op);
bool uattn_verify_ring_alloc(MlirOperation op);
bool uattn_verify_ring_produce(MlirOperation op);
bool uattn_verify_ring_acquire(MlirOperation op);
bool uattn_verify_ring_produce_records(MlirOperation op);
bool uattn_verify_smem_alloc(MlirOperation op);
bool uattn_verify_smem_rows(MlirOperation op);
bool uattn_verify_smem_columns(MlirOperation op);
bool uattn_verify_named_barrier(MlirOperation op);
bool uattn_verify_wgmma(MlirOperation op);
bool uattn_verify_wgmma_wait(MlirOperation op);
bool uattn_verify_cap_apply(MlirOperation op);
bool uattn_verify_row_broadcast(MlirOperation op);
bool uattn_verify_fold_columns(MlirOperation op);
bool uattn_verify_exp2_apply(MlirOperation op);
bool uattn_verify_mask_apply(MlirOperation op);
bool uattn_verify_column_load(MlirOperation op);
bool uattn_verify_column_read(MlirOperation op);
bool uattn_verify_smem_read(MlirOperation op);
bool uattn_verify_smem_transpose(MlirOperation op);
bool uattn_verify_row_dot(MlirOperation op);
bool uattn_verify_row_load(MlirOperation op);
bool uattn_verify_row_store(MlirOperation op);
bool uattn_verify_record_store(MlirOperation op);
bool uattn_verify_tile_store(MlirOperation op);
bool uattn_verify_sums_clear(MlirOperation op);
bool uattn_verify_sums_add(MlirOperation op);
bool uattn_verify_sums_load(MlirOperation op);

#endif /* UATTN_DIALECT_VERIFY_PIPELINE_H */
