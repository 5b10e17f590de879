/* Who knows of whose steps: clocks of threads, and barriers that pass them on.
 * Layer: emulator. Must not know: memory, registers, PTX text.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/decode.h"
#include "emulator/hazard_state.h"
#include "emulator/vector_clones.h"

enum { SPARE_AGENTS = 16, FIRST_POINTS = 32 };

/* ---- Vectors ---------------------------------------------------------------
 */

EMU_VECTOR_CLONES
static void join(uint32_t *restrict into, const uint32_t *restrict from,
                 uint32_t width) {
  for (uint32_t i = 0; i < width; ++i)
    into[i] = into[i] > from[i] ? into[i] : from[i];
}

static uint32_t *sync_vector(const emu_hazards_t *hazards, uint32_t point,
                             emu_sync_vector_t which) {
  return hazards->syncs +
         ((size_t)point * EMU_SYNC_VECTORS + which) * hazards->width;
}

/* `count` vectors of `width`, with what `old` held in `old_width`. */
static uint32_t *widen(uint32_t *owned_old, size_t count, uint32_t old_width,
                       uint32_t width) {
  uint32_t *vectors = uattn_allocate(count * width * sizeof *vectors);
  for (size_t i = 0; owned_old && i < count; ++i)
    memcpy(vectors + i * width, owned_old + i * old_width,
           old_width * sizeof *vectors);
  free(owned_old);
  return vectors;
}

static void set_width(emu_hazards_t *hazards, uint32_t width) {
  uint32_t old = hazards->width;
  uint32_t threads = hazards->thread_count;
  size_t points = (size_t)hazards->point_capacity * EMU_SYNC_VECTORS;
  hazards->clocks = widen(hazards->clocks, threads, old, width);
  hazards->proxies = widen(hazards->proxies, threads, old, width);
  hazards->syncs = widen(hazards->syncs, points, old, width);
  hazards->observed = widen(hazards->observed, 1, old, width);
  emu_agent_t *agents = uattn_allocate(width * sizeof *agents);
  for (uint32_t i = 0; i < old; ++i)
    agents[i] = hazards->agents[i];
  free(hazards->agents);
  hazards->agents = agents;
  hazards->width = width;
}

static void set_point_capacity(emu_hazards_t *hazards, uint32_t capacity) {
  size_t bytes = EMU_SYNC_VECTORS * hazards->width * sizeof *hazards->syncs;
  emu_sync_point_t *points = uattn_allocate(capacity * sizeof *points);
  uint32_t *syncs = uattn_allocate(capacity * bytes);
  if (hazards->point_count) {
    memcpy(points, hazards->points, hazards->point_count * sizeof *points);
    memcpy(syncs, hazards->syncs, hazards->point_count * bytes);
  }
  free(hazards->points);
  free(hazards->syncs);
  hazards->points = points;
  hazards->syncs = syncs;
  hazards->point_capacity = capacity;
}

/* ---- Life ------------------------------------------------------------------
 */

static uint32_t fixed_agents(const emu_hazards_t *hazards) {
  return hazards->thread_count +
         (hazards->warp_count + EMU_WGMMA_WARPS - 1) / EMU_WGMMA_WARPS;
}

emu_hazards_t *emu_hazards_create(const emu_cta_t *cta) {
  emu_hazards_t *hazards = uattn_allocate(sizeof *hazards);
  hazards->warp_count = cta->warp_count;
  hazards->thread_count = cta->warp_count * EMU_LANES;
  set_width(hazards, fixed_agents(hazards) + SPARE_AGENTS);
  set_point_capacity(hazards, FIRST_POINTS);
  hazards->place_count = (uint32_t)(cta->shared_bytes / 8 + 1);
  hazards->points_of =
      uattn_allocate(hazards->place_count * sizeof *hazards->points_of);
  for (int kind = 0; kind < EMU_AGENT_KINDS; ++kind)
    hazards->agents_of[kind] =
        uattn_allocate((kind == EMU_AGENT_MBARRIER ? hazards->place_count
                                                   : hazards->thread_count) *
                       sizeof **hazards->agents_of);
  hazards->strong_seen =
      uattn_allocate(hazards->thread_count * sizeof *hazards->strong_seen);
  emu_shadow_create(hazards, cta);
  emu_hazard_registers_create(hazards, cta);
  return hazards;
}

