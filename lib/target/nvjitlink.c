/* PTX to cubin through libnvJitLink, opened at run time.
 * Layer: target. Must not know: plans, what a kernel does.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The few declarations below are ours, after the documentation of nvJitLink,
 * so that no CUDA header is needed to build. */
#include "target/nvjitlink.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef void *link_handle_t;
enum { LINK_SUCCESS = 0, LINK_INPUT_PTX = 2 };

typedef struct {
  void *library;
  int (*create)(link_handle_t *, uint32_t, const char **);
  int (*destroy)(link_handle_t *);
  int (*add_data)(link_handle_t, int, const void *, size_t, const char *);
  int (*complete)(link_handle_t);
  int (*cubin_size)(link_handle_t, size_t *);
  int (*cubin)(link_handle_t, void *);
  int (*error_log_size)(link_handle_t, size_t *);
  int (*error_log)(link_handle_t, char *);
  int (*info_log_size)(link_handle_t, size_t *);
  int (*info_log)(link_handle_t, char *);
} linker_t;

static uattn_error_t *linker_open(const char *path, linker_t *linker) {
  /* It stays in the process: each load would leave 72 kB behind. */
  linker->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!linker->library)
    return uattn_error_create(UATTN_ERROR_TOOLCHAIN, "cannot open %s: %s", path,
                              dlerror());
  const struct {
    const char *name;
    void *function;
  } symbols[] = {
      {"nvJitLinkCreate", &linker->create},
      {"nvJitLinkDestroy", &linker->destroy},
      {"nvJitLinkAddData", &linker->add_data},
      {"nvJitLinkComplete", &linker->complete},
      {"nvJitLinkGetLinkedCubinSize", &linker->cubin_size},
      {"nvJitLinkGetLinkedCubin", &linker->cubin},
      {"nvJitLinkGetErrorLogSize", &linker->error_log_size},
      {"nvJitLinkGetErrorLog", &linker->error_log},
      {"nvJitLinkGetInfoLogSize", &linker->info_log_size},
      {"nvJitLinkGetInfoLog", &linker->info_log},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; ++i) {
    void *found = dlsym(linker->library, symbols[i].name);
    if (!found)
      return uattn_error_create(UATTN_ERROR_TOOLCHAIN, "%s has no %s", path,
                                symbols[i].name);
    memcpy(symbols[i].function, &found, sizeof found);
  }
  return NULL;
}

/* The log that the two functions give, "" where there is none. */
static char *read_log(link_handle_t handle,
                      int (*get_size)(link_handle_t, size_t *),
                      int (*get)(link_handle_t, char *)) {
  size_t size = 0;
  if (get_size(handle, &size) != LINK_SUCCESS)
    size = 0;
  char *log = uattn_allocate(size + 1);
  if (size > 0 && get(handle, log) != LINK_SUCCESS)
    log[0] = '\0';
  return log;
}

static uattn_error_t *link_ptx(const linker_t *linker, link_handle_t handle,
                               const char *ptx, uattn_assembly_t *out) {
  size_t size = 0;
  int status = linker->add_data(handle, LINK_INPUT_PTX, ptx, strlen(ptx) + 1,
                                "kernel.ptx");
  if (status == LINK_SUCCESS)
    status = linker->complete(handle);
  if (status == LINK_SUCCESS)
    status = linker->cubin_size(handle, &size);
  uint8_t *cubin = uattn_allocate(size + 1);
  if (status == LINK_SUCCESS)
    status = linker->cubin(handle, cubin);
  if (status != LINK_SUCCESS) {
    char *log = read_log(handle, linker->error_log_size, linker->error_log);
    uattn_error_t *error =
        uattn_error_create(UATTN_ERROR_TOOLCHAIN,
                           "nvJitLink failed with code %d: %s", status, log);
    free(log);
    free(cubin);
    return error;
  }
  char *log = read_log(handle, linker->info_log_size, linker->info_log);
  out->report = uattn_assembly_report_parse(log);
  out->cubin = cubin;
  out->cubin_bytes = size;
  out->messages = log;
  return NULL;
}

uattn_error_t *uattn_nvjitlink_assemble(const char *library_path,
                                        const char *ptx, const char *chip,
                                        uattn_assembly_t *out_assembly) {
  linker_t linker = {0};
  link_handle_t handle = NULL;
  uattn_string_t arch = {0};
  uattn_string_appendf(&arch, "-arch=%s", chip);
  const char *options[] = {uattn_string_get(&arch), "-verbose"};
  uattn_error_t *error = linker_open(library_path, &linker);
  if (!error) {
    int status = linker.create(&handle, 2, options);
    if (status != LINK_SUCCESS)
      error = uattn_error_create(UATTN_ERROR_TOOLCHAIN,
                                 "nvJitLinkCreate failed with code %d", status);
  }
  if (!error)
    error = link_ptx(&linker, handle, ptx, out_assembly);
  if (handle)
    linker.destroy(&handle);
  if (linker.library)
    dlclose(linker.library);
  uattn_string_release(&arch);
  return error;
}
