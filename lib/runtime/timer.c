/* Times what the GPU does between marks in its default stream.
 * Layer: runtime. Must not know: artifacts, attention.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/runtime.h"

#include <stdlib.h>

#include "runtime/device.h"
#include "support/support.h"

struct uattn_timer {
  const uattn_device_t *device;
  size_t mark_count;
  cu_event_t *marks;
};

uattn_error_t *uattn_timer_create(const uattn_device_t *device,
                                  size_t mark_count,
                                  uattn_timer_t **out_timer) {
  uattn_error_t *error = uattn_device_enter(device);
  if (error)
    return error;
  uattn_timer_t *timer = uattn_allocate(sizeof *timer);
  timer->device = device;
  timer->marks = uattn_allocate(mark_count * sizeof *timer->marks);
  for (; !error && timer->mark_count < mark_count; ++timer->mark_count)
    error = uattn_device_error(
        device,
        device->driver.event_create(&timer->marks[timer->mark_count], 0),
        "cannot make a CUDA event");
  uattn_device_leave(device);
  if (error)
    uattn_timer_destroy(timer);
  else
    *out_timer = timer;
  return error;
}

void uattn_timer_destroy(uattn_timer_t *timer) {
  if (!timer)
    return;
  uattn_error_t *error = uattn_device_enter(timer->device);
  if (!error) {
    for (size_t i = 0; i < timer->mark_count; ++i)
      if (timer->marks[i])
        timer->device->driver.event_destroy(timer->marks[i]);
    uattn_device_leave(timer->device);
  }
  uattn_error_destroy(error);
  free(timer->marks);
  free(timer);
}

uattn_error_t *uattn_timer_mark(uattn_timer_t *timer, size_t mark) {
  UATTN_CHECK(mark < timer->mark_count);
  uattn_error_t *error = uattn_device_enter(timer->device);
  if (error)
    return error;
  error = uattn_device_error(
      timer->device,
      timer->device->driver.event_record(timer->marks[mark], NULL),
      "cannot record a CUDA event");
  uattn_device_leave(timer->device);
  return error;
}

uattn_error_t *uattn_timer_elapsed(const uattn_timer_t *timer, size_t first,
                                   size_t last, float *out_ms) {
  UATTN_CHECK(first < timer->mark_count && last < timer->mark_count);
  uattn_error_t *error = uattn_device_enter(timer->device);
  if (error)
    return error;
  error =
      uattn_device_error(timer->device,
                         timer->device->driver.event_elapsed(
                             out_ms, timer->marks[first], timer->marks[last]),
                         "cannot read a CUDA event");
  uattn_device_leave(timer->device);
  return error;
}
