/* The ranges of keys that rows and blocks of rows see.
 * Layer: mask. Must not know: tiles of a particular kernel, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Formulas: semantics of the op, "Masks". A row at position i sees the keys
 *   max(0, history_lower, i - window + 1) <= j
 *   j < min(kv_tokens, history_upper, i + 1)
 * with the terms of the masks that are present; both ends grow with i. */
#include "mask/mask.h"

uattn_mask_kinds_t uattn_mask_kinds(const uattn_problem_t *problem) {
  uattn_mask_kinds_t kinds = {
      .has_ranker = problem->has_operand[UATTN_OPERAND_BOUNDS],
      .has_segments = problem->has_operand[UATTN_OPERAND_Q_SEGMENT_IDS],
      .is_causal = problem->is_causal,
      .has_window = problem->window_tokens > 0,
  };
  return kinds;
}

bool uattn_mask_may_be_empty(uattn_mask_kinds_t kinds) {
  return kinds.has_ranker || kinds.has_segments || kinds.is_causal ||
         kinds.has_window;
}

static uattn_mask_value_t range_begin(uattn_mask_kinds_t kinds,
                                      const uattn_mask_algebra_t *a,
                                      const uattn_mask_facts_t *facts,
                                      uattn_mask_value_t position) {
  uattn_mask_value_t begin = a->constant(a->context, 0);
  if (kinds.has_ranker)
    begin = a->max(a->context, begin, facts->history_lower);
  if (kinds.has_window) {
    uattn_mask_value_t next =
        a->add(a->context, position, a->constant(a->context, 1));
    begin = a->max(a->context, begin,
                   a->subtract(a->context, next, facts->window_tokens));
  }
  return begin;
}

static uattn_mask_value_t range_end(uattn_mask_kinds_t kinds,
                                    const uattn_mask_algebra_t *a,
                                    const uattn_mask_facts_t *facts,
                                    uattn_mask_value_t position) {
  uattn_mask_value_t end = facts->kv_tokens;
  if (kinds.has_ranker)
    end = a->min(a->context, end, facts->history_upper);
  if (kinds.is_causal)
    end = a->min(a->context, end,
                 a->add(a->context, position, a->constant(a->context, 1)));
  return end;
}

uattn_key_range_t uattn_mask_row_keys(uattn_mask_kinds_t kinds,
                                      const uattn_mask_algebra_t *algebra,
                                      const uattn_mask_facts_t *facts,
                                      uattn_mask_value_t position) {
  uattn_key_range_t keys = {range_begin(kinds, algebra, facts, position),
                            range_end(kinds, algebra, facts, position)};
  return keys;
}

void uattn_mask_block_keys(uattn_mask_kinds_t kinds,
                           const uattn_mask_algebra_t *a,
                           const uattn_mask_facts_t *facts,
                           uattn_mask_value_t first_row, int32_t row_count,
                           uattn_key_range_t *out_hull,
                           uattn_key_range_t *out_full) {
  bool depends_on_row = kinds.is_causal || kinds.has_window;
  uattn_mask_value_t first = first_row, last = first_row;
  if (depends_on_row) {
    uattn_mask_value_t end = a->min(
        a->context, facts->q_tokens,
        a->add(a->context, first_row, a->constant(a->context, row_count)));
    first = a->add(a->context, facts->q_offset, first_row);
    last = a->subtract(a->context, a->add(a->context, facts->q_offset, end),
                       a->constant(a->context, 1));
  }
  out_hull->begin = range_begin(kinds, a, facts, first);
  out_hull->end = range_end(kinds, a, facts, last);
  out_full->begin = range_begin(kinds, a, facts, last);
  out_full->end = range_end(kinds, a, facts, first);
}
