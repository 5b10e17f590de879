/* Who touched each byte of shared memory last, and what conflicts with that.
 * Layer: emulator. Must not know: how threads come to know of each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/hazard_state.h"
#include "emulator/matrix_descriptor.h"
#include "emulator/shared_address.h"

/* ---- The pool --------------------------------------------------------------
 */

void emu_shadow_create(emu_hazards_t *hazards, const emu_cta_t *cta) {
  hazards->chunk_count =
      (cta->shared_bytes + EMU_SHADOW_BYTES - 1) / EMU_SHADOW_BYTES;
  hazards->chunks =
      uattn_allocate((hazards->chunk_count + 1) * sizeof *hazards->chunks);
}

void emu_shadow_start(emu_hazards_t *hazards) {
  memset(hazards->chunks, 0, hazards->chunk_count * sizeof *hazards->chunks);
  hazards->access_count = 1;
  hazards->free_access = 0;
}

void emu_shadow_destroy(emu_hazards_t *hazards) {
  free(hazards->chunks);
  free(hazards->accesses);
}

/* May move the pool. */
static uint32_t new_access(emu_hazards_t *hazards) {
  uint32_t index = hazards->free_access;
  if (index) {
    hazards->free_access = hazards->accesses[index].next;
    return index;
  }
  if (hazards->access_count >= hazards->access_capacity) {
    uint32_t capacity =
        hazards->access_capacity ? 2 * hazards->access_capacity : 1024;
    emu_access_t *accesses = uattn_allocate(capacity * sizeof *accesses);
    if (hazards->accesses)
      memcpy(accesses, hazards->accesses,
             hazards->access_count * sizeof *accesses);
    free(hazards->accesses);
    hazards->accesses = accesses;
    hazards->access_capacity = capacity;
  }
  return hazards->access_count++;
}

static bool is_write(uint32_t kind) {
  return kind == EMU_ACCESS_WRITE || kind == EMU_ACCESS_STRONG_WRITE ||
         kind == EMU_ACCESS_ASYNC_WRITE || kind == EMU_ACCESS_COPY_WRITE;
}

static bool is_strong(uint32_t kind) {
  return kind == EMU_ACCESS_STRONG_READ || kind == EMU_ACCESS_STRONG_WRITE;
}

static bool is_generic(uint32_t kind) { return kind <= EMU_ACCESS_STRONG_READ; }

static bool is_async_proxy(uint32_t kind) {
  return kind >= EMU_ACCESS_COPY_WRITE;
}

/* Writes stand before reads. */
static void insert(emu_hazards_t *hazards, emu_chunk_t *chunk,
                   const emu_access_t *access) {
  uint32_t index = new_access(hazards);
  emu_access_t *accesses = hazards->accesses;
  uint32_t *place = &chunk->first;
  if (!is_write(access->kind))
    while (*place && is_write(accesses[*place].kind))
      place = &accesses[*place].next;
  accesses[index] = *access;
  accesses[index].next = *place;
  *place = index;
}

static void release(emu_hazards_t *hazards, uint32_t *place) {
  uint32_t index = *place;
  *place = hazards->accesses[index].next;
  hazards->accesses[index].next = hazards->free_access;
  hazards->free_access = index;
}

/* What a write replaces, it replaces whole: who is ordered after the write is
 * so after what the write was ordered after. */
static void forget(emu_hazards_t *hazards, emu_chunk_t *chunk, uint32_t bytes) {
  uint32_t *place = &chunk->first;
  while (*place) {
    uint32_t index = *place;
    emu_access_t *access = &hazards->accesses[index];
    access->bytes = (uint16_t)(access->bytes & ~bytes);
    if (access->bytes) {
      place = &access->next;
      continue;
    }
    release(hazards, place);
  }
}

