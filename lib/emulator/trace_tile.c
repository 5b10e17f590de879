/* Collects tiles while a CTA runs, and tells each as a matrix.
 * Layer: emulator. Must not know: which tiles a program has, how numbers look.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/decode.h"
#include "emulator/matrix_descriptor.h"
#include "emulator/trace_parts.h"
#include "spec/spec.h"

enum {
  WARP_ROWS = EMU_WGMMA_WARP_ROWS,
  ROWS = EMU_WGMMA_WARPS * EMU_WGMMA_WARP_ROWS,
  DEPTH = EMU_WGMMA_K,
  PITCH = EMU_WGMMA_MAX_N,
  ALL_WARPS = (1 << EMU_WGMMA_WARPS) - 1
};

/* The next of the trace's tiles that the CTA may still give, from `*index` on;
 * NULL at the end. `insn` is NULL for shared memory. */
static emu_trace_tile_t *next_tile(const emu_cta_t *cta, size_t *index,
                                   const emu_insn_t *insn) {
  const emu_trace_t *trace = cta->trace;
  while (*index < trace->options.tile_count) {
    emu_trace_tile_t *tile = &trace->tiles[(*index)++];
    if (tile->is_bound && !tile->is_told && tile->insn == insn &&
        tile->wanted->cta == cta->linear_index)
      return tile;
  }
  return NULL;
}

static void tell(const emu_cta_t *cta, emu_trace_tile_t *tile,
                 const uattn_string_t *text) {
  const emu_trace_t *trace = cta->trace;
  tile->is_told = true;
  trace->options.tell_tile((size_t)(tile - trace->tiles),
                           uattn_string_get(text), trace->options.user_data);
}

/* "# D of fwd.ptx:7 wgmma.mma_async..., cta 0 (0, 0, 0), occurrence 2" */
static void append_head(uattn_string_t *text, const emu_cta_t *cta,
                        const char *what, const emu_trace_tile_t *tile) {
  const ptx_instruction_t *syntax = tile->insn->syntax;
  uattn_string_appendf(text, "# %s of %s:%d ", what,
                       cta->launch->program->module->name, syntax->line);
  for (uint32_t i = 0; i < syntax->part_count; ++i)
    uattn_string_appendf(text, "%s%s", i > 0 ? "." : "", syntax->parts[i]);
  uattn_string_append(text, ", ");
  emu_trace_append_cta(text, cta);
  uattn_string_appendf(text, ", occurrence %" PRIu64, tile->wanted->occurrence);
}

/* "64 x 80 f32", and the end of the line is the caller's. */
static void append_size(uattn_string_t *text, uint32_t rows, uint32_t columns,
                        ptx_type_t type) {
  uattn_string_appendf(text, "\n# %u x %u %s", rows, columns,
                       emu_type_name(type));
}

ptx_type_t emu_trace_element_type(uattn_element_t element) {
  static const ptx_type_t types[] = {
      [UATTN_ELEMENT_U8] = PTX_TYPE_U8,   [UATTN_ELEMENT_U16] = PTX_TYPE_U16,
      [UATTN_ELEMENT_U32] = PTX_TYPE_U32, [UATTN_ELEMENT_I32] = PTX_TYPE_S32,
      [UATTN_ELEMENT_U64] = PTX_TYPE_U64, [UATTN_ELEMENT_I64] = PTX_TYPE_S64,
      [UATTN_ELEMENT_F16] = PTX_TYPE_F16, [UATTN_ELEMENT_F32] = PTX_TYPE_F32,
      [UATTN_ELEMENT_F64] = PTX_TYPE_F64, [UATTN_ELEMENT_BF16] = PTX_TYPE_BF16};
  return types[element];
}

/* ---- Products --------------------------------------------------------------
 */

static uint32_t tile_rows(const emu_trace_tile_t *tile) {
  return tile->wanted->kind == UATTN_TILE_B ? DEPTH : ROWS;
}

static uint32_t tile_columns(const emu_trace_tile_t *tile,
                             const emu_wgmma_form_t *form) {
  return tile->wanted->kind == UATTN_TILE_A ? DEPTH : form->n;
}

