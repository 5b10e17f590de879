/* The state of a timeline's replay: warps, signals, queues.
 * Layer: emulator. Must not know: instructions, drawing.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_TIMELINE_REPLAY_H
#define UATTN_EMULATOR_TIMELINE_REPLAY_H

#include "emulator/timeline.h"

enum { EMU_QUARTERS = 4, EMU_WARPGROUP = 4 };

typedef enum {
  EMU_WARP_READY, /* to begin its event */
  EMU_WARP_WORKS,
  EMU_WARP_SLEEPS, /* until `time`, then its wait is over */
  EMU_WARP_WAITS,  /* nobody knows until when */
  EMU_WARP_ENDED
} emu_warp_state_t;

/* Ends of a warp's copies of one family, in order: the engine has one queue. */
typedef struct {
  double *moved;
  size_t count;
} emu_replay_copies_t;

typedef struct {
  const emu_event_t *event;
  const emu_event_t *end;
  emu_warp_state_t state;
  double begin; /* of the work or wait under way */
  double time;  /* when it ends */
  /* Of work: what is left, in cycles of a warp that is alone. */
  double duration;
  double left;
  double since;
  double rate;
  emu_replay_copies_t copies[EMU_FAMILY_COUNT];
  uint64_t product_count;
} emu_replay_warp_t;

typedef struct {
  uint32_t arrived;
  double time; /* of the last arrival */
  uint32_t from;
  uint32_t line;
} emu_replay_signal_t;

/* The k-th product of a warpgroup: all its warps issue it. */
typedef struct {
  uint32_t issuers; /* warps that issue so many */
  uint32_t issued;
  double time;
  double end; /* once all have issued it */
} emu_replay_product_t;

typedef struct {
  const emu_recorder_t *recorder;
  emu_panel_t panel;
  double now;
  emu_replay_warp_t *warps;
  emu_replay_signal_t *signals;
  emu_replay_product_t *products[EMU_LANES / EMU_WARPGROUP];
  double copies_free;
  double tensor_free;
} emu_replay_t;

/* ---- Work (timeline_quarter.c) ---------------------------------------------
 */

/* Cycles of a warp that is alone. */
double emu_replay_solo_cycles(const emu_work_t *work);
/* To be called when a warp of the quarter begins or ends its work. */
void emu_replay_share_quarter(emu_replay_t *replay, uint32_t quarter);

/* ---- Signals (timeline_replay.c) -------------------------------------------
 */

/* `warp` may be EMU_NO_WARP; `time` may be in the future. */
void emu_replay_arrive(emu_replay_t *replay, const emu_event_t *event,
                       uint32_t warp, double time);

/* ---- Copies and products (timeline_queues.c) -------------------------------
 * Of the event that the warp is at. */

void emu_replay_issue_copy(emu_replay_t *replay, uint32_t warp);
void emu_replay_issue_product(emu_replay_t *replay, uint32_t warp);
double emu_replay_copies_end(const emu_replay_warp_t *warp);
/* False as long as a warp of the warpgroup has not issued them all. */
bool emu_replay_products_end(const emu_replay_t *replay, uint32_t warp,
                             double *out_time);

#endif /* UATTN_EMULATOR_TIMELINE_REPLAY_H */
