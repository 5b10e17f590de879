/* Times work on a GPU by its own clock.
 * Layer: tools. Must not know: what the work is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_timing.h"

#include <stdlib.h>
#include <time.h>

#include "support/support.h"

/* The protocol. Sustained: calls back to back for `budget_ms` after a warm-up
 * of `warm_up_ms`, an event before and after each. Burst: the mean of a few
 * calls on a chip that has been idle, before power limits its clock. */
enum {
  LEAST_CALLS = 7,
  MOST_CALLS = 300,
  LEAST_WARM_UPS = 2,
  MOST_WARM_UPS = 500,
  BURST_CALLS = 10,
  BURST_WARM_UPS = 3
};
static const double budget_ms = 400;
static const double warm_up_ms = 150;
static const struct timespec burst_idle = {.tv_nsec = 700000000};

static int clamp_count(double count, int least, int most) {
  return count < least ? least : count > most ? most : (int)count;
}

static uattn_error_t *launch_times(run_enqueue_t enqueue, const void *work,
                                   int count) {
  uattn_error_t *error = NULL;
  for (int i = 0; i < count && !error; ++i)
    error = enqueue(work);
  return error;
}

/* Mean of `count` calls between two marks. */
static uattn_error_t *time_calls(const uattn_device_t *device,
                                 run_enqueue_t enqueue, const void *work,
                                 int count, double *out_ms) {
  uattn_timer_t *timer = NULL;
  float total = 0;
  uattn_error_t *error = uattn_timer_create(device, 2, &timer);
  if (!error)
    error = uattn_timer_mark(timer, 0);
  if (!error)
    error = launch_times(enqueue, work, count);
  if (!error)
    error = uattn_timer_mark(timer, 1);
  if (!error)
    error = uattn_device_synchronize(device);
  if (!error)
    error = uattn_timer_elapsed(timer, 0, 1, &total);
  uattn_timer_destroy(timer);
  *out_ms = (double)total / count;
  return error;
}

static int compare_times(const void *a, const void *b) {
  float first = *(const float *)a;
  float second = *(const float *)b;
  return (first > second) - (first < second);
}

static uattn_error_t *time_each(const uattn_device_t *device,
                                run_enqueue_t enqueue, const void *work,
                                int count, float *out_times) {
  uattn_timer_t *timer = NULL;
  uattn_error_t *error = uattn_timer_create(device, 2 * (size_t)count, &timer);
  for (int i = 0; i < count && !error; ++i) {
    error = uattn_timer_mark(timer, 2 * (size_t)i);
    if (!error)
      error = enqueue(work);
    if (!error)
      error = uattn_timer_mark(timer, 2 * (size_t)i + 1);
  }
  if (!error)
    error = uattn_device_synchronize(device);
  for (int i = 0; i < count && !error; ++i)
    error = uattn_timer_elapsed(timer, 2 * (size_t)i, 2 * (size_t)i + 1,
                                &out_times[i]);
  uattn_timer_destroy(timer);
  return error;
}

static uattn_error_t *time_sustained(const uattn_device_t *device,
                                     run_enqueue_t enqueue, const void *work,
                                     run_times_t *times) {
  /* The first calls may load code: an estimate with them leads to a handful of
   * calls, whose power no clock has to give way to. */
  double estimate = 0;
  uattn_error_t *error = launch_times(enqueue, work, LEAST_WARM_UPS);
  if (!error)
    error = time_calls(device, enqueue, work, 2, &estimate);
  if (error)
    return error;
  estimate = estimate > 1e-3 ? estimate : 1e-3;
  int count = clamp_count(budget_ms / estimate, LEAST_CALLS, MOST_CALLS);
  float *each = uattn_allocate((size_t)count * sizeof *each);
  error = launch_times(
      enqueue, work,
      clamp_count(warm_up_ms / estimate, LEAST_WARM_UPS, MOST_WARM_UPS));
  if (!error)
    error = time_each(device, enqueue, work, count, each);
  qsort(each, (size_t)count, sizeof *each, compare_times);
  times->call_count = count;
  times->median_ms =
      ((double)each[(count - 1) / 2] + (double)each[count / 2]) / 2;
  times->p10_ms = (double)each[count / 10];
  times->p90_ms = (double)each[count * 9 / 10];
  free(each);
  return error;
}

static uattn_error_t *time_burst(const uattn_device_t *device,
                                 run_enqueue_t enqueue, const void *work,
                                 run_times_t *times) {
  nanosleep(&burst_idle, NULL);
  uattn_error_t *error = launch_times(enqueue, work, BURST_WARM_UPS);
  return error
             ? error
             : time_calls(device, enqueue, work, BURST_CALLS, &times->burst_ms);
}

const char run_timing_protocol[] =
    "sustained: calls back to back for 0.4 s after 0.15 s of warm-up, CUDA "
    "events around each; burst: mean of 10 calls after 0.7 s idle";

uattn_error_t *run_time(const uattn_device_t *device, run_enqueue_t enqueue,
                        const void *work, run_times_t *out_times) {
  uattn_error_t *error = time_sustained(device, enqueue, work, out_times);
  return error ? error : time_burst(device, enqueue, work, out_times);
}
