/* Draws a timeline as an SVG: legend, panels, axes.
 * Layer: emulator. Must not know: how times come about.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Static, one file, valid XML: colours are classes of one style sheet, what a
 * viewer shows under the pointer are title elements. */
#include "emulator/timeline_svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  /* What is drawn where the caller does not say: 13 cycles a pixel. */
  MOST_CYCLES = 16000,
  LEAST_CYCLES = 64,
  MOST_BYTES = 480000,
  MOST_PANELS = 12,
  TICKS = 10
};

/* ---- Parts -----------------------------------------------------------------
 */

bool svg_rect_open(svg_panel_t *svg, const char *style, double begin,
                   double end, double y, double height) {
  double left = svg_x(svg, begin);
  double width = svg_x(svg, end) - left;
  if (width < 0.4)
    return false;
  uattn_string_appendf(svg->text,
                       "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" "
                       "width=\"%.1f\" height=\"%.1f\"><title>",
                       style, left, y, width, height);
  return true;
}

void svg_rect_close(svg_panel_t *svg) {
  uattn_string_append(svg->text, "</title></rect>\n");
}

void svg_label(svg_panel_t *svg, double begin, double end, double y,
               const char *label) {
  enum { CHARACTER = 7, MARGIN = 6 }; /* pixels, of the widest */
  double left = svg_x(svg, begin);
  double right = svg_x(svg, end);
  if (!*label || right - left < CHARACTER * (double)strlen(label) + MARGIN)
    return;
  uattn_string_appendf(svg->text,
                       "<text class=\"l\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                       (left + right) / 2, y, label);
}

void svg_append_escaped(uattn_string_t *text, const char *raw) {
  for (; *raw; ++raw) {
    if (*raw == '<')
      uattn_string_append(text, "&lt;");
    else if (*raw == '>')
      uattn_string_append(text, "&gt;");
    else if (*raw == '&')
      uattn_string_append(text, "&amp;");
    else if ((unsigned char)*raw >= ' ' && (unsigned char)*raw < 0x7f)
      uattn_string_append_bytes(text, raw, 1);
    else
      uattn_string_append(text, " ");
  }
}

void svg_lane_name(svg_panel_t *svg, double height, const char *first,
                   const char *second, const char *third) {
  double y = svg->top + height / 2 - 11;
  uattn_string_appendf(svg->text,
                       "<text class=\"n\" x=\"16\" y=\"%.1f\">%s</text>\n"
                       "<text class=\"s\" x=\"16\" y=\"%.1f\">%s</text>\n",
                       y, first, y + 14, second);
  if (*third)
    uattn_string_appendf(svg->text,
                         "<text class=\"s\" x=\"16\" y=\"%.1f\">%s</text>\n",
                         y + 27, third);
}

void svg_begin_lane(svg_panel_t *svg, const char *name, double height) {
  uattn_string_appendf(svg->text,
                       "<g id=\"kernel%zu-%s\">\n<rect class=\"lane\" "
                       "x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n",
                       svg->index, name, SVG_LEFT, svg->top,
                       SVG_RIGHT - SVG_LEFT, height);
}

void svg_end_lane(svg_panel_t *svg, double height) {
  uattn_string_append(svg->text, "</g>\n");
  svg->top += height + SVG_LANE_GAP;
}

void svg_append_times(uattn_string_t *text, double begin, double end) {
  uattn_string_appendf(text, "cycles %.0f to %.0f (%.0f)", begin, end,
                       end - begin);
}

void svg_append_lines(uattn_string_t *text, uint32_t first, uint32_t last) {
  if (first == last)
    uattn_string_appendf(text, ", line %u", first);
  else
    uattn_string_appendf(text, ", lines %u to %u", first, last);
}

bool svg_is_visible(const svg_panel_t *svg, double begin, double end) {
  return end > svg->begin && begin < svg->end;
}

/* 12 345 */
static void append_cycles(uattn_string_t *text, double cycles) {
  unsigned long long number = (unsigned long long)(cycles + 0.5);
  char digits[32];
  int count = snprintf(digits, sizeof digits, "%llu", number);
  for (int i = 0; i < count; ++i) {
    if (i > 0 && (count - i) % 3 == 0)
      uattn_string_append(text, "\xc2\xa0"); /* a space that does not break */
    uattn_string_append_bytes(text, &digits[i], 1);
  }
}

/* ---- Panels ----------------------------------------------------------------
 */

static double busy_share(const emu_panel_t *panel, bool of_copies) {
  double busy = 0;
  for (size_t i = 0; of_copies && i < panel->copy_count; ++i)
    busy += panel->copies[i].moved - panel->copies[i].begin;
  for (size_t i = 0; !of_copies && i < panel->product_count; ++i)
    busy += panel->products[i].end - panel->products[i].begin;
  return panel->cycles > 0 ? 100 * busy / panel->cycles : 0;
}

static void draw_header(svg_panel_t *svg) {
  const emu_panel_t *panel = svg->panel;
  uattn_string_t *text = svg->text;
  uattn_string_appendf(text, "<text class=\"h\" x=\"16\" y=\"%.1f\">",
                       svg->top + 16);
  svg_append_escaped(text, panel->entry);
  uattn_string_appendf(text,
                       ", CTA %llu of %llu: ", (unsigned long long)panel->cta,
                       (unsigned long long)panel->cta_count);
  append_cycles(text, panel->cycles);
  uattn_string_append(text, " cycles");
  uattn_string_appendf(text,
                       "</text>\n<text class=\"s\" x=\"16\" y=\"%.1f\">"
                       "tensor cores busy %.0f %%, copy engine busy %.0f %%",
                       svg->top + 34, busy_share(panel, false),
                       busy_share(panel, true));
  if (svg->begin > 0 || svg->end < panel->cycles) {
    uattn_string_append(text, "; drawn: cycles ");
    append_cycles(text, svg->begin);
    uattn_string_append(text, " to ");
    append_cycles(text, svg->end);
    uattn_string_append(text, ", the rest is left out");
  }
  if (panel->is_cut)
    uattn_string_append(text, "; the kernel goes on, the record is full");
  uattn_string_append(text, "</text>\n");
  svg->top += 50;
}

static double tick_step(double cycles) {
  double step = 1;
  while (cycles / step > TICKS) {
    if (cycles / (step * 2) <= TICKS)
      return step * 2;
    if (cycles / (step * 5) <= TICKS)
      return step * 5;
    step *= 10;
  }
  return step;
}

/* Drawn before the lanes, whose places are not known yet. */
static void draw_axis(svg_panel_t *svg, double height) {
  double step = tick_step(svg->end - svg->begin);
  double bottom = svg->top + height;
  uattn_string_appendf(svg->text,
                       "<text class=\"s\" x=\"16\" y=\"%.1f\">cycles</text>\n",
                       bottom + 16);
  for (double cycle = ceil(svg->begin / step) * step; cycle <= svg->end;
       cycle += step) {
    double x = svg_x(svg, cycle);
    uattn_string_appendf(svg->text,
                         "<path class=\"g\" d=\"M%.1f %.1fV%.1f\"/>\n"
                         "<text class=\"t\" x=\"%.1f\" y=\"%.1f\">",
                         x, svg->top, bottom + 4, x, bottom + 16);
    append_cycles(svg->text, cycle);
    uattn_string_append(svg->text, "</text>\n");
  }
}

static void draw_lanes(svg_panel_t *svg) {
  uint32_t warps = svg->panel->warp_count;
  svg_draw_copies(svg);
  for (uint32_t i = 0; i * SVG_WARPGROUP < warps; ++i)
    svg_draw_warpgroup(svg, i);
  svg_draw_products(svg);
}

/* Below `top`; returns where the next may begin. */
static double draw_panel(svg_panel_t *svg) {
  uattn_string_appendf(svg->text, "<g id=\"kernel%zu\">\n", svg->index);
  draw_header(svg);
  /* Lanes first, to know how high they are; then the axis before them. */
  uattn_string_t lanes = {0};
  svg_panel_t drawn = *svg;
  drawn.text = &lanes;
  drawn.warps = svg_gather_spans(svg);
  draw_lanes(&drawn);
  free(drawn.warps);
  draw_axis(svg, drawn.top - svg->top);
  drawn.text = svg->text;
  svg_draw_hand_overs(&drawn);
  uattn_string_append(svg->text, uattn_string_get(&lanes));
  uattn_string_release(&lanes);
  uattn_string_append(svg->text, "</g>\n");
  return drawn.top + 44;
}

/* As many cycles as the picture can hold. */
static double draw_window(const uattn_emulator_timeline_t *timeline,
                          size_t index, double top, size_t most_bytes,
                          uattn_string_t *text) {
  const emu_panel_t *panel = &timeline->panels[index];
  svg_panel_t svg = {.panel = panel,
                     .index = index,
                     .begin = fmin((double)timeline->begin_cycle,
                                   fmax(panel->cycles - LEAST_CYCLES, 0))};
  double cycles = timeline->end_cycle ? (double)timeline->end_cycle - svg.begin
                                      : MOST_CYCLES;
  cycles = fmax(fmin(cycles, panel->cycles - svg.begin), LEAST_CYCLES);
  for (;; cycles = floor(cycles / 2)) {
    uattn_string_t part = {0};
    svg.text = &part;
    svg.top = top;
    svg.end = svg.begin + cycles;
    double bottom = draw_panel(&svg);
    bool fits = part.size <= most_bytes || cycles <= LEAST_CYCLES;
    if (fits)
      uattn_string_append(text, uattn_string_get(&part));
    uattn_string_release(&part);
    if (fits)
      return bottom;
  }
}

/* ---- The picture -----------------------------------------------------------
 */

static const char style_sheet[] =
    "<style>\n"
    "text{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;fill:#1d2127}\n"
    ".h{font-size:15px;font-weight:bold}.n{font-size:12px;font-weight:bold}\n"
    ".s{font-size:10.5px;fill:#4a5058}\n"
    ".t{font-size:10.5px;text-anchor:middle;fill:#4a5058}\n"
    ".l{font-size:10px;text-anchor:middle;pointer-events:none}\n"
    ".bg{fill:#ffffff}.lane{fill:#f4f5f7}.g{stroke:#d9dce1;fill:none}\n"
    ".x{fill:#f0883a}.a{fill:#f7d27c}.w{fill:#c5c9d0}\n"
    ".cw{fill:#b4d0ee}.pw{fill:#c4e4bd}\n"
    ".q{fill:#cfe0f4}.c{fill:#5b9bd9}\n"
    ".p0{fill:#7cc576}.p1{fill:#4fae8b}.p2{fill:#a9cf54}.p3{fill:#63b8b0}\n"
    ".o{stroke:#a3162e;stroke-width:0.9;fill:none;marker-end:url(#tip)}\n"
    "</style>\n"
    "<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"5.5\" refY=\"3\" "
    "markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\">"
    "<path d=\"M0 0L6 3L0 6z\" fill=\"#a3162e\"/></marker></defs>\n";

static void draw_legend(uattn_string_t *text) {
  static const struct {
    const char *style;
    const char *name;
    int width;
  } entries[] = {{"x", "softmax (with ex2, tanh ...)", 176},
                 {"a", "other instructions", 128},
                 {"w", "waits for a barrier", 128},
                 {"pw", "waits for its wgmma", 136},
                 {"cw", "waits for its copies", 134},
                 {"q", "copy on its way", 114},
                 {"c", "its bytes arrive", 110},
                 {"p0", "wgmma in flight", 114}};
  int x = 16;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; ++i) {
    uattn_string_appendf(text,
                         "<rect class=\"%s\" x=\"%d\" y=\"14\" width=\"18\" "
                         "height=\"12\"/><text class=\"s\" x=\"%d\" "
                         "y=\"24\">%s</text>\n",
                         entries[i].style, x, x + 23, entries[i].name);
    x += entries[i].width + 20;
  }
  uattn_string_appendf(text,
                       "<path class=\"o\" d=\"M%d 20H%d\"/>"
                       "<text class=\"s\" x=\"%d\" y=\"24\">hand-over</text>\n",
                       x, x + 22, x + 28);
}

