/* Finds a tile's instruction in a program; says why there is none.
 * Layer: emulator. Must not know: how tiles are collected and told.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "emulator/trace_parts.h"

#define USAGE_ERROR(...)                                                       \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* A power of two below 2^32 that sizes stay under when they are multiplied. */
enum { MOST_SHARED_ROWS = 1 << 18 };

static bool has_part(const ptx_instruction_t *syntax, const char *name) {
  for (uint32_t i = 1; i < syntax->part_count; ++i)
    if (strcmp(syntax->parts[i], name) == 0)
      return true;
  return false;
}

static bool is_product(const ptx_instruction_t *syntax) {
  return strcmp(syntax->parts[0], "wgmma") == 0 &&
         has_part(syntax, "mma_async");
}

static bool is_tensor_copy(const ptx_instruction_t *syntax) {
  return strcmp(syntax->parts[0], "cp") == 0 && has_part(syntax, "bulk") &&
         has_part(syntax, "tensor") && !has_part(syntax, "prefetch");
}

static bool is_kind(const emu_insn_t *insn, uattn_tile_kind_t kind) {
  return insn->syntax->line > 0 &&
         (kind == UATTN_TILE_BOX ? is_tensor_copy(insn->syntax)
                                 : is_product(insn->syntax));
}

static bool is_entry(const emu_program_t *program, const char *entry) {
  return !entry || strcmp(program->entry->name, entry) == 0;
}

const emu_insn_t *emu_trace_tile_insn(const emu_program_t *program,
                                      const uattn_emulator_tile_t *tile) {
  if (tile->kind == UATTN_TILE_SHARED)
    return NULL;
  for (uint32_t i = 0; i < program->insn_count; ++i)
    if (program->insns[i].syntax->line == tile->line &&
        is_kind(&program->insns[i], tile->kind))
      return &program->insns[i];
  return NULL;
}

bool emu_trace_tile_fits(const emu_program_t *program,
                         const uattn_emulator_tile_t *tile) {
  return is_entry(program, tile->entry) && (tile->kind == UATTN_TILE_SHARED ||
                                            emu_trace_tile_insn(program, tile));
}

/* ---- Errors ----------------------------------------------------------------
 */

/* "fwd.ptx (fwd) has them at lines 7, 19" */
static void append_lines(uattn_string_t *text, const emu_program_t *program,
                         uattn_tile_kind_t kind) {
  const char *separator = "them at lines ";
  uattn_string_appendf(text, "%s (%s) has ", program->module->name,
                       program->entry->name);
  for (uint32_t i = 0; i < program->insn_count; ++i) {
    if (!is_kind(&program->insns[i], kind))
      continue;
    uattn_string_appendf(text, "%s%d", separator,
                         program->insns[i].syntax->line);
    separator = ", ";
  }
  if (*separator != ',')
    uattn_string_append(text, "none");
}

static uattn_error_t *missing_entry(const emu_program_t *const *programs,
                                    size_t program_count, const char *entry) {
  uattn_string_t text = {0};
  for (size_t i = 0; i < program_count; ++i)
    uattn_string_appendf(&text, "%s%s", i > 0 ? ", " : "",
                         programs[i]->entry->name);
  uattn_error_t *error =
      USAGE_ERROR("tile: no kernel %s is launched: expected one of %s", entry,
                  uattn_string_get(&text));
  uattn_string_release(&text);
  return error;
}

uattn_error_t *emu_trace_tile_missing(const emu_program_t *const *programs,
                                      size_t program_count,
                                      const uattn_emulator_tile_t *tile) {
  uattn_string_t text = {0};
  size_t entries = 0;
  for (size_t i = 0; i < program_count; ++i) {
    if (!is_entry(programs[i], tile->entry))
      continue;
    uattn_string_append(&text, entries++ > 0 ? "; " : "");
    append_lines(&text, programs[i], tile->kind);
  }
  uattn_error_t *error =
      entries == 0
          ? missing_entry(programs, program_count, tile->entry)
          : USAGE_ERROR("tile: no %s begins at line %d: %s",
                        tile->kind == UATTN_TILE_BOX ? "cp.async.bulk.tensor"
                                                     : "wgmma.mma_async",
                        tile->line, uattn_string_get(&text));
  uattn_string_release(&text);
  return error;
}

/* ---- Checks ----------------------------------------------------------------
 */

static size_t row_bytes(const uattn_emulator_tile_t *tile) {
  return tile->columns * emu_element_bytes(tile->element);
}

uattn_error_t *emu_trace_tile_check(const uattn_emulator_tile_t *tile) {
  size_t element_bytes = emu_element_bytes(tile->element);
  if ((uint32_t)tile->kind > UATTN_TILE_SHARED)
    return USAGE_ERROR("tile: kind %d is unknown", (int)tile->kind);
  if (tile->kind != UATTN_TILE_SHARED)
    return NULL;
  if (element_bytes == 0 || (uint32_t)tile->swizzle > UATTN_SWIZZLE_128B)
    return USAGE_ERROR("tile: element %d or swizzle %d is unknown",
                       (int)tile->element, (int)tile->swizzle);
  if (tile->rows == 0 || tile->columns == 0 || tile->rows > MOST_SHARED_ROWS ||
      tile->columns > MOST_SHARED_ROWS)
    return USAGE_ERROR("tile: %u rows of %u columns: expected 1 to %d of each",
                       tile->rows, tile->columns, MOST_SHARED_ROWS);
  if (tile->offset % element_bytes)
    return USAGE_ERROR("tile: offset %" PRIu64 ": expected a multiple of %zu",
                       tile->offset, element_bytes);
  size_t span_bytes = (size_t)16 << tile->swizzle;
  if (tile->swizzle == UATTN_SWIZZLE_NONE || row_bytes(tile) <= span_bytes)
    return NULL;
  return USAGE_ERROR("tile: a row has %zu bytes: expected at most the %zu of "
                     "the swizzle",
                     row_bytes(tile), span_bytes);
}

uattn_error_t *emu_trace_tile_check_launch(const emu_launch_t *launch,
                                           const uattn_emulator_tile_t *tile) {
  const char *entry = launch->program->entry->name;
  if (tile->cta >= launch->cta_count)
    return USAGE_ERROR("tile: there is no cta %" PRIu64 ": %s has %" PRIu64,
                       tile->cta, entry, launch->cta_count);
  if (tile->kind < UATTN_TILE_BOX && tile->warpgroup &&
      *tile->warpgroup >= launch->thread_count / (EMU_WGMMA_WARPS * EMU_LANES))
    return USAGE_ERROR("tile: there is no warpgroup %u: a cta of %s has %u "
                       "threads",
                       *tile->warpgroup, entry, launch->thread_count);
  if (tile->kind != UATTN_TILE_SHARED)
    return NULL;
  uint64_t pitch = tile->swizzle == UATTN_SWIZZLE_NONE
                       ? row_bytes(tile)
                       : (uint64_t)16 << tile->swizzle;
  uint64_t bytes = (tile->rows - 1) * pitch + row_bytes(tile);
  if (tile->offset <= launch->shared_bytes &&
      bytes <= launch->shared_bytes - tile->offset)
    return NULL;
  return USAGE_ERROR("tile: %" PRIu64 " bytes at %" PRIu64
                     ": a cta of %s has %zu bytes of shared memory",
                     bytes, tile->offset, entry, launch->shared_bytes);
}
