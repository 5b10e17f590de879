/* Runs the CTAs of a launch: on several host threads, or interleaved on one
 * where they influence each other.
 * Layer: emulator. Must not know: instructions, warps.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A CTA's interleaving depends on its own stream alone, so that the number of
 * host threads changes nothing. */
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "emulator/findings.h"
#include "emulator/run_launch.h"

enum { MAX_THREADS = 256 };

typedef struct {
  emu_launch_t *launch;
  emu_run_t *run;
  pthread_mutex_t mutex; /* of what follows */
  uint64_t next_cta;
  uint64_t done_ctas;
  uint64_t instructions;
  double told; /* the share that the progress callback was given last */
  uattn_error_t *fault;
  uint64_t fault_cta; /* CTAs after it need not run any more */
  emu_findings_t findings;
} shared_t;

static void count_done(shared_t *shared, const emu_cta_t *cta) {
  emu_run_t *run = shared->run;
  for (uint32_t i = 0; i < cta->warp_count; ++i)
    shared->instructions += cta->warps[i].executed;
  ++shared->done_ctas;
  double done = (double)shared->done_ctas / (double)shared->launch->cta_count;
  if (run->progress && (done - shared->told >= 0.005 || done >= 1)) {
    shared->told = done;
    run->progress(done, run->progress_data);
  }
}

/* Keeps the findings, and the fault of the first CTA in the grid's order: with
 * any number of threads they are the same. */
static void take_fault(shared_t *shared, emu_cta_t *cta) {
  uattn_error_t *fault = cta->fault;
  cta->fault = NULL;
  emu_findings_merge(&shared->findings, &cta->findings);
  if (!fault)
    return;
  if (shared->fault && shared->fault_cta <= cta->linear_index) {
    uattn_error_destroy(fault);
    return;
  }
  uattn_error_destroy(shared->fault);
  shared->fault = fault;
  shared->fault_cta = cta->linear_index;
}

/* ---- One thread a CTA ------------------------------------------------------
 */

static bool claim_cta(shared_t *shared, uint64_t *out_index) {
  pthread_mutex_lock(&shared->mutex);
  bool is_left = !shared->fault && shared->next_cta < shared->launch->cta_count;
  if (is_left)
    *out_index = shared->next_cta++;
  pthread_mutex_unlock(&shared->mutex);
  return is_left;
}

static void *run_ctas(void *argument) {
  shared_t *shared = argument;
  emu_cta_t *cta = emu_cta_create(shared->launch);
  uint64_t index;
  while (claim_cta(shared, &index)) {
    emu_cta_start(cta, index);
    while (emu_cta_run(cta) == EMU_TURN_RAN)
      continue;
    pthread_mutex_lock(&shared->mutex);
    take_fault(shared, cta);
    count_done(shared, cta);
    pthread_mutex_unlock(&shared->mutex);
    emu_cta_finish(cta);
  }
  emu_cta_destroy(cta);
  return NULL;
}

static uint32_t count_threads(const shared_t *shared) {
  int64_t count = shared->run->thread_count;
  if (count == 0)
    count = sysconf(_SC_NPROCESSORS_ONLN);
  if (count > MAX_THREADS)
    count = MAX_THREADS;
  if ((uint64_t)count > shared->launch->cta_count)
    count = (int64_t)shared->launch->cta_count;
  return count < 1 ? 1 : (uint32_t)count;
}

static void run_parallel(shared_t *shared) {
  pthread_t threads[MAX_THREADS];
  uint32_t count = count_threads(shared);
  uint32_t started = 0;
  while (started + 1 < count &&
         pthread_create(&threads[started], NULL, run_ctas, shared) == 0)
    ++started;
  run_ctas(shared);
  for (uint32_t i = 0; i < started; ++i)
    pthread_join(threads[i], NULL);
}

/* ---- Interleaved -----------------------------------------------------------
 */

/* So many CTAs run at once at first; more, up to what an H200 holds, where
 * those that run only wait. */
