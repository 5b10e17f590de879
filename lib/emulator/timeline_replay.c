/* Gives the recorded work of a CTA's warps times on a virtual clock.
 * Layer: emulator. Must not know: instructions, drawing.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   every warp is at an event of its record; `now` is the earliest time at
 *   which one of them can go on
 *   - work lasts as long as its busiest unit needs (timeline_costs.c), longer
 *     where warps of the same quarter of the SM want more of a unit than it has
 *   - a wait ends EMU_HAND_OVER after the last arrival, or at once where that
 *     was long ago
 *   - copies and products stand in one queue each, in the order of their issue
 *
 * Warps that can go on at the same time do so in the order of their index, so
 * that the same record has one replay. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/timeline_replay.h"

void *emu_timeline_grow(void *data, size_t count, size_t size) {
  bool is_full = count == 0 || (count >= 8 && (count & (count - 1)) == 0);
  if (!is_full)
    return data;
  void *grown = realloc(data, (count ? 2 * count : 8) * size);
  UATTN_CHECK(grown);
  return grown;
}

/* ---- Spans -----------------------------------------------------------------
 */

static emu_span_t *add_span(emu_replay_t *replay, uint32_t warp,
                            const emu_event_t *event, emu_span_kind_t kind) {
  emu_warp_line_t *line = &replay->panel.warps[warp];
  line->spans =
      emu_timeline_grow(line->spans, line->count, sizeof *line->spans);
  emu_span_t *span = &line->spans[line->count++];
  *span = (emu_span_t){.kind = kind,
                       .begin = replay->warps[warp].begin,
                       .end = replay->now,
                       .first_line = event->first_line,
                       .last_line = event->last_line,
                       .object = EMU_NO_OBJECT};
  return span;
}

/* Stretches of work that nothing but an arrival or an issue parts are one. */
static void add_work(emu_replay_t *replay, uint32_t warp,
                     const emu_event_t *event) {
  emu_warp_line_t *line = &replay->panel.warps[warp];
  double begin = replay->warps[warp].begin;
  emu_span_t *span = line->count ? &line->spans[line->count - 1] : NULL;
  if (!span || span->kind > EMU_SPAN_WORK || span->end < begin)
    span = add_span(replay, warp, event, EMU_SPAN_WORK);
  span->end = replay->now;
  if (event->first_line < span->first_line)
    span->first_line = event->first_line;
  if (event->last_line > span->last_line)
    span->last_line = event->last_line;
  for (int i = 0; i < EMU_COST_COUNT; ++i)
    span->counts[i] += event->work.counts[i];
  if (span->counts[EMU_COST_SPECIAL])
    span->kind = EMU_SPAN_SOFTMAX;
}

/* ---- Work ------------------------------------------------------------------
 */

static void begin_work(emu_replay_t *replay, uint32_t index) {
  emu_replay_warp_t *warp = &replay->warps[index];
  warp->duration = warp->left = emu_replay_solo_cycles(&warp->event->work);
  warp->begin = warp->since = replay->now;
  warp->rate = 0;
  if (warp->duration > 0) {
    warp->state = EMU_WARP_WORKS;
    emu_replay_share_quarter(replay, index % EMU_QUARTERS);
    return;
  }
  add_work(replay, index, warp->event);
  ++warp->event;
}

static void end_work(emu_replay_t *replay, uint32_t index) {
  emu_replay_warp_t *warp = &replay->warps[index];
  add_work(replay, index, warp->event);
  warp->state = EMU_WARP_READY;
  ++warp->event;
  emu_replay_share_quarter(replay, index % EMU_QUARTERS);
}

/* ---- What warps give -------------------------------------------------------
 */

void emu_replay_arrive(emu_replay_t *replay, const emu_event_t *event,
                       uint32_t warp, double time) {
  emu_replay_signal_t *signal = &replay->signals[event->signal];
  bool is_last = signal->arrived++ == 0 || time >= signal->time;
  if (!is_last)
    return;
  signal->time = time;
  signal->from = warp;
  signal->line = event->first_line;
}

static void arrive_itself(emu_replay_t *replay, uint32_t index) {
  const emu_replay_warp_t *warp = &replay->warps[index];
  const emu_replay_copies_t *copies = &warp->copies[EMU_FAMILY_ASYNC];
  double landed = 0;
  if (warp->event->after_async && copies->count)
    landed = copies->moved[copies->count - 1] + EMU_COPY_LATENCY;
  if (landed > replay->now)
    emu_replay_arrive(replay, warp->event, EMU_NO_WARP, landed);
  else
    emu_replay_arrive(replay, warp->event, index, replay->now);
}

