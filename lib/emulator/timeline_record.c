/* Notes what the warps of one CTA do: work, and synchronisations by name.
 * Layer: emulator. Must not know: times, drawing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/timeline_record.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/barriers.h"

/* Some 100 MB. */
enum { MOST_EVENTS = 600000 };

/* Groups of asynchronous work of one kind. */
typedef struct {
  uint64_t issued;
  uint64_t *ends; /* what had been issued at each commit */
  size_t count;
  size_t capacity;
} groups_t;

typedef struct {
  emu_event_t open; /* the stretch of work under way */
  uint32_t barrier_signals[EMU_NAMED_BARRIERS + 1]; /* that it arrived at */
  uint32_t cluster_arrivals;
  groups_t copies[EMU_FAMILY_COUNT];
  groups_t products;
} warp_state_t;

/* Signals of one barrier, by phase. */
typedef struct {
  uint32_t object;
  uint32_t *signals;
  uint32_t count;
} object_t;

struct emu_recording {
  const emu_program_t *program;
  emu_insn_cost_t *costs; /* of each instruction */
  warp_state_t *warps;
  object_t *objects;
  uint32_t object_count;
  size_t event_count;
};
typedef struct emu_recording recording_t;

emu_recorder_t *emu_recorder_create(const emu_program_t *program,
                                    uint32_t warp_count) {
  emu_recorder_t *recorder = uattn_allocate(sizeof *recorder);
  recording_t *recording = uattn_allocate(sizeof *recording);
  recorder->recording = recording;
  recorder->warp_count = warp_count;
  recorder->warps = uattn_allocate(warp_count * sizeof *recorder->warps);
  recording->program = program;
  recording->warps = uattn_allocate(warp_count * sizeof *recording->warps);
  recording->costs =
      uattn_allocate(program->insn_count * sizeof *recording->costs);
  for (uint32_t i = 0; i < program->insn_count; ++i)
    recording->costs[i] = emu_cost_of(program->insns[i].syntax);
  return recorder;
}

void emu_recorder_destroy(emu_recorder_t *recorder) {
  if (!recorder)
    return;
  recording_t *recording = recorder->recording;
  for (uint32_t i = 0; i < recorder->warp_count; ++i) {
    free(recorder->warps[i].events);
    free(recording->warps[i].products.ends);
    for (int family = 0; family < EMU_FAMILY_COUNT; ++family)
      free(recording->warps[i].copies[family].ends);
  }
  for (uint32_t i = 0; i < recording->object_count; ++i)
    free(recording->objects[i].signals);
  free(recording->objects);
  free(recording->warps);
  free(recording->costs);
  free(recording);
  free(recorder->warps);
  free(recorder->signals);
  free(recorder);
}

/* Room for `count` more than there is, doubled when it is used up. */
static void *grow(void *data, size_t count, size_t size) {
  bool is_full = count == 0 || (count >= 8 && (count & (count - 1)) == 0);
  if (!is_full)
    return data;
  void *grown = realloc(data, (count ? 2 * count : 8) * size);
  UATTN_CHECK(grown);
  return grown;
}

/* ---- Events ----------------------------------------------------------------
 */

static void append(emu_recorder_t *recorder, uint32_t warp,
                   const emu_event_t *event) {
  emu_warp_record_t *record = &recorder->warps[warp];
  if (recorder->recording->event_count == MOST_EVENTS)
    recorder->is_full = true;
  if (recorder->is_full)
    return;
  ++recorder->recording->event_count;
  record->events = grow(record->events, record->count, sizeof *event);
  record->events[record->count++] = *event;
}

static void close_work(emu_recorder_t *recorder, uint32_t warp) {
  emu_event_t *open = &recorder->recording->warps[warp].open;
  if (open->first_line)
    append(recorder, warp, open);
  *open = (emu_event_t){.kind = EMU_EVENT_WORK};
}

void emu_recorder_close(emu_recorder_t *recorder) {
  for (uint32_t i = 0; i < recorder->warp_count; ++i)
    close_work(recorder, i);
}

