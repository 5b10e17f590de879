/* What the hazard checks keep of a CTA.
 * Layer: emulator. Must not know: PTX text, how work is executed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_HAZARD_STATE_H
#define UATTN_EMULATOR_HAZARD_STATE_H

#include "emulator/hazards.h"

/* Whose steps clocks count: threads (32 a warp), then the products of
 * warpgroups, then whatever else works asynchronously, as it turns up. */
typedef enum {
  EMU_AGENT_MBARRIER,   /* copies that end on one: its phases */
  EMU_AGENT_STORES,     /* of a thread: its bulk groups */
  EMU_AGENT_ASYNC_COPY, /* of a thread: its groups of cp.async */
  EMU_AGENT_KINDS
} emu_agent_kind_t;

typedef struct {
  emu_agent_kind_t kind;
  uint32_t key;  /* shared offset of the mbarrier, or thread */
  uint32_t last; /* step that was begun last, by whom */
  emu_party_t last_party;
} emu_agent_t;

/* Barriers: those of barriers.h by number, then mbarriers as they turn up. */
typedef struct {
  uint32_t address; /* of an mbarrier */
  emu_party_t init;
  uint32_t init_epoch;  /* of its thread, when it was initialised */
  uint32_t fence_epoch; /* and at its fence.mbarrier_init; 0: none yet */
} emu_sync_point_t;

/* The vectors of a sync point. */
typedef enum {
  EMU_SYNC_PENDING,
  EMU_SYNC_PENDING_PROXY,
  EMU_SYNC_DONE,
  EMU_SYNC_DONE_PROXY,
  EMU_SYNC_VECTORS
} emu_sync_vector_t;

/* ---- Shared memory ---------------------------------------------------------
 */

typedef enum {
  EMU_ACCESS_WRITE, /* generic, `owner` is a warp */
  EMU_ACCESS_READ,
  EMU_ACCESS_STRONG_WRITE,
  EMU_ACCESS_STRONG_READ,
  EMU_ACCESS_ASYNC_WRITE,  /* of cp.async, `owner` is an agent */
  EMU_ACCESS_COPY_WRITE,   /* async proxy, `owner` is an agent */
  EMU_ACCESS_COPY_READ,    /* a store's or a local copy's */
  EMU_ACCESS_PRODUCT_READ, /* an operand of wgmma */
} emu_access_kind_t;

/* Who touched some bytes of a chunk last. Half a cache line: looking at these
 * is most of what the checks cost. */
typedef struct {
  uint32_t next;  /* in the pool, 0: none */
  uint32_t epoch; /* of the owner */
  uint32_t owner;
  uint16_t bytes; /* a bit each, of 16 */
  uint8_t kind;   /* emu_access_kind_t */
  bool has_older; /* reads of this owner may stand behind this one */
  emu_party_t party;
} emu_access_t;
_Static_assert(sizeof(emu_access_t) == 32, "two in a cache line");

enum { EMU_SHADOW_BYTES = 16 };

typedef struct {
  uint32_t first;   /* access; those that write come before those that read */
  uint32_t written; /* bytes that something has written */
} emu_chunk_t;

/* ---- Registers -------------------------------------------------------------
 */

typedef struct {
  uint32_t *written[EMU_ROW_PREDICATE + 1]; /* lanes, by kind and row */
  /* Of word rows: product that used it last as D, as A; the warp's count of
   * wgmma.fence + 1 at the last ordinary write since, and at the last ordinary
   * read of a product's result. */
  uint64_t *d_product;
  uint64_t *a_product;
  uint64_t *last_read;
  uint64_t *last_write;
  const emu_insn_t **read_insn; /* of those two */
  const emu_insn_t **write_insn;
  const emu_insn_t **product_insn; /* of d_product and a_product */
  uint64_t fences;
  uint64_t done; /* products that have been waited for */
  uint64_t issued;
  const emu_insn_t *last_product;
} emu_warp_registers_t;

/* ---- Warpgroups ------------------------------------------------------------
 */

enum { EMU_WARPGROUPS = EMU_MAX_WARPS / EMU_WGMMA_WARPS };

typedef struct {
  const emu_insn_t *insn;
  uint64_t detail;
  uint32_t warp; /* that came first */
} emu_warpgroup_step_t;

typedef struct {
  emu_warpgroup_step_t *steps;
  uint32_t count;
  uint32_t capacity;
  uint64_t dropped; /* steps before steps[0] */
  uint64_t positions[EMU_WGMMA_WARPS];
} emu_warpgroup_log_t;