/* ---- What warps wait for ---------------------------------------------------
 */

static bool signal_is_known(const emu_replay_t *replay, uint32_t signal,
                            double *out_time) {
  *out_time = 0;
  if (signal == EMU_NO_SIGNAL)
    return true;
  *out_time = replay->signals[signal].time;
  return replay->signals[signal].arrived >=
         replay->recorder->signals[signal].arrivals;
}

/* Whether it is known when the wait ends; then the warp sleeps until that. */
static bool settle_wait(emu_replay_t *replay, uint32_t index) {
  emu_replay_warp_t *warp = &replay->warps[index];
  const emu_event_t *event = warp->event;
  double time = 0;
  double cost = 0;
  if (event->kind == EMU_EVENT_WAIT) {
    if (!signal_is_known(replay, event->signal, &time))
      return false;
    cost = EMU_HAND_OVER;
  } else if (event->kind == EMU_EVENT_PRODUCT_WAIT) {
    if (!emu_replay_products_end(replay, index, &time))
      return false;
  } else {
    time = emu_replay_copies_end(warp);
  }
  warp->state = EMU_WARP_SLEEPS;
  warp->time = fmax(time, warp->begin) + cost;
  return true;
}

static void begin_wait(emu_replay_t *replay, uint32_t index) {
  emu_replay_warp_t *warp = &replay->warps[index];
  warp->begin = replay->now;
  if (!settle_wait(replay, index))
    warp->state = EMU_WARP_WAITS;
}

static void add_hand_over(emu_replay_t *replay, uint32_t index) {
  const emu_replay_warp_t *warp = &replay->warps[index];
  const emu_event_t *event = warp->event;
  const emu_replay_signal_t *signal = &replay->signals[event->signal];
  const emu_signal_t *name = &replay->recorder->signals[event->signal];
  emu_panel_t *panel = &replay->panel;
  if (signal->arrived == 0 || signal->time <= warp->begin)
    return;
  panel->hand_overs = emu_timeline_grow(
      panel->hand_overs, panel->hand_over_count, sizeof *panel->hand_overs);
  panel->hand_overs[panel->hand_over_count++] =
      (emu_hand_over_t){.from = signal->from,
                        .to = index,
                        .begin = signal->time,
                        .end = replay->now,
                        .object = name->object,
                        .phase = name->phase,
                        .from_line = signal->line,
                        .to_line = event->first_line};
}

static void end_wait(emu_replay_t *replay, uint32_t index) {
  emu_replay_warp_t *warp = &replay->warps[index];
  const emu_event_t *event = warp->event;
  emu_span_kind_t kind = event->kind == EMU_EVENT_WAIT ? EMU_SPAN_WAIT
                         : event->kind == EMU_EVENT_COPY_WAIT
                             ? EMU_SPAN_COPY_WAIT
                             : EMU_SPAN_PRODUCT_WAIT;
  if (replay->now > warp->begin) {
    emu_span_t *span = add_span(replay, index, event, kind);
    span->text = uattn_arena_format(replay->panel.arena, "%.60s",
                                    event->insn->syntax->text);
    if (kind == EMU_SPAN_WAIT && event->signal != EMU_NO_SIGNAL) {
      span->object = replay->recorder->signals[event->signal].object;
      span->phase = replay->recorder->signals[event->signal].phase;
      add_hand_over(replay, index);
    }
  }
  warp->state = EMU_WARP_READY;
  ++warp->event;
}

/* ---- The clock -------------------------------------------------------------
 */

static void begin_event(emu_replay_t *replay, uint32_t index) {
  emu_replay_warp_t *warp = &replay->warps[index];
  if (warp->event == warp->end) {
    warp->state = EMU_WARP_ENDED;
    replay->panel.warps[index].end = replay->now;
    return;
  }
  switch (warp->event->kind) {
  case EMU_EVENT_WORK:
    begin_work(replay, index);
    return;
  case EMU_EVENT_WAIT:
  case EMU_EVENT_COPY_WAIT:
  case EMU_EVENT_PRODUCT_WAIT:
    begin_wait(replay, index);
    return;
  case EMU_EVENT_ARRIVE:
    arrive_itself(replay, index);
    break;
  case EMU_EVENT_COPY:
    emu_replay_issue_copy(replay, index);
    break;
  case EMU_EVENT_PRODUCT:
    emu_replay_issue_product(replay, index);
    break;
  }
  ++warp->event;
}

