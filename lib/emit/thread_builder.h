/* Builders of what one thread does: special registers, barriers, copies,
 * products, fragments of tiles. One .c file a hardware idea.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shared-memory addresses are i32 (the shared window), global ones !llvm.ptr.
 * A fragment is what one thread holds of a 64-row tile in the layout of a
 * wgmma accumulator: element 4 c + e of the fragment is row
 * 16 (warp % 4) + lane / 4 + 8 (e / 2), column 8 c + 2 (lane % 4) + e % 2.
 * Fragments of 16-bit elements are packed: an i32 holds two columns. */
#ifndef UATTN_EMIT_THREAD_BUILDER_H
#define UATTN_EMIT_THREAD_BUILDER_H

#include "emit/builder.h"
#include "plan/plan.h"

/* ---- inline_ptx.c ---------------------------------------------------------
 */

/* llvm.inline_asm with side effects; `result` may be null. */
MlirOperation uattn_inline_ptx(const uattn_builder_t *b, const char *text,
                               const char *constraints,
                               const MlirValue *operands, int operand_count,
                               MlirType result);
/* A field of a struct that inline PTX with several results returns. */
MlirValue uattn_extract_value(const uattn_builder_t *b, MlirValue fields,
                              int64_t position, MlirType type);
/* The elements of a vector as scalars, into `out_elements`. */
void uattn_vector_elements(const uattn_builder_t *b, MlirValue vector,
                           MlirValue *out_elements);
MlirValue uattn_vector_from_elements(const uattn_builder_t *b,
                                     const MlirValue *elements, int count);
/* Elements of two vectors, those of the second counted on from the first's. */
MlirValue uattn_vector_shuffle2(const uattn_builder_t *b, MlirValue first,
                                MlirValue second, const int64_t *indices,
                                int count);
/* Elements of `vector` by index. */
MlirValue uattn_vector_shuffle(const uattn_builder_t *b, MlirValue vector,
                               const int64_t *indices, int count);

/* ---- thread_index.c -------------------------------------------------------
 */

MlirValue uattn_emit_thread_index(const uattn_builder_t *b);
/* threadIdx / 128, the same register for the whole warp, so that a branch on
 * it is uniform for ptxas. */
MlirValue uattn_emit_warpgroup_index(const uattn_builder_t *b,
                                     MlirValue thread);
MlirValue uattn_emit_cta_index_x(const uattn_builder_t *b);
/* Butterfly exchange of an f32 with lane ^ mask. */
MlirValue uattn_emit_shuffle_xor(const uattn_builder_t *b, MlirValue value,
                                 int32_t mask);
/* True in all lanes where `value` (i1) is true in one. */
MlirValue uattn_emit_vote_any(const uattn_builder_t *b, MlirValue value);
void uattn_emit_set_max_registers(const uattn_builder_t *b, int64_t registers,
                                  int64_t entry_registers);

/* ---- mbarrier.c -----------------------------------------------------------
 */

void uattn_emit_mbarrier_init(const uattn_builder_t *b, MlirValue address,
                              int32_t arrivals);
/* Makes initialised mbarriers known to the copy engine. */
void uattn_emit_mbarrier_init_fence(const uattn_builder_t *b);
/* Spins until the phase of that parity has completed. */
void uattn_emit_mbarrier_wait(const uattn_builder_t *b, MlirValue address,
                              MlirValue parity);
/* Where `when` (i1) is true. A predicate, not a branch. */
void uattn_emit_mbarrier_arrive_when(const uattn_builder_t *b,
                                     MlirValue address, MlirValue when);
void uattn_emit_mbarrier_arrive_expect_tx(const uattn_builder_t *b,
                                          MlirValue address, int32_t bytes);
/* All lanes of the warp. */
void uattn_emit_warp_barrier(const uattn_builder_t *b);
/* All threads of the CTA. */
void uattn_emit_cta_barrier(const uattn_builder_t *b);
/* bar.sync or bar.arrive; a null `when` is always. */
void uattn_emit_bar(const uattn_builder_t *b, bool waits, MlirValue id,
                    int64_t threads, MlirValue when);

/* A barrier of the warpgroup that tells whether `value` (i1) is true in all its
 * threads. */
MlirValue uattn_emit_bar_all(const uattn_builder_t *b, MlirValue id,
                             MlirValue value);

/* ---- tma.c ----------------------------------------------------------------
 */

