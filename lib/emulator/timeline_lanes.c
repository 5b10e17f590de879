/* Draws what runs beside the warps: copies and products, and hand-overs.
 * Layer: emulator. Must not know: how times come about.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/timeline_svg.h"

/* ---- Copies ----------------------------------------------------------------
 * Those that one phase of an mbarrier waits for are one. */

typedef struct {
  emu_copy_span_t span;
  uint32_t count;
} copy_t;

static bool belong_together(const svg_panel_t *svg, const copy_t *copy,
                            const emu_copy_span_t *next) {
  if (next->end - copy->span.issue < svg_cycles_per_pixel(svg))
    return true; /* too short to see */
  return copy->span.signal != EMU_NO_SIGNAL &&
         copy->span.signal == next->signal && copy->span.warp == next->warp;
}

static copy_t *gather_copies(const svg_panel_t *svg, size_t *out_count) {
  const emu_panel_t *panel = svg->panel;
  copy_t *copies = uattn_allocate((panel->copy_count + 1) * sizeof *copies);
  size_t count = 0;
  for (size_t i = 0; i < panel->copy_count; ++i) {
    const emu_copy_span_t *span = &panel->copies[i];
    copy_t *last = count ? &copies[count - 1] : NULL;
    if (last && belong_together(svg, last, span)) {
      last->span.moved = span->moved;
      last->span.end = span->end;
      last->span.bytes += span->bytes;
      ++last->count;
    } else if (svg_is_visible(svg, span->issue, span->end)) {
      copies[count++] = (copy_t){.span = *span, .count = 1};
    }
  }
  *out_count = count;
  return copies;
}

/* The first row that is free; the last one takes what finds none. */
static uint32_t choose_row(double free_at[SVG_COPY_ROWS], const copy_t *copy) {
  uint32_t row = 0;
  while (row + 1 < SVG_COPY_ROWS && free_at[row] > copy->span.issue)
    ++row;
  free_at[row] = copy->span.end;
  return row;
}

static void title_copy(uattn_string_t *text, const copy_t *copy) {
  const emu_copy_span_t *span = &copy->span;
  uattn_string_appendf(text, "%s of %llu bytes",
                       span->is_store ? "store" : "load",
                       (unsigned long long)span->bytes);
  if (copy->count > 1)
    uattn_string_appendf(text, " in %u copies", copy->count);
  uattn_string_appendf(text, ", issued by warp %u at cycle %.0f, bytes arrive ",
                       span->warp, span->issue);
  svg_append_times(text, span->begin + EMU_COPY_LATENCY, span->end);
  svg_append_lines(text, span->line, span->line);
}

static void draw_copy(svg_panel_t *svg, const copy_t *copy, double y,
                      double height) {
  const emu_copy_span_t *span = &copy->span;
  double arrives = span->begin + EMU_COPY_LATENCY;
  if (svg_rect_open(svg, "q", span->issue, arrives, y, height)) {
    title_copy(svg->text, copy);
    svg_rect_close(svg);
  }
  if (!svg_rect_open(svg, "c", arrives, span->end, y, height))
    return;
  title_copy(svg->text, copy);
  svg_rect_close(svg);
  char label[48];
  (void)snprintf(label, sizeof label, "%s%.0f KB",
                 span->is_store ? "store " : "", (double)span->bytes / 1024);
  if (height >= 10)
    svg_label(svg, arrives, span->end, y + height / 2 + 3.5, label);
}

void svg_draw_copies(svg_panel_t *svg) {
  size_t count = 0;
  copy_t *copies = gather_copies(svg, &count);
  uint32_t *rows = uattn_allocate((count + 1) * sizeof *rows);
  double free_at[SVG_COPY_ROWS] = {0};
  uint32_t row_count = 1;
  for (size_t i = 0; i < count; ++i) {
    rows[i] = choose_row(free_at, &copies[i]);
    if (rows[i] >= row_count)
      row_count = rows[i] + 1;
  }
  double row_height = fmax(12, (double)SVG_LANE_HEIGHT / row_count);
  double height = row_height * row_count;
  uint64_t bytes = 0;
  for (size_t i = 0; i < svg->panel->copy_count; ++i)
    bytes += svg->panel->copies[i].bytes;
  char total[48];
  (void)snprintf(total, sizeof total, "%.0f KB in %zu copies",
                 (double)bytes / 1024, svg->panel->copy_count);
  svg_begin_lane(svg, "copies", height);
  svg_lane_name(svg, height, "copy engine", total, "");
  svg->copies = svg->top;
  for (size_t i = 0; i < count; ++i)
    draw_copy(svg, &copies[i], svg->top + rows[i] * row_height + 0.5,
              row_height - 1);
  free(rows);
  free(copies);
  svg_end_lane(svg, height);
  svg->copies = svg->top - SVG_LANE_GAP; /* its lower edge */
}

/* ---- Products --------------------------------------------------------------
 */

static bool follows(const svg_panel_t *svg, const emu_product_span_t *last,
                    double end, const emu_product_span_t *next) {
  if (next->end - last->begin < svg_cycles_per_pixel(svg))
    return true; /* too short to see */
  return last->warpgroup == next->warpgroup && last->group == next->group &&
         last->n == next->n && next->begin - end < 1;
}

