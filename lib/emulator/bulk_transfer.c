/* Moves the bytes of a bulk copy.
 * Layer: emulator. Must not know: when copies happen, groups, PTX text.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "emulator/bulk_copy.h"

enum { CHUNK_BYTES = 16, MAX_ROW_BYTES = 256 * 8 };

/* ---- Rows of a box in shared memory ----------------------------------------
 * A row is a whole number of 16-byte chunks, which the swizzle scatters. */

static uint8_t *chunk(emu_cta_t *cta, const emu_copy_t *copy, size_t offset) {
  uint64_t address =
      emu_swizzled((uattn_swizzle_t)copy->map.swizzle, copy->shared + offset);
  return emu_cta_shared(cta, copy->insn, address, CHUNK_BYTES, CHUNK_BYTES);
}

static bool write_row(emu_cta_t *cta, const emu_copy_t *copy, size_t offset,
                      const uint8_t *row, size_t bytes) {
  for (size_t i = 0; i < bytes; i += CHUNK_BYTES) {
    uint8_t *target = chunk(cta, copy, offset + i);
    if (!target)
      return false;
    memcpy(target, row + i, CHUNK_BYTES);
  }
  return true;
}

static bool read_row(emu_cta_t *cta, const emu_copy_t *copy, size_t offset,
                     uint8_t *out_row, size_t bytes) {
  for (size_t i = 0; i < bytes; i += CHUNK_BYTES) {
    const uint8_t *source = chunk(cta, copy, offset + i);
    if (!source)
      return false;
    memcpy(out_row + i, source, CHUNK_BYTES);
  }
  return true;
}

/* ---- Loads -----------------------------------------------------------------
 */

static bool load_box(emu_cta_t *cta, const emu_copy_t *copy) {
  const emu_tensor_map_t *map = &copy->map;
  size_t row_bytes = emu_box_row_bytes(map);
  uint32_t rows = emu_box_rows(map);
  uint8_t row[MAX_ROW_BYTES];
  for (uint32_t i = 0; i < rows; ++i) {
    emu_box_row_t inside = emu_box_row(map, copy->at, i, false);
    if (inside.bytes < row_bytes)
      emu_box_fill(map, row, row_bytes);
    if (inside.bytes) {
      const uint8_t *source = emu_cta_global(cta, copy->insn, inside.address,
                                             inside.bytes, 1, false);
      if (!source)
        return false;
      memcpy(row + inside.skip_bytes, source, inside.bytes);
    }
    if (!write_row(cta, copy, i * emu_box_pitch_bytes(map), row, row_bytes))
      return false;
  }
  return true;
}

static bool load_bytes(emu_cta_t *cta, const emu_copy_t *copy) {
  uint8_t *target =
      emu_cta_shared(cta, copy->insn, copy->shared, copy->bytes, CHUNK_BYTES);
  const uint8_t *source = emu_cta_global(cta, copy->insn, copy->global,
                                         copy->bytes, CHUNK_BYTES, false);
  if (!target || !source)
    return false;
  memcpy(target, source, copy->bytes);
  return true;
}

bool emu_transfer_load(emu_cta_t *cta, const emu_copy_t *copy) {
  if (copy->is_tensor ? !load_box(cta, copy)
                      : copy->bytes > 0 && !load_bytes(cta, copy))
    return false;
  return emu_mbarrier_complete_tx(cta, &copy->party, copy->mbarrier,
                                  copy->bytes, copy->phase);
}

bool emu_transfer_local(emu_cta_t *cta, const emu_copy_t *copy) {
  if (copy->bytes > 0) {
    uint8_t *target =
        emu_cta_shared(cta, copy->insn, copy->shared, copy->bytes, CHUNK_BYTES);
    const uint8_t *source =
        emu_cta_shared(cta, copy->insn, copy->source, copy->bytes, CHUNK_BYTES);
    if (!target || !source)
      return false;
    if (copy->reduction == EMU_REDUCE_NONE)
      memmove(target, source, copy->bytes);
    else
      emu_reduce(copy->reduction, copy->type, target, source, copy->bytes);
  }
  return emu_mbarrier_complete_tx(cta, &copy->party, copy->mbarrier,
                                  copy->bytes, copy->phase);
}

/* ---- Stores ----------------------------------------------------------------
 */

bool emu_transfer_read(emu_cta_t *cta, const emu_copy_t *copy, uint8_t *data) {
  if (copy->is_tensor) {
    size_t row_bytes = emu_box_row_bytes(&copy->map);
    uint32_t rows = emu_box_rows(&copy->map);
    for (uint32_t i = 0; i < rows; ++i)
      if (!read_row(cta, copy, i * emu_box_pitch_bytes(&copy->map),
                    data + i * row_bytes, row_bytes))
        return false;
    return true;
  }
  if (copy->bytes == 0)
    return true;
  const uint8_t *source =
      emu_cta_shared(cta, copy->insn, copy->shared, copy->bytes, CHUNK_BYTES);
  if (source)
    memcpy(data, source, copy->bytes);
  return source != NULL;
}

static bool write_global(emu_cta_t *cta, const emu_copy_t *copy,
                         uint64_t address, const uint8_t *data, size_t bytes) {
  uint8_t *target = emu_cta_global(cta, copy->insn, address, bytes, 1, true);
  if (!target)
    return false;
  if (copy->reduction == EMU_REDUCE_NONE)
    memcpy(target, data, bytes);
  else
    emu_reduce(copy->reduction, copy->type, target, data, bytes);
  return true;
}

bool emu_transfer_write(emu_cta_t *cta, const emu_copy_t *copy,
                        const uint8_t *data) {
  if (!copy->is_tensor)
    return copy->bytes == 0 ||
           write_global(cta, copy, copy->global, data, copy->bytes);
  size_t row_bytes = emu_box_row_bytes(&copy->map);
  uint32_t rows = emu_box_rows(&copy->map);
  for (uint32_t i = 0; i < rows; ++i) {
    emu_box_row_t inside = emu_box_row(&copy->map, copy->at, i, true);
    if (inside.bytes &&
        !write_global(cta, copy, inside.address,
                      data + i * row_bytes + inside.skip_bytes, inside.bytes))
      return false;
  }
  return true;
}
