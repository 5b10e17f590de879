/* A comparison as one line of text.
 * Layer: reference. Must not know: how the comparison came about.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "uattn/reference.h"

int uattn_comparison_format(const uattn_problem_t *problem, int result,
                            const uattn_comparison_t *comparison, char *buffer,
                            size_t buffer_bytes) {
  char head[32] = "";
  if (comparison->worst_head >= 0)
    snprintf(head, sizeof head, " head %" PRId64, comparison->worst_head);
  char mismatches[80] = "";
  if (comparison->mismatch_count > 0)
    snprintf(mismatches, sizeof mismatches,
             ", %" PRId64 " numbers NaN or infinite on one side only",
             comparison->mismatch_count);
  return snprintf(buffer, buffer_bytes,
                  "%s: %s error %.2e, bound %.2e, worst row batch %" PRId64
                  " token %" PRId64 "%s with %.2e%s: %s",
                  uattn_result_name(problem->kind, result),
                  comparison->is_absolute ? "absolute" : "relative",
                  comparison->error, comparison->bound, comparison->worst_batch,
                  comparison->worst_token, head, comparison->worst_row_error,
                  mismatches,
                  comparison->is_within_bound ? "ok" : "over its bound");
}
