/* Finds the CUDA driver and its functions by name.
 * Layer: runtime. Must not know: artifacts, attention, CUDA's own headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cuda_driver.h"

#include <dlfcn.h>
#include <string.h>

static uattn_error_t *find_function(void *library, const char *path,
                                    const char *name, void *out_function) {
  void *symbol = dlsym(library, name);
  if (!symbol)
    return uattn_error_create(UATTN_ERROR_DEVICE,
                              "CUDA driver %s lacks %s: wanted a driver of "
                              "CUDA 12.0 or later",
                              path, name);
  memcpy(out_function, &symbol, sizeof symbol);
  return NULL;
}

static uattn_error_t *find_functions(void *library, const char *path,
                                     uattn_cuda_driver_t *driver) {
  uattn_error_t *error = NULL;
#define FIND(field, name, params)                                              \
  if (!error)                                                                  \
    error = find_function(library, path, #name, &driver->field);
  UATTN_CUDA_FUNCTIONS(FIND)
#undef FIND
  void *optional = dlsym(library, "cuFuncLoad");
  memcpy(&driver->function_load, &optional, sizeof optional);
  return error;
}

uattn_error_t *uattn_cuda_driver_open(const char *path,
                                      uattn_cuda_driver_t *out_driver) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return uattn_error_create(UATTN_ERROR_DEVICE, "no CUDA driver: %s",
                              dlerror());
  uattn_error_t *error = find_functions(library, path, out_driver);
  if (!error)
    error = uattn_cuda_driver_error(out_driver, out_driver->init(0),
                                    "cannot initialise the CUDA driver");
  return error;
}

uattn_error_t *uattn_cuda_driver_error(const uattn_cuda_driver_t *driver,
                                       cu_result_t result, const char *what) {
  if (result == 0)
    return NULL;
  const char *name = NULL;
  const char *text = NULL;
  if (driver->get_error_name(result, &name) != 0 || !name)
    name = "unknown error";
  if (driver->get_error_string(result, &text) != 0 || !text)
    text = "no description";
  return uattn_error_create(UATTN_ERROR_DEVICE, "%s: %s (%d, %s)", what, name,
                            result, text);
}
