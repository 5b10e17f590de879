/* What --trace and --dump-tile ask of the emulator, and where its texts go.
 * Layer: tools. Must not know: what runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_TRACE_H
#define UATTN_RUN_TRACE_H

#include "support/support.h"
#include "uattn/emulator.h"

/* Zero-initialise; release when done. */
typedef struct {
  const char *pattern; /* borrowed; NULL: no instructions */
  bool has_cta;
  uint64_t cta;
  bool has_warp;
  uint32_t warp;
  /* As many as there is room for; filled by run_trace_read_tile. */
  uattn_emulator_tile_t *tiles;
  uint32_t *warpgroups; /* that tiles point to */
  char **entries;       /* likewise; owned */
  size_t tile_count;
} run_trace_t;

/* Makes room for `most` tiles. */
void run_trace_prepare(run_trace_t *trace, size_t most);
void run_trace_release(run_trace_t *trace);

/* Values of the options. */
UATTN_NODISCARD uattn_error_t *run_trace_read_pattern(run_trace_t *trace,
                                                      const char *value);
UATTN_NODISCARD uattn_error_t *run_trace_read_tile(run_trace_t *trace,
                                                   const char *value);

/* Whether anything is asked for. */
bool run_trace_is_asked(const run_trace_t *trace);

/* What to hand to the emulator, in `*storage`: instructions go to stderr, tiles
 * to stdout; NULL where nothing is asked for. Both are borrowed. */
const uattn_emulator_trace_t *
run_trace_options(const run_trace_t *trace, uattn_emulator_trace_t *storage);
/* Says which of several schedules the texts that follow are of. */
void run_trace_tell_schedule(const run_trace_t *trace, uint64_t seed);

#endif /* UATTN_RUN_TRACE_H */
