/* Where tests put the elements of a matrix that wgmma reads.
 * Layer: test. Must not know: how the emulator works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wgmma_layout.h"

enum { CORE_BYTES = 128, K = 16 };

static uint32_t panel_bytes(const wgmma_layout_t *layout) {
  return (layout->is_mn_major ? K : layout->rows) * layout->span_bytes;
}

uint32_t wgmma_layout_address(const wgmma_layout_t *layout, uint32_t mn,
                              uint32_t k) {
  uint32_t major = layout->is_mn_major ? mn : k;
  uint32_t minor = layout->is_mn_major ? k : mn;
  uint32_t span = layout->span_bytes, chunks = span / 16;
  uint32_t address = layout->start;
  if (chunks == 1)
    address += k / 8 * CORE_BYTES + mn / 8 * 2 * CORE_BYTES + minor % 8 * 16;
  else
    address += major / 8 / chunks * panel_bytes(layout) + minor * span +
               major / 8 % chunks * 16;
  return (address ^ address / 128 % chunks * 16) + major % 8 * 2;
}

/* PTX ISA, "Matrix Descriptor Format". */
uint64_t wgmma_layout_descriptor(const wgmma_layout_t *layout) {
  uint32_t span = layout->span_bytes;
  uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
  uint64_t leading = layout->is_mn_major ? panel_bytes(layout) : 16;
  uint64_t stride = 8 * span;
  if (span == 16) {
    leading = CORE_BYTES;
    stride = 2 * CORE_BYTES;
  }
  return layout->start / 16 | leading / 16 << 16 | stride / 16 << 32 |
         mode << 62;
}
