/* Rows of a warp: writing them for some lanes, addresses, who has come.
 * Layer: emulator. Must not know: instructions, scheduling.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode.h"

void emu_set_words(emu_warp_t *warp, emu_row_t row, uint32_t lanes,
                   const uint32_t values[EMU_LANES]) {
  if (row.kind == EMU_ROW_NONE)
    return;
  uint32_t *target = emu_target_word(warp, row);
  EMU_LANE_LOOP(lanes, target[lane] = values[lane])
}

void emu_set_longs(emu_warp_t *warp, emu_row_t row, uint32_t lanes,
                   const uint64_t values[EMU_LANES]) {
  if (row.kind == EMU_ROW_NONE)
    return;
  uint64_t *target = emu_target_long(warp, row);
  EMU_LANE_LOOP(lanes, target[lane] = values[lane])
}

void emu_set_predicate(emu_warp_t *warp, emu_row_t row, uint32_t lanes,
                       uint32_t values) {
  if (row.kind == EMU_ROW_NONE)
    return;
  uint32_t *target = &warp->predicates[row.index];
  *target = (*target & ~lanes) | (values & lanes);
}

void emu_addresses(const emu_warp_t *warp, emu_row_t base, int64_t offset,
                   uint64_t out_addresses[EMU_LANES]) {
  if (base.kind == EMU_ROW_LONG) {
    const uint64_t *longs = emu_longs(warp, base);
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
      out_addresses[lane] = longs[lane] + (uint64_t)offset;
    return;
  }
  const uint32_t *words = emu_words(warp, base);
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    out_addresses[lane] = (uint32_t)(words[lane] + (uint32_t)offset);
}

bool emu_lanes_have_come(emu_warp_t *warp, uint32_t lanes, uint32_t members) {
  uint32_t missing = members & warp->live & ~lanes;
  if (missing)
    warp->wait = (emu_wait_t){.kind = EMU_WAIT_LANES, .lanes = missing};
  return !missing;
}

bool emu_members_have_come(emu_warp_t *warp, const emu_insn_t *insn,
                           uint32_t lanes, const uint32_t *masks,
                           emu_outcome_t *out_outcome) {
  uint32_t named = 0;
  EMU_FOR_LANES(lane, lanes) {
    named |= masks[lane];
    if (masks[lane] >> lane & 1)
      continue;
    emu_fault(warp->cta, warp, (int)lane, insn,
              "the member mask 0x%08x does not name the lane", masks[lane]);
    *out_outcome = EMU_FAULT;
    return false;
  }
  *out_outcome = EMU_BLOCKED;
  return emu_lanes_have_come(warp, lanes, named);
}