void emu_record_step_on(emu_warp_t *warp, const emu_insn_t *insn) {
  recording_t *recording = warp->cta->recorder->recording;
  const emu_insn_cost_t *cost =
      &recording->costs[insn - recording->program->insns];
  emu_event_t *open = &recording->warps[warp->index].open;
  uint32_t line = insn->syntax->line > 0 ? (uint32_t)insn->syntax->line : 0;
  if (line && (!open->first_line || line < open->first_line))
    open->first_line = line;
  if (line > open->last_line)
    open->last_line = line;
  emu_work_t *work = &open->work;
  ++work->counts[cost->class];
  if (cost->class == EMU_COST_MOVE)
    return;
  ++work->cycles[EMU_UNIT_ISSUE];
  if (emu_costs[cost->class].unit != EMU_UNIT_ISSUE)
    work->cycles[emu_costs[cost->class].unit] += cost->cycles;
  if (cost->latency > work->latency)
    work->latency = cost->latency;
}

/* `event` ends the warp's stretch of work. */
static void note(emu_warp_t *warp, const emu_insn_t *insn, emu_event_t event) {
  emu_recorder_t *recorder = warp->cta->recorder;
  close_work(recorder, warp->index);
  event.insn = insn;
  event.first_line = event.last_line = (uint32_t)insn->syntax->line;
  append(recorder, warp->index, &event);
}

/* ---- Barriers --------------------------------------------------------------
 */

static object_t *find_object(recording_t *recording, uint32_t name) {
  for (uint32_t i = 0; i < recording->object_count; ++i)
    if (recording->objects[i].object == name)
      return &recording->objects[i];
  recording->objects =
      grow(recording->objects, recording->object_count, sizeof(object_t));
  object_t *object = &recording->objects[recording->object_count++];
  *object = (object_t){.object = name};
  return object;
}

static uint32_t find_signal(emu_recorder_t *recorder, uint32_t name,
                            uint32_t phase) {
  object_t *object = find_object(recorder->recording, name);
  while (object->count <= phase) {
    object->signals =
        grow(object->signals, object->count, sizeof *object->signals);
    recorder->signals = grow(recorder->signals, recorder->signal_count,
                             sizeof *recorder->signals);
    recorder->signals[recorder->signal_count] =
        (emu_signal_t){.object = name, .phase = object->count};
    object->signals[object->count++] = recorder->signal_count++;
  }
  return object->signals[phase];
}

/* Lanes that arrive one after the other are one arrival. */
static bool has_just_arrived(const emu_recorder_t *recorder, uint32_t warp,
                             const emu_insn_t *insn, uint32_t signal) {
  const emu_warp_record_t *record = &recorder->warps[warp];
  if (record->count == 0 || recorder->recording->warps[warp].open.first_line)
    return false;
  const emu_event_t *last = &record->events[record->count - 1];
  return last->kind == EMU_EVENT_ARRIVE && last->insn == insn &&
         last->signal == signal;
}

static void arrive(emu_warp_t *warp, const emu_insn_t *insn, uint32_t signal,
                   bool after_async) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (has_just_arrived(recorder, warp->index, insn, signal))
    return;
  note(warp, insn,
       (emu_event_t){.kind = EMU_EVENT_ARRIVE,
                     .signal = signal,
                     .after_async = after_async});
  if (!recorder->is_full)
    ++recorder->signals[signal].arrivals;
}

void emu_record_arrive(emu_warp_t *warp, const emu_insn_t *insn,
                       uint64_t address, uint32_t phase) {
  if (warp->cta->recorder)
    arrive(warp, insn,
           find_signal(warp->cta->recorder, (uint32_t)address, phase),
           strcmp(insn->syntax->parts[0], "cp") == 0);
}

void emu_record_wait(emu_warp_t *warp, const emu_insn_t *insn, uint64_t address,
                     uint32_t phase) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (recorder)
    note(warp, insn,
         (emu_event_t){.kind = EMU_EVENT_WAIT,
                       .signal = phase == 0
                                     ? EMU_NO_SIGNAL
                                     : find_signal(recorder, (uint32_t)address,
                                                   phase - 1)});
}

