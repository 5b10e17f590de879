/* Draws the lanes of a panel: copies, warpgroups, products, hand-overs.
 * Layer: emulator. Must not know: how times come about.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/timeline_svg.h"

static void begin_lane(svg_panel_t *svg, const char *name, double height) {
  uattn_string_appendf(svg->text,
                       "<g id=\"kernel%zu-%s\">\n<rect class=\"lane\" "
                       "x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>\n",
                       svg->index, name, SVG_LEFT, svg->top,
                       SVG_RIGHT - SVG_LEFT, height);
}

static void end_lane(svg_panel_t *svg, double height) {
  uattn_string_append(svg->text, "</g>\n");
  svg->top += height + SVG_LANE_GAP;
}

static void append_times(uattn_string_t *text, double begin, double end) {
  uattn_string_appendf(text, "cycles %.0f to %.0f (%.0f)", begin, end,
                       end - begin);
}

static void append_lines(uattn_string_t *text, uint32_t first, uint32_t last) {
  if (first == last)
    uattn_string_appendf(text, ", line %u", first);
  else
    uattn_string_appendf(text, ", lines %u to %u", first, last);
}

static bool is_visible(const svg_panel_t *svg, double begin, double end) {
  return end > svg->begin && begin < svg->end;
}

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
    } else if (is_visible(svg, span->issue, span->end)) {
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
  append_times(text, span->begin + EMU_COPY_LATENCY, span->end);
  append_lines(text, span->line, span->line);
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
  begin_lane(svg, "copies", height);
  svg_lane_name(svg, height, "copy engine", total, "");
  svg->copies = svg->top;
  for (size_t i = 0; i < count; ++i)
    draw_copy(svg, &copies[i], svg->top + rows[i] * row_height + 0.5,
              row_height - 1);
  free(rows);
  free(copies);
  end_lane(svg, height);
  svg->copies = svg->top - SVG_LANE_GAP; /* its lower edge */
}

/* ---- Warpgroups ------------------------------------------------------------
 * A row for each warp that stays; what several do at once is one. */

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
    if (span->object)
      emu_timeline_name_object(span->object, span->phase, text);
    else
      uattn_string_append(text, "a phase before the first");
  }
  uattn_string_append(text, ", ");
  append_times(text, span->begin, span->end);
  append_lines(text, span->first_line, span->last_line);
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
  if (is_visible(svg, span->begin, span->end) &&
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
  begin_lane(svg, name, SVG_LANE_HEIGHT);
  name_warpgroup(svg, warpgroup, &rows);
  svg->warpgroups[warpgroup] = svg->top;
  for (uint32_t row; (row = first_row(svg, &rows)) < rows.count;)
    draw_spans(svg, &rows, row, row_height);
  end_lane(svg, SVG_LANE_HEIGHT);
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
  if (!is_visible(svg, first->begin, last->end) ||
      !svg_rect_open(svg, style, first->begin, last->end, svg->top,
                     SVG_LANE_HEIGHT))
    return;
  uattn_string_appendf(svg->text, "warpgroup %u: %zu times m64n%uk16, ",
                       first->warpgroup, count, first->n);
  append_times(svg->text, first->begin, last->end);
  append_lines(svg->text, first->line, last->line);
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
  begin_lane(svg, "tensor", SVG_LANE_HEIGHT);
  svg_lane_name(svg, SVG_LANE_HEIGHT, "tensor cores", total, "");
  for (size_t i = 0, end; i < panel->product_count; i = end) {
    end = i + 1;
    while (end < panel->product_count &&
           follows(svg, &panel->products[i], panel->products[end - 1].end,
                   &panel->products[end]))
      ++end;
    draw_product(svg, &panel->products[i], &panel->products[end - 1], end - i);
  }
  end_lane(svg, SVG_LANE_HEIGHT);
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
