/* The public timeline: panels that launches add, and their picture.
 * Layer: emulator. Must not know: how times come about, how it is drawn.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uattn_error_t *
uattn_emulator_timeline_create(const uattn_emulator_timeline_options_t *options,
                               uattn_emulator_timeline_t **out_timeline) {
  uattn_emulator_timeline_options_t known = {0};
  memcpy(&known, options,
         options->struct_size < sizeof known ? options->struct_size
                                             : sizeof known);
  if (known.end_cycle != 0 && known.end_cycle <= known.begin_cycle)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "timeline: cycles %" PRIu64 " to %" PRIu64
                              ": expected an end after the begin",
                              known.begin_cycle, known.end_cycle);
  uattn_emulator_timeline_t *timeline = uattn_allocate(sizeof *timeline);
  timeline->cta = known.cta;
  timeline->begin_cycle = known.begin_cycle;
  timeline->end_cycle = known.end_cycle;
  *out_timeline = timeline;
  return NULL;
}

static void release_panel(emu_panel_t *panel) {
  for (uint32_t i = 0; i < panel->warp_count; ++i)
    free(panel->warps[i].spans);
  free(panel->warps);
  free(panel->copies);
  free(panel->products);
  free(panel->hand_overs);
  uattn_arena_destroy(panel->arena);
}

void uattn_emulator_timeline_destroy(uattn_emulator_timeline_t *timeline) {
  if (!timeline)
    return;
  for (size_t i = 0; i < timeline->panel_count; ++i)
    release_panel(&timeline->panels[i]);
  free(timeline->panels);
  free(timeline->svg);
  free(timeline);
}

void emu_timeline_add(uattn_emulator_timeline_t *timeline, const char *entry,
                      uint64_t cta_count, emu_recorder_t *recorder) {
  emu_recorder_close(recorder);
  timeline->panels = emu_timeline_grow(timeline->panels, timeline->panel_count,
                                       sizeof *timeline->panels);
  emu_panel_t *panel = &timeline->panels[timeline->panel_count++];
  *panel = emu_timeline_replay(recorder);
  panel->entry = uattn_arena_format(panel->arena, "%s", entry);
  panel->cta = timeline->cta;
  panel->cta_count = cta_count;
}

const char *uattn_emulator_timeline_svg(uattn_emulator_timeline_t *timeline,
                                        size_t *out_size) {
  free(timeline->svg);
  timeline->svg = emu_timeline_draw(timeline);
  *out_size = strlen(timeline->svg);
  return timeline->svg;
}

void emu_timeline_name_object(uint32_t object, uint32_t phase,
                              uattn_string_t *text) {
  uint32_t barrier = object - EMU_OBJECT_BARRIER;
  if (!(object & EMU_OBJECT_BARRIER))
    uattn_string_appendf(text, "mbarrier 0x%x, phase %u", object, phase);
  else if (barrier == EMU_CLUSTER_BARRIER)
    uattn_string_appendf(text, "the cluster's barrier, round %u", phase);
  else
    uattn_string_appendf(text, "barrier %u, round %u", barrier, phase);
}
