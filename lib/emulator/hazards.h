/* Hazards of a CTA: what its result rests on and nothing orders.
 * Layer: emulator. Must not know: PTX text, how work is executed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every thread keeps, of every other, the last moment that is known to lie
 * before its own next step (a vector clock); so do barriers, for those who will
 * pass them. What a thread did is ordered before what another does now if the
 * other knows of it; no lucky timing hides that it does not. Copies end on
 * mbarriers and products in waits, so both count as threads of their own. A
 * second clock holds what is known through a proxy fence besides: what the
 * async proxy (bulk copies, wgmma) may see of ordinary writes.
 *
 * PTX ISA 9.0, "Memory Consistency Model" (causality order, proxies), "Async
 * proxy", "wgmma.fence", "mbarrier", "setmaxnreg".
 *
 * All functions do nothing where cta->hazards is NULL. */
#ifndef UATTN_EMULATOR_HAZARDS_H
#define UATTN_EMULATOR_HAZARDS_H

#include "emulator/barriers.h"
#include "emulator/bulk_copy.h"
#include "emulator/findings.h"
#include "emulator/wgmma_product.h"

emu_hazards_t *emu_hazards_create(const emu_cta_t *cta);
/* Forgets all: a new CTA begins. */
void emu_hazards_start(emu_cta_t *cta);
/* Accepts NULL. */
void emu_hazards_destroy(emu_hazards_t *hazards);
/* All warps have ended: what is still in flight or half done is found. */
void emu_hazards_end(emu_cta_t *cta);

/* ---- Order -----------------------------------------------------------------
 * A sync point takes what arriving lanes know, and gives it, once its phase is
 * complete, to those that pass. */

enum { EMU_SYNC_CLUSTER = EMU_CLUSTER_BARRIER, EMU_SYNC_FIXED };

/* Named barriers and the cluster's; `sync` is the barrier's number. */
void emu_hazards_arrive(emu_warp_t *warp, uint32_t lanes, uint32_t sync);
void emu_hazards_complete(emu_cta_t *cta, uint32_t sync);
void emu_hazards_pass(emu_warp_t *warp, uint32_t lanes, uint32_t sync);

/* mbarriers, by shared offset. */
void emu_hazards_mbarrier_init(const emu_actor_t *actor, uint64_t address);
/* Somebody arrives or waits, or starts a copy that ends on it: the barrier must
 * be known to exist, of the copy through a fence. */
void emu_hazards_mbarrier_use(const emu_actor_t *actor, uint64_t address);
void emu_hazards_mbarrier_copy(const emu_actor_t *actor, uint64_t address);
void emu_hazards_mbarrier_arrive(const emu_actor_t *actor, uint64_t address);
/* The phase before `phase` is complete. */
void emu_hazards_mbarrier_complete(emu_cta_t *cta, uint64_t address,
                                   uint32_t phase);
void emu_hazards_mbarrier_pass(emu_warp_t *warp, uint32_t lanes,
                               uint64_t address);

/* bar.warp.sync of all `lanes`. */
void emu_hazards_warp_sync(emu_warp_t *warp, uint32_t lanes);
/* fence.proxy.async; fence.mbarrier_init. */
void emu_hazards_proxy_fence(emu_warp_t *warp, uint32_t lanes);
void emu_hazards_init_fence(emu_warp_t *warp, uint32_t lanes);

/* ---- Shared memory ---------------------------------------------------------
 */

/* Of one lane, through the generic proxy. Strong ones (atomics, volatile,
 * acquire and the like) order as well, wherever they go (`is_shared`). */
void emu_hazards_access(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lane,
                        bool is_shared, uint64_t offset, size_t bytes,
                        bool is_write);

/* A copy that ends on an mbarrier, in the phase `phase`. */
void emu_hazards_copy(emu_warp_t *warp, uint32_t lane, const emu_copy_t *copy,
                      uint32_t phase);
/* A copy from shared memory in the bulk group `group` of the lane; and a wait
 * for all groups before `group`. */
void emu_hazards_store(emu_warp_t *warp, uint32_t lane, const emu_copy_t *copy,
                       uint64_t group);
void emu_hazards_stores_done(emu_warp_t *warp, uint32_t lane, uint64_t group);
/* The same for cp.async, which writes shared memory in the generic proxy. */
void emu_hazards_async_copy(emu_warp_t *warp, const emu_insn_t *insn,
                            uint32_t lane, uint64_t offset, size_t bytes,
                            uint64_t group);
void emu_hazards_async_copies_done(emu_warp_t *warp, uint32_t lane,
                                   uint64_t group);
/* cp.async.mbarrier.arrive: who passes the mbarrier knows of them. */
void emu_hazards_async_copies_arrive(const emu_actor_t *actor, uint64_t address,
                                     uint64_t group);

/* ---- Products --------------------------------------------------------------
 */

/* Product number `number` (from 1) of the warp is issued. */
void emu_hazards_product(emu_warp_t *warp, const emu_product_t *product,
                         uint64_t number);
/* The warp has waited for its products up to `number`. */
void emu_hazards_products_done(emu_warp_t *warp, uint64_t number);
/* wgmma.fence */
void emu_hazards_product_fence(emu_warp_t *warp);

/* An instruction that all warps of a warpgroup must execute alike; `detail` is
 * what of its operands counts. */
void emu_hazards_aligned(emu_warp_t *warp, const emu_insn_t *insn,
                         uint64_t detail);

/* ---- Registers -------------------------------------------------------------
 */

/* Before `lanes` of `group` execute `insn`. */
void emu_hazards_registers(emu_warp_t *warp, const emu_insn_t *insn,
                           uint32_t group, uint32_t lanes);
/* `insn`, which passes on, gives every lane what its own, or that of
 * `source_lanes`, holds: unset stays unset, and is found where it is used. */
void emu_hazards_pass_on(emu_warp_t *warp, const emu_insn_t *insn,
                         uint32_t lanes, const uint32_t *source_lanes);

#endif /* UATTN_EMULATOR_HAZARDS_H */
