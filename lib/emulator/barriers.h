/* The barriers of a CTA: named ones, the cluster's, and mbarriers.
 * Layer: emulator. Must not know: PTX text, copies, products.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_BARRIERS_H
#define UATTN_EMULATOR_BARRIERS_H

#include "emulator/machine.h"

enum { EMU_NAMED_BARRIERS = 16, EMU_MAX_WARPS = 32 };

/* Warps arrive as wholes: a warp whose lanes come one after the other counts
 * when the last live one has come. */
typedef struct {
  bool is_active;         /* somebody has arrived in this phase */
  bool has_partial;       /* a warp of which only some lanes have arrived */
  bool is_reduction;      /* its arrivals bring predicates */
  uint32_t expected;      /* warps; 0: all that have not exited */
  uint32_t arrived;       /* warps */
  uint32_t arrived_warps; /* a bit each */
  uint32_t phase;         /* those before it are complete */
  uint32_t true_count;
  uint32_t thread_count;               /* that brought predicates */
  uint32_t partial[EMU_MAX_WARPS];     /* lanes */
  uint32_t waiting[EMU_MAX_WARPS];     /* lanes */
  uint32_t released[EMU_MAX_WARPS];    /* lanes that may go on */
  uint32_t true_counts[EMU_MAX_WARPS]; /* of the phase that released them */
  uint32_t thread_counts[EMU_MAX_WARPS];
} emu_named_barrier_t;

/* barrier.cluster of a cluster of one CTA. */
typedef struct {
  uint32_t arrived[EMU_MAX_WARPS]; /* lanes, in this phase */
  uint32_t waiting[EMU_MAX_WARPS]; /* of those, the ones that wait */
  uint32_t passed[EMU_MAX_WARPS];  /* arrived in a phase that is complete */
} emu_cluster_barrier_t;

typedef struct {
  bool is_initialised;
  uint32_t phase;
  uint32_t expected; /* arrivals a phase */
  uint32_t pending;  /* arrivals */
  int32_t pending_bytes;
} emu_mbarrier_t;

typedef struct {
  emu_named_barrier_t named[EMU_NAMED_BARRIERS];
  emu_cluster_barrier_t cluster;
  size_t mbarrier_count;
  emu_mbarrier_t mbarriers[]; /* of every 8 bytes of shared memory */
} emu_barriers_t;

emu_barriers_t *emu_barriers(emu_cta_t *cta);

/* ---- Named barriers --------------------------------------------------------
 */

typedef struct {
  uint32_t barrier;
  uint32_t expected; /* warps, 0: all */
  bool waits;
  bool is_reduction;
  uint32_t predicates; /* of a reduction: a bit a lane */
} emu_arrival_t;

/* NEXT: the phase is complete, or the arrival does not wait; `out_true_count`
 * and `out_thread_count` are those of the phase (reductions). */
emu_outcome_t emu_barrier_arrive(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes, const emu_arrival_t *arrival,
                                 uint32_t *out_true_count,
                                 uint32_t *out_thread_count);

emu_outcome_t emu_cluster_arrive(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes);
emu_outcome_t emu_cluster_wait(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t lanes);

/* ---- mbarriers -------------------------------------------------------------
 * False, NULL: emu_fault has been called. */

/* Who acts on an mbarrier. `warp` NULL and `lane` -1: a copy that has landed.
 */
typedef struct {
  emu_cta_t *cta;
  emu_warp_t *warp;
  int lane;
  const emu_insn_t *insn;
} emu_actor_t;

enum { EMU_MBARRIER_MAX_COUNT = (1 << 20) - 1 };

bool emu_mbarrier_init(const emu_actor_t *actor, uint64_t address,
                       uint32_t count);
bool emu_mbarrier_invalidate(const emu_actor_t *actor, uint64_t address);
/* Valid, aligned and not overwritten. */
emu_mbarrier_t *emu_mbarrier_find(const emu_actor_t *actor, uint64_t address);

typedef struct {
  uint32_t count;
  uint32_t expected_bytes; /* announced before the arrival */
  bool drops;
  bool may_not_complete;
} emu_mbarrier_arrival_t;
/* `*out_state`: the phase before, for waits by state. */
bool emu_mbarrier_arrive(const emu_actor_t *actor, uint64_t address,
                         const emu_mbarrier_arrival_t *arrival,
                         uint64_t *out_state);
/* `bytes` more (expect_tx) or fewer (complete_tx) pending. */
bool emu_mbarrier_add_bytes(const emu_actor_t *actor, uint64_t address,
                            int64_t bytes);
uint64_t emu_mbarrier_state(const emu_mbarrier_t *mbarrier);

#endif /* UATTN_EMULATOR_BARRIERS_H */
