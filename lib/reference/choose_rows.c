/* Chooses the rows on which a large problem is checked.
 * Layer: reference. Must not know: masks, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include "uattn/reference.h"

/* The finaliser of SplitMix64: spreads consecutive numbers over 64 bits. */
static uint64_t mix_bits(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/* One row from each of `wanted_count` equal parts. The place within a part is
 * scattered: evenly spaced rows would all lie at one place of a kernel's tile.
 */
size_t uattn_reference_choose_rows(int64_t row_count, size_t wanted_count,
                                   int64_t *out_rows) {
  if (row_count <= 0 || wanted_count == 0)
    return 0;
  size_t count = wanted_count;
  if ((uint64_t)row_count < count)
    count = (size_t)row_count;
  uint64_t width = (uint64_t)row_count / count;
  uint64_t wider_parts = (uint64_t)row_count % count;
  uint64_t start = 0;
  for (size_t k = 0; k < count; ++k) {
    uint64_t part = width + (k < wider_parts ? 1 : 0);
    out_rows[k] = (int64_t)(start + mix_bits(k) % part);
    start += part;
  }
  out_rows[0] = 0;
  if (count > 1)
    out_rows[count - 1] = row_count - 1;
  return count;
}