/* Takes the access into `other`, of the same step, where that says the same. */
static bool absorb(emu_access_t *other, const emu_access_t *access) {
  if (other->epoch != access->epoch || other->party.insn != access->party.insn)
    return false;
  if (other->bytes == access->bytes) {
    other->party.lanes |= access->party.lanes;
    return true;
  }
  if (other->party.lanes != access->party.lanes)
    return false;
  other->bytes |= access->bytes;
  return true;
}

/* The access goes into one that is there already, else `has_older` is set for a
 * new one. A later read covers earlier ones of its lanes, which else would grow
 * in number as long as nobody writes. */
static bool merge(emu_hazards_t *hazards, emu_chunk_t *chunk,
                  emu_access_t *access) {
  emu_access_t *into = NULL;
  bool has_older = false;
  uint32_t *place = &chunk->first;
  while (*place) {
    emu_access_t *other = &hazards->accesses[*place];
    if (other->kind == access->kind && other->owner == access->owner) {
      if (!into && absorb(other, access)) {
        if (!other->has_older)
          return true;
        into = other;
      } else if (!is_write(access->kind)) {
        if (!(other->bytes & ~access->bytes) && other->epoch <= access->epoch)
          other->party.lanes &= ~access->party.lanes;
        if (other->party.lanes == 0) {
          release(hazards, place);
          continue;
        }
        has_older = true;
      }
    }
    place = &other->next;
  }
  access->has_older = has_older;
  if (into)
    into->has_older = has_older;
  return into != NULL;
}

/* ---- Order -----------------------------------------------------------------
 */

/* An access on its way, and who asks. */
typedef struct {
  emu_cta_t *cta;
  emu_hazards_t *hazards;
  emu_access_t access;
  uint32_t lanes; /* any of whose knowledge will do */
} request_t;

/* What the lane did itself lies before what it starts now; the async proxy sees
 * it through a fence alone. */
static bool is_known(const request_t *request, const emu_access_t *earlier,
                     const uint32_t *clock, uint32_t lane, bool by_proxy) {
  if (!is_generic(earlier->kind))
    return clock[earlier->owner] >= earlier->epoch;
  uint32_t others = earlier->party.lanes;
  if (!by_proxy && earlier->owner == request->access.party.warp)
    others &= ~(1u << lane);
  const uint32_t *theirs = clock + (size_t)earlier->owner * EMU_LANES;
  for (; others; others &= others - 1)
    if (theirs[__builtin_ctz(others)] < earlier->epoch)
      return false;
  return true;
}

static bool is_ordered(const request_t *request, const emu_access_t *earlier,
                       bool by_proxy) {
  uint32_t warp = request->access.party.warp;
  for (uint32_t lanes = request->lanes; lanes; lanes &= lanes - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    uint32_t thread = warp * EMU_LANES + lane;
    const uint32_t *clock = by_proxy ? emu_proxy_clock(request->hazards, thread)
                                     : emu_clock(request->hazards, thread);
    if (is_known(request, earlier, clock, lane, by_proxy))
      return true;
  }
  return false;
}

/* ---- Findings --------------------------------------------------------------
 */

static const char *noun(uint32_t kind) {
  static const char *const nouns[] = {
      [EMU_ACCESS_WRITE] = "a write",
      [EMU_ACCESS_READ] = "a read",
      [EMU_ACCESS_STRONG_WRITE] = "an atomic or volatile write",
      [EMU_ACCESS_STRONG_READ] = "an atomic or volatile read",
      [EMU_ACCESS_ASYNC_WRITE] = "a write of cp.async",
      [EMU_ACCESS_COPY_WRITE] = "a bulk copy's write (async proxy)",
      [EMU_ACCESS_COPY_READ] = "a bulk copy's read (async proxy)",
      [EMU_ACCESS_PRODUCT_READ] = "a read by wgmma (async proxy)"};
  return nouns[kind];
}

static uint64_t first_byte(size_t chunk, uint32_t bytes) {
  return chunk * EMU_SHADOW_BYTES + (uint32_t)__builtin_ctz(bytes);
}