void emu_hazards_destroy(emu_hazards_t *hazards) {
  if (!hazards)
    return;
  emu_shadow_destroy(hazards);
  emu_uniform_destroy(hazards);
  emu_hazard_registers_destroy(hazards);
  free(hazards->clocks);
  free(hazards->proxies);
  free(hazards->syncs);
  free(hazards->points);
  free(hazards->agents);
  free(hazards->observed);
  free(hazards->strong_seen);
  free(hazards->points_of);
  for (int kind = 0; kind < EMU_AGENT_KINDS; ++kind)
    free(hazards->agents_of[kind]);
  free(hazards);
}

static uint32_t *agent_of(const emu_hazards_t *hazards, emu_agent_kind_t kind,
                          uint32_t key) {
  return &hazards->agents_of[kind][kind == EMU_AGENT_MBARRIER ? key / 8 : key];
}

/* What the CTA before has left. */
static void forget_clocks(emu_hazards_t *hazards) {
  size_t vector = hazards->width * sizeof *hazards->clocks;
  memset(hazards->clocks, 0, hazards->thread_count * vector);
  if (hazards->has_fences)
    memset(hazards->proxies, 0, hazards->thread_count * vector);
  memset(hazards->syncs, 0, hazards->point_count * EMU_SYNC_VECTORS * vector);
  memset(hazards->observed, 0, vector);
  for (uint32_t i = fixed_agents(hazards); i < hazards->agent_count; ++i)
    *agent_of(hazards, hazards->agents[i].kind, hazards->agents[i].key) = 0;
  for (uint32_t i = EMU_SYNC_FIXED + 1; i < hazards->point_count; ++i)
    hazards->points_of[hazards->points[i].address / 8] = 0;
  hazards->has_fences = false;
}

void emu_hazards_start(emu_cta_t *cta) {
  emu_hazards_t *hazards = cta->hazards;
  if (!hazards)
    return;
  forget_clocks(hazards);
  memset(hazards->recorded_products, 0, sizeof hazards->recorded_products);
  hazards->agent_count = fixed_agents(hazards);
  hazards->point_count = EMU_SYNC_FIXED + 1; /* the last is for strong ones */
  for (uint32_t i = 0; i < hazards->warp_count; ++i)
    hazards->epochs[i] = 1;
  memset(hazards->strong_seen, 0,
         hazards->thread_count * sizeof *hazards->strong_seen);
  hazards->strong_writes = 0;
  emu_shadow_start(hazards);
  emu_uniform_start(hazards);
  emu_hazard_registers_start(hazards, cta);
}

/* ---- Agents ----------------------------------------------------------------
 */

uint32_t emu_agent_find(const emu_hazards_t *hazards, emu_agent_kind_t kind,
                        uint32_t key) {
  return *agent_of(hazards, kind, key);
}

uint32_t emu_agent_begin(emu_hazards_t *hazards, emu_agent_kind_t kind,
                         uint32_t key, uint32_t step, emu_party_t party) {
  uint32_t agent = emu_agent_find(hazards, kind, key);
  if (!agent) {
    if (hazards->agent_count == hazards->width)
      set_width(hazards, 2 * hazards->width - fixed_agents(hazards));
    agent = hazards->agent_count++;
    hazards->agents[agent] = (emu_agent_t){.kind = kind, .key = key};
    *agent_of(hazards, kind, key) = agent;
  }
  hazards->agents[agent].last = step;
  hazards->agents[agent].last_party = party;
  return agent;
}

void emu_agent_done(emu_warp_t *warp, uint32_t lanes, uint32_t agent,
                    uint32_t step) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (hazards->observed[agent] < step)
    hazards->observed[agent] = step;
  EMU_FOR_LANES(lane, lanes) {
    uint32_t *known = &emu_clock(hazards, emu_thread(warp, lane))[agent];
    if (*known < step)
      *known = step;
  }
}

/* ---- Giving and taking -----------------------------------------------------
 */

/* What `lanes` know, with their own steps until now, goes into the pending part
 * of `point`. */
