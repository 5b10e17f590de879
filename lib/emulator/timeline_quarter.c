/* How long a warp works: what the units of its quarter of the SM give it.
 * Layer: emulator. Must not know: instructions, drawing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/timeline_replay.h"

#include <math.h>

double emu_replay_solo_cycles(const emu_work_t *work) {
  uint32_t most = 0;
  for (int unit = 0; unit < EMU_UNIT_COUNT; ++unit)
    if (work->cycles[unit] > most)
      most = work->cycles[unit];
  return (double)most + work->latency;
}

/* Shares the units of a quarter among the warps that work there: each is
 * slowed by the most wanted unit that it uses. */
void emu_replay_share_quarter(emu_replay_t *replay, uint32_t quarter) {
  double load[EMU_UNIT_COUNT] = {0};
  uint32_t count = replay->recorder->warp_count;
  for (uint32_t i = quarter; i < count; i += EMU_QUARTERS)
    for (int unit = 0; unit < EMU_UNIT_COUNT; ++unit)
      if (replay->warps[i].state == EMU_WARP_WORKS)
        load[unit] += replay->warps[i].event->work.cycles[unit] /
                      replay->warps[i].duration;
  for (uint32_t i = quarter; i < count; i += EMU_QUARTERS) {
    emu_replay_warp_t *warp = &replay->warps[i];
    if (warp->state != EMU_WARP_WORKS)
      continue;
    double slow = 1;
    for (int unit = 0; unit < EMU_UNIT_COUNT; ++unit)
      if (warp->event->work.cycles[unit] && load[unit] > slow)
        slow = load[unit];
    double rate = 1 / slow;
    if (rate == warp->rate)
      continue;
    warp->left -= (replay->now - warp->since) * warp->rate;
    warp->since = replay->now;
    warp->rate = rate;
    warp->time = replay->now + fmax(warp->left, 0) / rate;
  }
}
