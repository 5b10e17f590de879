/* When warpgroup products happen: in order, at seeded moments, at the latest
 * when they are waited for.
 * Layer: emulator. Must not know: how matrices are multiplied, PTX text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/wgmma_product.h"

#include <stdlib.h>

/* Deferred work that stays in the CTA's queue until it is due, even where a
 * wait has executed it before. */
typedef struct queued {
  emu_async_t async;
  struct queued *next; /* of the warp, in order of issue */
  emu_warp_t *warp;
  uint64_t group;
  bool is_done;
  emu_product_t product;
} queued_t;

typedef struct {
  uint64_t open_group;
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
  *queued = (queued_t){.async = {.run = run_queued},
                       .warp = warp,
                       .group = products->open_group,
                       .product = *product};
  if (products->first)
    products->last->next = queued;
  else
    products->first = queued;
  products->last = queued;
  emu_cta_defer(warp->cta, &queued->async);
}

void emu_products_commit(emu_warp_t *warp) { ++products_of(warp)->open_group; }

bool emu_products_wait(emu_warp_t *warp, uint64_t allowed) {
  products_t *products = products_of(warp);
  while (products->first &&
         products->first->group + allowed < products->open_group)
    if (!execute_first(products))
      return false;
  return true;
}