char *emu_timeline_draw(const uattn_emulator_timeline_t *timeline) {
  uattn_string_t body = {0};
  size_t count =
      timeline->panel_count < MOST_PANELS ? timeline->panel_count : MOST_PANELS;
  double bottom = 46;
  draw_legend(&body);
  for (size_t i = 0; i < count; ++i)
    bottom = draw_window(timeline, i, bottom, MOST_BYTES / count, &body);
  if (count < timeline->panel_count) {
    uattn_string_appendf(&body,
                         "<text class=\"s\" x=\"16\" y=\"%.1f\">%zu more "
                         "kernels are not drawn</text>\n",
                         bottom, timeline->panel_count - count);
    bottom += 20;
  }
  uattn_string_t svg = {0};
  uattn_string_appendf(&svg,
                       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                       "width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n"
                       "<title>Who does what when, in emulated cycles</title>\n"
                       "%s<rect class=\"bg\" width=\"%d\" height=\"%.0f\"/>\n",
                       SVG_WIDTH, bottom, SVG_WIDTH, bottom, style_sheet,
                       SVG_WIDTH, bottom);
  uattn_string_append(&svg, uattn_string_get(&body));
  uattn_string_append(&svg, "</svg>\n");
  uattn_string_release(&body);
  return uattn_string_take(&svg);
}