static void report_unordered(const request_t *request, size_t chunk,
                             const emu_access_t *earlier) {
  const emu_access_t *access = &request->access;
  uint64_t address = first_byte(chunk, access->bytes & earlier->bytes);
  if (earlier->kind == EMU_ACCESS_PRODUCT_READ) {
    emu_find(request->cta, EMU_FINDING_OPERAND_OVERWRITTEN, &access->party,
             &earlier->party,
             "%s at shared address %" PRIu64
             " hits an operand of a wgmma that is not known to be done",
             noun(access->kind), address);
    return;
  }
  emu_find(request->cta, EMU_FINDING_RACE, &access->party, &earlier->party,
           "%s at shared address %" PRIu64 " is not ordered after %s",
           noun(access->kind), address, noun(earlier->kind));
}

static void report_unfenced(const request_t *request, size_t chunk,
                            const emu_access_t *earlier) {
  const emu_access_t *access = &request->access;
  uint64_t address = first_byte(chunk, access->bytes & earlier->bytes);
  if (is_write(earlier->kind))
    emu_find(request->cta, EMU_FINDING_PROXY_FENCE, &access->party,
             &earlier->party,
             "%s at shared address %" PRIu64
             " follows %s (generic proxy), and no fence.proxy.async lies "
             "between them: certain to be needed",
             noun(access->kind), address, noun(earlier->kind));
  else
    emu_find(request->cta, EMU_FINDING_PROXY_FENCE_READ, &access->party,
             &earlier->party,
             "%s at shared address %" PRIu64
             " overwrites what %s (generic proxy) has used, and no "
             "fence.proxy.async lies between them: the memory model asks for "
             "one, no card is known to need it",
             noun(access->kind), address, noun(earlier->kind));
}

static void check_pair(const request_t *request, size_t chunk,
                       const emu_access_t *earlier) {
  uint32_t kind = request->access.kind;
  if (is_strong(kind) && is_strong(earlier->kind))
    return;
  /* A copy from shared memory onto itself. */
  if (kind == EMU_ACCESS_COPY_WRITE && earlier->kind == EMU_ACCESS_COPY_READ &&
      earlier->owner == request->access.owner &&
      earlier->epoch == request->access.epoch &&
      earlier->party.insn == request->access.party.insn)
    return;
  bool needs_fence = is_async_proxy(kind) && !is_async_proxy(earlier->kind);
  if (is_ordered(request, earlier, needs_fence))
    return;
  /* Lanes of one instruction: the hardware picks one of their writes. */
  if (is_generic(kind) && earlier->party.insn == request->access.party.insn &&
      earlier->owner == request->access.owner &&
      earlier->epoch == request->access.epoch)
    return;
  if (needs_fence && is_ordered(request, earlier, false))
    report_unfenced(request, chunk, earlier);
  else
    report_unordered(request, chunk, earlier);
}

/* ---- Accesses --------------------------------------------------------------
 */

static void check_written(const request_t *request, size_t index) {
  uint32_t missing =
      request->access.bytes & ~request->hazards->chunks[index].written;
  if (!missing)
    return;
  request->hazards->chunks[index].written |= missing;
  emu_find(request->cta, EMU_FINDING_UNINITIALISED_SHARED,
           &request->access.party, NULL,
           "%s at shared address %" PRIu64 ", where nothing has written",
           noun(request->access.kind), first_byte(index, missing));
}

/* Of `bytes` of one chunk. */
static void touch(request_t *request, size_t index, uint32_t bytes,
                  bool records) {
  emu_hazards_t *hazards = request->hazards;
  if (index >= hazards->chunk_count)
    return; /* out of bounds: a fault of its own */
  emu_chunk_t *chunk = &hazards->chunks[index];
  bool writes = is_write(request->access.kind);
  request->access.bytes = (uint16_t)bytes;
  for (uint32_t i = chunk->first; i; i = hazards->accesses[i].next) {
    const emu_access_t *earlier = &hazards->accesses[i];
    if (!writes && !is_write(earlier->kind))
      break;
    if (earlier->bytes & bytes)
      check_pair(request, index, earlier);
  }
  if (!writes)
    check_written(request, index);
  if (!records)
    return;
  if (writes) {
    chunk->written |= bytes;
    /* Strong writes and reads of others do not order what is weak. */
    forget(hazards, chunk, bytes);
  }
  if (!merge(hazards, chunk, &request->access))
    insert(hazards, chunk, &request->access);
}

