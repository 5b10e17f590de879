/* Draws the lane of a warpgroup: a row for each warp that stays; what several
 * do at once is one.
 * Layer: emulator. Must not know: how times come about.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/timeline_svg.h"

#include <math.h>

typedef struct {
  uint32_t warps[SVG_WARPGROUP];
  uint32_t count;
  size_t next[SVG_WARPGROUP]; /* span of the row that is drawn next */
} rows_t;

static rows_t choose_rows(const emu_panel_t *panel, uint32_t warpgroup) {
  rows_t rows = {.count = 0};
  uint32_t first = warpgroup * SVG_WARPGROUP;
  double longest = 0;
  for (uint32_t i = first; i < first + SVG_WARPGROUP && i < panel->warp_count;
       ++i)
    longest = fmax(longest, panel->warps[i].end);
  for (uint32_t i = first; i < first + SVG_WARPGROUP && i < panel->warp_count;
       ++i)
    if (panel->warps[i].end >= longest / 4)
      rows.warps[rows.count++] = i;
  return rows;
}

static const char *const span_styles[EMU_SPAN_KIND_COUNT] = {"x", "a", "w",
                                                             "cw", "pw"};
static const char *const span_labels[EMU_SPAN_KIND_COUNT] = {
    "softmax", "", "wait", "copies", "wgmma"};
static const char *const span_names[EMU_SPAN_KIND_COUNT] = {
    "softmax", "work", "waits for", "waits for its copies",
    "waits for its products"};

static void title_span(uattn_string_t *text, const emu_span_t *span,
                       uint32_t first_warp, uint32_t last_warp) {
  if (first_warp == last_warp)
    uattn_string_appendf(text, "warp %u: ", first_warp);
  else
    uattn_string_appendf(text, "warps %u to %u: ", first_warp, last_warp);
  if (span->is_mixed)
    uattn_string_append(text, "mostly ");
  uattn_string_append(text, span_names[span->kind]);
  if (span->is_mixed && span->kind == EMU_SPAN_WAIT) {
    uattn_string_append(text, " barriers");
  } else if (span->kind == EMU_SPAN_WAIT) {
    uattn_string_append(text, " ");
    if (span->object != EMU_NO_OBJECT)
      emu_timeline_name_object(span->object, span->phase, text);
    else
      uattn_string_append(text, "a phase before the first");
  }
  uattn_string_append(text, ", ");
  svg_append_times(text, span->begin, span->end);
  svg_append_lines(text, span->first_line, span->last_line);
  const char *before = ": ";
  for (int i = 0; i < EMU_COST_COUNT; ++i)
    if (span->counts[i]) {
      uattn_string_appendf(text, "%s%u %s", before, span->counts[i],
                           emu_costs[i].name);
      before = ", ";
    }
  if (!span->text || span->is_mixed)
    return;
  uattn_string_append(text, ": ");
  svg_append_escaped(text, span->text);
}

/* How many rows from `row` on have the same span next. */
static uint32_t same_in_rows(const svg_panel_t *svg, const rows_t *rows,
                             uint32_t row) {
  const emu_warp_line_t *warps = svg->warps;
  const emu_span_t *span = &warps[rows->warps[row]].spans[rows->next[row]];
  double near = svg_cycles_per_pixel(svg) / 2;
  uint32_t count = 1;
  for (uint32_t i = row + 1; i < rows->count; ++i, ++count) {
    const emu_warp_line_t *line = &warps[rows->warps[i]];
    const emu_span_t *other = &line->spans[rows->next[i]];
    if (rows->next[i] == line->count || other->kind != span->kind ||
        fabs(other->begin - span->begin) > near ||
        fabs(other->end - span->end) > near)
      break;
  }
  return count;
}

