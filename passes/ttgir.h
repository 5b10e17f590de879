/* The forward kernel in Triton's ttg and ttng ops, in parts. Triton is not
 * linked: its ops are unregistered, its types and encodings opaque text.
 * Layer: passes. Must not know: attributes of the op level, how plans are
 * chosen.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_TTGIR_H
#define UATTN_PASSES_TTGIR_H

#include "dialect/dialect.h"
#include "emit/builder.h"
#include "plan/plan.h"

/* What a role of the kernel can name; null where the op has no such operand.
 * The arguments come first, in the order of the function's. */
typedef enum {
  UATTN_TTGIR_Q, /* tensor descriptors */
  UATTN_TTGIR_K,
  UATTN_TTGIR_V,
  UATTN_TTGIR_TEMP, /* pointers */
  UATTN_TTGIR_BOUNDS,
  UATTN_TTGIR_Q_SEGMENT_IDS,
  UATTN_TTGIR_KV_SEGMENT_IDS,
  UATTN_TTGIR_OUT, /* a tensor descriptor */
  UATTN_TTGIR_LSE,
  UATTN_TTGIR_Q_TOKENS,
  UATTN_TTGIR_KV_TOKENS,
  UATTN_TTGIR_Q_HEADS,
  UATTN_TTGIR_KV_HEADS,
  UATTN_TTGIR_ARGUMENT_COUNT,
  /* Shared memory. */
  UATTN_TTGIR_Q_TILES = UATTN_TTGIR_ARGUMENT_COUNT, /* a consumer each */
  UATTN_TTGIR_K_RING,
  UATTN_TTGIR_V_RING,
  /* mbarriers: one a consumer, then one a stage. */
  UATTN_TTGIR_Q_FULL,
  UATTN_TTGIR_TURN, /* null where consumers take no turns */
  UATTN_TTGIR_K_FULL,
  UATTN_TTGIR_K_EMPTY,
  UATTN_TTGIR_V_FULL,
  UATTN_TTGIR_V_EMPTY,
  UATTN_TTGIR_VALUE_COUNT
} uattn_ttgir_value_t;

/* Layouts of tensors over the 128 threads of a consumer, and of tiles in
 * shared memory. */
typedef struct {
  MlirAttribute scores;         /* accumulator of Q K */
  MlirAttribute scores_rows;    /* one value a row of it */
  MlirAttribute scores_columns; /* one value a column */
  MlirAttribute out;            /* accumulator of P V */
  MlirAttribute out_rows;
  MlirAttribute p; /* left operand of P V, in registers */
} uattn_ttgir_layouts_t;

typedef struct {
  const uattn_problem_t *problem;
  const uattn_forward_plan_t *plan;
  uattn_softmax_constants_t constants;
  int32_t kv_tile_rows; /* a power of two, at most the plan's */
  int32_t q_tile_rows;  /* of all consumers */
  bool is_online;       /* a maximum is followed */
  MlirType element;
  uattn_ttgir_layouts_t layouts;
} uattn_ttgir_kernel_t;

/* Where ops go that one role executes, and what they can name. */
typedef struct {
  uattn_builder_t b;
  const uattn_ttgir_kernel_t *kernel;
  MlirValue values[UATTN_TTGIR_VALUE_COUNT];
} uattn_ttgir_role_t;

/* ---- Kernel (ttgir_kernel.c) ----------------------------------------------
 */

/* Appends the tt.func of a supported problem. */
void uattn_ttgir_emit_kernel(const uattn_builder_t *module,
                             const uattn_problem_t *problem,
                             const uattn_forward_plan_t *plan,
                             const char *name);
void uattn_ttgir_emit_producer(uattn_ttgir_role_t *role);
void uattn_ttgir_emit_consumer(uattn_ttgir_role_t *role, int32_t index);

/* ---- Types (ttgir_types.c) ------------------------------------------------
 */

uattn_ttgir_kernel_t
uattn_ttgir_kernel_create(MlirContext context, const uattn_problem_t *problem,
                          const uattn_forward_plan_t *plan);
/* The largest power of two that is at most `value`. */
int32_t uattn_ttgir_power_of_two(int32_t value);

MlirType uattn_ttgir_scores_type(const uattn_ttgir_kernel_t *kernel,
                                 MlirType element);
MlirType uattn_ttgir_out_type(const uattn_ttgir_kernel_t *kernel,
                              MlirType element);
MlirType uattn_ttgir_p_type(const uattn_ttgir_kernel_t *kernel);
MlirType uattn_ttgir_rows_type(const uattn_ttgir_kernel_t *kernel,
                               MlirType element);
MlirType uattn_ttgir_columns_type(const uattn_ttgir_kernel_t *kernel,
                                  MlirType element);