static void copy_rows(emu_trace_tile_t *tile, const float *from, uint32_t pitch,
                      uint32_t first_row, uint32_t rows, uint32_t columns,
                      bool is_negated) {
  for (uint32_t i = 0; i < rows * columns; ++i) {
    float value = from[i / columns * pitch + i % columns];
    tile->values[first_row * columns + i] = is_negated ? -value : value;
  }
}

/* All warps read all of B: another one shows that it changed in between. */
static void take_b(emu_trace_tile_t *tile, const float *b, uint32_t columns,
                   uint32_t part) {
  if (!tile->warps) {
    copy_rows(tile, b, PITCH, 0, DEPTH, columns, false);
    return;
  }
  for (uint32_t k = 0; k < DEPTH; ++k)
    if (memcmp(tile->values + k * columns, b + k * PITCH,
               columns * sizeof *b) != 0)
      tile->other_warps |= 1u << part;
}

/* The bits of the tile's values in the type that they have on the machine. */
static uint8_t *pack(const emu_trace_tile_t *tile, ptx_type_t type,
                     size_t count) {
  size_t bytes = ptx_type_bytes(type);
  uint8_t *data = uattn_allocate(count * bytes);
  for (size_t i = 0; i < count; ++i) {
    float value = tile->values[i];
    uint32_t bits = type == PTX_TYPE_F32   ? emu_float_bits(value)
                    : type == PTX_TYPE_F16 ? uattn_f16_from_float(value)
                                           : uattn_bf16_from_float(value);
    memcpy(data + i * bytes, &bits, bytes); /* little-endian */
  }
  return data;
}

static ptx_type_t product_type(const emu_trace_tile_t *tile,
                               const emu_wgmma_form_t *form) {
  if (tile->wanted->kind == UATTN_TILE_D)
    return form->d_is_half ? PTX_TYPE_F16 : PTX_TYPE_F32;
  return form->is_bf16 ? PTX_TYPE_BF16 : PTX_TYPE_F16;
}

/* Where the matrix lies, and how. */
static void append_layout(uattn_string_t *text, uint64_t descriptor,
                          bool is_mn_major) {
  emu_matrix_t matrix;
  (void)emu_matrix_decode(descriptor, is_mn_major, &matrix);
  uattn_string_appendf(text,
                       ", descriptor 0x%016" PRIx64 ": shared address %" PRIu64
                       ", leading %" PRIu64 ", stride %" PRIu64,
                       descriptor, matrix.address, matrix.leading_bytes,
                       matrix.stride_bytes);
  if (matrix.span_bytes > EMU_CHUNK_BYTES)
    uattn_string_appendf(text, ", swizzle %" PRIu64, matrix.span_bytes);
  uattn_string_append(text, is_mn_major ? ", mn-major" : ", k-major");
}

static void append_source(uattn_string_t *text, const emu_trace_tile_t *tile,
                          const emu_product_t *product) {
  const emu_wgmma_form_t *form = product->form;
  if (tile->wanted->kind == UATTN_TILE_D)
    uattn_string_appendf(text, ", D = %s%sA * B",
                         product->accumulates ? "D " : "",
                         form->is_negated       ? "- "
                         : product->accumulates ? "+ "
                                                : "");
  else if (tile->wanted->kind == UATTN_TILE_B)
    append_layout(text, product->b_descriptor, form->b_is_mn_major);
  else if (form->a_is_registers)
    uattn_string_append(text, ", from registers");
  else
    append_layout(text, product->a_descriptor, form->a_is_mn_major);
}

static void tell_product(const emu_cta_t *cta, emu_trace_tile_t *tile,
                         const emu_product_t *product) {
  static const char *const names[] = {"A", "B", "D"};
  const emu_wgmma_form_t *form = product->form;
  uint32_t rows = tile_rows(tile), columns = tile_columns(tile, form);
  ptx_type_t type = product_type(tile, form);
  uattn_string_t text = {0};
  append_head(&text, cta, names[tile->wanted->kind], tile);
  uattn_string_appendf(&text, ", warpgroup %" PRId64, tile->warpgroup);
  append_size(&text, rows, columns, type);
  append_source(&text, tile, product);
  if (tile->other_warps)
    uattn_string_appendf(&text,
                         "\n# not all warps read this B: those of 0x%x read "
                         "another, written in between",
                         tile->other_warps);
  uattn_string_append(&text, "\n");
  uint8_t *data = pack(tile, type, (size_t)rows * columns);
  emu_trace_append_matrix(&text, type, rows, columns, data);
  free(data);
  tell(cta, tile, &text);
  uattn_string_release(&text);
}

