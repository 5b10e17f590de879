/* What the parts of the pass uattn-distribute-tiles share.
 * Layer: passes. Must not know: any particular kernel.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The pass rebuilds a kernel op by op: every value of the pipeline level gets
 * a value of the thread level. Layouts:
 *
 *   vector<64xNxT>   the wgmma accumulator fragment, vector<(N/2)xT>; of
 *                    16-bit floats packed in pairs, vector<(N/4)xi32>
 *   vector<64xT>     the thread's two rows, vector<2xT>
 *   !uattn.smem      i32 address of the tile's first row in panel 0
 *   !uattn.ring      i32 address of slot 0
 *   !uattn.tensor_map, !uattn.global   !llvm.ptr, !llvm.ptr<1>
 *
 * Elementwise ops keep the layout, so they are copied with new types. A packed
 * tile only comes from arith.truncf and goes to products and stores. */
#ifndef UATTN_PASSES_DISTRIBUTE_H
#define UATTN_PASSES_DISTRIBUTE_H

#include "dialect/dialect.h"
#include "emit/emit.h"
#include "emit/thread_builder.h"
#include "passes/value_map.h"

typedef struct {
  uattn_builder_t builder; /* in the function that is being built */
  uattn_value_map_t map;
  MlirOperation function; /* the pipeline-level gpu.func */
  MlirValue thread;       /* threadIdx.x */
  MlirValue warpgroup;    /* uniform in a warp */
  MlirValue smem_base;    /* i32 address of the dynamic shared memory */
  uattn_fragment_place_t place;
} uattn_distributor_t;

/* The thread-level value of a pipeline-level one. Ours to know: every operand
 * was distributed before its user. */
MlirValue uattn_distributed(const uattn_distributor_t *d, MlirValue value);
MlirValue uattn_distributed_operand(const uattn_distributor_t *d,
                                    MlirOperation op, int index);
void uattn_set_distributed(uattn_distributor_t *d, MlirOperation op, int result,
                           MlirValue value);

/* i1: the thread is its warpgroup's first. */
MlirValue uattn_distributed_elected(const uattn_distributor_t *d);

/* An smem value, with the panels of the tile that it is part of. */
uattn_smem_tile_t uattn_distributed_smem_tile(const uattn_distributor_t *d,
                                              MlirValue tile);

/* A thread has no registers for more than half of these. */
enum { UATTN_MAX_TILE_COLUMNS = 512 };

/* The thread-level type; null where a vector has no layout. */
MlirType uattn_distributed_type(MlirType type);

/* A tile of bf16 or f16. */
bool uattn_is_packed_tile(MlirType type);

/* One handler an op: builds the thread level of `op`. False after a
 * diagnostic. */
typedef bool (*uattn_distribute_op_t)(uattn_distributor_t *d, MlirOperation op);
typedef struct {
  const char *name;
  uattn_distribute_op_t distribute;
} uattn_distribute_row_t;

/* Rows end with a NULL name. */
extern const uattn_distribute_row_t uattn_distribute_ring_ops[];
extern const uattn_distribute_row_t uattn_distribute_tile_ops[];
extern const uattn_distribute_row_t uattn_distribute_memory_ops[];
extern const uattn_distribute_row_t uattn_distribute_role_ops[];
extern const uattn_distribute_row_t uattn_distribute_sum_ops[];

/* distribute_check.c: false, after a diagnostic, where an operand or result of
 * `op` has no layout, or where no instruction does what it asks for. Handlers
 * and uattn_distribute_copy rely on it. */
bool uattn_distribute_check(MlirOperation op);
/* The same for a gpu.func: its attributes, and that every block argument is a
 * parameter that a kernel can have. */
bool uattn_distribute_check_kernel(MlirOperation function);
/* The diagnostics "WHAT is TYPE: expected WANTED", and for a vector without a
 * layout; always false. */
bool uattn_distribute_refuse(MlirOperation op, const char *what, MlirType found,
                             const char *wanted);
bool uattn_refuse_layout(MlirOperation op, MlirType type);

/* Any op whose meaning does not depend on the layout: the same op with new
 * types, its regions distributed in turn. */
bool uattn_distribute_copy(uattn_distributor_t *d, MlirOperation op);
/* The ops of `from` into the builder's block. */
bool uattn_distribute_block(uattn_distributor_t *d, MlirBlock from);

#endif /* UATTN_PASSES_DISTRIBUTE_H */
