/* The report of a launch that does not get further: where every warp stands
 * and what it waits for.
 * Layer: emulator. Must not know: how instructions work.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "emulator/run_launch.h"

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

void emu_report_waits(emu_cta_t *cta, const char *what) {
  uattn_string_t text = {0};
  for (uint32_t index = 0; index < cta->warp_count;)
    index = append_warps(&text, cta, index);
  emu_fault(cta, NULL, -1, NULL, "%s%s", what, uattn_string_get(&text));
  uattn_string_release(&text);
}