struct emu_hazards {
  uint32_t warp_count;
  uint32_t thread_count; /* 32 a warp */
  uint32_t width;        /* of every vector */
  uint32_t agent_count;  /* components in use */
  uint32_t *clocks;      /* a vector a thread */
  uint32_t *proxies;     /* a vector a thread */
  uint32_t *syncs;       /* EMU_SYNC_VECTORS a sync point */
  emu_sync_point_t *points;
  uint32_t point_count;
  uint32_t point_capacity;
  emu_agent_t *agents; /* by component, less those of threads and products */
  uint32_t *agents_of[EMU_AGENT_KINDS]; /* by key; 0: it has not turned up */
  uint32_t *points_of;                  /* by an mbarrier's place; 0: none */
  uint32_t place_count; /* of mbarriers: 8 bytes of shared memory each */
  bool has_fences;      /* proxy fences: without, all that is of proxies is 0 */
  uint32_t *observed;   /* a vector: what anybody has come to know */
  uint32_t epochs[EMU_MAX_WARPS];
  uint64_t strong_writes; /* so many have happened */
  uint64_t *strong_seen;  /* of which a thread knows */
  uint64_t recorded_products[EMU_WARPGROUPS];
  emu_warpgroup_log_t logs[EMU_WARPGROUPS];

  emu_chunk_t *chunks;
  size_t chunk_count;
  emu_access_t *accesses; /* the pool; 0 is unused */
  uint32_t access_count;
  uint32_t access_capacity;
  uint32_t free_access;

  emu_warp_registers_t registers[EMU_MAX_WARPS];
};

/* ---- Clocks (hazard_clocks.c) ----------------------------------------------
 */

static inline uint32_t *emu_clock(const emu_hazards_t *hazards,
                                  uint32_t thread) {
  return hazards->clocks + (size_t)thread * hazards->width;
}
static inline uint32_t *emu_proxy_clock(const emu_hazards_t *hazards,
                                        uint32_t thread) {
  return hazards->proxies + (size_t)thread * hazards->width;
}
static inline uint32_t emu_thread(const emu_warp_t *warp, uint32_t lane) {
  return warp->index * EMU_LANES + lane;
}
/* The component of a warpgroup's products. */
static inline uint32_t emu_product_agent(const emu_hazards_t *hazards,
                                         const emu_warp_t *warp) {
  return hazards->thread_count + warp->index / EMU_WGMMA_WARPS;
}
/* The component of an agent that turns up; `party` begins `step` of it. Vectors
 * may move. */
uint32_t emu_agent_begin(emu_hazards_t *hazards, emu_agent_kind_t kind,
                         uint32_t key, uint32_t step, emu_party_t party);
/* 0 where it has not turned up. */
uint32_t emu_agent_find(const emu_hazards_t *hazards, emu_agent_kind_t kind,
                        uint32_t key);
/* The sync point of an mbarrier; point_count where it has none. */
uint32_t emu_mbarrier_point(const emu_hazards_t *hazards, uint64_t address);
/* `lanes` of `warp` come to know that `agent` has done `step`. */
void emu_agent_done(emu_warp_t *warp, uint32_t lanes, uint32_t agent,
                    uint32_t step);

/* The operands of a product in shared memory (hazard_memory.c). */
void emu_hazards_operands(emu_warp_t *warp, const emu_product_t *product,
                          uint64_t number);
/* A strong access has happened. */
void emu_hazards_strong(emu_warp_t *warp, uint32_t lane, bool is_write);

/* ---- Parts -----------------------------------------------------------------
 */

void emu_shadow_create(emu_hazards_t *hazards, const emu_cta_t *cta);
void emu_shadow_start(emu_hazards_t *hazards);
void emu_shadow_destroy(emu_hazards_t *hazards);
/* Something else than an access has written there. */
void emu_shadow_mark_written(emu_hazards_t *hazards, uint64_t offset,
                             size_t bytes);
void emu_hazard_registers_create(emu_hazards_t *hazards, const emu_cta_t *cta);
void emu_hazard_registers_start(emu_hazards_t *hazards, const emu_cta_t *cta);
void emu_hazard_registers_destroy(emu_hazards_t *hazards);

void emu_uniform_start(emu_hazards_t *hazards);
void emu_uniform_destroy(emu_hazards_t *hazards);
void emu_uniform_end(emu_cta_t *cta);

#endif /* UATTN_EMULATOR_HAZARD_STATE_H */