/* Coordinates of a 4-d tensor map: (column, head, row, batch), i32. */
typedef struct {
  MlirValue column;
  MlirValue head;
  MlirValue row;
  MlirValue batch;
} uattn_tma_coordinates_t;
void uattn_emit_tma_load(const uattn_builder_t *b, MlirValue map,
                         const uattn_tma_coordinates_t *at, MlirValue target,
                         MlirValue barrier);
/* `bytes` that lie one behind the other; addresses and bytes are multiples of
 * 16. */
void uattn_emit_bulk_load(const uattn_builder_t *b, MlirValue source,
                          int32_t bytes, MlirValue target, MlirValue barrier);
/* Starts a store; uattn_emit_tma_store_wait ends a group of them once their
 * shared memory has been read. */
void uattn_emit_tma_store(const uattn_builder_t *b, MlirValue map,
                          const uattn_tma_coordinates_t *at, MlirValue source);
void uattn_emit_tma_store_wait(const uattn_builder_t *b);
/* Ordinary writes to shared memory before, asynchronous accesses after. */
void uattn_emit_async_proxy_fence(const uattn_builder_t *b);

/* ---- wgmma.c --------------------------------------------------------------
 */

/* A tile in shared memory: panels of 64 columns, rows of 128 bytes, 128-byte
 * swizzle. */
typedef struct {
  MlirValue address;   /* of its first row in panel 0, 1024-byte aligned */
  int64_t panel_bytes; /* from one panel to the next */
} uattn_smem_tile_t;

/* fragment [+]= A B, m64 n k, 16-bit inputs, f32 accumulators, as one commit
 * group that is started and not waited for. */
typedef struct {
  uattn_dtype_t dtype;
  int64_t n;
  int64_t k;                /* a multiple of 16 */
  MlirValue a_fragment;     /* packed, vector<k/4 x i32>; null: A is a_tile */
  uattn_smem_tile_t a_tile; /* [64, k] */
  uattn_smem_tile_t b_tile; /* [n, k] where b_is_transposed, else [k, n] */
  bool b_is_transposed;
  bool negates_a;
  MlirValue accumulator; /* vector<n/2 x f32>; null: zero */
} uattn_wgmma_t;
MlirValue uattn_emit_wgmma_group(const uattn_builder_t *b,
                                 const uattn_wgmma_t *wgmma);
/* Waits until at most `pending` groups are in flight; `values` (vectors of
 * f32) are replaced by the same values behind the wait. */
void uattn_emit_wgmma_wait_group(const uattn_builder_t *b, int64_t pending,
                                 MlirValue *io_values, int value_count);

/* ---- fragment.c -----------------------------------------------------------
 */

/* Where a thread's fragment lies, i32. */
typedef struct {
  MlirValue first_row; /* of its two rows; the other is 8 below */
  MlirValue first_column;
  MlirValue is_row_leader; /* i1: the first of the 4 threads of its rows */
} uattn_fragment_place_t;
uattn_fragment_place_t uattn_emit_fragment_place(const uattn_builder_t *b,
                                                 MlirValue thread);
/* vector<2xT>, a value a row -> vector<count x T>. */
MlirValue uattn_emit_fragment_spread(const uattn_builder_t *b, MlirValue rows,
                                     int64_t count);
/* Combines elements that are equal modulo `count` with the binary op `name`. */
MlirValue uattn_emit_fragment_fold(const uattn_builder_t *b, const char *name,
                                   MlirValue fragment, int64_t count);
/* vector<2xf32> of the rows' reductions, equal in the 4 threads of a row. */
MlirValue uattn_emit_fragment_reduce(const uattn_builder_t *b, const char *name,
                                     MlirValue fragment);
/* 2^x; in every `period`-th group of 4 elements by a polynomial. */
MlirValue uattn_emit_fragment_exp2(const uattn_builder_t *b, MlirValue fragment,
                                   int64_t period);
/* -inf where not begin <= column < end; limits are vector<2xi32>, a value a
 * row, relative to the tile's first column. A null `begin` is no limit. */
MlirValue uattn_emit_fragment_mask(const uattn_builder_t *b,
                                   const uattn_fragment_place_t *place,
                                   MlirValue fragment, MlirValue end,
                                   MlirValue begin);
/* Reads a shared-memory tile of 64 rows as a packed fragment. */
MlirValue uattn_emit_fragment_load(const uattn_builder_t *b, MlirValue thread,
                                   uattn_smem_tile_t source, int64_t columns);