static void draw_product(svg_panel_t *svg, const emu_product_span_t *first,
                         const emu_product_span_t *last, size_t count) {
  char style[] = "p0";
  style[1] = (char)('0' + first->warpgroup % 4);
  if (!svg_is_visible(svg, first->begin, last->end) ||
      !svg_rect_open(svg, style, first->begin, last->end, svg->top,
                     SVG_LANE_HEIGHT))
    return;
  uattn_string_appendf(svg->text, "warpgroup %u: %zu times m64n%uk16, ",
                       first->warpgroup, count, first->n);
  svg_append_times(svg->text, first->begin, last->end);
  svg_append_lines(svg->text, first->line, last->line);
  svg_rect_close(svg);
  char label[48];
  double middle = svg->top + SVG_LANE_HEIGHT / 2.0;
  (void)snprintf(label, sizeof label, "%u", first->warpgroup);
  svg_label(svg, first->begin, last->end, middle - 3, label);
  (void)snprintf(label, sizeof label, "%zu x n%u", count, first->n);
  svg_label(svg, first->begin, last->end, middle + 10, label);
}

void svg_draw_products(svg_panel_t *svg) {
  const emu_panel_t *panel = svg->panel;
  char total[48];
  (void)snprintf(total, sizeof total, "%zu wgmma", panel->product_count);
  svg_begin_lane(svg, "tensor", SVG_LANE_HEIGHT);
  svg_lane_name(svg, SVG_LANE_HEIGHT, "tensor cores", total, "");
  for (size_t i = 0, end; i < panel->product_count; i = end) {
    end = i + 1;
    while (end < panel->product_count &&
           follows(svg, &panel->products[i], panel->products[end - 1].end,
                   &panel->products[end]))
      ++end;
    draw_product(svg, &panel->products[i], &panel->products[end - 1], end - i);
  }
  svg_end_lane(svg, SVG_LANE_HEIGHT);
}

/* ---- Hand-overs ------------------------------------------------------------
 * An arrow for each pair of lanes and moment; none inside a warpgroup. */

static void arrow_ends(const svg_panel_t *svg, const emu_hand_over_t *over,
                       double *out_from, double *out_to) {
  double to = svg->warpgroups[over->to / SVG_WARPGROUP];
  *out_to = to;
  if (over->from == EMU_NO_WARP) {
    *out_from = svg->copies;
    return;
  }
  double from = svg->warpgroups[over->from / SVG_WARPGROUP];
  *out_from = from < to ? from + SVG_LANE_HEIGHT : from;
  if (from > to)
    *out_to = to + SVG_LANE_HEIGHT;
}

static bool is_drawn_already(const svg_panel_t *svg, size_t index) {
  const emu_hand_over_t *all = svg->panel->hand_overs;
  const emu_hand_over_t *over = &all[index];
  double near = 2 * svg_cycles_per_pixel(svg);
  for (size_t i = index; i-- > 0 && all[i].end >= over->end - near;) {
    bool same_from =
        all[i].from == over->from ||
        (all[i].from != EMU_NO_WARP && over->from != EMU_NO_WARP &&
         all[i].from / SVG_WARPGROUP == over->from / SVG_WARPGROUP);
    if (same_from && all[i].to / SVG_WARPGROUP == over->to / SVG_WARPGROUP)
      return true;
  }
  return false;
}

static void draw_hand_over(svg_panel_t *svg, const emu_hand_over_t *over) {
  double from, to;
  arrow_ends(svg, over, &from, &to);
  uattn_string_appendf(
      svg->text, "<path class=\"o\" d=\"M%.1f %.1fL%.1f %.1f\"><title>",
      svg_x(svg, over->begin), from, svg_x(svg, over->end), to);
  emu_timeline_name_object(over->object, over->phase, svg->text);
  if (over->from == EMU_NO_WARP)
    uattn_string_append(svg->text, ": a copy");
  else
    uattn_string_appendf(svg->text, ": warp %u", over->from);
  uattn_string_appendf(svg->text,
                       " of line %u at cycle %.0f lets warp %u of line %u go "
                       "on</title></path>\n",
                       over->from_line, over->begin, over->to, over->to_line);
}

void svg_draw_hand_overs(svg_panel_t *svg) {
  const emu_panel_t *panel = svg->panel;
  uattn_string_appendf(svg->text, "<g id=\"kernel%zu-handovers\">\n",
                       svg->index);
  for (size_t i = 0; i < panel->hand_over_count; ++i) {
    const emu_hand_over_t *over = &panel->hand_overs[i];
    bool is_inside = over->from != EMU_NO_WARP &&
                     over->from / SVG_WARPGROUP == over->to / SVG_WARPGROUP;
    if (!is_inside && over->begin >= svg->begin && over->end <= svg->end &&
        !is_drawn_already(svg, i))
      draw_hand_over(svg, over);
  }
  uattn_string_append(svg->text, "</g>\n");
}
