/* The product of two small matrices in a thread's memory.
 * Layer: host. Must not know: attention, tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host/tile_product.h"

#include "host/host_clones.h"

enum { LANES = 8, VECTORS = UATTN_PRODUCT_COLUMNS / LANES };

/* Written as vectors, since a compiler does not find these by itself. */
typedef float lanes_t
    __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

/* The sums of 4 rows and 16 columns stay in registers. */
HOST_INLINE void add_group(const uattn_tile_product_t *p, int64_t row,
                           int64_t column) {
  lanes_t sums[UATTN_PRODUCT_ROWS][VECTORS] = {0};
  const float *a = p->a + row * p->a_row_stride;
  const float *b = p->b + column;
  int64_t a_row_stride = p->a_row_stride;
  for (int64_t d = 0; d < p->depth; ++d) {
    lanes_t low = *(const lanes_t *)b;
    lanes_t high = *(const lanes_t *)(b + LANES);
    for (int r = 0; r < UATTN_PRODUCT_ROWS; ++r) {
      sums[r][0] += a[r * a_row_stride] * low;
      sums[r][1] += a[r * a_row_stride] * high;
    }
    a += p->a_depth_stride;
    b += p->b_stride;
  }
  for (int r = 0; r < UATTN_PRODUCT_ROWS; ++r) {
    float *c = p->c + (row + r) * p->c_stride + column;
    *(lanes_t *)c += sums[r][0];
    *(lanes_t *)(c + LANES) += sums[r][1];
  }
}

HOST_VECTOR_CLONES
static void add_groups(uattn_tile_product_t p) {
  for (int64_t column = 0; column < p.columns; column += UATTN_PRODUCT_COLUMNS)
    for (int64_t row = 0; row < p.rows; row += UATTN_PRODUCT_ROWS)
      add_group(&p, row, column);
}

void uattn_tile_product_add(const uattn_tile_product_t *product) {
  add_groups(*product);
}
