/* When bulk copies happen: at seeded moments, stores in groups.
 * Layer: emulator. Must not know: how bytes are moved, PTX text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/bulk_copy.h"

#include <stdlib.h>

#include "emulator/decode.h"
#include "emulator/hazards.h"
#include "emulator/trace.h"

/* ---- Copies to shared memory -----------------------------------------------
 */

typedef struct {
  emu_async_t async;
  emu_copy_t copy;
} load_t;

static bool run_load(emu_cta_t *cta, emu_async_t *async) {
  const emu_copy_t *copy = &((load_t *)async)->copy;
  bool is_right = copy->kind == EMU_COPY_LOAD ? emu_transfer_load(cta, copy)
                                              : emu_transfer_local(cta, copy);
  if (copy->number && is_right)
    emu_trace_box(cta, copy);
  return is_right;
}

void emu_copy_start(emu_warp_t *warp, uint32_t lane, const emu_copy_t *copy) {
  emu_hazards_copy(warp, lane, copy, copy->phase);
  load_t *load = uattn_allocate(sizeof *load);
  load->async.run = run_load;
  load->copy = *copy;
  emu_cta_defer(warp->cta, &load->async);
}

/* ---- Stores ----------------------------------------------------------------
 * A store waits in its warp's list; what is deferred is a ticket that names it,
 * for a wait may have been faster. */

typedef struct store {
  struct store *next;
  uint64_t id;
  uint64_t group; /* of its lane */
  uint32_t lane;
  bool is_read;
  emu_copy_t copy;
  uint8_t data[]; /* what has been read */
} store_t;

typedef struct {
  uint64_t next_id;
  uint64_t groups[EMU_LANES]; /* the open one of each lane */
  store_t *first;             /* in order of issue */
} stores_t;

typedef struct {
  emu_async_t async;
  emu_warp_t *warp;
  uint64_t id;
} ticket_t;

static stores_t *stores_of(emu_warp_t *warp) {
  if (!warp->stores)
    warp->stores = uattn_allocate(sizeof(stores_t));
  return warp->stores;
}

void emu_copies_release(emu_warp_t *warp) {
  stores_t *stores = warp->stores;
  while (stores && stores->first) {
    store_t *store = stores->first;
    stores->first = store->next;
    free(store);
  }
  free(stores);
  warp->stores = NULL;
}

static bool read_store(emu_cta_t *cta, store_t *store) {
  if (store->is_read)
    return true;
  store->is_read = true;
  if (store->copy.number)
    emu_trace_box(cta, &store->copy);
  return emu_transfer_read(cta, &store->copy, store->data);
}

/* Reads if nobody has, writes, and takes the store off the list. */
static bool finish_store(emu_cta_t *cta, store_t **link) {
  store_t *store = *link;
  bool is_done = read_store(cta, store) &&
                 emu_transfer_write(cta, &store->copy, store->data);
  *link = store->next;
  free(store);
  return is_done;
}

static void defer_ticket(emu_warp_t *warp, uint64_t id);

/* The first time a store reads, the second time it writes. */
static bool run_ticket(emu_cta_t *cta, emu_async_t *async) {
  const ticket_t *ticket = (const ticket_t *)async;
  stores_t *stores = stores_of(ticket->warp);
  store_t **link = &stores->first;
  while (*link && (*link)->id != ticket->id)
    link = &(*link)->next;
  if (!*link)
    return true;
  if ((*link)->is_read)
    return finish_store(cta, link);
  defer_ticket(ticket->warp, ticket->id);
  return read_store(cta, *link);
}

static void defer_ticket(emu_warp_t *warp, uint64_t id) {
  ticket_t *ticket = uattn_allocate(sizeof *ticket);
  *ticket = (ticket_t){.async = {.run = run_ticket}, .warp = warp, .id = id};
  emu_cta_defer(warp->cta, &ticket->async);
}

void emu_store_start(emu_warp_t *warp, uint32_t lane, const emu_copy_t *copy) {
  stores_t *stores = stores_of(warp);
  store_t *store = uattn_allocate(sizeof *store + copy->bytes);
  store->id = stores->next_id++;
  store->group = stores->groups[lane];
  store->lane = lane;
  store->copy = *copy;
  emu_hazards_store(warp, lane, copy, store->group);
  store_t **link = &stores->first;
  while (*link)
    link = &(*link)->next;
  *link = store;
  defer_ticket(warp, store->id);
}

void emu_stores_commit(emu_warp_t *warp, uint32_t lanes) {
  stores_t *stores = stores_of(warp);
  EMU_FOR_LANES(lane, lanes) { ++stores->groups[lane]; }
}

bool emu_stores_wait(emu_warp_t *warp, uint32_t lanes, uint32_t allowed,
                     bool only_reads) {
  stores_t *stores = stores_of(warp);
  store_t **link = &stores->first;
  while (*link) {
    store_t *store = *link;
    bool is_awaited = lanes >> store->lane & 1 &&
                      store->group + allowed < stores->groups[store->lane];
    if (is_awaited && !only_reads) {
      if (!finish_store(warp->cta, link))
        return false;
      continue;
    }
    if (is_awaited && !read_store(warp->cta, store))
      return false;
    link = &store->next;
  }
  EMU_FOR_LANES(lane, lanes) {
    uint64_t open = stores->groups[lane];
    emu_hazards_stores_done(warp, lane, open > allowed ? open - allowed : 0);
  }
  return true;
}