static void give(emu_warp_t *warp, uint32_t lanes, uint32_t point) {
  emu_hazards_t *hazards = warp->cta->hazards;
  uint32_t epoch = hazards->epochs[warp->index]++;
  uint32_t *pending = sync_vector(hazards, point, EMU_SYNC_PENDING);
  uint32_t *pending_proxy = sync_vector(hazards, point, EMU_SYNC_PENDING_PROXY);
  EMU_FOR_LANES(lane, lanes) {
    uint32_t thread = emu_thread(warp, lane);
    uint32_t *clock = emu_clock(hazards, thread);
    clock[thread] = epoch;
    join(pending, clock, hazards->width);
    if (hazards->has_fences)
      join(pending_proxy, emu_proxy_clock(hazards, thread), hazards->width);
  }
}

static void complete(emu_hazards_t *hazards, uint32_t point) {
  uint32_t *pending = sync_vector(hazards, point, EMU_SYNC_PENDING);
  uint32_t *pending_proxy = sync_vector(hazards, point, EMU_SYNC_PENDING_PROXY);
  size_t bytes = hazards->width * sizeof *pending;
  join(sync_vector(hazards, point, EMU_SYNC_DONE), pending, hazards->width);
  join(sync_vector(hazards, point, EMU_SYNC_DONE_PROXY), pending_proxy,
       hazards->width);
  memset(pending, 0, bytes);
  memset(pending_proxy, 0, bytes);
}

static void take(emu_warp_t *warp, uint32_t lanes, uint32_t point) {
  emu_hazards_t *hazards = warp->cta->hazards;
  const uint32_t *done = sync_vector(hazards, point, EMU_SYNC_DONE);
  const uint32_t *done_proxy = sync_vector(hazards, point, EMU_SYNC_DONE_PROXY);
  join(hazards->observed, done, hazards->width);
  EMU_FOR_LANES(lane, lanes) {
    uint32_t thread = emu_thread(warp, lane);
    join(emu_clock(hazards, thread), done, hazards->width);
    if (hazards->has_fences)
      join(emu_proxy_clock(hazards, thread), done_proxy, hazards->width);
  }
}

void emu_hazards_arrive(emu_warp_t *warp, uint32_t lanes, uint32_t sync) {
  if (warp->cta->hazards)
    give(warp, lanes, sync);
}

void emu_hazards_complete(emu_cta_t *cta, uint32_t sync) {
  if (cta->hazards)
    complete(cta->hazards, sync);
}

void emu_hazards_pass(emu_warp_t *warp, uint32_t lanes, uint32_t sync) {
  if (warp->cta->hazards)
    take(warp, lanes, sync);
}

/* All lanes learn what each knows: through a sync point of nobody else. */
void emu_hazards_warp_sync(emu_warp_t *warp, uint32_t lanes) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards || !(lanes & (lanes - 1)))
    return;
  uint32_t first = emu_thread(warp, (uint32_t)__builtin_ctz(lanes));
  uint32_t *clock = emu_clock(hazards, first);
  uint32_t *proxy = emu_proxy_clock(hazards, first);
  uint32_t epoch = hazards->epochs[warp->index]++;
  EMU_FOR_LANES(lane, lanes) {
    uint32_t thread = emu_thread(warp, lane);
    emu_clock(hazards, thread)[thread] = epoch;
    if (thread == first)
      continue;
    join(clock, emu_clock(hazards, thread), hazards->width);
    if (hazards->has_fences)
      join(proxy, emu_proxy_clock(hazards, thread), hazards->width);
  }
  size_t bytes = hazards->width * sizeof *clock;
  EMU_FOR_LANES(lane, lanes & (lanes - 1)) {
    uint32_t thread = emu_thread(warp, lane);
    memcpy(emu_clock(hazards, thread), clock, bytes);
    if (hazards->has_fences)
      memcpy(emu_proxy_clock(hazards, thread), proxy, bytes);
  }
}

