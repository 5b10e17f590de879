/* Whether the positions of a problem's rows fit where kernels form them.
 * Layer: spec. Must not know: masks in tiles, plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "spec/spec.h"

uattn_error_t *uattn_problem_check_positions(const uattn_problem_t *problem) {
  int64_t first = problem->q_offset;
  int64_t rows = problem->q_tokens > 0 ? problem->q_tokens : 1;
  int64_t keys = problem->kv_tokens > 0 ? problem->kv_tokens : 1;
  if (first < INT32_MIN || first > INT32_MAX || first + rows > INT32_MAX)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "q_offset is %" PRId64 " with %" PRId64
                              " query rows: expected positions from -2^31 to "
                              "2^31 - 2",
                              first, rows);
  if (keys - first > INT32_MAX)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "q_offset is %" PRId64 " with %" PRId64
                              " keys: expected them less than 2^31 positions "
                              "after the first query",
                              first, keys);
  return NULL;
}