void emu_record_barrier_arrive(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t barrier, uint32_t phase) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (!recorder)
    return;
  warp_state_t *state = &recorder->recording->warps[warp->index];
  if (barrier == EMU_CLUSTER_BARRIER)
    phase = state->cluster_arrivals++;
  uint32_t signal = find_signal(recorder, EMU_OBJECT_BARRIER + barrier, phase);
  state->barrier_signals[barrier] = signal;
  arrive(warp, insn, signal, false);
}

void emu_record_barrier_wait(emu_warp_t *warp, const emu_insn_t *insn,
                             uint32_t barrier) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (recorder)
    note(warp, insn,
         (emu_event_t){.kind = EMU_EVENT_WAIT,
                       .signal = recorder->recording->warps[warp->index]
                                     .barrier_signals[barrier]});
}

/* ---- Asynchronous work -----------------------------------------------------
 */

static void commit(groups_t *groups) {
  groups->ends = grow(groups->ends, groups->count, sizeof *groups->ends);
  groups->ends[groups->count++] = groups->issued;
}

/* How much must be done where all but the `allowed` last groups are. */
static uint64_t awaited(const groups_t *groups, uint64_t allowed) {
  if (allowed == EMU_ALL_GROUPS)
    return groups->issued;
  return allowed < groups->count ? groups->ends[groups->count - 1 - allowed]
                                 : 0;
}

void emu_record_load(emu_warp_t *warp, const emu_insn_t *insn, uint64_t address,
                     uint32_t phase, size_t bytes) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (!recorder)
    return;
  uint32_t signal = find_signal(recorder, (uint32_t)address, phase);
  note(warp, insn,
       (emu_event_t){.kind = EMU_EVENT_COPY, .signal = signal, .count = bytes});
  if (!recorder->is_full)
    ++recorder->signals[signal].arrivals;
}

void emu_record_copy(emu_warp_t *warp, const emu_insn_t *insn,
                     emu_copy_family_t family, bool is_store, size_t bytes) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (!recorder)
    return;
  ++recorder->recording->warps[warp->index].copies[family].issued;
  note(warp, insn,
       (emu_event_t){.kind = EMU_EVENT_COPY,
                     .signal = EMU_NO_SIGNAL,
                     .count = bytes,
                     .family = family,
                     .is_store = is_store});
}

void emu_record_commit(emu_warp_t *warp, emu_copy_family_t family) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (recorder)
    commit(&recorder->recording->warps[warp->index].copies[family]);
}

void emu_record_copy_wait(emu_warp_t *warp, const emu_insn_t *insn,
                          emu_copy_family_t family, uint64_t allowed,
                          bool only_reads) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (recorder)
    note(warp, insn,
         (emu_event_t){
             .kind = EMU_EVENT_COPY_WAIT,
             .family = family,
             .only_reads = only_reads,
             .count = awaited(
                 &recorder->recording->warps[warp->index].copies[family],
                 allowed)});
}

void emu_record_product(emu_warp_t *warp, const emu_insn_t *insn, uint32_t n) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (!recorder)
    return;
  groups_t *products = &recorder->recording->warps[warp->index].products;
  ++products->issued;
  note(warp, insn,
       (emu_event_t){.kind = EMU_EVENT_PRODUCT,
                     .count = n,
                     .group = (uint32_t)products->count});
}

void emu_record_product_commit(emu_warp_t *warp) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (recorder)
    commit(&recorder->recording->warps[warp->index].products);
}

void emu_record_product_wait(emu_warp_t *warp, const emu_insn_t *insn,
                             uint64_t allowed) {
  emu_recorder_t *recorder = warp->cta->recorder;
  if (recorder)
    note(warp, insn,
         (emu_event_t){
             .kind = EMU_EVENT_PRODUCT_WAIT,
             .count = awaited(&recorder->recording->warps[warp->index].products,
                              allowed)});
}
