/* The 16 barriers of a CTA and the barrier of its cluster.
 * Layer: emulator. Must not know: PTX text, mbarriers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "emulator/hazards.h"
#include "emulator/timeline_record.h"

static uint32_t live_warps(const emu_cta_t *cta) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < cta->warp_count; ++i)
    count += cta->warps[i].live != 0;
  return count;
}

static uint32_t bit_count(uint32_t bits) {
  return (uint32_t)__builtin_popcount(bits);
}

/* ---- Named barriers --------------------------------------------------------
 */

/* Warps of which some lanes came and all others have exited. */
static void count_partial(const emu_cta_t *cta, emu_named_barrier_t *barrier) {
  barrier->has_partial = false;
  for (uint32_t i = 0; i < cta->warp_count; ++i) {
    uint32_t lanes = barrier->partial[i];
    if (!lanes)
      continue;
    if (cta->warps[i].live & ~lanes) {
      barrier->has_partial = true;
      continue;
    }
    ++barrier->arrived;
    barrier->partial[i] = 0;
  }
}

static void complete(emu_cta_t *cta, uint32_t number,
                     emu_named_barrier_t *barrier) {
  if (!barrier->is_active)
    return;
  if (barrier->has_partial)
    count_partial(cta, barrier);
  uint32_t expected = barrier->expected ? barrier->expected : live_warps(cta);
  if (barrier->arrived < expected)
    return;
  for (uint32_t i = 0; i < cta->warp_count; ++i) {
    if (!barrier->waiting[i])
      continue;
    barrier->released[i] |= barrier->waiting[i];
    barrier->waiting[i] = 0;
    barrier->true_counts[i] = barrier->true_count;
    barrier->thread_counts[i] = barrier->thread_count;
  }
  ++barrier->phase;
  barrier->is_active = false;
  barrier->arrived_warps = 0;
  barrier->has_partial = false;
  barrier->arrived = barrier->true_count = barrier->thread_count = 0;
  emu_hazards_complete(cta, number);
}

/* The first arrival says what the phase is; the others must agree. */
static bool join_phase(emu_warp_t *warp, const emu_insn_t *insn,
                       emu_named_barrier_t *barrier,
                       const emu_arrival_t *arrival) {
  if (!barrier->is_active) {
    barrier->is_active = true;
    barrier->is_reduction = arrival->is_reduction;
    barrier->expected = arrival->expected;
    return true;
  }
  if (barrier->is_reduction != arrival->is_reduction) {
    emu_fault(warp->cta, warp, -1, insn,
              "barrier %u: a reduction and another arrival meet in one phase",
              arrival->barrier);
    return false;
  }
  uint32_t all = warp->cta->warp_count;
  uint32_t theirs = barrier->expected ? barrier->expected : all;
  uint32_t ours = arrival->expected ? arrival->expected : all;
  if (theirs == ours)
    return true;
  emu_fault(warp->cta, warp, -1, insn,
            "barrier %u: %u threads, where the phase began with %u",
            arrival->barrier, ours * EMU_LANES, theirs * EMU_LANES);
  return false;
}

/* A phase that a warp fills twice is over before another has come. */
static void check_repeated(emu_warp_t *warp, const emu_insn_t *insn,
                           emu_named_barrier_t *barrier, uint32_t number) {
  emu_party_t party = {warp->index, 0, insn};
  if (barrier->arrived_warps >> warp->index & 1)
    emu_find(warp->cta, EMU_FINDING_REPEATED_ARRIVAL, &party, NULL,
             "the warp has arrived at barrier %u in this phase already",
             number);
  barrier->arrived_warps |= 1u << warp->index;
}

static void arrive(emu_warp_t *warp, const emu_insn_t *insn,
                   emu_named_barrier_t *barrier, uint32_t lanes,
                   const emu_arrival_t *arrival) {
  if (arrival->waits)
    barrier->waiting[warp->index] |= lanes;
  barrier->true_count += bit_count(arrival->predicates & lanes);
  barrier->thread_count += bit_count(lanes);
  uint32_t *partial = &barrier->partial[warp->index];
  if (warp->live & ~(*partial | lanes)) {
    *partial |= lanes;
    barrier->has_partial = true;
  } else {
    *partial = 0;
    ++barrier->arrived;
    check_repeated(warp, insn, barrier, arrival->barrier);
  }
}

