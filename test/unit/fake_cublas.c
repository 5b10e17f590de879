/* cuBLAS without a GPU: products that are not computed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "uattn/error.h"

UATTN_EXPORT int cublasCreate_v2(void **handle);
UATTN_EXPORT int cublasDestroy_v2(void *handle);
UATTN_EXPORT int cublasGemmEx(void *handle, int transpose_a, int transpose_b,
                              int rows, int columns, int depth,
                              const void *alpha, const void *a, int a_type,
                              int a_stride, const void *b, int b_type,
                              int b_stride, const void *beta, void *c,
                              int c_type, int c_stride, int compute_type,
                              int algorithm);

enum { SUCCESS = 0, INVALID_VALUE = 7 };

static int handle_target;

int cublasCreate_v2(void **handle) {
  *handle = &handle_target;
  return SUCCESS;
}

int cublasDestroy_v2(void *handle) {
  return handle == &handle_target ? SUCCESS : INVALID_VALUE;
}

/* Of 16-bit numbers; equal rows would make the real one faster than it is. */
static int has_equal_rows(const void *matrix, int size) {
  size_t row_bytes = (size_t)size * 2;
  const char *first = matrix;
  for (int i = 1; i < size; ++i)
    if (memcmp(first, first + (size_t)i * row_bytes, row_bytes) == 0)
      return 1;
  return 0;
}

int cublasGemmEx(void *handle, int transpose_a, int transpose_b, int rows,
                 int columns, int depth, const void *alpha, const void *a,
                 int a_type, int a_stride, const void *b, int b_type,
                 int b_stride, const void *beta, void *c, int c_type,
                 int c_stride, int compute_type, int algorithm) {
  (void)transpose_a;
  (void)transpose_b;
  (void)a_stride;
  (void)b_stride;
  (void)c_stride;
  (void)compute_type;
  (void)algorithm;
  int is_right = handle == &handle_target && rows > 0 && rows == columns &&
                 columns == depth && alpha && a && b && beta && c &&
                 a_type == b_type && b_type == c_type &&
                 !has_equal_rows(a, rows) && !has_equal_rows(b, rows);
  return is_right ? SUCCESS : INVALID_VALUE;
}
