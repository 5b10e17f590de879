/* The report of a launch that does not get further: the cause where it is
 * known, where every warp stands and what it waits for.
 * Layer: emulator. Must not know: how instructions work.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "emulator/barriers.h"
#include "emulator/run_launch.h"
#include "emulator/wgmma_product.h"

enum { MBARRIER_BYTES = 8 };

/* Lanes of a warp that are at one place and wait for one thing. */
typedef struct {
  uint32_t lanes;
  uint32_t pc;
  emu_wait_t wait;
} stand_t;

static stand_t next_stand(const emu_warp_t *warp, uint32_t among) {
  uint32_t first = (uint32_t)__builtin_ctz(among);
  stand_t stand = {.pc = warp->pc[first]};
  bool waits = (warp->waiting >> first & 1) != 0;
  if (waits)
    stand.wait = warp->lane_wait[first];
  for (uint32_t lane = first; lane < EMU_LANES; ++lane)
    if ((among >> lane & 1) && warp->pc[lane] == stand.pc &&
        (warp->waiting >> lane & 1) == waits &&
        (!waits ||
         memcmp(&warp->lane_wait[lane], &stand.wait, sizeof stand.wait) == 0))
      stand.lanes |= 1u << lane;
  return stand;
}

static void append_wait(uattn_string_t *text, emu_cta_t *cta,
                        const emu_wait_t *wait) {
  switch (wait->kind) {
  case EMU_WAIT_NONE:
    uattn_string_append(text, "runs");
    return;
  case EMU_WAIT_BARRIER:
    uattn_string_append(text, "waits on ");
    emu_barrier_describe(cta, wait->barrier, text);
    return;
  case EMU_WAIT_MBARRIER:
    uattn_string_appendf(text,
                         "waits for the phase of parity %u of the mbarrier at "
                         "shared address %u: ",
                         wait->parity, wait->address);
    emu_mbarrier_describe(cta, wait->address, text);
    return;
  case EMU_WAIT_LANES:
    uattn_string_appendf(text, "waits for lanes 0x%08x of the warp",
                         wait->lanes);
    return;
  case EMU_WAIT_WARPGROUP:
    uattn_string_append(text, "waits for the other warps of its warpgroup to "
                              "issue the same products");
    return;
  case EMU_WAIT_REGISTERS:
    uattn_string_appendf(text, "waits for registers: the pool has %u",
                         cta->register_pool);
    return;
  }
}

static bool is_same_stand(const emu_warp_t *warp, const stand_t *stand) {
  if (!warp->live)
    return false;
  stand_t other = next_stand(warp, warp->live);
  return other.lanes == warp->live && other.lanes == stand->lanes &&
         other.pc == stand->pc &&
         memcmp(&other.wait, &stand->wait, sizeof other.wait) == 0;
}

/* Of warp `index` and those after it that stand alike; gives the next one. */
static uint32_t append_warps(uattn_string_t *text, emu_cta_t *cta,
                             uint32_t index) {
  const emu_warp_t *warp = &cta->warps[index];
  uint32_t last = index;
  for (uint32_t rest = warp->live; rest;) {
    stand_t stand = next_stand(warp, rest);
    const emu_insn_t *insn = &cta->launch->program->insns[stand.pc];
    if (stand.lanes == warp->live)
      while (last + 1 < cta->warp_count &&
             is_same_stand(&cta->warps[last + 1], &stand))
        ++last;
    if (last > index)
      uattn_string_appendf(text, "\n  warps %u to %u", index, last);
    else
      uattn_string_appendf(text, "\n  warp %u", index);
    if (stand.lanes != warp->live)
      uattn_string_appendf(text, " lanes 0x%08x", stand.lanes);
    uattn_string_appendf(text, ", line %d ", insn->syntax->line);
    emu_append_text(text, insn);
    uattn_string_append(text, ": ");
    append_wait(text, cta, &stand.wait);
    rest &= ~stand.lanes;
  }
  return last + 1;
}

/* ---- Causes ----------------------------------------------------------------
 * Each looks at a warp's lanes that wait and says in `text` why they wait for
 * ever, if it is what it knows. */

typedef bool (*append_cause_t)(uattn_string_t *text, emu_cta_t *cta,
                               const emu_warp_t *warp, const stand_t *stand);

/* No arrival is missing, bytes are, and no copy is on its way. */
static bool lacks_bytes(const emu_cta_t *cta, const emu_mbarrier_t *mbarrier) {
  return mbarrier->is_initialised && mbarrier->pending == 0 &&
         mbarrier->pending_bytes != 0 && !cta->pending;
}