enum {
  FIRST_RESIDENT = 8,
  SM_COUNT = 132,
  SM_THREADS = 2048,
  SM_CTAS = 32,
  SM_SHARED_BYTES = 233472,
  CTA_SHARED_BYTES = 1024, /* that the system takes of each */
  MOST_TURNS = 64,         /* of a CTA, one after the other */
  PATIENCE_POLLS = 4096    /* of each CTA */
};

typedef struct {
  shared_t *shared;
  emu_cta_t **ctas; /* that run now, then NULL or those to be used again */
  uint64_t running;
  uint64_t made;
  uint64_t limit;
  uint64_t most;
} resident_t;

static uint64_t most_resident(const emu_launch_t *launch) {
  uint64_t by_threads = SM_THREADS / launch->thread_count;
  uint64_t by_shared =
      SM_SHARED_BYTES / (launch->shared_bytes + CTA_SHARED_BYTES);
  uint64_t count = by_threads < by_shared ? by_threads : by_shared;
  if (count > SM_CTAS)
    count = SM_CTAS;
  count = (count ? count : 1) * SM_COUNT;
  return count < launch->cta_count ? count : launch->cta_count;
}

static void start_more(resident_t *resident) {
  shared_t *shared = resident->shared;
  while (resident->running < resident->limit &&
         shared->next_cta < shared->launch->cta_count) {
    if (resident->running == resident->made)
      resident->ctas[resident->made++] = emu_cta_create(shared->launch);
    emu_cta_start(resident->ctas[resident->running++], shared->next_cta++);
  }
}

static void retire(resident_t *resident, uint64_t place) {
  emu_cta_t *cta = resident->ctas[place];
  take_fault(resident->shared, cta);
  count_done(resident->shared, cta);
  emu_cta_finish(cta);
  resident->ctas[place] = resident->ctas[--resident->running];
  resident->ctas[resident->running] = cta;
}

static void run_interleaved(shared_t *shared) {
  emu_launch_t *launch = shared->launch;
  resident_t resident = {.shared = shared, .most = most_resident(launch)};
  resident.limit =
      resident.most < FIRST_RESIDENT ? resident.most : FIRST_RESIDENT;
  resident.ctas = uattn_allocate(resident.most * sizeof *resident.ctas);
  emu_cta_t *dice = emu_cta_create(launch); /* for its stream alone */
  emu_cta_start(dice, launch->cta_count);
  start_more(&resident);
  while (resident.running && !shared->fault) {
    uint64_t place = emu_random(dice, resident.running);
    uint64_t turns = 1 + emu_random(dice, MOST_TURNS);
    emu_turn_t turn = EMU_TURN_RAN;
    while (turns-- && turn == EMU_TURN_RAN)
      turn = emu_cta_run(resident.ctas[place]);
    if (turn != EMU_TURN_RAN)
      retire(&resident, place);
    if (launch->progress.idle_polls > PATIENCE_POLLS * resident.running &&
        resident.limit < resident.most)
      resident.limit = 2 * resident.limit < resident.most ? 2 * resident.limit
                                                          : resident.most;
    start_more(&resident);
  }
  for (uint64_t i = 0; i < resident.made; ++i)
    emu_cta_destroy(resident.ctas[i]);
  emu_cta_destroy(dice);
  free(resident.ctas);
}

uattn_error_t *emu_launch_run(emu_launch_t *launch, emu_run_t *run) {
  shared_t shared = {.launch = launch, .run = run};
  fenv_t environment; /* the caller's; new threads inherit the default one */
  fegetenv(&environment);
  fesetenv(FE_DFL_ENV);
  pthread_mutex_init(&shared.mutex, NULL);
  if (launch->program->has_global_communication)
    run_interleaved(&shared);
  else
    run_parallel(&shared);
  pthread_mutex_destroy(&shared.mutex);
  fesetenv(&environment);
  run->statistics = (uattn_emulator_statistics_t){
      .instructions = shared.instructions, .ctas = shared.done_ctas};
  if (shared.fault)
    emu_findings_drop_after(&shared.findings, shared.fault_cta);
  uattn_error_t *error = emu_findings_error(&shared.findings, shared.fault);
  emu_findings_release(&shared.findings);
  return error;
}
