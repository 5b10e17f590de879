/* What the warps of one CTA did, for its timeline.
 * Layer: emulator. Must not know: times, drawing.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The emulator executes warps in a random order; what each of them does between
 * two synchronisations, and which synchronisations those are, the program says.
 * So a warp's stretches of work and its synchronisations are noted here in
 * order, without times; timeline_replay.c gives them times afterwards. */
#ifndef UATTN_EMULATOR_TIMELINE_RECORD_H
#define UATTN_EMULATOR_TIMELINE_RECORD_H

#include "emulator/machine.h"
#include "emulator/timeline_costs.h"

typedef enum {
  EMU_EVENT_WORK,   /* instructions without synchronisation */
  EMU_EVENT_ARRIVE, /* at `signal` */
  EMU_EVENT_WAIT,   /* for `signal` */
  EMU_EVENT_COPY,
  EMU_EVENT_COPY_WAIT, /* for the warp's first `count` copies of `family` */
  EMU_EVENT_PRODUCT,
  EMU_EVENT_PRODUCT_WAIT /* for the warp's first `count` products */
} emu_event_kind_t;

/* Copies that a warp waits for itself, by groups. */
typedef enum {
  EMU_FAMILY_NONE, /* ends on an mbarrier */
  EMU_FAMILY_BULK,
  EMU_FAMILY_ASYNC, /* cp.async */
  EMU_FAMILY_COUNT
} emu_copy_family_t;

enum { EMU_NO_SIGNAL = UINT32_MAX };

/* A stretch of work. */
typedef struct {
  uint32_t counts[EMU_COST_COUNT]; /* instructions */
  uint32_t cycles[EMU_UNIT_COUNT];
  uint32_t latency;
} emu_work_t;

typedef struct {
  emu_event_kind_t kind;
  uint32_t first_line; /* of the PTX */
  uint32_t last_line;
  const emu_insn_t *insn; /* the last one */
  uint32_t signal;        /* ARRIVE, WAIT; COPY: where it lands */
  uint64_t count;         /* COPY: bytes; PRODUCT: n */
  uint32_t group;         /* PRODUCT */
  emu_copy_family_t family;
  bool is_store;    /* COPY: from shared memory */
  bool only_reads;  /* COPY_WAIT */
  bool after_async; /* ARRIVE: when the warp's cp.async have landed */
  emu_work_t work;
} emu_event_t;

/* A phase of a barrier. */
typedef struct {
  uint32_t object; /* address of an mbarrier, or EMU_OBJECT_BARRIER + number */
  uint32_t phase;
  uint32_t arrivals; /* copies that land too */
} emu_signal_t;

#define EMU_OBJECT_BARRIER 0x80000000u

typedef struct {
  emu_event_t *events;
  size_t count;
  size_t capacity;
} emu_warp_record_t;

struct emu_recorder {
  uint32_t warp_count;
  emu_warp_record_t *warps;
  emu_signal_t *signals;
  uint32_t signal_count;
  bool is_full; /* what came later is not recorded */
  struct emu_recording *recording;
};

/* The program must outlive it. */
emu_recorder_t *emu_recorder_create(const emu_program_t *program,
                                    uint32_t warp_count);
/* Notes the work that has not ended in a synchronisation. */
void emu_recorder_close(emu_recorder_t *recorder);
/* Accepts NULL. */
void emu_recorder_destroy(emu_recorder_t *recorder);

/* ---- What happens ----------------------------------------------------------
 * All do nothing in a CTA without a recorder. The instruction itself, after
 * what it does; not the exit of lanes, which others may see or not: */

void emu_record_step_on(emu_warp_t *warp, const emu_insn_t *insn);
static inline void emu_record_step(emu_warp_t *warp, const emu_insn_t *insn) {
  if (warp->cta->recorder)
    emu_record_step_on(warp, insn);
}

/* `phase` is under way when a warp arrives at the mbarrier; a wait is noted
 * when it is over, with the phase that is under way then. */
void emu_record_arrive(emu_warp_t *warp, const emu_insn_t *insn,
                       uint64_t address, uint32_t phase);
void emu_record_wait(emu_warp_t *warp, const emu_insn_t *insn, uint64_t address,
                     uint32_t phase);

/* Named barriers, and EMU_CLUSTER_BARRIER. */
void emu_record_barrier_arrive(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t barrier, uint32_t phase);
void emu_record_barrier_wait(emu_warp_t *warp, const emu_insn_t *insn,
                             uint32_t barrier);

/* A copy to shared memory that ends in `phase` of the mbarrier. */
void emu_record_load(emu_warp_t *warp, const emu_insn_t *insn, uint64_t address,
                     uint32_t phase, size_t bytes);
/* A copy in the open group of the warp; `is_store` as above. */
void emu_record_copy(emu_warp_t *warp, const emu_insn_t *insn,
                     emu_copy_family_t family, bool is_store, size_t bytes);
void emu_record_commit(emu_warp_t *warp, emu_copy_family_t family);
/* All groups but the `allowed` last; EMU_ALL_GROUPS: the open one too. */
#define EMU_ALL_GROUPS UINT64_MAX
void emu_record_copy_wait(emu_warp_t *warp, const emu_insn_t *insn,
                          emu_copy_family_t family, uint64_t allowed,
                          bool only_reads);

void emu_record_product(emu_warp_t *warp, const emu_insn_t *insn, uint32_t n);
void emu_record_product_commit(emu_warp_t *warp);
void emu_record_product_wait(emu_warp_t *warp, const emu_insn_t *insn,
                             uint64_t allowed);

#endif /* UATTN_EMULATOR_TIMELINE_RECORD_H */
