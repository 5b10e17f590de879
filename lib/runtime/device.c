/* Opens a GPU and switches between its context and the caller's.
 * Layer: runtime. Must not know: artifacts, attention.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime.h"
#include "support/support.h"

static uattn_error_t *use_current_context(uattn_device_t *device) {
  const uattn_cuda_driver_t *driver = &device->driver;
  uattn_error_t *error =
      uattn_device_error(device, driver->context_get(&device->context),
                         "cannot ask for the current CUDA context");
  if (!error && !device->context)
    error = uattn_error_create(UATTN_ERROR_DEVICE,
                               "no CUDA context is current on this thread");
  if (!error)
    error =
        uattn_device_error(device, driver->context_get_device(&device->handle),
                           "cannot ask for the current context's device");
  return error;
}

static uattn_error_t *retain_primary_context(uattn_device_t *device,
                                             int32_t ordinal) {
  const uattn_cuda_driver_t *driver = &device->driver;
  int count = 0;
  uattn_error_t *error =
      uattn_device_error(device, driver->device_get_count(&count),
                         "cannot count the CUDA devices");
  if (!error && (ordinal < 0 || ordinal >= count))
    error = uattn_error_create(
        UATTN_ERROR_DEVICE, "no CUDA device %" PRId32 ": the driver offers %d",
        ordinal, count);
  if (!error)
    error =
        uattn_device_error(device, driver->device_get(&device->handle, ordinal),
                           "cannot open the CUDA device");
  if (!error)
    error = uattn_device_error(
        device, driver->primary_retain(&device->context, device->handle),
        "cannot retain the CUDA device's primary context");
  device->is_primary = !error;
  return error;
}

static uattn_error_t *read_attribute(const uattn_device_t *device,
                                     int attribute, int *value) {
  return uattn_device_error(
      device,
      device->driver.device_get_attribute(value, attribute, device->handle),
      "cannot ask for an attribute of the CUDA device");
}

static uattn_error_t *read_facts(uattn_device_t *device) {
  int major = 0;
  int minor = 0;
  uattn_error_t *error = uattn_device_error(
      device,
      device->driver.device_get_name(device->name, (int)sizeof device->name - 1,
                                     device->handle),
      "cannot ask for the name of the CUDA device");
  if (!error)
    error = read_attribute(device, CU_DEVICE_CAPABILITY_MAJOR, &major);
  if (!error)
    error = read_attribute(device, CU_DEVICE_CAPABILITY_MINOR, &minor);
  if (!error)
    error = read_attribute(device, CU_DEVICE_SMEM_OPTIN_BYTES,
                           &device->smem_limit_bytes);
  device->compute_capability = major * 10 + minor;
  return error;
}

uattn_error_t *uattn_device_open(const uattn_device_options_t *options,
                                 uattn_device_t **out_device) {
  uattn_device_options_t known = {0};
  if (options)
    memcpy(&known, options,
           options->struct_size < sizeof known ? options->struct_size
                                               : sizeof known);
  if (known.context != UATTN_CONTEXT_PRIMARY &&
      known.context != UATTN_CONTEXT_CURRENT)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "context choice is %d: wanted primary (0) or "
                              "current (1)",
                              (int)known.context);
  uattn_device_t *device = uattn_allocate(sizeof *device);
  uattn_error_t *error = uattn_cuda_driver_open(
      known.driver_path ? known.driver_path : "libcuda.so.1", &device->driver);
  if (!error)
    error = known.context == UATTN_CONTEXT_CURRENT
                ? use_current_context(device)
                : retain_primary_context(device, known.ordinal);
  if (!error)
    error = read_facts(device);
  if (error)
    uattn_device_close(device);
  else
    *out_device = device;
  return error;
}

void uattn_device_close(uattn_device_t *device) {
  if (device && device->is_primary)
    device->driver.primary_release(device->handle);
  free(device);
}

const char *uattn_device_name(const uattn_device_t *device) {
  return device->name;
}

int uattn_device_compute_capability(const uattn_device_t *device) {
  return device->compute_capability;
}

uattn_error_t *uattn_device_enter(const uattn_device_t *device) {
  return uattn_device_error(device,
                            device->driver.context_push(device->context),
                            "cannot make the CUDA context current");
}

void uattn_device_leave(const uattn_device_t *device) {
  cu_context_t popped = NULL;
  device->driver.context_pop(&popped);
}

uattn_error_t *uattn_device_error(const uattn_device_t *device,
                                  cu_result_t result, const char *what) {
  return uattn_cuda_driver_error(&device->driver, result, what);
}

uattn_error_t *uattn_device_rates(const uattn_device_t *device,
                                  uattn_device_rates_t *out_rates) {
  static const int attributes[] = {CU_DEVICE_SM_COUNT, CU_DEVICE_CLOCK_KHZ,
                                   CU_DEVICE_MEMORY_CLOCK_KHZ,
                                   CU_DEVICE_MEMORY_BUS_BITS};
  int found[sizeof attributes / sizeof *attributes] = {0};
  uattn_error_t *error = NULL;
  for (size_t i = 0; i < sizeof found / sizeof *found && !error; ++i)
    error = read_attribute(device, attributes[i], &found[i]);
  *out_rates = (uattn_device_rates_t){.sm_count = found[0],
                                      .sm_clock_hz = found[1] * 1e3,
                                      .memory_bytes_per_second =
                                          found[2] * 1e3 * 2 * found[3] / 8};
  return error;
}
