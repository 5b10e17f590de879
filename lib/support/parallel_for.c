/* Runs independent pieces of work on all processors.
 * Layer: support. Must not know: what the work is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "support/parallel_for.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/support.h"

enum { MAX_THREADS = 256 };

typedef struct {
  uattn_parallel_body_t body;
  const void *context;
  int64_t item_count;
  atomic_int_least64_t next_item;
} shared_work_t;

typedef struct {
  shared_work_t *work;
  void *scratch;
  pthread_t thread;
  bool is_started;
} worker_t;

static void *worker_main(void *argument) {
  worker_t *worker = argument;
  shared_work_t *work = worker->work;
  for (;;) {
    int64_t item = atomic_fetch_add(&work->next_item, 1);
    if (item >= work->item_count)
      return NULL;
    work->body(work->context, worker->scratch, item);
  }
}

static int64_t worker_count(int64_t item_count, int thread_count) {
  int64_t count = thread_count;
  if (count == 0)
    count = sysconf(_SC_NPROCESSORS_ONLN);
  if (count > MAX_THREADS)
    count = MAX_THREADS;
  if (count > item_count)
    count = item_count;
  return count < 1 ? 1 : count;
}

uattn_error_t *uattn_parallel_for(int64_t item_count, int thread_count,
                                  size_t scratch_bytes,
                                  uattn_parallel_body_t body,
                                  const void *context) {
  shared_work_t work = {
      .body = body, .context = context, .item_count = item_count};
  atomic_init(&work.next_item, 0);
  worker_t workers[MAX_THREADS] = {0};
  int64_t count = worker_count(item_count, thread_count);

  /* The caller is worker 0. */
  for (int64_t i = 0; i < count; ++i) {
    workers[i].work = &work;
    workers[i].scratch = uattn_try_allocate(scratch_bytes ? scratch_bytes : 1);
    if (!workers[i].scratch)
      break;
    if (i > 0)
      workers[i].is_started = pthread_create(&workers[i].thread, NULL,
                                             worker_main, &workers[i]) == 0;
  }
  bool has_caller = workers[0].scratch != NULL;
  if (has_caller)
    worker_main(&workers[0]);
  for (int64_t i = 0; i < count; ++i) {
    if (workers[i].is_started)
      pthread_join(workers[i].thread, NULL);
    free(workers[i].scratch);
  }
  return has_caller
             ? NULL
             : uattn_error_create(UATTN_ERROR_INTERNAL,
                                  "no memory for %zu bytes of a worker thread",
                                  scratch_bytes);
}
