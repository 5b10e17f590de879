/* A fake device and a sample program on it, for tests of the runtime.
 * Layer: test. Must not know: anything above the runtime.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_TEST_H
#define UATTN_RUNTIME_TEST_H

#include "unit_test.h"

#include <dlfcn.h>

#include "fake_cuda.h"
#include "sample_artifact.h"
#include "uattn/runtime.h"

/* FAKE_CUDA_PATH comes from the build. */
static inline uattn_device_t *open_fake_device(void) {
  uattn_device_options_t options = {.struct_size = sizeof options,
                                    .driver_path = FAKE_CUDA_PATH};
  uattn_device_t *device = NULL;
  assert_ok(uattn_device_open(&options, &device));
  return device;
}

static inline void *fake_symbol(const char *name) {
  void *library = dlopen(FAKE_CUDA_PATH, RTLD_NOW);
  assert_non_null(library);
  void *symbol = dlsym(library, name);
  assert_non_null(symbol);
  dlclose(library);
  return symbol;
}

static inline fake_cuda_t *fake_state(void) {
  fake_cuda_state_t get = NULL;
  void *symbol = fake_symbol("fake_cuda_state");
  memcpy(&get, &symbol, sizeof get);
  return get();
}

static inline int fake_depth(void) {
  fake_cuda_depth_t get = NULL;
  void *symbol = fake_symbol("fake_cuda_depth");
  memcpy(&get, &symbol, sizeof get);
  return get();
}

/* Takes `error`: it has this code, and this text within its message. */
static inline void assert_error_says(uattn_error_t *error,
                                     uattn_error_code_t code,
                                     const char *text) {
  assert_non_null(error);
  if (!strstr(uattn_error_message(error), text))
    fail_msg("found `%s`, wanted `%s`", uattn_error_message(error), text);
  assert_int_equal(uattn_error_code(error), code);
  uattn_error_destroy(error);
}

#endif /* UATTN_RUNTIME_TEST_H */
