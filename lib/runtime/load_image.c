/* Loads cubin or PTX, on the chip that it was compiled for alone.
 * Layer: runtime. Must not know: functions, shapes, attention.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "runtime/program.h"
#include "support/support.h"

/* "sm_90a" runs on 9.0 alone, "sm_90" on 9.0 and later. */
static uattn_error_t *check_chip(const uattn_device_t *device,
                                 const char *chip) {
  char *end = NULL;
  long wanted = strncmp(chip, "sm_", 3) == 0 ? strtol(chip + 3, &end, 10) : 0;
  bool is_exact = wanted > 0 && strcmp(end, "a") == 0;
  if (wanted <= 0 || (*end && !is_exact))
    return uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                              "chip %s is not known: wanted a name such as "
                              "sm_90a",
                              chip);
  int found = device->compute_capability;
  if (found == wanted || (!is_exact && found > wanted))
    return NULL;
  return uattn_error_create(UATTN_ERROR_DEVICE,
                            "found %s with compute capability %d.%d, wanted "
                            "%ld.%ld%s",
                            device->name, found / 10, found % 10, wanted / 10,
                            wanted % 10, is_exact ? "" : " or later");
}

enum { LOG_BYTES = 8192 };

static uattn_error_t *load_code(const uattn_device_t *device, const void *code,
                                const char *what, cu_module_t *out_module) {
  char *log = uattn_allocate(LOG_BYTES);
  int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)LOG_BYTES};
  uattn_error_t *error = uattn_device_error(
      device, device->driver.module_load(out_module, code, 2, options, values),
      what);
  log[LOG_BYTES - 1] = '\0';
  if (error && log[0]) {
    uattn_error_t *detailed =
        uattn_error_create(uattn_error_code(error), "%s; its log: %s",
                           uattn_error_message(error), log);
    uattn_error_destroy(error);
    error = detailed;
  }
  free(log);
  return error;
}

/* PTX is kept as a text with its terminator, as the driver wants it. */
static bool has_ptx(const uattn_artifact_image_t *image) {
  return image->ptx && *image->ptx;
}

uattn_error_t *uattn_image_load(const uattn_device_t *device,
                                const uattn_artifact_image_t *image,
                                cu_module_t *out_module) {
  uattn_error_t *error = check_chip(device, image->chip);
  if (error)
    return error;
  if (image->cubin_bytes > 0) {
    error = load_code(device, image->cubin, "the driver refuses the cubin",
                      out_module);
    if (!error || !has_ptx(image))
      return error;
    uattn_error_destroy(error); /* an older driver may still take the PTX */
  }
  return load_code(device, image->ptx, "the driver cannot compile the PTX",
                   out_module);
}
