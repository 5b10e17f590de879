/* Device memory: taken, filled, copied, given back.
 * Layer: runtime. Must not know: artifacts, attention.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/device.h"

static cu_address_t address_of(const void *data) {
  return (cu_address_t)(uintptr_t)data;
}

static uattn_error_t *allocation_error(const uattn_device_t *device,
                                       cu_result_t result, size_t bytes) {
  if (result != CU_RESULT_OUT_OF_MEMORY)
    return uattn_device_error(device, result, "cannot take device memory");
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  device->driver.memory_info(&free_bytes, &total_bytes);
  return uattn_error_create(UATTN_ERROR_DEVICE,
                            "out of memory on %s: wanted %zu bytes, %zu of "
                            "%zu are free",
                            device->name, bytes, free_bytes, total_bytes);
}

uattn_error_t *uattn_device_allocate(const uattn_device_t *device, size_t bytes,
                                     void **out_data) {
  uattn_error_t *error = uattn_device_enter(device);
  if (error)
    return error;
  cu_address_t address = 0;
  error = allocation_error(
      device, device->driver.memory_allocate(&address, bytes ? bytes : 1),
      bytes);
  uattn_device_leave(device);
  if (!error)
    *out_data = (void *)(uintptr_t)address;
  return error;
}

void uattn_device_free(const uattn_device_t *device, void *data) {
  uattn_error_t *error = data ? uattn_device_enter(device) : NULL;
  if (data && !error) {
    device->driver.memory_free(address_of(data));
    uattn_device_leave(device);
  }
  uattn_error_destroy(error);
}

uattn_error_t *uattn_device_upload(const uattn_device_t *device,
                                   void *device_data, const void *host_data,
                                   size_t bytes) {
  uattn_error_t *error = uattn_device_enter(device);
  if (error)
    return error;
  error = uattn_device_error(
      device,
      device->driver.memory_upload(address_of(device_data), host_data, bytes),
      "cannot copy to the CUDA device");
  uattn_device_leave(device);
  return error;
}

uattn_error_t *uattn_device_download(const uattn_device_t *device,
                                     void *host_data, const void *device_data,
                                     size_t bytes) {
  uattn_error_t *error = uattn_device_enter(device);
  if (error)
    return error;
  error = uattn_device_error(
      device,
      device->driver.memory_download(host_data, address_of(device_data), bytes),
      "cannot copy from the CUDA device");
  uattn_device_leave(device);
  return error;
}

uattn_error_t *uattn_device_fill(const uattn_device_t *device,
                                 void *device_data, uint8_t byte,
                                 size_t bytes) {
  uattn_error_t *error = uattn_device_enter(device);
  if (error)
    return error;
  error = uattn_device_error(
      device, device->driver.memory_fill(address_of(device_data), byte, bytes),
      "cannot fill device memory");
  if (!error)
    error = uattn_device_error(device, device->driver.context_synchronize(),
                               "cannot wait for the CUDA device");
  uattn_device_leave(device);
  return error;
}

uattn_error_t *uattn_device_synchronize(const uattn_device_t *device) {
  uattn_error_t *error = uattn_device_enter(device);
  if (error)
    return error;
  error = uattn_device_error(device, device->driver.context_synchronize(),
                             "the CUDA device failed");
  uattn_device_leave(device);
  return error;
}
