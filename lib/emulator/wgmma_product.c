/* When warpgroup products happen: in order, at seeded moments, at the latest
 * when they are waited for.
 * Layer: emulator. Must not know: how matrices are multiplied, PTX text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/wgmma_product.h"

#include <stdlib.h>

#include "emulator/hazards.h"

/* Groups whose ends are remembered; a wait leaves one or two in flight. */
enum { GROUPS_KEPT = 64 };

/* Deferred work that stays in the CTA's queue until it is due, even where a
 * wait has executed it before. */
typedef struct queued {
  emu_async_t async;
  struct queued *next; /* of the warp, in order of issue */
  emu_warp_t *warp;
  uint64_t number;
  bool is_done;
  emu_product_t product;
} queued_t;

typedef struct {
  uint64_t open_group;
  uint64_t issued;                  /* products */
  uint64_t group_ends[GROUPS_KEPT]; /* `issued` when group % 64 was committed */
  queued_t *first;
  queued_t *last;
} products_t;

static products_t *products_of(emu_warp_t *warp) {
  if (!warp->products)
    warp->products = uattn_allocate(sizeof(products_t));
  return warp->products;
}

void emu_products_release(emu_warp_t *warp) {
  free(warp->products);
  warp->products = NULL;
}

static bool execute_first(products_t *products) {
  queued_t *queued = products->first;
  products->first = queued->next;
  queued->is_done = true;
  return emu_product_execute(queued->warp, &queued->product);
}

/* With all that were issued before. */
static bool run_queued(emu_cta_t *cta, emu_async_t *async) {
  (void)cta;
  const queued_t *queued = (const queued_t *)async;
  products_t *products = products_of(queued->warp);
  while (!queued->is_done)
    if (!execute_first(products))
      return false;
  return true;
}

void emu_product_start(emu_warp_t *warp, const emu_product_t *product) {
  products_t *products = products_of(warp);
  queued_t *queued = uattn_allocate(sizeof *queued);
  emu_hazards_product(warp, product, ++products->issued);
  *queued = (queued_t){.async = {.run = run_queued},
                       .warp = warp,
                       .number = products->issued,
                       .product = *product};
  if (products->first)
    products->last->next = queued;
  else
    products->first = queued;
  products->last = queued;
  emu_cta_defer(warp->cta, &queued->async);
}

void emu_products_commit(emu_warp_t *warp) {
  products_t *products = products_of(warp);
  products->group_ends[products->open_group++ % GROUPS_KEPT] = products->issued;
}

/* How many products of the warp the wait is for. */
static uint64_t awaited(const products_t *products, uint64_t allowed) {
  if (products->open_group <= allowed || allowed >= GROUPS_KEPT)
    return 0;
  return products
      ->group_ends[(products->open_group - allowed - 1) % GROUPS_KEPT];
}

static bool execute_until(emu_warp_t *warp, uint64_t number) {
  products_t *products = products_of(warp);
  while (products->first && products->first->number <= number)
    if (!execute_first(products))
      return false;
  return true;
}

emu_outcome_t emu_products_wait(emu_warp_t *warp, uint64_t allowed) {
  uint64_t number = awaited(products_of(warp), allowed);
  emu_warp_t *first = warp - warp->index % EMU_WGMMA_WARPS;
  for (int i = 0; i < EMU_WGMMA_WARPS && number > 0; ++i)
    if (products_of(&first[i])->issued < number) {
      warp->wait = (emu_wait_t){.kind = EMU_WAIT_WARPGROUP};
      return EMU_BLOCKED;
    }
  for (int i = 0; i < EMU_WGMMA_WARPS && number > 0; ++i)
    if (!execute_until(&first[i], number))
      return EMU_FAULT;
  emu_hazards_products_done(warp, number);
  return EMU_NEXT;
}