emu_outcome_t emu_barrier_arrive(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes, const emu_arrival_t *arrival,
                                 uint32_t *out_true_count,
                                 uint32_t *out_thread_count) {
  emu_named_barrier_t *barrier =
      &emu_barriers(warp->cta)->named[arrival->barrier];
  uint32_t *released = &barrier->released[warp->index];
  uint32_t fresh = lanes & ~(*released | barrier->waiting[warp->index]);
  if (!arrival->waits)
    fresh = lanes;
  if (fresh) {
    if (!join_phase(warp, insn, barrier, arrival))
      return EMU_FAULT;
    arrive(warp, insn, barrier, fresh, arrival);
    emu_hazards_arrive(warp, fresh, arrival->barrier);
    emu_record_barrier_arrive(warp, insn, arrival->barrier, barrier->phase);
  }
  complete(warp->cta, arrival->barrier, barrier);
  if (!arrival->waits)
    return EMU_NEXT;
  if (lanes & ~*released) {
    warp->wait =
        (emu_wait_t){.kind = EMU_WAIT_BARRIER, .barrier = arrival->barrier};
    return EMU_BLOCKED;
  }
  emu_record_barrier_wait(warp, insn, arrival->barrier);
  *released &= ~lanes;
  emu_hazards_pass(warp, lanes, arrival->barrier);
  *out_true_count = barrier->true_counts[warp->index];
  *out_thread_count = barrier->thread_counts[warp->index];
  return EMU_NEXT;
}

/* ---- The cluster's ---------------------------------------------------------
 */

static void complete_cluster(emu_cta_t *cta, emu_cluster_barrier_t *barrier) {
  for (uint32_t i = 0; i < cta->warp_count; ++i)
    if (cta->warps[i].live & ~barrier->arrived[i])
      return;
  for (uint32_t i = 0; i < cta->warp_count; ++i) {
    barrier->passed[i] |= barrier->arrived[i];
    barrier->arrived[i] = barrier->waiting[i] = 0;
  }
  emu_hazards_complete(cta, EMU_SYNC_CLUSTER);
}

emu_outcome_t emu_cluster_arrive(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes) {
  emu_cluster_barrier_t *barrier = &emu_barriers(warp->cta)->cluster;
  uint32_t before =
      barrier->arrived[warp->index] | barrier->passed[warp->index];
  if (lanes & before) {
    emu_fault(warp->cta, warp, __builtin_ctz(lanes & before), insn,
              "arrives again before it has waited");
    return EMU_FAULT;
  }
  barrier->arrived[warp->index] |= lanes;
  emu_hazards_arrive(warp, lanes, EMU_SYNC_CLUSTER);
  emu_record_barrier_arrive(warp, insn, EMU_CLUSTER_BARRIER, 0);
  return EMU_NEXT;
}

emu_outcome_t emu_cluster_wait(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t lanes) {
  emu_cluster_barrier_t *barrier = &emu_barriers(warp->cta)->cluster;
  complete_cluster(warp->cta, barrier);
  uint32_t *passed = &barrier->passed[warp->index];
  uint32_t strangers = lanes & ~(*passed | barrier->arrived[warp->index]);
  if (strangers) {
    emu_fault(warp->cta, warp, __builtin_ctz(strangers), insn,
              "waits without having arrived");
    return EMU_FAULT;
  }
  if (lanes & ~*passed) {
    barrier->waiting[warp->index] |= lanes & ~*passed;
    warp->wait =
        (emu_wait_t){.kind = EMU_WAIT_BARRIER, .barrier = EMU_CLUSTER_BARRIER};
    return EMU_BLOCKED;
  }
  emu_record_barrier_wait(warp, insn, EMU_CLUSTER_BARRIER);
  *passed &= ~lanes;
  emu_hazards_pass(warp, lanes, EMU_SYNC_CLUSTER);
  return EMU_NEXT;
}

/* ---- For reports -----------------------------------------------------------
 */

static uint32_t cluster_arrived_warps(const emu_cta_t *cta,
                                      const emu_cluster_barrier_t *barrier) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < cta->warp_count; ++i)
    count += cta->warps[i].live && !(cta->warps[i].live & ~barrier->arrived[i]);
  return count;
}

void emu_barrier_describe(emu_cta_t *cta, uint32_t barrier,
                          uattn_string_t *text) {
  const emu_barriers_t *barriers = emu_barriers(cta);
  if (barrier == EMU_CLUSTER_BARRIER) {
    uattn_string_appendf(text, "the cluster's barrier, %u of %u warps arrived",
                         cluster_arrived_warps(cta, &barriers->cluster),
                         live_warps(cta));
    return;
  }
  const emu_named_barrier_t *named = &barriers->named[barrier];
  uattn_string_appendf(text, "barrier %u, %u of %u warps arrived", barrier,
                       named->arrived,
                       named->expected ? named->expected : live_warps(cta));
}