/* True for the execution that is asked for, of the right warpgroup. */
static bool is_occurrence(emu_trace_tile_t *tile, const emu_warp_t *warp) {
  uint32_t warpgroup = warp->index / EMU_WGMMA_WARPS;
  if (tile->warpgroup < 0)
    tile->warpgroup =
        tile->wanted->warpgroup ? *tile->wanted->warpgroup : warpgroup;
  return tile->warpgroup == warpgroup &&
         tile->warp_seen[warp->index % EMU_WGMMA_WARPS]++ ==
             tile->wanted->occurrence;
}

void emu_trace_product(emu_warp_t *warp, const emu_product_t *product,
                       const float *a, const float *b, const float *d) {
  uint32_t part = warp->index % EMU_WGMMA_WARPS;
  size_t index = 0;
  emu_trace_tile_t *tile;
  while ((tile = next_tile(warp->cta, &index, product->insn))) {
    if (!is_occurrence(tile, warp))
      continue;
    uint32_t columns = tile_columns(tile, product->form);
    if (!tile->values)
      tile->values = uattn_allocate((size_t)tile_rows(tile) * columns *
                                    sizeof *tile->values);
    if (tile->wanted->kind == UATTN_TILE_A)
      copy_rows(tile, a, DEPTH, part * WARP_ROWS, WARP_ROWS, columns,
                product->form->is_negated);
    else if (tile->wanted->kind == UATTN_TILE_B)
      take_b(tile, b, columns, part);
    else
      copy_rows(tile, d, PITCH, part * WARP_ROWS, WARP_ROWS, columns, false);
    tile->warps |= 1u << part;
    if (tile->warps == ALL_WARPS)
      tell_product(warp->cta, tile, product);
  }
}

/* ---- Shared memory ---------------------------------------------------------
 */

typedef struct {
  uint64_t offset;
  uint32_t rows;
  size_t row_bytes;
  size_t pitch_bytes;
  uattn_swizzle_t swizzle;
} region_t;

/* Rows one behind the other; the region lies in shared memory. */
static uint8_t *read_region(const emu_cta_t *cta, const region_t *region) {
  uint8_t *data = uattn_allocate(region->rows * region->row_bytes);
  for (uint32_t row = 0; row < region->rows; ++row)
    for (size_t i = 0; i < region->row_bytes; ++i) {
      uint64_t address = emu_swizzled(
          region->swizzle, region->offset + row * region->pitch_bytes + i);
      if (address < cta->shared_bytes)
        data[row * region->row_bytes + i] = cta->shared[address];
    }
  return data;
}

static void append_region(uattn_string_t *text, const emu_cta_t *cta,
                          const region_t *region, ptx_type_t type) {
  uint32_t columns = (uint32_t)(region->row_bytes / ptx_type_bytes(type));
  uattn_string_appendf(text, " at shared address %" PRIu64, region->offset);
  if (region->swizzle != UATTN_SWIZZLE_NONE)
    uattn_string_appendf(text, ", swizzle %u", 16u << region->swizzle);
  uattn_string_append(text, "\n");
  uint8_t *data = read_region(cta, region);
  emu_trace_append_matrix(text, type, region->rows, columns, data);
  free(data);
}

void emu_trace_copy(emu_cta_t *cta, emu_copy_t *copy) {
  size_t index = 0;
  emu_trace_tile_t *tile;
  while ((tile = next_tile(cta, &index, copy->insn)))
    if (tile->seen++ == tile->wanted->occurrence) {
      if (!copy->number)
        copy->number = ++cta->trace->copies;
      tile->copy = copy->number;
    }
}

/* "{0, 64}" */
static void append_position(uattn_string_t *text, const emu_copy_t *copy) {
  for (uint32_t i = 0; i < copy->map.rank; ++i)
    uattn_string_appendf(text, "%s%d", i > 0 ? ", " : "{", copy->at[i]);
  uattn_string_append(text, "}");
}