void emu_hazards_proxy_fence(emu_warp_t *warp, uint32_t lanes) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  hazards->has_fences = true;
  uint32_t epoch = hazards->epochs[warp->index]++;
  EMU_FOR_LANES(lane, lanes) {
    uint32_t thread = emu_thread(warp, lane);
    uint32_t *clock = emu_clock(hazards, thread);
    clock[thread] = epoch;
    join(emu_proxy_clock(hazards, thread), clock, hazards->width);
  }
}

/* ---- mbarriers -------------------------------------------------------------
 */

uint32_t emu_mbarrier_point(const emu_hazards_t *hazards, uint64_t address) {
  uint32_t point =
      address / 8 < hazards->place_count ? hazards->points_of[address / 8] : 0;
  return point ? point : hazards->point_count;
}

void emu_hazards_mbarrier_init(const emu_actor_t *actor, uint64_t address) {
  emu_hazards_t *hazards = actor->cta->hazards;
  if (!hazards)
    return;
  uint32_t point = emu_mbarrier_point(hazards, address);
  if (point == hazards->point_count) {
    if (point == hazards->point_capacity)
      set_point_capacity(hazards, 2 * point);
    hazards->points_of[address / 8] = hazards->point_count++;
  }
  hazards->points[point] = (emu_sync_point_t){
      .address = (uint32_t)address,
      .init = {actor->warp->index, 1u << actor->lane, actor->insn},
      .init_epoch = hazards->epochs[actor->warp->index]};
  emu_shadow_mark_written(hazards, address, 8);
}

void emu_hazards_init_fence(emu_warp_t *warp, uint32_t lanes) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  uint32_t epoch = hazards->epochs[warp->index]++;
  for (uint32_t i = EMU_SYNC_FIXED + 1; i < hazards->point_count; ++i) {
    emu_sync_point_t *point = &hazards->points[i];
    if (point->init.warp == warp->index && (point->init.lanes & lanes) &&
        point->fence_epoch == 0)
      point->fence_epoch = epoch;
  }
}

/* The thread that initialised `point` has done `epoch` before `clock`. */
static bool knows_init(const emu_sync_point_t *point, const uint32_t *clock,
                       uint32_t epoch) {
  uint32_t thread =
      point->init.warp * EMU_LANES + (uint32_t)__builtin_ctz(point->init.lanes);
  return epoch != 0 && clock[thread] >= epoch;
}

static void check_init(const emu_actor_t *actor, const emu_sync_point_t *point,
                       bool is_copy) {
  emu_hazards_t *hazards = actor->cta->hazards;
  uint32_t thread = emu_thread(actor->warp, (uint32_t)actor->lane);
  bool is_own = point->init.warp == actor->warp->index &&
                point->init.lanes == 1u << actor->lane;
  const uint32_t *clock = emu_clock(hazards, thread);
  bool is_ordered = is_own || knows_init(point, clock, point->init_epoch);
  emu_party_t party = {actor->warp->index, 1u << actor->lane, actor->insn};
  if (!is_ordered) {
    emu_find(actor->cta, EMU_FINDING_RACE, &party, &point->init,
             "the mbarrier at shared address %u is used, and its "
             "initialisation is not ordered before",
             point->address);
    return;
  }
  bool is_fenced =
      knows_init(point, emu_proxy_clock(hazards, thread), point->init_epoch) ||
      (point->fence_epoch &&
       (is_own || knows_init(point, clock, point->fence_epoch)));
  if (is_copy && !is_fenced)
    emu_find(actor->cta, EMU_FINDING_PROXY_FENCE, &party, &point->init,
             "a copy ends on the mbarrier at shared address %u, which was "
             "initialised without a fence.mbarrier_init or fence.proxy.async "
             "since",
             point->address);
}

static void use(const emu_actor_t *actor, uint64_t address, bool is_copy) {
  emu_hazards_t *hazards = actor->cta->hazards;
  if (!hazards || !actor->warp)
    return;
  uint32_t point = emu_mbarrier_point(hazards, address);
  if (point < hazards->point_count)
    check_init(actor, &hazards->points[point], is_copy);
}

void emu_hazards_mbarrier_use(const emu_actor_t *actor, uint64_t address) {
  use(actor, address, false);
}

void emu_hazards_mbarrier_copy(const emu_actor_t *actor, uint64_t address) {
  use(actor, address, true);
}