/* Row-wise scalar products of two such tiles, vector<2xf32>. */
MlirValue uattn_emit_fragment_row_dot(const uattn_builder_t *b,
                                      MlirValue thread, uattn_smem_tile_t x,
                                      uattn_smem_tile_t y, int64_t columns,
                                      MlirType element);
/* Zeros in rows from `first` on of a tile of `rows` rows, by one warpgroup. */
void uattn_emit_clear_rows(const uattn_builder_t *b, MlirValue thread,
                           uattn_smem_tile_t tile, int64_t rows,
                           int64_t columns, MlirValue first);
/* The elements of a packed vector of 16-bit floats of type `element`, as f32.
 */
MlirValue uattn_emit_widen(const uattn_builder_t *b, MlirValue packed,
                           MlirType element);
/* Writes a packed fragment of 16-bit elements, vector<(columns/4) x i32>, to a
 * shared-memory tile. */
void uattn_emit_fragment_store(const uattn_builder_t *b, MlirValue thread,
                               MlirValue fragment, uattn_smem_tile_t target);
/* Writes the transpose of a packed fragment to a tile of 64 columns. */
void uattn_emit_fragment_transpose(const uattn_builder_t *b, MlirValue thread,
                                   MlirValue fragment,
                                   uattn_smem_tile_t target);
/* Zeros in the thread's rows of a tile of 64 rows where `flags`, vector<2xi1>,
 * is true. */
void uattn_emit_drop_rows(const uattn_builder_t *b,
                          const uattn_fragment_place_t *place,
                          uattn_smem_tile_t tile, int64_t columns,
                          MlirValue flags);

/* ---- global_memory.c ------------------------------------------------------
 */

/* base[offset + index]: `index` is i32 and not negative, `offset` i64. A load
 * widens 16-bit floats to f32. */
MlirValue uattn_emit_global_address(const uattn_builder_t *b, MlirValue base,
                                    MlirValue offset, MlirValue index,
                                    MlirType element);
MlirValue uattn_emit_global_load(const uattn_builder_t *b, MlirValue base,
                                 MlirValue offset, MlirValue index,
                                 MlirType element);

/* ---- global_sums.c --------------------------------------------------------
 */

/* Rows of sums, or of records: see the ops sums_add and record_store. */
typedef struct {
  MlirValue memory;
  MlirValue offset; /* i64 */
  MlirValue first_row;
  MlirValue limit;
} uattn_sums_place_t;

/* Zeros in the place's 64 rows, by one warpgroup. */
void uattn_emit_sums_zero(const uattn_builder_t *b, MlirValue thread,
                          const uattn_sums_place_t *sums, int64_t columns);
/* The fragment of a tile of 64 columns into shared memory, 16 KiB at `staging`,
 * in the order of the sums of rows first_row on. */
void uattn_emit_sums_stage(const uattn_builder_t *b,
                           const uattn_fragment_place_t *place,
                           MlirValue fragment, MlirValue staging,
                           MlirValue first_row);
/* One thread: starts to add what is staged; waits until the copies that it
 * started have read their shared memory. */
void uattn_emit_sums_copy(const uattn_builder_t *b,
                          const uattn_sums_place_t *sums, MlirValue staging);
void uattn_emit_sums_wait(const uattn_builder_t *b);
MlirValue uattn_emit_sums_fragment(const uattn_builder_t *b,
                                   const uattn_fragment_place_t *place,
                                   const uattn_sums_place_t *sums,
                                   int64_t columns);

/* Fields: vector<2xf32>, a value a row. */
void uattn_emit_record_write(const uattn_builder_t *b,
                             const uattn_fragment_place_t *place,
                             const MlirValue fields[UATTN_RECORD_NUMBERS],
                             const uattn_sums_place_t *records);
/* Field `field` of the records in shared memory at `records`, as a fragment
 * with a record a column. */
MlirValue uattn_emit_record_columns(const uattn_builder_t *b,
                                    const uattn_fragment_place_t *place,
                                    MlirValue records, int64_t field,
                                    int64_t columns, MlirType element);

/* ---- segment_hull.c -------------------------------------------------------
 */

/* See the op segment_hull; `scratch` is the address of its shared memory. */
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
  MlirValue scratch;
} uattn_segment_scan_t;
void uattn_emit_segment_search(const uattn_builder_t *b, MlirValue thread,
                               const uattn_segment_scan_t *scan,
                               MlirValue *out_first, MlirValue *out_after,
                               MlirValue *out_is_uniform);

#endif /* UATTN_EMIT_THREAD_BUILDER_H */
