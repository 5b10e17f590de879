/* One kernel's part of the picture while it is drawn.
 * Layer: emulator. Must not know: how times come about.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_TIMELINE_SVG_H
#define UATTN_EMULATOR_TIMELINE_SVG_H

#include "emulator/timeline.h"

enum {
  SVG_WIDTH = 1400,
  SVG_LEFT = 212, /* of the plot; lanes' names stand before it */
  SVG_RIGHT = 1366,
  SVG_LANE_HEIGHT = 46,
  SVG_LANE_GAP = 14,
  SVG_WARPGROUP = 4,
  SVG_WARPGROUPS = 8,
  SVG_COPY_ROWS = 6
};

typedef struct {
  const emu_panel_t *panel;
  emu_warp_line_t *warps; /* the panel's, without what is too short to see */
  uattn_string_t *text;
  size_t index; /* of the panel */
  double begin; /* cycles: what is drawn */
  double end;
  double top;    /* of what is drawn next, pixels */
  double copies; /* tops of lanes */
  double warpgroups[SVG_WARPGROUPS];
} svg_panel_t;

static inline double svg_cycles_per_pixel(const svg_panel_t *svg) {
  return (svg->end - svg->begin) / (SVG_RIGHT - SVG_LEFT);
}
/* Clipped to the plot. */
static inline double svg_x(const svg_panel_t *svg, double cycle) {
  double x = SVG_LEFT + (cycle - svg->begin) / svg_cycles_per_pixel(svg);
  return x < SVG_LEFT ? SVG_LEFT : x > SVG_RIGHT ? SVG_RIGHT : x;
}

/* "<rect .../>" from cycle to cycle, without its end where it takes a title;
 * false where it could not be seen. */
bool svg_rect_open(svg_panel_t *svg, const char *style, double begin,
                   double end, double y, double height);
void svg_rect_close(svg_panel_t *svg);
/* In the middle of what was drawn, where it fits. */
void svg_label(svg_panel_t *svg, double begin, double end, double y,
               const char *label);
/* With the characters replaced that XML reserves. */
void svg_append_escaped(uattn_string_t *text, const char *raw);
/* Two or three lines before a lane. */
void svg_lane_name(svg_panel_t *svg, double height, const char *first,
                   const char *second, const char *third);

/* The warps' spans for this window, those below a pixel gathered: one list for
 * each warp, in one block that is freed with free(). */
emu_warp_line_t *svg_gather_spans(const svg_panel_t *svg);

/* A lane at `top`, which moves down at its end. */
void svg_begin_lane(svg_panel_t *svg, const char *name, double height);
void svg_end_lane(svg_panel_t *svg, double height);

/* "cycles 3 to 9 (6)" and ", lines 4 to 7" of titles. */
void svg_append_times(uattn_string_t *text, double begin, double end);
void svg_append_lines(uattn_string_t *text, uint32_t first, uint32_t last);
bool svg_is_visible(const svg_panel_t *svg, double begin, double end);

/* ---- Lanes (timeline_lanes.c, timeline_warpgroup.c) ------------------------
 * Drawn at `top`, which moves down. */

void svg_draw_copies(svg_panel_t *svg);
void svg_draw_warpgroup(svg_panel_t *svg, uint32_t warpgroup);
void svg_draw_products(svg_panel_t *svg);
/* Behind the lanes, whose places it takes from `svg`. */
void svg_draw_hand_overs(svg_panel_t *svg);

#endif /* UATTN_EMULATOR_TIMELINE_SVG_H */