/* Of the mbarrier that is waited for; of any, where lanes poll. */
static bool append_transaction(uattn_string_t *text, emu_cta_t *cta,
                               const emu_warp_t *warp, const stand_t *stand) {
  (void)warp;
  bool waits = stand->wait.kind == EMU_WAIT_MBARRIER;
  if (!waits && stand->wait.kind != EMU_WAIT_NONE)
    return false;
  const emu_barriers_t *barriers = emu_barriers(cta);
  size_t index = waits ? stand->wait.address / MBARRIER_BYTES : 0;
  size_t end = waits ? index + 1 : barriers->mbarrier_count;
  while (index < end && !lacks_bytes(cta, &barriers->mbarriers[index]))
    ++index;
  if (index >= end)
    return false;
  const emu_mbarrier_t *mbarrier = &barriers->mbarriers[index];
  int32_t bytes = mbarrier->pending_bytes;
  uattn_string_appendf(text,
                       "transaction count: mbarrier at shared address %zu, "
                       "phase %u: all have arrived, and %d bytes %s",
                       index * MBARRIER_BYTES, mbarrier->phase,
                       bytes < 0 ? -bytes : bytes,
                       bytes < 0 ? "more were copied than announced"
                                 : "were announced that no copy brings");
  return true;
}

static bool is_aligned(const emu_cta_t *cta, const stand_t *stand) {
  return cta->launch->program->insns[stand->pc].is_aligned;
}

/* Lanes of one warp wait for each other at two instructions. */
static bool append_lanes(uattn_string_t *text, emu_cta_t *cta,
                         const emu_warp_t *warp, const stand_t *stand) {
  if (stand->wait.kind != EMU_WAIT_LANES || !is_aligned(cta, stand))
    return false;
  for (uint32_t rest = stand->wait.lanes & warp->live; rest;) {
    stand_t other = next_stand(warp, rest);
    rest &= ~other.lanes;
    if (other.wait.kind != EMU_WAIT_LANES || !(other.wait.lanes & stand->lanes))
      continue;
    const emu_insn_t *insn = &cta->launch->program->insns[other.pc];
    uattn_string_appendf(text,
                         "not uniform: lanes 0x%08x are here, where all of the "
                         "warp are expected, and lanes 0x%08x at line %d ",
                         stand->lanes, other.lanes, insn->syntax->line);
    emu_append_text(text, insn);
    return true;
  }
  return false;
}

/* A warp of the warpgroup that has ended will not multiply. */
static bool append_warpgroup(uattn_string_t *text, emu_cta_t *cta,
                             const emu_warp_t *warp, const stand_t *stand) {
  if (stand->wait.kind != EMU_WAIT_WARPGROUP)
    return false;
  uint32_t first = warp->index - warp->index % EMU_WGMMA_WARPS;
  for (uint32_t i = first; i < first + EMU_WGMMA_WARPS; ++i)
    if (!cta->warps[i].live) {
      uattn_string_appendf(text,
                           "not uniform: warp %u of the same warpgroup has "
                           "ended without these products",
                           i);
      return true;
    }
  return false;
}

/* All that have not ended wait for registers. */
static bool append_registers(uattn_string_t *text, emu_cta_t *cta,
                             const emu_warp_t *warp, const stand_t *stand) {
  (void)warp;
  if (stand->wait.kind != EMU_WAIT_REGISTERS)
    return false;
  for (uint32_t i = 0; i < cta->warp_count; ++i) {
    const emu_warp_t *other = &cta->warps[i];
    if (other->live &&
        next_stand(other, other->live).wait.kind != EMU_WAIT_REGISTERS)
      return false;
  }
  uattn_string_appendf(text,
                       "register count: the pool has %u registers, fewer than "
                       "the warp asks for, and nobody gives more",
                       cta->register_pool);
  return true;
}

/* The first warp whose wait has a known cause, with where it waits; NULL where
 * there is none. */
static const emu_warp_t *find_cause(emu_cta_t *cta, uattn_string_t *text,
                                    const emu_insn_t **out_insn) {
  static const append_cause_t causes[] = {append_transaction, append_lanes,
                                          append_warpgroup, append_registers};
  for (size_t i = 0; i < sizeof causes / sizeof *causes; ++i)
    for (uint32_t index = 0; index < cta->warp_count; ++index) {
      const emu_warp_t *warp = &cta->warps[index];
      for (uint32_t rest = warp->live; rest;) {
        stand_t stand = next_stand(warp, rest);
        *out_insn = &cta->launch->program->insns[stand.pc];
        if (causes[i](text, cta, warp, &stand))
          return warp;
        rest &= ~stand.lanes;
      }
    }
  *out_insn = NULL;
  return NULL;
}

/* ---- The report ------------------------------------------------------------
 */

void emu_report_waits(emu_cta_t *cta, const char *what) {
  uattn_string_t text = {0};
  const emu_insn_t *insn;
  const emu_warp_t *warp = find_cause(cta, &text, &insn);
  uattn_string_appendf(&text, "%s%s", warp ? "; " : "", what);
  for (uint32_t index = 0; index < cta->warp_count;)
    index = append_warps(&text, cta, index);
  emu_fault(cta, warp, -1, insn, "%s", uattn_string_get(&text));
  uattn_string_release(&text);
}
