/* One turn of a CTA: a warp that can go on, for a few instructions, and the
 * asynchronous work that is due.
 * Layer: emulator. Must not know: instructions, host threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "emulator/hazards.h"
#include "emulator/run_launch.h"

/* Turns are drawn from 1 to 2 ^ MOST_TURN_BITS instructions; short and long
 * ones equally often. A warp keeps its rank for TURNS_OF_RANK of its turns. */
enum { MOST_TURN_BITS = 10, TURNS_OF_RANK = 32 };

/* A CTA whose warps ask (or run) so often without doing anything that others
 * could see will not get further. */
#define IDLE_POLLS_LIMIT (UINT64_C(1) << 22)
#define IDLE_INSTRUCTIONS_LIMIT (UINT64_C(1) << 28)

/* Lets the first work of `pending` happen. */
static bool land(emu_cta_t *cta) {
  emu_async_t *work = cta->pending;
  cta->pending = work->next;
  if (work->due > cta->clock)
    cta->clock = work->due;
  bool is_right = work->run(cta, work);
  free(work);
  cta->asleep_warps = 0;
  *cta->progress = (emu_progress_t){0};
  return is_right && !cta->fault;
}

/* The first in rank, which now and then is drawn anew. Equals, who all poll,
 * take turns: what one waits for may be what the other is about to do. */
static uint32_t choose_first(emu_cta_t *cta, uint32_t ready) {
  uint32_t best = EMU_MAX_WARPS;
  for (uint32_t i = 1; i <= cta->warp_count; ++i) {
    uint32_t index = (cta->last_warp + i) % cta->warp_count;
    if ((ready >> index & 1) &&
        (best == EMU_MAX_WARPS ||
         cta->warps[index].priority > cta->warps[best].priority))
      best = index;
  }
  if (emu_random(cta, TURNS_OF_RANK) == 0)
    cta->warps[best].priority = (uint32_t)emu_random(cta, UINT64_C(1) << 32);
  return best;
}

static uint32_t choose_warp(emu_cta_t *cta, uint32_t ready) {
  if (cta->warp_style == EMU_WARPS_PRIORITY)
    return choose_first(cta, ready);
  uint64_t skip = emu_random(cta, (uint64_t)__builtin_popcount(ready));
  while (skip--)
    ready &= ready - 1;
  return (uint32_t)__builtin_ctz(ready);
}

/* Nobody can go on: work that is pending happens early, warps are asked once
 * more, or this is the end. */
static emu_turn_t break_silence(emu_cta_t *cta) {
  if (cta->pending)
    return land(cta) ? EMU_TURN_RAN : EMU_TURN_FAULT;
  if (!cta->has_retried) {
    cta->has_retried = true;
    cta->asleep_warps = 0;
    return EMU_TURN_RAN;
  }
  emu_report_waits(cta, "deadlock: no warp can go on and nothing is pending");
  return EMU_TURN_FAULT;
}

static emu_turn_t check_progress(emu_cta_t *cta) {
  const emu_progress_t *progress = cta->progress;
  if (progress->idle_polls < IDLE_POLLS_LIMIT &&
      progress->idle_instructions < IDLE_INSTRUCTIONS_LIMIT)
    return EMU_TURN_RAN;
  emu_report_waits(cta, progress->idle_polls < IDLE_POLLS_LIMIT
                            ? "livelock: warps run without an effect"
                            : "livelock: warps poll without an effect");
  return EMU_TURN_FAULT;
}

emu_turn_t emu_cta_run(emu_cta_t *cta) {
  while (cta->pending && (cta->pending->due <= cta->clock || !cta->live_warps))
    if (!land(cta))
      return EMU_TURN_FAULT;
  if (!cta->live_warps) {
    emu_hazards_end(cta);
    return EMU_TURN_DONE;
  }
  uint32_t ready = cta->live_warps & ~cta->asleep_warps;
  if (!ready)
    return break_silence(cta);
  uint32_t index = choose_warp(cta, ready);
  cta->last_warp = index;
  uint64_t bits = emu_random(cta, MOST_TURN_BITS + 1);
  uint32_t budget = 1 + (uint32_t)emu_random(cta, UINT64_C(1) << bits);
  uint64_t polls = cta->progress->idle_polls;
  emu_turn_t turn = emu_warp_run(&cta->warps[index], budget);
  if (cta->progress->idle_polls > polls)
    cta->warps[index].priority >>= 8; /* so that the others get on */
  switch (turn) {
  case EMU_TURN_BLOCKED:
    cta->asleep_warps |= 1u << index;
    return EMU_TURN_RAN;
  case EMU_TURN_DONE:
    cta->live_warps &= ~(1u << index);
    return EMU_TURN_RAN;
  case EMU_TURN_RAN:
    cta->has_retried = false;
    return check_progress(cta);
  case EMU_TURN_FAULT:
    break;
  }
  return EMU_TURN_FAULT;
}
