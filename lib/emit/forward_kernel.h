/* What the parts of the forward kernel share.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMIT_FORWARD_KERNEL_H
#define UATTN_EMIT_FORWARD_KERNEL_H

#include "emit/builder.h"
#include "emit/pipeline_builder.h"
#include "emit/softmax.h"
#include "plan/plan.h"

/* Which keys a CTA visits: step s of `steps` takes the tile that starts at key
 * begin + (steps - 1 - s) * kv_tile_rows. Steps before `first_full` and from
 * `after_full` on hold keys that some row must not see. i32 each. */
typedef struct {
  MlirValue begin;
  MlirValue end;
  MlirValue steps;
  MlirValue first_full;
  MlirValue after_full;
} uattn_forward_steps_t;

/* What both roles use; values of the function's entry block. */
typedef struct {
  const uattn_forward_plan_t *plan;
  uattn_forward_layout_t layout;
  MlirValue params[UATTN_FORWARD_PARAM_COUNT]; /* null where absent */
  MlirValue batch;
  MlirValue head;
  MlirValue kv_head;
  MlirValue cta_row; /* first query row of the CTA */
  uattn_forward_steps_t keys;
  /* With the ranker mask: bounds, clamped below at 0; whether the CTA has a
   * candidate row (i1), whose own keys take the ring steps before
   * `ring_offset`. Else null, and the offset is the constant 0. */
  MlirValue history_lower;
  MlirValue history_upper;
  MlirValue candidate_lower;
  MlirValue candidate_upper;
  MlirValue has_candidates;
  MlirValue ring_offset;
  MlirValue index_in_role;
  MlirValue q_ring;
  MlirValue k_ring;
  MlirValue v_ring;
  MlirValue zero;
  MlirValue one;
} uattn_forward_kernel_t;

/* forward_ranges.c: place, bounds, steps. */
void uattn_forward_emit_place(const uattn_builder_t *b,
                              uattn_forward_kernel_t *kernel);
/* The same kernel with its bounds loaded again at `b`: cheaper than registers
 * that hold them from the start to the end. As it is without the ranker mask.
 */
uattn_forward_kernel_t
uattn_forward_reload_bounds(const uattn_builder_t *b,
                            const uattn_forward_kernel_t *kernel);
/* The first key of the tile of `step`. */
MlirValue uattn_forward_emit_first_key(const uattn_builder_t *b,
                                       const uattn_forward_kernel_t *kernel,
                                       MlirValue step);
/* batch * `count`, i64: where a [batch, count] tensor's row starts. */
MlirValue uattn_forward_emit_batch_offset(const uattn_builder_t *b,
                                          const uattn_forward_kernel_t *kernel,
                                          MlirValue count);

/* Values of one consumer warpgroup's rows. */
typedef struct {
  MlirType i32_rows;
  MlirValue position; /* rows of i32 */
  MlirValue begin;    /* keys that a row sees: rows; null without window */
  MlirValue end;
  MlirValue is_live;      /* rows of i1; null without the ranker mask */
  MlirValue is_candidate; /* and not history too; likewise */
  MlirValue segment_ids;  /* rows of i32; null without */
} uattn_forward_rows_t;
uattn_forward_rows_t
uattn_forward_emit_rows(const uattn_builder_t *b,
                        const uattn_forward_kernel_t *kernel,
                        MlirValue first_row);

/* forward_consumer.c: the region of a consumer warpgroup. */
MlirRegion uattn_forward_emit_consumer(const uattn_builder_t *b,
                                       const uattn_forward_kernel_t *kernel);

/* What one consumer warpgroup keeps in reach. */
typedef struct {
  const uattn_forward_kernel_t *kernel;
  uattn_softmax_t softmax;
  uattn_forward_rows_t rows;
  MlirType out_type;           /* vector<64 x head_dim x f32> */
  MlirType probabilities_type; /* vector<64 x kv x 16 bits> */
  MlirValue q_tile;            /* its 64 rows in shared memory */
  MlirValue first_row;
  MlirValue turn;        /* its named barrier */
  MlirValue next_turn;   /* the next consumer's */
  MlirValue is_not_last; /* of the consumers */
} uattn_forward_consumer_t;

/* Values that a step hands to the next. */
enum {
  UATTN_FORWARD_MAX,
  UATTN_FORWARD_SUMS,
  UATTN_FORWARD_OUT,
  UATTN_FORWARD_P,
  UATTN_FORWARD_CARRIED_COUNT
};

/* forward_diagonal.c: max, sums and out before any tile: a candidate has seen
 * its own key, other rows nothing. */
void uattn_forward_emit_initial_state(const uattn_builder_t *b,
                                      const uattn_forward_consumer_t *consumer,
                                      MlirValue out_state[UATTN_FORWARD_P]);
/* The producer's share of it. */
void uattn_forward_emit_diagonal_loads(const uattn_builder_t *b,
                                       const uattn_forward_kernel_t *kernel);

/* The element type of a dtype. */
MlirType uattn_emit_element_type(const uattn_builder_t *b, uattn_dtype_t dtype);
/* The type of a kernel's parameter: a map of tiles of `tile_dtype`, or a
 * pointer to `pointer_dtype`. */
MlirType uattn_emit_param_type(const uattn_builder_t *b,
                               uattn_plan_param_t param,
                               uattn_dtype_t tile_dtype,
                               uattn_dtype_t pointer_dtype);

typedef struct {
  const char *name;
  const MlirType *param_types;
  int param_count;
  int32_t threads;
  int32_t entry_registers; /* a thread */
  int32_t smem_bytes;
} uattn_kernel_function_t;

/* Appends the gpu.func of a kernel, with its attributes. */
void uattn_emit_kernel_function(const uattn_builder_t *b,
                                const uattn_kernel_function_t *function,
                                MlirRegion owned_body);

#endif /* UATTN_EMIT_FORWARD_KERNEL_H */