static void touch_range(request_t *request, uint64_t offset, size_t bytes) {
  uint64_t end = offset + bytes;
  while (offset < end) {
    uint64_t first = offset % EMU_SHADOW_BYTES;
    uint64_t count = EMU_SHADOW_BYTES - first;
    if (count > end - offset)
      count = end - offset;
    touch(request, offset / EMU_SHADOW_BYTES, ((1u << count) - 1) << first,
          true);
    offset += count;
  }
}

void emu_shadow_mark_written(emu_hazards_t *hazards, uint64_t offset,
                             size_t bytes) {
  for (uint64_t i = offset; i < offset + bytes; ++i)
    if (i / EMU_SHADOW_BYTES < hazards->chunk_count)
      hazards->chunks[i / EMU_SHADOW_BYTES].written |= 1u
                                                       << i % EMU_SHADOW_BYTES;
}

/* ---- Generic ---------------------------------------------------------------
 */

void emu_hazards_access(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lane,
                        bool is_shared, uint64_t offset, size_t bytes,
                        bool writes) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  if (is_shared) {
    uint8_t kind =
        insn->is_strong
            ? (writes ? EMU_ACCESS_STRONG_WRITE : EMU_ACCESS_STRONG_READ)
            : (writes ? EMU_ACCESS_WRITE : EMU_ACCESS_READ);
    request_t request = {.cta = warp->cta,
                         .hazards = hazards,
                         .access = {.kind = kind,
                                    .owner = warp->index,
                                    .epoch = hazards->epochs[warp->index],
                                    .party = {warp->index, 1u << lane, insn}},
                         .lanes = 1u << lane};
    touch_range(&request, offset, bytes);
  }
  if (insn->is_strong)
    emu_hazards_strong(warp, lane, writes);
}

void emu_hazards_async_copy(emu_warp_t *warp, const emu_insn_t *insn,
                            uint32_t lane, uint64_t offset, size_t bytes,
                            uint64_t group) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  emu_party_t party = {warp->index, 1u << lane, insn};
  uint32_t step = (uint32_t)group + 1;
  uint32_t agent = emu_agent_begin(hazards, EMU_AGENT_ASYNC_COPY,
                                   emu_thread(warp, lane), step, party);
  request_t request = {.cta = warp->cta,
                       .hazards = hazards,
                       .access = {.kind = EMU_ACCESS_ASYNC_WRITE,
                                  .owner = agent,
                                  .epoch = step,
                                  .party = party},
                       .lanes = 1u << lane};
  touch_range(&request, offset, bytes);
}

/* ---- Bulk copies -----------------------------------------------------------
 */

static void touch_copy(request_t *request, const emu_copy_t *copy) {
  if (!copy->is_tensor) {
    touch_range(request, copy->shared, copy->bytes);
    return;
  }
  size_t row_bytes = emu_box_row_bytes(&copy->map);
  size_t pitch = emu_box_pitch_bytes(&copy->map);
  uint32_t rows = emu_box_rows(&copy->map);
  for (uint32_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < row_bytes; i += EMU_SHADOW_BYTES) {
      uint64_t address = emu_swizzled((uattn_swizzle_t)copy->map.swizzle,
                                      copy->shared + row * pitch + i);
      touch(request, address / EMU_SHADOW_BYTES, (1u << EMU_SHADOW_BYTES) - 1,
            true);
    }
}

