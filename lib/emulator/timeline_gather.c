/* Gathers what is too short to draw, so that a long window shows what a warp
 * mostly does.
 * Layer: emulator. Must not know: how times come about.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/timeline_svg.h"

#include <math.h>

/* Spans one after the other, each below a pixel. */
typedef struct {
  emu_span_t span;
  double cycles[EMU_SPAN_KIND_COUNT];
  uint32_t count;
} run_t;

static void add(run_t *run, const emu_span_t *span) {
  if (run->count++ == 0)
    run->span = *span;
  emu_span_t *sum = &run->span;
  run->cycles[span->kind] += span->end - span->begin;
  sum->end = span->end;
  if (run->count == 1)
    return;
  sum->is_mixed = true;
  sum->first_line =
      span->first_line < sum->first_line ? span->first_line : sum->first_line;
  sum->last_line =
      span->last_line > sum->last_line ? span->last_line : sum->last_line;
  for (int i = 0; i < EMU_COST_COUNT; ++i)
    sum->counts[i] += span->counts[i];
  for (int kind = 0; kind < EMU_SPAN_KIND_COUNT; ++kind)
    if (run->cycles[kind] > run->cycles[sum->kind])
      sum->kind = (emu_span_kind_t)kind;
}

static void close_run(run_t *run, emu_warp_line_t *line) {
  if (run->count)
    line->spans[line->count++] = run->span;
  *run = (run_t){.count = 0};
}

static void gather_line(const svg_panel_t *svg, const emu_warp_line_t *from,
                        emu_warp_line_t *line) {
  double pixel = svg_cycles_per_pixel(svg);
  run_t run = {.count = 0};
  for (size_t i = 0; i < from->count; ++i) {
    const emu_span_t *span = &from->spans[i];
    if (span->end <= svg->begin || span->begin >= svg->end)
      continue;
    bool is_short = span->end - span->begin < pixel / 2;
    if (!is_short)
      close_run(&run, line);
    add(&run, span);
    if (!is_short || run.span.end - run.span.begin >= pixel)
      close_run(&run, line);
  }
  close_run(&run, line);
}

emu_warp_line_t *svg_gather_spans(const svg_panel_t *svg) {
  const emu_panel_t *panel = svg->panel;
  size_t count = 0;
  for (uint32_t i = 0; i < panel->warp_count; ++i)
    count += panel->warps[i].count;
  emu_warp_line_t *lines = uattn_allocate(panel->warp_count * sizeof *lines +
                                          count * sizeof(emu_span_t));
  emu_span_t *spans = (emu_span_t *)(void *)(lines + panel->warp_count);
  for (uint32_t i = 0; i < panel->warp_count; ++i) {
    lines[i] = panel->warps[i];
    lines[i].spans = spans;
    lines[i].count = 0;
    gather_line(svg, &panel->warps[i], &lines[i]);
    spans += panel->warps[i].count;
  }
  return lines;
}
