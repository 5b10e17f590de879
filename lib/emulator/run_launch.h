/* A launch: a program, its grid, its memories, and the CTAs that run.
 * Layer: emulator. Must not know: instructions, PTX text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_RUN_LAUNCH_H
#define UATTN_EMULATOR_RUN_LAUNCH_H

#include "emulator/machine.h"
#include "uattn/emulator.h"

/* Shared memory that a CTA of an H200 may have. */
enum { EMU_SHARED_BYTES_LIMIT = 232448, EMU_THREADS_LIMIT = 1024 };

typedef struct {
  const char *name;
  uint8_t *data;
  uint64_t address;
  uint64_t bytes;
  bool is_read_only;
} emu_memory_t;

/* Constant while CTAs run, but for the contents of the memories. */
struct emu_launch {
  const emu_program_t *program;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t thread_count; /* of a CTA */
  uint64_t cta_count;
  size_t shared_bytes;    /* of a CTA */
  uint8_t *params;        /* the parameter block */
  emu_memory_t *memories; /* in order of address */
  uint32_t memory_count;
  uint8_t *globals; /* the module's variables */
  uint8_t *consts;
  uint64_t seed;
  bool checks_hazards;
  emu_progress_t progress;  /* of all CTAs, where they run interleaved */
  emu_trace_t *trace;       /* NULL: nothing is to be told */
  emu_recorder_t *recorder; /* NULL: nothing is recorded */
  uint64_t recorded_cta;
};

/* The public run of one entry, by a trace that may be NULL and is not that of
 * the options. */
UATTN_NODISCARD uattn_error_t *
emu_run_entry(const uattn_emulator_t *emulator, size_t entry,
              const uattn_emulator_launch_t *options, emu_trace_t *trace,
              uattn_emulator_statistics_t *out_statistics);

/* Sorts and checks the host's memories. */
UATTN_NODISCARD uattn_error_t *
emu_memories_create(const uattn_emulator_memory_t *memories, size_t count,
                    emu_memory_t **out_memories, uint32_t *out_count);

/* ---- CTAs (cta.c) ----------------------------------------------------------
 * The host memory of a CTA; one runs many, one after the other. */

emu_cta_t *emu_cta_create(emu_launch_t *launch);
/* Makes it the CTA `linear_index` of the grid, about to start. */
void emu_cta_start(emu_cta_t *cta, uint64_t linear_index);
/* Frees what the CTA's instructions left. */
void emu_cta_finish(emu_cta_t *cta);
/* Accepts NULL. */
void emu_cta_destroy(emu_cta_t *cta);

/* ---- Running ---------------------------------------------------------------
 */

typedef enum {
  EMU_TURN_RAN,     /* something was executed */
  EMU_TURN_BLOCKED, /* nothing could be */
  EMU_TURN_DONE,    /* nothing is left to execute */
  EMU_TURN_FAULT
} emu_turn_t;

/* Executes up to `budget` instructions of one warp (run_warp.c). */
emu_turn_t emu_warp_run(emu_warp_t *warp, uint32_t budget);
/* One turn of one warp, and the asynchronous work that is due (run_cta.c). */
emu_turn_t emu_cta_run(emu_cta_t *cta);
/* Every warp has what the launch gives it, the pool nothing (register_pool.c).
 */
void emu_registers_start(emu_cta_t *cta);
/* 'instruction', shortened where it is long (fault.c). */
void emu_append_text(uattn_string_t *text, const emu_insn_t *insn);
/* " warp w lane l", or as many lanes as there are; `lanes` 0: no word of them
 * (fault.c). */
void emu_append_lanes(uattn_string_t *text, uint32_t warp, uint32_t lanes);
/* "FILE:LINE: 'instruction': cta (x, y, z) warp w lane l: "; `warp` and `insn`
 * may be NULL, `lanes` as above (fault.c). */
void emu_append_place(uattn_string_t *text, const emu_cta_t *cta,
                      const emu_warp_t *warp, uint32_t lanes,
                      const emu_insn_t *insn);
/* Ends the launch with `what` and where every warp stands (report_waits.c). */
void emu_report_waits(emu_cta_t *cta, const char *what);

typedef struct {
  int32_t thread_count;
  void (*progress)(double done, void *user_data);
  void *progress_data;
  uattn_emulator_statistics_t statistics; /* out */
} emu_run_t;
/* Runs all CTAs (schedule.c). */
UATTN_NODISCARD uattn_error_t *emu_launch_run(emu_launch_t *launch,
                                              emu_run_t *run);

#endif /* UATTN_EMULATOR_RUN_LAUNCH_H */