/* Lets the warp do what it can at `now`; false where that is nothing. */
static bool act(emu_replay_t *replay, uint32_t index) {
  emu_replay_warp_t *warp = &replay->warps[index];
  switch (warp->state) {
  case EMU_WARP_READY:
    begin_event(replay, index);
    return true;
  case EMU_WARP_WORKS:
    if (warp->time > replay->now)
      return false;
    end_work(replay, index);
    return true;
  case EMU_WARP_SLEEPS:
    if (warp->time > replay->now)
      return false;
    end_wait(replay, index);
    return true;
  case EMU_WARP_WAITS:
    return settle_wait(replay, index);
  case EMU_WARP_ENDED:
    break;
  }
  return false;
}

/* The next time at which a warp can go on; false where none is left. Warps that
 * wait for each other (no program that a GPU runs to its end) go on all the
 * same. */
static bool advance(emu_replay_t *replay) {
  double next = INFINITY;
  emu_replay_warp_t *stuck = NULL;
  for (uint32_t i = replay->recorder->warp_count; i-- > 0;) {
    emu_replay_warp_t *warp = &replay->warps[i];
    if (warp->state == EMU_WARP_WORKS || warp->state == EMU_WARP_SLEEPS)
      next = fmin(next, warp->time);
    else if (warp->state == EMU_WARP_WAITS)
      stuck = warp;
  }
  if (next < INFINITY) {
    replay->now = next;
    return true;
  }
  if (!stuck)
    return false;
  stuck->state = EMU_WARP_SLEEPS;
  stuck->time = replay->now;
  return true;
}

static void run(emu_replay_t *replay) {
  do {
    bool has_acted = true;
    while (has_acted) {
      has_acted = false;
      for (uint32_t i = 0; i < replay->recorder->warp_count; ++i)
        while (act(replay, i))
          has_acted = true;
    }
  } while (advance(replay));
}

/* ---- All -------------------------------------------------------------------
 */

static void start(emu_replay_t *replay) {
  const emu_recorder_t *recorder = replay->recorder;
  uint32_t count = recorder->warp_count;
  replay->warps = uattn_allocate(count * sizeof *replay->warps);
  replay->signals =
      uattn_allocate((recorder->signal_count + 1) * sizeof *replay->signals);
  replay->panel.warp_count = count;
  replay->panel.warps = uattn_allocate(count * sizeof *replay->panel.warps);
  size_t most[EMU_LANES / EMU_WARPGROUP] = {0};
  for (uint32_t i = 0; i < count; ++i) {
    const emu_warp_record_t *record = &recorder->warps[i];
    replay->warps[i].event = record->events;
    replay->warps[i].end = record->events + record->count;
    if (record->count > most[i / EMU_WARPGROUP])
      most[i / EMU_WARPGROUP] = record->count;
  }
  for (uint32_t i = 0; i < count; ++i) {
    emu_replay_product_t **products = &replay->products[i / EMU_WARPGROUP];
    if (!*products)
      *products =
          uattn_allocate((most[i / EMU_WARPGROUP] + 1) * sizeof **products);
    uint64_t place = 0;
    const emu_warp_record_t *record = &recorder->warps[i];
    for (size_t k = 0; k < record->count; ++k)
      if (record->events[k].kind == EMU_EVENT_PRODUCT)
        ++(*products)[place++].issuers;
  }
}

static void finish(emu_replay_t *replay) {
  emu_panel_t *panel = &replay->panel;
  for (uint32_t i = 0; i < panel->warp_count; ++i) {
    panel->cycles = fmax(panel->cycles, panel->warps[i].end);
    for (int family = 0; family < EMU_FAMILY_COUNT; ++family)
      free(replay->warps[i].copies[family].moved);
  }
  for (size_t i = 0; i < panel->copy_count; ++i)
    panel->cycles = fmax(panel->cycles, panel->copies[i].end);
  for (size_t i = 0; i < panel->product_count; ++i)
    panel->cycles = fmax(panel->cycles, panel->products[i].end);
  for (int i = 0; i < EMU_LANES / EMU_WARPGROUP; ++i)
    free(replay->products[i]);
  free(replay->warps);
  free(replay->signals);
}

emu_panel_t emu_timeline_replay(const emu_recorder_t *recorder) {
  emu_replay_t replay = {.recorder = recorder};
  replay.panel.arena = uattn_arena_create();
  start(&replay);
  run(&replay);
  finish(&replay);
  replay.panel.is_cut = recorder->is_full;
  return replay.panel;
}