static void draw_spans(svg_panel_t *svg, rows_t *rows, uint32_t row,
                       double row_height) {
  const emu_warp_line_t *line = &svg->warps[rows->warps[row]];
  const emu_span_t *span = &line->spans[rows->next[row]];
  uint32_t count = same_in_rows(svg, rows, row);
  double y = svg->top + row * row_height;
  double height = count * row_height;
  if (svg_is_visible(svg, span->begin, span->end) &&
      svg_rect_open(svg, span_styles[span->kind], span->begin, span->end, y,
                    height)) {
    title_span(svg->text, span, rows->warps[row], rows->warps[row + count - 1]);
    svg_rect_close(svg);
    if (height >= 20)
      svg_label(svg, span->begin, span->end, y + height / 2 + 3.5,
                span_labels[span->kind]);
  }
  for (uint32_t i = row; i < row + count; ++i)
    ++rows->next[i];
}

/* The row whose next span begins first; none left: rows->count. */
static uint32_t first_row(const svg_panel_t *svg, const rows_t *rows) {
  uint32_t found = rows->count;
  double begin = INFINITY;
  double near = svg_cycles_per_pixel(svg) / 2;
  for (uint32_t i = 0; i < rows->count; ++i) {
    const emu_warp_line_t *line = &svg->warps[rows->warps[i]];
    if (rows->next[i] == line->count ||
        line->spans[rows->next[i]].begin >= begin - near)
      continue;
    begin = line->spans[rows->next[i]].begin;
    found = i;
  }
  return found;
}

static double share(const svg_panel_t *svg, const rows_t *rows,
                    emu_span_kind_t first, emu_span_kind_t last) {
  double sum = 0;
  for (uint32_t i = 0; i < rows->count; ++i) {
    const emu_warp_line_t *line = &svg->panel->warps[rows->warps[i]];
    for (size_t k = 0; k < line->count; ++k)
      if (line->spans[k].kind >= first && line->spans[k].kind <= last)
        sum += line->spans[k].end - line->spans[k].begin;
  }
  return 100 * sum / (rows->count * fmax(svg->panel->cycles, 1));
}

static const char *role_of(const emu_panel_t *panel, uint32_t warpgroup) {
  uint64_t loads = 0, products = 0;
  for (uint32_t i = warpgroup * SVG_WARPGROUP;
       i < (warpgroup + 1) * SVG_WARPGROUP && i < panel->warp_count; ++i) {
    loads += panel->warps[i].load_count;
    products += panel->warps[i].product_count;
  }
  if (loads && products)
    return "copies and multiplies";
  return products ? "consumer" : loads ? "producer" : "computes";
}

static void name_warpgroup(svg_panel_t *svg, uint32_t warpgroup,
                           const rows_t *rows) {
  char name[64], warps[64], waits[64];
  double softmax = share(svg, rows, EMU_SPAN_SOFTMAX, EMU_SPAN_SOFTMAX);
  uint32_t last = rows->warps[rows->count - 1];
  (void)snprintf(name, sizeof name, "warpgroup %u: %s", warpgroup,
                 role_of(svg->panel, warpgroup));
  if (rows->warps[0] == last)
    (void)snprintf(warps, sizeof warps, "warp %u", last);
  else
    (void)snprintf(warps, sizeof warps, "warps %u to %u: softmax %.0f %%",
                   rows->warps[0], last, softmax);
  (void)snprintf(
      waits, sizeof waits, "waits: barriers %.0f %%, wgmma %.0f %%",
      share(svg, rows, EMU_SPAN_WAIT, EMU_SPAN_WAIT),
      share(svg, rows, EMU_SPAN_PRODUCT_WAIT, EMU_SPAN_PRODUCT_WAIT));
  svg_lane_name(svg, SVG_LANE_HEIGHT, name, warps, waits);
}

void svg_draw_warpgroup(svg_panel_t *svg, uint32_t warpgroup) {
  rows_t rows = choose_rows(svg->panel, warpgroup);
  double row_height = (double)SVG_LANE_HEIGHT / rows.count;
  char name[32];
  (void)snprintf(name, sizeof name, "warpgroup%u", warpgroup);
  svg_begin_lane(svg, name, SVG_LANE_HEIGHT);
  name_warpgroup(svg, warpgroup, &rows);
  svg->warpgroups[warpgroup] = svg->top;
  for (uint32_t row; (row = first_row(svg, &rows)) < rows.count;)
    draw_spans(svg, &rows, row, row_height);
  svg_end_lane(svg, SVG_LANE_HEIGHT);
}
