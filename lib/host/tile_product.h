/* The product of two small matrices in a thread's memory.
 * Layer: host. Must not know: attention, tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_TILE_PRODUCT_H
#define UATTN_HOST_TILE_PRODUCT_H

#include <stdint.h>

/* Rows and columns that the product works on at once. */
enum { UATTN_PRODUCT_ROWS = 4, UATTN_PRODUCT_COLUMNS = 16 };

/* c[rows][columns] += a[rows][depth] b[depth][columns]; strides in floats, that
 * of the other dimension of b and c is 1. */
typedef struct {
  const float *a;
  int64_t a_row_stride;
  int64_t a_depth_stride;
  const float *b;
  int64_t b_stride;
  float *c;
  int64_t c_stride;
  int64_t rows;    /* arrays have room for whole groups of rows ... */
  int64_t columns; /* ... and of columns, whose rest is computed too */
  int64_t depth;
} uattn_tile_product_t;

/* Each number of c is one sum over depth in its order, to which c is added at
 * the end: a function of its row of a, its column of b and c alone. */
void uattn_tile_product_add(const uattn_tile_product_t *product);

#endif /* UATTN_HOST_TILE_PRODUCT_H */
