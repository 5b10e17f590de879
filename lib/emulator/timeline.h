/* The timeline of a launch: what one CTA's warps, its copies and its products
 * did, with times.
 * Layer: emulator. Must not know: how instructions are executed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * timeline_record.c notes what happens without times, timeline_replay.c makes
 * panels of that, timeline_svg.c draws them. */
#ifndef UATTN_EMULATOR_TIMELINE_H
#define UATTN_EMULATOR_TIMELINE_H

#include "emulator/timeline_record.h"
#include "uattn/emulator.h"

/* What a warp does. */
typedef enum {
  EMU_SPAN_SOFTMAX,      /* work with special functions */
  EMU_SPAN_WORK,         /* other work */
  EMU_SPAN_WAIT,         /* for a barrier or an mbarrier */
  EMU_SPAN_COPY_WAIT,    /* for copies of its own */
  EMU_SPAN_PRODUCT_WAIT, /* for products of its own */
  EMU_SPAN_KIND_COUNT
} emu_span_kind_t;

#define EMU_NO_WARP UINT32_MAX
#define EMU_NO_OBJECT UINT32_MAX

typedef struct {
  emu_span_kind_t kind;
  double begin; /* cycles */
  double end;
  uint32_t first_line;
  uint32_t last_line;
  uint32_t counts[EMU_COST_COUNT]; /* of work */
  uint32_t object; /* of a wait: as in emu_signal_t, or EMU_NO_OBJECT */
  uint32_t phase;
  const char *text; /* of a wait: its instruction */
  bool is_mixed;    /* several that are too short to draw; mostly `kind` */
} emu_span_t;

typedef struct {
  emu_span_t *spans;
  size_t count;
  double end;             /* of the warp */
  uint32_t load_count;    /* copies to shared memory */
  uint32_t product_count; /* wgmma */
} emu_warp_line_t;

/* From `begin` to `moved` the engine is busy with it; its bytes arrive from
 * EMU_COPY_LATENCY after `begin` to `end`. */
typedef struct {
  double issue;
  double begin;
  double moved;
  double end;
  uint64_t bytes;
  uint32_t warp;
  uint32_t line;
  uint32_t signal; /* that it lands at, or EMU_NO_SIGNAL */
  bool is_store;
} emu_copy_span_t;

typedef struct {
  double issue;
  double begin;
  double end;
  uint32_t n;
  uint32_t warpgroup;
  uint32_t group; /* of the warpgroup's commits */
  uint32_t line;
} emu_product_span_t;

/* An arrival that ended a wait which had begun before. */
typedef struct {
  uint32_t from; /* warp; EMU_NO_WARP: a copy that landed */
  uint32_t to;
  double begin; /* the arrival */
  double end;
  uint32_t object;
  uint32_t phase;
  uint32_t from_line;
  uint32_t to_line;
} emu_hand_over_t;

/* One kernel's CTA. */
typedef struct {
  uattn_arena_t *arena; /* of texts */
  char *entry;
  uint64_t cta;
  uint64_t cta_count;
  bool is_cut; /* there was more than is recorded */
  double cycles;
  uint32_t warp_count;
  emu_warp_line_t *warps;
  emu_copy_span_t *copies;
  size_t copy_count;
  emu_product_span_t *products;
  size_t product_count;
  emu_hand_over_t *hand_overs;
  size_t hand_over_count;
} emu_panel_t;

struct uattn_emulator_timeline {
  uint64_t cta;
  uint64_t begin_cycle;
  uint64_t end_cycle; /* 0: as much as fits */
  emu_panel_t *panels;
  size_t panel_count;
  char *svg; /* of the last drawing */
};

/* Gives what has been recorded times and adds it as a panel. */
void emu_timeline_add(uattn_emulator_timeline_t *timeline, const char *entry,
                      uint64_t cta_count, emu_recorder_t *recorder);
emu_panel_t emu_timeline_replay(const emu_recorder_t *recorder);

/* Zero-terminated; free with free(). */
char *emu_timeline_draw(const uattn_emulator_timeline_t *timeline);

/* "mbarrier 0x1c000, phase 3" or "barrier 1, round 3" */
void emu_timeline_name_object(uint32_t object, uint32_t phase,
                              uattn_string_t *text);

/* Room in a list that grows by one. */
void *emu_timeline_grow(void *data, size_t count, size_t size);

#endif /* UATTN_EMULATOR_TIMELINE_H */
