/* Which keys each row of q sees, and where blocks lie.
 * Layer: host. Must not know: scores, softmax, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host/host_work.h"

#include <stdlib.h>

#include "host/tensor_rows.h"
#include "host/tile_product.h"
#include "mask/mask.h"
#include "support/parallel_for.h"
#include "support/support.h"

/* Within these limits lib/mask's sums stay exact. Tokens are fewer than 2^31,
 * so that what is cut off changes no row's keys. */
#define LEAST_OFFSET (-(INT64_C(1) << 40))
#define GREATEST_WINDOW ((INT64_C(1) << 62) + (INT64_C(1) << 33))

/* Fewer blocks' keys are found sooner than threads start. */
enum { THREAD_BLOCKS = 64 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t uattn_host_row_index(const uattn_host_work_t *work, int64_t batch,
                             int64_t q_block) {
  return (batch * work->q_block_count + q_block) * UATTN_BLOCK_ROWS;
}

static uattn_row_block_t make_block(int64_t batch, int64_t head, int64_t block,
                                    int64_t tokens) {
  int64_t first = block * UATTN_BLOCK_ROWS;
  return (uattn_row_block_t){batch, head, first,
                             least(tokens - first, UATTN_BLOCK_ROWS)};
}

uattn_row_block_t uattn_host_q_block(const uattn_host_work_t *work,
                                     int64_t batch, int64_t head,
                                     int64_t q_block) {
  return make_block(batch, head, q_block, work->problem->q_tokens);
}

uattn_row_block_t uattn_host_key_block(const uattn_host_work_t *work,
                                       int64_t batch, int64_t kv_head,
                                       int64_t key_block) {
  return make_block(batch, kv_head, key_block, work->problem->kv_tokens);
}

int64_t uattn_host_item_count(const uattn_host_work_t *work, int64_t heads,
                              int64_t blocks) {
  return work->problem->batch * heads * blocks;
}

/* A batch's bounds and the facts of its masks. */
typedef struct {
  const uattn_problem_t *problem;
  int32_t bounds[4];
  uattn_mask_kinds_t kinds;
  uattn_mask_facts_t facts;
  int64_t mask_offset; /* q_offset as lib/mask gets it */
} batch_masks_t;

static batch_masks_t masks_of_batch(const uattn_host_work_t *work,
                                    int64_t batch) {
  const uattn_problem_t *problem = work->problem;
  batch_masks_t masks = {.problem = problem,
                         .kinds = uattn_mask_kinds(problem),
                         .mask_offset =
                             greatest(problem->q_offset, LEAST_OFFSET)};
  if (masks.kinds.has_ranker)
    uattn_integers_load(&work->tensors->operands[UATTN_OPERAND_BOUNDS],
                        (uattn_row_block_t){batch, 0, 0, 4}, masks.bounds);
  masks.facts = (uattn_mask_facts_t){
      .q_tokens = uattn_mask_integer(problem->q_tokens),
      .kv_tokens = uattn_mask_integer(problem->kv_tokens),
      .q_offset = uattn_mask_integer(masks.mask_offset),
      .window_tokens =
          uattn_mask_integer(least(problem->window_tokens, GREATEST_WINDOW)),
      .history_lower = uattn_mask_integer(masks.bounds[0]),
      .history_upper = uattn_mask_integer(masks.bounds[1])};
  return masks;
}

static bool is_in_range(int64_t position, const int32_t range[2]) {
  return position >= 0 && position >= range[0] && position < range[1];
}

static void find_keys(const batch_masks_t *masks, int64_t row,
                      int64_t *out_begin, int64_t *out_end, int64_t *out_own) {
  int64_t position = masks->problem->q_offset + row;
  bool is_candidate =
      masks->kinds.has_ranker && is_in_range(position, masks->bounds + 2);
  bool is_live = !masks->kinds.has_ranker || is_candidate ||
                 is_in_range(position, masks->bounds);
  uattn_key_range_t keys =
      uattn_mask_row_keys(masks->kinds, uattn_mask_integers(), &masks->facts,
                          uattn_mask_integer(masks->mask_offset + row));
  int64_t kv_tokens = masks->problem->kv_tokens;
  int64_t begin = least(uattn_mask_to_integer(keys.begin), kv_tokens);
  int64_t end = greatest(uattn_mask_to_integer(keys.end), begin);
  *out_begin = is_live ? begin : 0;
  *out_end = is_live ? end : 0;
  *out_own = is_candidate && position < kv_tokens ? position : -1;
}

static void add_to_hull(uattn_key_hull_t *hull, int64_t begin, int64_t end,
                        int64_t own) {
  hull->full_begin = greatest(hull->full_begin, begin);
  hull->full_end = least(hull->full_end, end);
  if (begin < end) {
    hull->begin = least(hull->begin, begin);
    hull->end = greatest(hull->end, end);
  }
  if (own >= 0) {
    hull->own_begin = least(hull->own_begin, own);
    hull->own_end = greatest(hull->own_end, own + 1);
  }
}

/* The rows of one block of queries. */
static void find_block_keys(const void *context, void *scratch, int64_t item) {
  const uattn_host_work_t *work = context;
  (void)scratch;
  int64_t batch = item / work->q_block_count;
  int64_t q_block = item % work->q_block_count;
  batch_masks_t masks = masks_of_batch(work, batch);
  uattn_row_block_t block = uattn_host_q_block(work, batch, 0, q_block);
  int64_t index = uattn_host_row_index(work, batch, q_block);
  uattn_key_hull_t hull = {
      .begin = INT64_MAX, .full_end = INT64_MAX, .own_begin = INT64_MAX};
  for (int64_t row = 0; row < UATTN_BLOCK_ROWS; ++row) {
    int64_t begin = 0, end = 0, own = -1;
    if (row < block.count)
      find_keys(&masks, block.first + row, &begin, &end, &own);
    add_to_hull(&hull, begin, end, own);
    work->key_begin[index + row] = (int32_t)begin;
    work->key_end[index + row] = (int32_t)end;
    work->own_key[index + row] = (int32_t)own;
  }
  work->hulls[item] = hull;
}

/* Items, and rows of all heads, are counted in an int64_t. */
static bool counts_fit(const uattn_host_work_t *work) {
  const uattn_problem_t *problem = work->problem;
  size_t blocks = (size_t)greatest(work->q_block_count, work->key_block_count);
  size_t count = 0;
  return uattn_size_multiply((size_t)problem->batch, (size_t)problem->q_heads,
                             &count) &&
         uattn_size_multiply(count, blocks, &count) &&
         uattn_size_multiply(count, (size_t)UATTN_BLOCK_ROWS * sizeof(double),
                             &count) &&
         count <= INT64_MAX;
}

uattn_error_t *uattn_host_work_prepare(uattn_host_work_t *work) {
  const uattn_problem_t *problem = work->problem;
  work->cap = uattn_tile_cap_prepare(problem);
  work->q_block_count = uattn_ceil_divide(problem->q_tokens, UATTN_BLOCK_ROWS);
  work->key_block_count =
      uattn_ceil_divide(problem->kv_tokens, UATTN_BLOCK_ROWS);
  work->column_pitch =
      uattn_ceil_divide(problem->head_dim, UATTN_PRODUCT_COLUMNS) *
      UATTN_PRODUCT_COLUMNS;
  if (!counts_fit(work))
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "batch %lld, %lld heads and %lld tokens are more "
                              "rows than 64 bits can count",
                              (long long)problem->batch,
                              (long long)problem->q_heads,
                              (long long)problem->q_tokens);
  size_t blocks = (size_t)(problem->batch * work->q_block_count);
  size_t integer_bytes = blocks * UATTN_BLOCK_ROWS * sizeof(int32_t);
  work->key_begin = uattn_try_allocate(integer_bytes);
  work->key_end = uattn_try_allocate(integer_bytes);
  work->own_key = uattn_try_allocate(integer_bytes);
  work->hulls = uattn_try_allocate(blocks * sizeof *work->hulls);
  if (!work->key_begin || !work->key_end || !work->own_key || !work->hulls)
    return uattn_error_create(UATTN_ERROR_INTERNAL,
                              "no memory for the masks of %zu blocks of rows",
                              blocks);
  return uattn_parallel_for((int64_t)blocks,
                            blocks < THREAD_BLOCKS ? 1 : work->thread_count, 0,
                            find_block_keys, work);
}

void uattn_host_work_release(uattn_host_work_t *work) {
  free(work->key_begin);
  free(work->key_end);
  free(work->own_key);
  free(work->hulls);
}

uattn_scratch_t uattn_scratch_open(void *memory) {
  uintptr_t misfit = (uintptr_t)memory % UATTN_SCRATCH_ALIGNMENT;
  size_t skipped = misfit ? UATTN_SCRATCH_ALIGNMENT - misfit : 0;
  return (uattn_scratch_t){(char *)memory + skipped, 0};
}

void *uattn_scratch_take(uattn_scratch_t *scratch, size_t bytes) {
  void *taken = scratch->memory ? scratch->memory + scratch->bytes : NULL;
  size_t lines =
      (bytes + UATTN_SCRATCH_ALIGNMENT - 1) / UATTN_SCRATCH_ALIGNMENT;
  scratch->bytes += lines * UATTN_SCRATCH_ALIGNMENT;
  return taken;
}

float *uattn_scratch_take_floats(uattn_scratch_t *scratch, int64_t rows,
                                 int64_t columns) {
  return uattn_scratch_take(scratch,
                            (size_t)rows * (size_t)columns * sizeof(float));
}