static void append_box(uattn_string_t *text, const emu_copy_t *copy) {
  for (uint32_t i = 0; i < copy->map.rank; ++i)
    uattn_string_appendf(text, "%s%u", i > 0 ? ", " : "{", copy->map.box[i]);
  uattn_string_append(text, "}");
}

static void tell_box(const emu_cta_t *cta, emu_trace_tile_t *tile,
                     const emu_copy_t *copy) {
  ptx_type_t type = emu_trace_element_type((uattn_element_t)copy->map.element);
  region_t region = {.offset = copy->shared % EMU_WINDOW_BYTES,
                     .rows = emu_box_rows(&copy->map),
                     .row_bytes = emu_box_row_bytes(&copy->map),
                     .pitch_bytes = emu_box_pitch_bytes(&copy->map),
                     .swizzle = (uattn_swizzle_t)copy->map.swizzle};
  uattn_string_t text = {0};
  append_head(&text, cta, "box", tile);
  append_size(&text, region.rows,
              (uint32_t)(region.row_bytes / ptx_type_bytes(type)), type);
  uattn_string_append(&text, ", box ");
  append_box(&text, copy);
  uattn_string_append(&text, " at ");
  append_position(&text, copy);
  uattn_string_append(&text, ",");
  append_region(&text, cta, &region, type);
  tell(cta, tile, &text);
  uattn_string_release(&text);
}

void emu_trace_box(emu_cta_t *cta, const emu_copy_t *copy) {
  size_t index = 0;
  emu_trace_tile_t *tile;
  while ((tile = next_tile(cta, &index, copy->insn)))
    if (tile->copy == copy->number)
      tell_box(cta, tile, copy);
}

static void tell_shared(const emu_cta_t *cta, emu_trace_tile_t *tile) {
  const uattn_emulator_tile_t *wanted = tile->wanted;
  ptx_type_t type = emu_trace_element_type(wanted->element);
  size_t row_bytes = wanted->columns * ptx_type_bytes(type);
  region_t region = {.offset = wanted->offset,
                     .rows = wanted->rows,
                     .row_bytes = row_bytes,
                     .pitch_bytes = wanted->swizzle == UATTN_SWIZZLE_NONE
                                        ? row_bytes
                                        : (size_t)16 << wanted->swizzle,
                     .swizzle = wanted->swizzle};
  uattn_string_t text = {0};
  uattn_string_appendf(&text, "# shared memory of %s, ",
                       cta->launch->program->entry->name);
  emu_trace_append_cta(&text, cta);
  uattn_string_append(&text, ", at its end");
  append_size(&text, wanted->rows, wanted->columns, type);
  append_region(&text, cta, &region, type);
  tell(cta, tile, &text);
  uattn_string_release(&text);
}

void emu_trace_cta_end(emu_cta_t *cta) {
  size_t index = 0;
  emu_trace_tile_t *tile;
  while ((tile = next_tile(cta, &index, NULL)))
    tell_shared(cta, tile);
}

/* ---- What was not told -----------------------------------------------------
 */

uattn_error_t *emu_trace_tile_end(const emu_launch_t *launch,
                                  const emu_trace_tile_t *tile) {
  const uattn_emulator_tile_t *wanted = tile->wanted;
  bool is_box = wanted->kind == UATTN_TILE_BOX;
  uint64_t seen = is_box ? tile->seen : tile->warp_seen[0];
  for (int i = 1; i < EMU_WGMMA_WARPS && !is_box; ++i)
    seen = tile->warp_seen[i] < seen ? tile->warp_seen[i] : seen;
  uattn_string_t who = {0};
  uattn_string_appendf(&who, "cta %" PRIu64, wanted->cta);
  if (!is_box && (wanted->warpgroup || tile->warpgroup >= 0))
    uattn_string_appendf(&who, " warpgroup %" PRId64,
                         wanted->warpgroup ? *wanted->warpgroup
                                           : tile->warpgroup);
  uattn_error_t *error = uattn_error_create(
      UATTN_ERROR_INVALID_ARGUMENT,
      "tile: line %d of %s is executed %" PRIu64
      " times by %s: expected occurrence %" PRIu64 " (from 0)",
      wanted->line, launch->program->module->name, seen, uattn_string_get(&who),
      wanted->occurrence);
  uattn_string_release(&who);
  return error;
}
