/* What an mbarrier counts: arrivals and bytes of a phase, and phases.
 * Layer: emulator. Must not know: PTX text, instructions, copies.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 9.0, "mbarrier": a phase is complete once no arrival and no byte is
 * pending; the next one then expects as many arrivals as the barrier was
 * initialised with, less those dropped. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/hazards.h"
#include "emulator/timeline_record.h"

enum { MBARRIER_BYTES = 8 };

emu_barriers_t *emu_barriers(emu_cta_t *cta) {
  if (!cta->barriers) {
    size_t count = (cta->shared_bytes + MBARRIER_BYTES - 1) / MBARRIER_BYTES;
    emu_barriers_t *barriers = uattn_allocate(
        sizeof *barriers + count * sizeof barriers->mbarriers[0]);
    barriers->mbarrier_count = count;
    cta->barriers = barriers;
  }
  return cta->barriers;
}

void emu_barriers_release(emu_cta_t *cta) {
  free(cta->barriers);
  cta->barriers = NULL;
}

/* Numbers of a fault, for messages. */
#define MBARRIER_FORMAT "mbarrier at shared address 0x%" PRIx64

static bool fault(const emu_actor_t *actor, uint64_t address,
                  const char *what) {
  emu_fault(actor->cta, actor->warp, actor->lane, actor->insn,
            MBARRIER_FORMAT " %s", address, what);
  return false;
}

/* The 8 bytes in shared memory; NULL after a fault. */
static uint8_t *memory(const emu_actor_t *actor, uint64_t address) {
  if (actor->warp)
    return emu_memory_locate(actor->warp, actor->insn, (uint32_t)actor->lane,
                             PTX_SPACE_SHARED, address, MBARRIER_BYTES,
                             MBARRIER_BYTES, true);
  return emu_cta_shared(actor->cta, actor->insn, address, MBARRIER_BYTES,
                        MBARRIER_BYTES);
}

/* What the 8 bytes hold: no value that a program writes by chance. */
static uint64_t trace(const emu_mbarrier_t *mbarrier) {
  uint64_t hash = 0x9E3779B97F4A7C15u;
  const uint32_t fields[] = {mbarrier->phase, mbarrier->expected,
                             mbarrier->pending,
                             (uint32_t)mbarrier->pending_bytes};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
    hash = (hash ^ fields[i]) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  return hash;
}

static void store(const emu_mbarrier_t *mbarrier, uint8_t *bytes) {
  uint64_t value = trace(mbarrier);
  memcpy(bytes, &value, sizeof value);
}

/* `*out_bytes` may be NULL. */
static emu_mbarrier_t *find(const emu_actor_t *actor, uint64_t address,
                            uint8_t **out_bytes) {
  uint8_t *bytes = memory(actor, address);
  if (!bytes)
    return NULL;
  emu_mbarrier_t *mbarrier =
      &emu_barriers(actor->cta)->mbarriers[address / MBARRIER_BYTES];
  if (!mbarrier->is_initialised) {
    fault(actor, address, "is not initialised");
    return NULL;
  }
  uint64_t expected = trace(mbarrier);
  if (memcmp(bytes, &expected, sizeof expected)) {
    fault(actor, address, "has been overwritten by a store");
    return NULL;
  }
  if (out_bytes)
    *out_bytes = bytes;
  return mbarrier;
}

emu_mbarrier_t *emu_mbarrier_find(const emu_actor_t *actor, uint64_t address) {
  return find(actor, address, NULL);
}

bool emu_mbarrier_init(const emu_actor_t *actor, uint64_t address,
                       uint32_t count) {
  uint8_t *bytes = memory(actor, address);
  if (!bytes)
    return false;
  emu_mbarrier_t *mbarrier =
      &emu_barriers(actor->cta)->mbarriers[address / MBARRIER_BYTES];
  if (mbarrier->is_initialised)
    return fault(actor, address,
                 "is initialised already: expected mbarrier.inval before");
  if (count < 1 || count > EMU_MBARRIER_MAX_COUNT) {
    emu_fault(actor->cta, actor->warp, actor->lane, actor->insn,
              MBARRIER_FORMAT " with %u arrivals: expected 1 to %d", address,
              count, EMU_MBARRIER_MAX_COUNT);
    return false;
  }
  *mbarrier = (emu_mbarrier_t){
      .is_initialised = true, .expected = count, .pending = count};
  store(mbarrier, bytes);
  emu_hazards_mbarrier_init(actor, address);
  return true;
}

bool emu_mbarrier_invalidate(const emu_actor_t *actor, uint64_t address) {
  emu_mbarrier_t *mbarrier = find(actor, address, NULL);
  if (!mbarrier)
    return false;
  mbarrier->is_initialised = false;
  return true;
}

uint64_t emu_mbarrier_state(const emu_mbarrier_t *mbarrier) {
  return (uint64_t)mbarrier->phase << 32 | mbarrier->pending;
}

static void complete_phase(emu_cta_t *cta, uint64_t address,
                           emu_mbarrier_t *mbarrier) {
  if (mbarrier->pending || mbarrier->pending_bytes)
    return;
  ++mbarrier->phase;
  mbarrier->pending = mbarrier->expected;
  emu_hazards_mbarrier_complete(cta, address, mbarrier->phase);
}

