/* What the host passes share: a run's tensors and which keys its rows see.
 * Layer: host. Must not know: plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_HOST_WORK_H
#define UATTN_HOST_HOST_WORK_H

#include "host/tile_cap.h"
#include "uattn/host.h"

/* Queries or keys of a block, and the sides of a tile of pairs. */
enum { UATTN_BLOCK_ROWS = 64 };

/* Rows of one batch and head of a q-like or k-like tensor. */
typedef struct {
  int64_t batch;
  int64_t head;
  int64_t first;
  int64_t count; /* up to UATTN_BLOCK_ROWS */
} uattn_row_block_t;

/* Keys that the rows of a block of queries see by all masks but segments. Each
 * range is half-open and may be empty. */
typedef struct {
  int64_t begin; /* hull of the rows' ranges */
  int64_t end;
  int64_t full_begin; /* keys that all of the rows see */
  int64_t full_end;
  int64_t own_begin; /* hull of the candidates' own keys */
  int64_t own_end;
} uattn_key_hull_t;

typedef struct {
  const uattn_problem_t *problem;
  const uattn_host_tensors_t *tensors;
  int thread_count;
  uattn_tile_cap_t cap;
  int64_t q_block_count;   /* of a batch and head */
  int64_t key_block_count; /* likewise */
  int64_t column_pitch;    /* head_dim in whole groups of tile columns */

  /* By uattn_host_row_index; rows past q_tokens see nothing. */
  int32_t *key_begin; /* range of keys, but for segments */
  int32_t *key_end;
  int32_t *own_key;        /* a candidate's, or -1 */
  uattn_key_hull_t *hulls; /* by batch * q_block_count + block */
} uattn_host_work_t;

/* Where the arrays above hold the first row of a block of queries. */
int64_t uattn_host_row_index(const uattn_host_work_t *work, int64_t batch,
                             int64_t q_block);

uattn_row_block_t uattn_host_q_block(const uattn_host_work_t *work,
                                     int64_t batch, int64_t head,
                                     int64_t q_block);
uattn_row_block_t uattn_host_key_block(const uattn_host_work_t *work,
                                       int64_t batch, int64_t kv_head,
                                       int64_t key_block);

/* Number of items of `heads` heads with `blocks` blocks each, in all batches.
 * uattn_host_work_prepare has found it small enough. */
int64_t uattn_host_item_count(const uattn_host_work_t *work, int64_t heads,
                              int64_t blocks);

/* Every rule of problem and tensors, with messages that name the operand or
 * result, what was found and what was wanted. */
UATTN_NODISCARD uattn_error_t *
uattn_host_check(const uattn_problem_t *problem,
                 const uattn_host_tensors_t *tensors);

/* Fills the rest of a work whose first three fields are set. Release it after
 * an error too. */
UATTN_NODISCARD uattn_error_t *uattn_host_work_prepare(uattn_host_work_t *work);
void uattn_host_work_release(uattn_host_work_t *work);

UATTN_NODISCARD uattn_error_t *
uattn_host_forward(const uattn_host_work_t *work);
UATTN_NODISCARD uattn_error_t *
uattn_host_backward(const uattn_host_work_t *work);

/* A thread's memory, dealt out in whole cache lines; without memory, the bytes
 * that it needs to have. */
typedef struct {
  char *memory; /* or NULL */
  size_t bytes; /* dealt out so far */
} uattn_scratch_t;

/* Of memory that parallel_for gives, which is this much longer than needed. */
enum { UATTN_SCRATCH_ALIGNMENT = 64 };
uattn_scratch_t uattn_scratch_open(void *memory);
void *uattn_scratch_take(uattn_scratch_t *scratch, size_t bytes);
float *uattn_scratch_take_floats(uattn_scratch_t *scratch, int64_t rows,
                                 int64_t columns);

#endif /* UATTN_HOST_HOST_WORK_H */