/* The same shape and layout with other elements. */
MlirType uattn_ttgir_type_of(MlirType type, MlirType element);
MlirType uattn_ttgir_pointer_type(MlirType element);
/* !tt.tensordesc of a tile [1, 1, rows, head_dim]. */
MlirType uattn_ttgir_descriptor_type(const uattn_ttgir_kernel_t *kernel,
                                     int32_t rows);

/* How a tile lies in shared memory: as the product reads it. */
typedef enum {
  UATTN_TTGIR_TILE,            /* [rows, head_dim] */
  UATTN_TTGIR_TILE_TRANSPOSED, /* [head_dim, rows] of the same bytes */
  UATTN_TTGIR_TILE_4D          /* [1, 1, rows, head_dim], as TMA names it */
} uattn_ttgir_form_t;
MlirType uattn_ttgir_tile_type(const uattn_ttgir_kernel_t *kernel,
                               uattn_ttgir_form_t form, int32_t rows);
MlirType uattn_ttgir_tiles_type(const uattn_ttgir_kernel_t *kernel,
                                int32_t count, int32_t rows);
/* `count` mbarriers, or one of them where it is 0. */
MlirType uattn_ttgir_barriers_type(MlirContext context, int32_t count);

/* ---- Tensors (ttgir_tensors.c) --------------------------------------------
 */

/* A scalar, or rows or columns of scores, as every element of `type`; anything
 * that has `type` already stays. */
MlirValue uattn_ttgir_spread(const uattn_ttgir_role_t *role, MlirValue value,
                             MlirType type);
/* lhs OP rhs, where rhs is spread to lhs's type. */
MlirValue uattn_ttgir_binary(const uattn_ttgir_role_t *role, const char *name,
                             MlirValue lhs, MlirValue rhs);
MlirValue uattn_ttgir_compare_i(const uattn_ttgir_role_t *role, int predicate,
                                MlirValue lhs, MlirValue rhs);
/* `op` ("arith.addf") over the columns of scores: rows. */
MlirValue uattn_ttgir_reduce(const uattn_ttgir_role_t *role, const char *op,
                             MlirValue scores);
MlirValue uattn_ttgir_convert(const uattn_ttgir_role_t *role, MlirValue tensor,
                              MlirType type);
/* 0, 1, 2, ... as an i32 tensor of `type`, plus the scalar `first`. */
MlirValue uattn_ttgir_range(const uattn_ttgir_role_t *role, MlirType type,
                            MlirValue first);
/* The CTA's index in the grid. */
MlirValue uattn_ttgir_program_id(const uattn_ttgir_role_t *role, int axis);
/* pointer + offset, a scalar of i64 or a tensor of i32. */
MlirValue uattn_ttgir_advance(const uattn_ttgir_role_t *role, MlirValue pointer,
                              MlirValue offset);
MlirValue uattn_ttgir_load_scalar(const uattn_ttgir_role_t *role,
                                  MlirValue pointer, MlirType element);
/* pointer[indices] where `mask`, else 0. */
MlirValue uattn_ttgir_load(const uattn_ttgir_role_t *role, MlirValue pointer,
                           MlirType element, MlirValue indices, MlirValue mask);
void uattn_ttgir_store(const uattn_ttgir_role_t *role, MlirValue pointer,
                       MlirValue indices, MlirValue value, MlirValue mask);
/* One instruction of PTX on every element: "tanh.approx.f32 $0, $1;". */
MlirValue uattn_ttgir_ptx(const uattn_ttgir_role_t *role, const char *text,
                          MlirValue value);

/* ---- Shared memory, barriers, TMA, products (ttgir_memory.c) ---------------
 */

MlirValue uattn_ttgir_alloc(const uattn_builder_t *b, MlirType type);
MlirValue uattn_ttgir_tile_at(const uattn_ttgir_role_t *role,
                              uattn_ttgir_value_t tiles, MlirValue index,
                              int32_t rows);
MlirValue uattn_ttgir_barrier_at(const uattn_ttgir_role_t *role,
                                 uattn_ttgir_value_t barriers, MlirValue index);
/* The same tile in another form. */
MlirValue uattn_ttgir_view(const uattn_ttgir_role_t *role, MlirValue tile,
                           uattn_ttgir_form_t form, int32_t rows);
void uattn_ttgir_init_barrier(const uattn_ttgir_role_t *role, MlirValue barrier,
                              int32_t count);
void uattn_ttgir_wait(const uattn_ttgir_role_t *role, MlirValue barrier,
                      MlirValue parity);
void uattn_ttgir_arrive(const uattn_ttgir_role_t *role, MlirValue barrier);
void uattn_ttgir_fence(const uattn_ttgir_role_t *role);
/* A tile of `rows` rows from [batch, head, row, 0] of the tensor. */
void uattn_ttgir_tma_load(const uattn_ttgir_role_t *role,
                          uattn_ttgir_value_t descriptor,
                          const MlirValue coordinates[4], MlirValue tile,
                          int32_t rows, MlirValue barrier);