void emu_hazards_mbarrier_arrive(const emu_actor_t *actor, uint64_t address) {
  emu_hazards_t *hazards = actor->cta->hazards;
  if (!hazards || !actor->warp)
    return;
  uint32_t point = emu_mbarrier_point(hazards, address);
  if (point < hazards->point_count)
    give(actor->warp, 1u << actor->lane, point);
}

void emu_hazards_mbarrier_complete(emu_cta_t *cta, uint64_t address,
                                   uint32_t phase) {
  emu_hazards_t *hazards = cta->hazards;
  if (!hazards)
    return;
  uint32_t point = emu_mbarrier_point(hazards, address);
  if (point == hazards->point_count)
    return;
  uint32_t agent =
      emu_agent_find(hazards, EMU_AGENT_MBARRIER, (uint32_t)address);
  if (agent)
    sync_vector(hazards, point, EMU_SYNC_PENDING)[agent] = phase;
  complete(hazards, point);
}

void emu_hazards_mbarrier_pass(emu_warp_t *warp, uint32_t lanes,
                               uint64_t address) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  uint32_t point = emu_mbarrier_point(hazards, address);
  if (point < hazards->point_count)
    take(warp, lanes, point);
}

void emu_hazards_async_copies_arrive(const emu_actor_t *actor, uint64_t address,
                                     uint64_t group) {
  emu_hazards_t *hazards = actor->cta->hazards;
  if (!hazards)
    return;
  uint32_t thread = emu_thread(actor->warp, (uint32_t)actor->lane);
  uint32_t agent = emu_agent_find(hazards, EMU_AGENT_ASYNC_COPY, thread);
  uint32_t point = emu_mbarrier_point(hazards, address);
  if (!agent || point == hazards->point_count)
    return;
  uint32_t *pending = &sync_vector(hazards, point, EMU_SYNC_PENDING)[agent];
  if (*pending < (uint32_t)group + 1)
    *pending = (uint32_t)group + 1;
}

/* ---- Groups of a thread ----------------------------------------------------
 */

static void groups_done(emu_warp_t *warp, uint32_t lane, emu_agent_kind_t kind,
                        uint64_t group) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  uint32_t agent = emu_agent_find(hazards, kind, emu_thread(warp, lane));
  if (!agent)
    return;
  uint32_t last = hazards->agents[agent].last;
  emu_agent_done(warp, 1u << lane, agent,
                 group < last ? (uint32_t)group : last);
}

void emu_hazards_stores_done(emu_warp_t *warp, uint32_t lane, uint64_t group) {
  groups_done(warp, lane, EMU_AGENT_STORES, group);
}

void emu_hazards_async_copies_done(emu_warp_t *warp, uint32_t lane,
                                   uint64_t group) {
  groups_done(warp, lane, EMU_AGENT_ASYNC_COPY, group);
}

/* ---- Strong accesses -------------------------------------------------------
 * All of a CTA go through one sync point: more order than there is, so that no
 * synchronisation of the kernel's own making is taken for a race. Phases are
 * one write long, so that only what is done counts. */

void emu_hazards_strong(emu_warp_t *warp, uint32_t lane, bool is_write) {
  emu_hazards_t *hazards = warp->cta->hazards;
  uint32_t thread = emu_thread(warp, lane);
  uint32_t *clock = emu_clock(hazards, thread);
  uint32_t *proxy = emu_proxy_clock(hazards, thread);
  uint32_t *done = sync_vector(hazards, EMU_SYNC_FIXED, EMU_SYNC_DONE);
  uint32_t *done_proxy =
      sync_vector(hazards, EMU_SYNC_FIXED, EMU_SYNC_DONE_PROXY);
  if (is_write) {
    clock[thread] = hazards->epochs[warp->index]++;
    join(done, clock, hazards->width);
    join(done_proxy, proxy, hazards->width);
    ++hazards->strong_writes;
  } else if (hazards->strong_seen[thread] == hazards->strong_writes) {
    return; /* who polls learns nothing */
  }
  hazards->strong_seen[thread] = hazards->strong_writes;
  join(hazards->observed, done, hazards->width);
  join(clock, done, hazards->width);
  join(proxy, done_proxy, hazards->width);
}