static bool add_bytes(const emu_actor_t *actor, uint64_t address,
                      emu_mbarrier_t *mbarrier, int64_t bytes) {
  int64_t sum = mbarrier->pending_bytes + bytes;
  if (sum < -EMU_MBARRIER_MAX_COUNT || sum > EMU_MBARRIER_MAX_COUNT) {
    emu_fault(actor->cta, actor->warp, actor->lane, actor->insn,
              MBARRIER_FORMAT " with %" PRId64
                              " bytes pending: expected at most %d",
              address, sum, EMU_MBARRIER_MAX_COUNT);
    return false;
  }
  mbarrier->pending_bytes = (int32_t)sum;
  return true;
}

bool emu_mbarrier_add_bytes(const emu_actor_t *actor, uint64_t address,
                            int64_t bytes) {
  uint8_t *memory_bytes = NULL;
  emu_mbarrier_t *mbarrier = find(actor, address, &memory_bytes);
  if (!mbarrier || !add_bytes(actor, address, mbarrier, bytes))
    return false;
  emu_hazards_mbarrier_use(actor, address);
  if (actor->warp)
    emu_record_arrive(actor->warp, actor->insn, address, mbarrier->phase);
  complete_phase(actor->cta, address, mbarrier);
  store(mbarrier, memory_bytes);
  return true;
}

/* The counts allow the arrival. */
static bool check_arrival(const emu_actor_t *actor, uint64_t address,
                          const emu_mbarrier_t *mbarrier,
                          const emu_mbarrier_arrival_t *arrival) {
  uint32_t count = arrival->count;
  if (count < 1 || count > EMU_MBARRIER_MAX_COUNT) {
    emu_fault(actor->cta, actor->warp, actor->lane, actor->insn,
              "%u arrivals at once: expected 1 to %d", count,
              EMU_MBARRIER_MAX_COUNT);
    return false;
  }
  if (count > mbarrier->pending || count > mbarrier->expected) {
    emu_fault(actor->cta, actor->warp, actor->lane, actor->insn,
              MBARRIER_FORMAT ", phase %u: %u arrivals where %u of %u are "
                              "pending",
              address, mbarrier->phase, count, mbarrier->pending,
              mbarrier->expected);
    return false;
  }
  if (arrival->may_not_complete && count == mbarrier->pending)
    return fault(
        actor, address,
        "would complete its phase through an arrival with .noComplete");
  return true;
}

bool emu_mbarrier_arrive(const emu_actor_t *actor, uint64_t address,
                         const emu_mbarrier_arrival_t *arrival,
                         uint64_t *out_state) {
  uint8_t *bytes = NULL;
  emu_mbarrier_t *mbarrier = find(actor, address, &bytes);
  if (!mbarrier || !check_arrival(actor, address, mbarrier, arrival) ||
      !add_bytes(actor, address, mbarrier, arrival->expected_bytes))
    return false;
  emu_record_arrive(actor->warp, actor->insn, address, mbarrier->phase);
  *out_state = emu_mbarrier_state(mbarrier);
  mbarrier->pending -= arrival->count;
  if (arrival->drops)
    mbarrier->expected -= arrival->count;
  emu_hazards_mbarrier_use(actor, address);
  emu_hazards_mbarrier_arrive(actor, address);
  complete_phase(actor->cta, address, mbarrier);
  store(mbarrier, bytes);
  return true;
}

/* A copy's bytes belong to the phase in which it was issued, and to its end the
 * phase waits for no more than was announced. */
bool emu_mbarrier_complete_tx(emu_cta_t *cta, const emu_party_t *party,
                              uint64_t address, uint64_t bytes,
                              uint32_t phase) {
  emu_actor_t actor = {.cta = cta, .lane = -1, .insn = party->insn};
  emu_mbarrier_t *mbarrier = find(&actor, address, NULL);
  if (!mbarrier)
    return false;
  if (mbarrier->phase != phase)
    emu_find(cta, EMU_FINDING_TRANSACTION_COUNT, party, NULL,
             MBARRIER_FORMAT ": %" PRIu64 " bytes of a copy of phase %u come "
                             "in phase %u: fewer bytes were announced than "
                             "copied",
             address, bytes, phase, mbarrier->phase);
  if (!emu_mbarrier_add_bytes(&actor, address, -(int64_t)bytes))
    return false;
  if (mbarrier->phase == phase && mbarrier->pending == 0 &&
      mbarrier->pending_bytes < 0)
    emu_find(cta, EMU_FINDING_TRANSACTION_COUNT, party, NULL,
             MBARRIER_FORMAT ", phase %u: %d bytes more are copied than were "
                             "announced",
             address, phase, -mbarrier->pending_bytes);
  return true;
}

void emu_mbarrier_describe(emu_cta_t *cta, uint64_t address,
                           uattn_string_t *text) {
  const emu_barriers_t *barriers = emu_barriers(cta);
  uint64_t index = address / MBARRIER_BYTES;
  if (index >= barriers->mbarrier_count ||
      !barriers->mbarriers[index].is_initialised) {
    uattn_string_append(text, "not initialised");
    return;
  }
  const emu_mbarrier_t *mbarrier = &barriers->mbarriers[index];
  uattn_string_appendf(text,
                       "phase %u, %u of %u arrivals pending, %d bytes "
                       "pending",
                       mbarrier->phase, mbarrier->pending, mbarrier->expected,
                       mbarrier->pending_bytes);
}
