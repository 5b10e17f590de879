/* The host memory of a CTA, its seeded stream, and work that finishes later.
 * Layer: emulator. Must not know: instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "emulator/decode_program.h"
#include "emulator/hazards.h"
#include "emulator/run_launch.h"
#include "emulator/trace.h"

/* Asynchronous work lands up to so many instructions of the CTA later; late
 * work unless nothing else can happen. */
enum { MOST_DELAY_BITS = 13, LATE_BITS = 17 };

static uint64_t mix(uint64_t value) { /* splitmix64 */
  value += UINT64_C(0x9E3779B97F4A7C15);
  value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
  return value ^ value >> 31;
}

uint64_t emu_random(emu_cta_t *cta, uint64_t bound) {
  cta->random_state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t value = mix(cta->random_state) >> 32;
  return bound < UINT64_C(1) << 32 ? value * bound >> 32
                                   : mix(cta->random_state) % bound;
}

static uint64_t draw_delay(emu_cta_t *cta) {
  emu_async_style_t style = cta->async_style;
  if (style == EMU_ASYNC_EXTREMES)
    style = emu_random(cta, 2) ? EMU_ASYNC_LATE : EMU_ASYNC_EARLY;
  if (style == EMU_ASYNC_EARLY)
    return 0;
  if (style == EMU_ASYNC_LATE)
    return (UINT64_C(1) << LATE_BITS) + emu_random(cta, 1 << MOST_DELAY_BITS);
  uint64_t bits = emu_random(cta, MOST_DELAY_BITS + 1);
  return emu_random(cta, UINT64_C(1) << bits);
}

void emu_cta_defer(emu_cta_t *cta, emu_async_t *owned_work) {
  owned_work->due = cta->clock + draw_delay(cta);
  emu_async_t **place = &cta->pending;
  while (*place && (*place)->due <= owned_work->due)
    place = &(*place)->next;
  owned_work->next = *place;
  *place = owned_work;
}

emu_cta_t *emu_cta_create(emu_launch_t *launch) {
  const emu_program_t *program = launch->program;
  emu_cta_t *cta = uattn_allocate(sizeof *cta);
  cta->launch = launch;
  cta->thread_count = launch->thread_count;
  cta->warp_count = (launch->thread_count + EMU_LANES - 1) / EMU_LANES;
  cta->warps = uattn_allocate(cta->warp_count * sizeof *cta->warps);
  cta->shared_bytes = launch->shared_bytes;
  cta->shared = uattn_allocate(launch->shared_bytes + 1);
  cta->local = uattn_allocate(
      (size_t)cta->warp_count * EMU_LANES * program->local_bytes + 1);
  for (uint32_t i = 0; i < cta->warp_count; ++i) {
    emu_warp_t *warp = &cta->warps[i];
    warp->cta = cta;
    warp->index = i;
    warp->words = uattn_allocate(((size_t)program->word_rows + 1) * EMU_LANES *
                                 sizeof *warp->words);
    warp->longs = uattn_allocate(((size_t)program->long_rows + 1) * EMU_LANES *
                                 sizeof *warp->longs);
    warp->predicates = uattn_allocate(((size_t)program->predicate_rows + 1) *
                                      sizeof *warp->predicates);
    warp->constant_words = program->constant_words;
    warp->constant_longs = program->constant_longs;
    warp->constant_predicates = program->constant_predicates;
  }
  if (launch->checks_hazards)
    cta->hazards = emu_hazards_create(cta);
  return cta;
}

static void start_warp(emu_warp_t *warp) {
  const emu_program_t *program = warp->cta->launch->program;
  uint32_t first_thread = warp->index * EMU_LANES;
  uint32_t threads = warp->cta->thread_count - first_thread;
  warp->live = threads >= EMU_LANES ? EMU_ALL_LANES : (1u << threads) - 1;
  memset(warp->pc, 0, sizeof warp->pc);
  warp->blocked = 0;
  warp->waiting = 0;
  warp->yielded = 0;
  warp->met = 0;
  warp->lone_instructions = 0;
  warp->wait = (emu_wait_t){.kind = EMU_WAIT_NONE};
  warp->executed = 0;
  memset(warp->words, 0,
         (size_t)program->word_rows * EMU_LANES * sizeof *warp->words);
  memset(warp->longs, 0,
         (size_t)program->long_rows * EMU_LANES * sizeof *warp->longs);
  memset(warp->predicates, 0,
         program->predicate_rows * sizeof *warp->predicates);
  emu_special_fill(warp);
}

void emu_cta_start(emu_cta_t *cta, uint64_t linear_index) {
  emu_launch_t *launch = cta->launch;
  uint64_t rest = linear_index / launch->grid[0];
  cta->linear_index = linear_index;
  cta->recorder =
      linear_index == launch->recorded_cta ? launch->recorder : NULL;
  cta->index[0] = (uint32_t)(linear_index % launch->grid[0]);
  cta->index[1] = (uint32_t)(rest % launch->grid[1]);
  cta->index[2] = (uint32_t)(rest / launch->grid[1]);
  cta->clock = 0;
  cta->random_state = mix(launch->seed ^ mix(linear_index));
  cta->async_style = (emu_async_style_t)emu_random(cta, EMU_ASYNC_STYLES);
  cta->warp_style = (emu_warp_style_t)emu_random(cta, EMU_WARPS_STYLES);
  cta->progress = launch->program->has_global_communication
                      ? &launch->progress
                      : &cta->own_progress;
  cta->own_progress = (emu_progress_t){0};
  cta->last_memory = 0;
  cta->asleep_warps = 0;
  cta->last_warp = cta->warp_count - 1;
  cta->has_retried = false;
  cta->trace = emu_trace_of_cta(cta);
  cta->live_warps =
      cta->warp_count == 32 ? UINT32_MAX : (1u << cta->warp_count) - 1;
  /* What was there before is not the kernel's to see; a pattern of the seed
   * shows up where a kernel reads what it has not written. */
  memset(cta->shared, (int)(launch->seed % 251 + 1), cta->shared_bytes);
  memset(cta->local, 0,
         (size_t)cta->warp_count * EMU_LANES * launch->program->local_bytes);
  for (uint32_t i = 0; i < cta->warp_count; ++i)
    start_warp(&cta->warps[i]);
  for (uint32_t i = 0; i < cta->warp_count; ++i)
    cta->warps[i].priority = (uint32_t)emu_random(cta, UINT64_C(1) << 32);
  emu_registers_start(cta);
  emu_hazards_start(cta);
}

void emu_cta_finish(emu_cta_t *cta) {
  if (cta->trace)
    emu_trace_cta_end(cta);
  cta->trace = NULL;
  while (cta->pending) {
    emu_async_t *work = cta->pending;
    cta->pending = work->next;
    free(work);
  }
  for (uint32_t i = 0; i < cta->warp_count; ++i) {
    emu_products_release(&cta->warps[i]);
    emu_copies_release(&cta->warps[i]);
    free(cta->warps[i].copies);
    cta->warps[i].copies = NULL;
  }
  emu_barriers_release(cta);
}

void emu_cta_destroy(emu_cta_t *cta) {
  if (!cta)
    return;
  emu_cta_finish(cta);
  for (uint32_t i = 0; i < cta->warp_count; ++i) {
    free(cta->warps[i].words);
    free(cta->warps[i].longs);
    free(cta->warps[i].predicates);
  }
  free(cta->warps);
  free(cta->shared);
  free(cta->local);
  uattn_error_destroy(cta->fault);
  emu_findings_release(&cta->findings);
  emu_hazards_destroy(cta->hazards);
  free(cta);
}