/* Waits until the tile has been read. */
void uattn_ttgir_tma_store(const uattn_ttgir_role_t *role,
                           uattn_ttgir_value_t descriptor,
                           const MlirValue coordinates[4], MlirValue tile,
                           int32_t rows);
void uattn_ttgir_local_store(const uattn_ttgir_role_t *role, MlirValue value,
                             MlirValue tile);
/* a b + accumulator, under way; without an accumulator a b in `type`. */
MlirValue uattn_ttgir_dot(const uattn_ttgir_role_t *role, MlirValue a,
                          MlirValue b, MlirValue accumulator, MlirType type);
/* Waits until at most `pendings` products are under way; values that products
 * write go through it. */
void uattn_ttgir_dot_wait(const uattn_ttgir_role_t *role, int32_t pendings,
                          MlirValue *io_values, int count);

/* ---- Places and keys (ttgir_keys.c) ---------------------------------------
 */

/* The CTA's place in the problem. */
typedef struct {
  MlirValue batch;
  MlirValue head;
  MlirValue kv_head;
  MlirValue first_row; /* of the CTA */
} uattn_ttgir_place_t;
uattn_ttgir_place_t uattn_ttgir_place(const uattn_ttgir_role_t *role);
/* batch * count, i64 */
MlirValue uattn_ttgir_batch_offset(const uattn_ttgir_role_t *role,
                                   const uattn_ttgir_place_t *place,
                                   MlirValue count);

/* The tiles of keys that the CTA walks, the same for all of its roles: those
 * of the rows' hull, then those of candidates' own keys. */
typedef struct {
  MlirValue first_tile;
  MlirValue tile_count;
  MlirValue first_own_tile; /* null without bounds */
  MlirValue steps;          /* at least 1 */
} uattn_ttgir_keys_t;
uattn_ttgir_keys_t uattn_ttgir_keys(const uattn_ttgir_role_t *role,
                                    const uattn_ttgir_place_t *place);
/* The first key of a step's tile. */
MlirValue uattn_ttgir_first_key(const uattn_ttgir_role_t *role,
                                const uattn_ttgir_keys_t *keys, MlirValue step);

/* What rows of a consumer see: keys [begin, end), and their own. */
typedef struct {
  MlirValue begin; /* rows of i32 */
  MlirValue end;
  MlirValue own;            /* -1: none; null without bounds */
  MlirValue segment_ids;    /* null without segments */
  MlirValue kv_segment_ids; /* pointer of the batch */
  /* Keys that all of the rows see; scalars. */
  MlirValue full_begin;
  MlirValue full_end;
} uattn_ttgir_rows_t;
uattn_ttgir_rows_t uattn_ttgir_rows(const uattn_ttgir_role_t *role,
                                    const uattn_ttgir_place_t *place,
                                    MlirValue first_row);
/* scores, -inf where a row does not see the key. */
MlirValue uattn_ttgir_mask(const uattn_ttgir_role_t *role,
                           const uattn_ttgir_rows_t *rows, MlirValue first_key,
                           MlirValue scores);

/* ---- Softmax (ttgir_softmax.c) --------------------------------------------
 */

typedef struct {
  MlirValue max; /* rows, of capped; null where none is followed */
  MlirValue sum;
} uattn_ttgir_softmax_t;
uattn_ttgir_softmax_t
uattn_ttgir_softmax_create(const uattn_ttgir_role_t *role);
/* What a capped score is multiplied by, in base 2: a positive factor, and a
 * sign. */
typedef struct {
  MlirValue factor; /* rows, or a scalar */
  MlirValue sign;   /* alike; null for 1 */
} uattn_ttgir_scale_t;
/* `temp` is rows, or null. */
uattn_ttgir_scale_t uattn_ttgir_scale(const uattn_ttgir_role_t *role,
                                      MlirValue temp);
/* The capped products of q and k with the scale's sign. */
MlirValue uattn_ttgir_capped(const uattn_ttgir_role_t *role, MlirValue products,
                             const uattn_ttgir_scale_t *scale);
/* P, the left operand of P V; `*out_alpha`, rows, is what older results are
 * multiplied by, null for 1. */
MlirValue uattn_ttgir_softmax_step(const uattn_ttgir_role_t *role,
                                   MlirValue capped,
                                   const uattn_ttgir_scale_t *scale,
                                   uattn_ttgir_softmax_t *io_softmax,
                                   MlirValue *out_alpha);
/* Rows: what out is multiplied by, 0 in rows without a key. */
MlirValue uattn_ttgir_inverse_sum(const uattn_ttgir_role_t *role,
                                  const uattn_ttgir_softmax_t *softmax);
MlirValue uattn_ttgir_lse(const uattn_ttgir_role_t *role,
                          const uattn_ttgir_softmax_t *softmax,
                          const uattn_ttgir_scale_t *scale, MlirValue temp);

#endif /* UATTN_PASSES_TTGIR_H */
