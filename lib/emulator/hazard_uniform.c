/* What the four warps of a warpgroup must execute alike.
 * Layer: emulator. Must not know: what instructions do.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first warp to come writes a log, the others compare. */
#include <stdlib.h>
#include <string.h>

#include "emulator/hazard_state.h"

enum { FIRST_STEPS = 256 };

void emu_uniform_start(emu_hazards_t *hazards) {
  for (uint32_t i = 0; i < EMU_WARPGROUPS; ++i) {
    emu_warpgroup_log_t *log = &hazards->logs[i];
    log->dropped = log->count = 0;
    memset(log->positions, 0, sizeof log->positions);
  }
}

void emu_uniform_destroy(emu_hazards_t *hazards) {
  for (uint32_t i = 0; i < EMU_WARPGROUPS; ++i)
    free(hazards->logs[i].steps);
}

/* Forgets what all four have passed; else makes room. */
static void make_room(emu_warpgroup_log_t *log) {
  uint64_t least = log->positions[0];
  for (uint32_t i = 1; i < EMU_WGMMA_WARPS; ++i)
    if (log->positions[i] < least)
      least = log->positions[i];
  uint32_t passed = (uint32_t)(least - log->dropped);
  if (passed > log->count / 2) {
    memmove(log->steps, log->steps + passed,
            (log->count - passed) * sizeof *log->steps);
    log->dropped += passed;
    log->count -= passed;
    return;
  }
  uint32_t capacity = log->capacity ? 2 * log->capacity : FIRST_STEPS;
  emu_warpgroup_step_t *steps = uattn_allocate(capacity * sizeof *steps);
  if (log->count)
    memcpy(steps, log->steps, log->count * sizeof *steps);
  free(log->steps);
  log->steps = steps;
  log->capacity = capacity;
}

void emu_hazards_aligned(emu_warp_t *warp, const emu_insn_t *insn,
                         uint64_t detail) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  emu_warpgroup_log_t *log = &hazards->logs[warp->index / EMU_WGMMA_WARPS];
  uint64_t position = log->positions[warp->index % EMU_WGMMA_WARPS]++;
  if (position - log->dropped == log->count) {
    if (log->count == log->capacity) {
      --log->positions[warp->index % EMU_WGMMA_WARPS];
      make_room(log);
      ++log->positions[warp->index % EMU_WGMMA_WARPS];
    }
    log->steps[log->count++] =
        (emu_warpgroup_step_t){insn, detail, warp->index};
    return;
  }
  const emu_warpgroup_step_t *step = &log->steps[position - log->dropped];
  if (step->insn == insn && step->detail == detail)
    return;
  emu_party_t party = {warp->index, 0, insn};
  emu_party_t other = {step->warp, 0, step->insn};
  emu_find(warp->cta, EMU_FINDING_NON_UNIFORM, &party, &other,
           step->insn == insn
               ? "a warp of the warpgroup has executed this with other operands"
               : "a warp of the warpgroup has executed another instruction in "
                 "this one's place");
}

void emu_uniform_end(emu_cta_t *cta) {
  const emu_hazards_t *hazards = cta->hazards;
  for (uint32_t i = 0; i < hazards->warp_count; ++i) {
    const emu_warpgroup_log_t *log = &hazards->logs[i / EMU_WGMMA_WARPS];
    uint64_t position = log->positions[i % EMU_WGMMA_WARPS];
    if (position - log->dropped >= log->count)
      continue;
    const emu_warpgroup_step_t *step = &log->steps[position - log->dropped];
    emu_party_t party = {step->warp, 0, step->insn};
    emu_find(cta, EMU_FINDING_NON_UNIFORM, &party, NULL,
             "warp %u of the same warpgroup has ended without it", i);
  }
}
