/* Which keys a block of query rows may see: hulls, full tiles, diagonals.
 * Layer: mask. Must not know: tiles of a particular kernel, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every formula is written once, over values of an algebra: integers where it
 * is tested or counted, IR values where a kernel computes it. */
#ifndef UATTN_MASK_MASK_H
#define UATTN_MASK_MASK_H

#include "spec/spec.h"

/* The masks of a problem, which are ANDed. */
typedef struct {
  bool has_ranker; /* bounds */
  bool has_segments;
  bool is_causal;
  bool has_window;
} uattn_mask_kinds_t;

uattn_mask_kinds_t uattn_mask_kinds(const uattn_problem_t *problem);

/* May a row see no key at all? */
bool uattn_mask_may_be_empty(uattn_mask_kinds_t kinds);

/* A value of the algebra: room for an int64_t or an MlirValue. */
typedef struct {
  uint64_t words[1];
} uattn_mask_value_t;

typedef struct {
  void *context;
  uattn_mask_value_t (*constant)(void *context, int32_t value);
  uattn_mask_value_t (*add)(void *context, uattn_mask_value_t a,
                            uattn_mask_value_t b);
  uattn_mask_value_t (*subtract)(void *context, uattn_mask_value_t a,
                                 uattn_mask_value_t b);
  uattn_mask_value_t (*min)(void *context, uattn_mask_value_t a,
                            uattn_mask_value_t b);
  uattn_mask_value_t (*max)(void *context, uattn_mask_value_t a,
                            uattn_mask_value_t b);
} uattn_mask_algebra_t;

/* The facts that masks depend on; values that no present mask needs are not
 * read. Bounds are raw: any integers. */
typedef struct {
  uattn_mask_value_t q_tokens;
  uattn_mask_value_t kv_tokens;
  uattn_mask_value_t q_offset;
  uattn_mask_value_t window_tokens;
  uattn_mask_value_t history_lower;
  uattn_mask_value_t history_upper;
} uattn_mask_facts_t;

/* Half-open range of key rows; empty where begin >= end. */
typedef struct {
  uattn_mask_value_t begin;
  uattn_mask_value_t end;
} uattn_key_range_t;

/* Keys that a row at position `i` sees apart from a candidate's own key, and
 * apart from what segments forbid: one range. A row that is in neither of the
 * ranker's ranges sees none; that is not told here. */
uattn_key_range_t uattn_mask_row_keys(uattn_mask_kinds_t kinds,
                                      const uattn_mask_algebra_t *algebra,
                                      const uattn_mask_facts_t *facts,
                                      uattn_mask_value_t position);

/* For rows [first_row, first_row + row_count), cut at q_tokens: the hull of
 * their ranges and the keys that all of them see. The second lies within the
 * first; either may be empty. */
void uattn_mask_block_keys(uattn_mask_kinds_t kinds,
                           const uattn_mask_algebra_t *algebra,
                           const uattn_mask_facts_t *facts,
                           uattn_mask_value_t first_row, int32_t row_count,
                           uattn_key_range_t *out_hull,
                           uattn_key_range_t *out_full);

/* The same on integers. */
const uattn_mask_algebra_t *uattn_mask_integers(void);
uattn_mask_value_t uattn_mask_integer(int64_t value);
int64_t uattn_mask_to_integer(uattn_mask_value_t value);

#endif /* UATTN_MASK_MASK_H */
