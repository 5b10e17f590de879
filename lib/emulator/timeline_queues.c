/* The queues of a timeline: the copy engine's and the tensor cores'.
 * Layer: emulator. Must not know: instructions, drawing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/timeline_replay.h"

#include <math.h>

void emu_replay_issue_copy(emu_replay_t *replay, uint32_t index) {
  emu_replay_warp_t *warp = &replay->warps[index];
  const emu_event_t *event = warp->event;
  emu_panel_t *panel = &replay->panel;
  double begin = fmax(replay->now, replay->copies_free);
  replay->copies_free = begin + emu_cost_copy(event->count);
  double landed = replay->copies_free + EMU_COPY_LATENCY;
  panel->copies = emu_timeline_grow(panel->copies, panel->copy_count,
                                    sizeof *panel->copies);
  panel->copies[panel->copy_count++] =
      (emu_copy_span_t){.issue = replay->now,
                        .begin = begin,
                        .moved = replay->copies_free,
                        .end = landed,
                        .bytes = event->count,
                        .warp = index,
                        .line = event->first_line,
                        .signal = event->signal,
                        .is_store = event->is_store};
  panel->warps[index].load_count += !event->is_store;
  if (event->signal != EMU_NO_SIGNAL)
    emu_replay_arrive(replay, event, EMU_NO_WARP, landed);
  emu_replay_copies_t *copies = &warp->copies[event->family];
  copies->moved =
      emu_timeline_grow(copies->moved, copies->count, sizeof(double));
  copies->moved[copies->count++] = replay->copies_free;
}

void emu_replay_issue_product(emu_replay_t *replay, uint32_t index) {
  emu_replay_warp_t *warp = &replay->warps[index];
  const emu_event_t *event = warp->event;
  emu_panel_t *panel = &replay->panel;
  uint32_t warpgroup = index / EMU_WARPGROUP;
  emu_replay_product_t *product =
      &replay->products[warpgroup][warp->product_count++];
  ++panel->warps[index].product_count;
  product->time = replay->now;
  if (++product->issued < product->issuers)
    return;
  double begin = fmax(replay->now, replay->tensor_free);
  product->end = replay->tensor_free =
      begin + emu_cost_product((uint32_t)event->count);
  panel->products = emu_timeline_grow(panel->products, panel->product_count,
                                      sizeof *panel->products);
  panel->products[panel->product_count++] =
      (emu_product_span_t){.issue = replay->now,
                           .begin = begin,
                           .end = product->end,
                           .n = (uint32_t)event->count,
                           .warpgroup = warpgroup,
                           .group = event->group,
                           .line = event->first_line};
}

bool emu_replay_products_end(const emu_replay_t *replay, uint32_t warp,
                             double *out_time) {
  uint64_t count = replay->warps[warp].event->count;
  *out_time = 0;
  if (count == 0)
    return true;
  const emu_replay_product_t *last =
      &replay->products[warp / EMU_WARPGROUP][count - 1];
  *out_time = last->end; /* they end in order */
  return last->issued >= last->issuers;
}

double emu_replay_copies_end(const emu_replay_warp_t *warp) {
  const emu_event_t *event = warp->event;
  if (event->count == 0)
    return 0;
  double moved = warp->copies[event->family].moved[event->count - 1];
  return event->only_reads ? moved : moved + EMU_COPY_LATENCY;
}
