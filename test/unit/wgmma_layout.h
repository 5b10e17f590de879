/* Where tests put the elements of a matrix that wgmma reads.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Without a swizzle: cores of 8 rows of 16 bytes, 2 along k, then the next
 * along mn. With one: panels of rows of a span, all of them one after the
 * other, with 16-byte chunks exchanged by the number of the 128-byte line. */
#ifndef UATTN_WGMMA_LAYOUT_H
#define UATTN_WGMMA_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t start;      /* shared address */
  uint32_t span_bytes; /* 16: no swizzle */
  uint32_t rows;       /* along mn; k is 16 */
  bool is_mn_major;
} wgmma_layout_t;

/* The shared address of the 2 bytes of element (mn, k). */
uint32_t wgmma_layout_address(const wgmma_layout_t *layout, uint32_t mn,
                              uint32_t k);
/* The matrix descriptor. */
uint64_t wgmma_layout_descriptor(const wgmma_layout_t *layout);

#endif /* UATTN_WGMMA_LAYOUT_H */
