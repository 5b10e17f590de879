/* The words of loads, stores and atomics that say where, for whom, and how to
 * cache.
 * Layer: emulator. Must not know: how memory is reached.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/access_parts.h"

/* In the order of emu_order_t. */
static const char *const orders[] = {
    "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", NULL};
static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
static const char *const space_names[] = {
    "global",          "shared",       "shared::cta",
    "shared::cluster", "local",        "const",
    "param",           "param::entry", NULL};
static const ptx_space_t spaces[] = {
    PTX_SPACE_GLOBAL, PTX_SPACE_SHARED, PTX_SPACE_SHARED, PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,  PTX_SPACE_CONST,  PTX_SPACE_PARAM,  PTX_SPACE_PARAM};
/* What there is no cache for. */
static const char *const cache_words[] = {"ca",
                                          "cg",
                                          "cs",
                                          "lu",
                                          "cv",
                                          "wb",
                                          "wt",
                                          "nc",
                                          "L1::evict_normal",
                                          "L1::evict_unchanged",
                                          "L1::evict_first",
                                          "L1::evict_last",
                                          "L1::no_allocate",
                                          "L2::evict_normal",
                                          "L2::evict_first",
                                          "L2::evict_last",
                                          "L2::64B",
                                          "L2::128B",
                                          "L2::256B",
                                          NULL};
static const char *const vectors[] = {"v2", "v4", "v8", NULL};

uattn_error_t *emu_take_access(emu_parts_t *parts,
                               emu_access_parts_t *out_access) {
  emu_access_parts_t access = {0};
  access.is_mmio = emu_take(parts, "mmio");
  int order = emu_take_one(parts, orders);
  access.order = order < 0 ? EMU_ORDER_WEAK : (emu_order_t)order;
  access.scope = emu_take_one(parts, scopes);
  int space = emu_take_one(parts, space_names);
  access.space = space < 0 ? PTX_SPACE_GENERIC : spaces[space];
  access.has_cache_policy = emu_take(parts, "L2::cache_hint");
  while (emu_take_one(parts, cache_words) >= 0)
    continue;
  int vector = emu_take_one(parts, vectors);
  access.vector = vector < 0 ? 1 : 2u << vector;
  *out_access = access;
  return NULL;
}

bool emu_reaches_others(const emu_access_parts_t *access) {
  return access->order != EMU_ORDER_WEAK && access->scope != 0 &&
         (access->space == PTX_SPACE_GLOBAL ||
          access->space == PTX_SPACE_GENERIC);
}

uattn_error_t *emu_decode_policy(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 const emu_access_parts_t *access) {
  emu_row_t row;
  if (!access->has_cache_policy)
    return NULL;
  return emu_decode_source(decoder, syntax,
                           &syntax->operands[syntax->operand_count - 1],
                           PTX_TYPE_B64, &row);
}