static request_t copy_request(emu_warp_t *warp, uint32_t lane,
                              const emu_copy_t *copy, emu_agent_kind_t agent,
                              uint32_t key, uint32_t step) {
  emu_party_t party = {warp->index, 1u << lane, copy->insn};
  emu_hazards_t *hazards = warp->cta->hazards;
  bool writes = copy->kind != EMU_COPY_STORE;
  return (request_t){
      .cta = warp->cta,
      .hazards = hazards,
      .access = {.kind = writes ? EMU_ACCESS_COPY_WRITE : EMU_ACCESS_COPY_READ,
                 .owner = emu_agent_begin(hazards, agent, key, step, party),
                 .epoch = step,
                 .party = party},
      .lanes = 1u << lane};
}

void emu_hazards_copy(emu_warp_t *warp, uint32_t lane, const emu_copy_t *copy,
                      uint32_t phase) {
  if (!warp->cta->hazards)
    return;
  request_t request = copy_request(warp, lane, copy, EMU_AGENT_MBARRIER,
                                   (uint32_t)copy->mbarrier, phase + 1);
  if (copy->kind == EMU_COPY_LOCAL) {
    request.access.kind = EMU_ACCESS_COPY_READ;
    touch_range(&request, copy->source, copy->bytes);
    request.access.kind = EMU_ACCESS_COPY_WRITE;
  }
  touch_copy(&request, copy);
}

void emu_hazards_store(emu_warp_t *warp, uint32_t lane, const emu_copy_t *copy,
                       uint64_t group) {
  if (!warp->cta->hazards)
    return;
  request_t request = copy_request(warp, lane, copy, EMU_AGENT_STORES,
                                   emu_thread(warp, lane), (uint32_t)group + 1);
  touch_copy(&request, copy);
}

/* ---- Operands of products --------------------------------------------------
 */

/* Rows `first` to `first + count` of A, or columns of B. */
static void touch_matrix(request_t *request, uint64_t descriptor,
                         bool is_mn_major, uint32_t first, uint32_t count,
                         bool records) {
  emu_matrix_t matrix;
  if (!emu_matrix_decode(descriptor, is_mn_major, &matrix))
    return; /* a fault of its own */
  uint32_t mn_step = is_mn_major ? EMU_CHUNK_ELEMENTS : 1;
  uint32_t k_step = is_mn_major ? 1 : EMU_CHUNK_ELEMENTS;
  for (uint32_t k = 0; k < EMU_WGMMA_K; k += k_step)
    for (uint32_t mn = 0; mn < count; mn += mn_step)
      touch(request,
            emu_matrix_chunk(&matrix, first + mn, k) / EMU_SHADOW_BYTES,
            (1u << EMU_SHADOW_BYTES) - 1, records);
}

/* Of a product the four warps read B as one: the first to come records it. */
void emu_hazards_operands(emu_warp_t *warp, const emu_product_t *product,
                          uint64_t number) {
  emu_hazards_t *hazards = warp->cta->hazards;
  const emu_wgmma_form_t *form = product->form;
  uint64_t *recorded =
      &hazards->recorded_products[warp->index / EMU_WGMMA_WARPS];
  request_t request = {
      .cta = warp->cta,
      .hazards = hazards,
      .access = {.kind = EMU_ACCESS_PRODUCT_READ,
                 .owner = emu_product_agent(hazards, warp),
                 .epoch = (uint32_t)number,
                 .party = {warp->index, EMU_ALL_LANES, product->insn}},
      .lanes = warp->live};
  if (!form->a_is_registers)
    touch_matrix(&request, product->a_descriptor, form->a_is_mn_major,
                 warp->index % EMU_WGMMA_WARPS * EMU_WGMMA_WARP_ROWS,
                 EMU_WGMMA_WARP_ROWS, true);
  touch_matrix(&request, product->b_descriptor, form->b_is_mn_major, 0, form->n,
               number > *recorded);
  if (number > *recorded)
    *recorded = number;
}
