/* Keeps artifacts by name, and their kernels on each GPU.
 * Layer: python_bindings. Must not know: XLA's call frames.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernel_registry.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "handlers.h"

typedef struct entry {
  struct entry *next;
  uattn_artifact_t *artifact;
  char name[];
} entry_t;

typedef struct gpu {
  struct gpu *next;
  int32_t ordinal;
  uattn_device_t *device;
} gpu_t;

typedef struct loaded {
  struct loaded *next;
  const entry_t *entry;
  int32_t ordinal;
  uattn_program_t *program;
} loaded_t;

/* Lists grow at their head and never shrink. */
static pthread_rwlock_t registry_lock = PTHREAD_RWLOCK_INITIALIZER;
static entry_t *entries;
static gpu_t *gpus;
static loaded_t *programs;

static uattn_error_t *no_memory(void) {
  return uattn_error_create(UATTN_ERROR_INTERNAL, "no memory for a kernel");
}

static bool has_name(const entry_t *entry, const char *name, size_t size) {
  return strncmp(entry->name, name, size) == 0 && entry->name[size] == '\0';
}

static const entry_t *find_entry(const char *name, size_t size) {
  const entry_t *entry = entries;
  while (entry && !has_name(entry, name, size))
    entry = entry->next;
  return entry;
}

static const uattn_program_t *find_program(const char *name, size_t size,
                                           int32_t ordinal) {
  for (const loaded_t *loaded = programs; loaded; loaded = loaded->next)
    if (loaded->ordinal == ordinal && has_name(loaded->entry, name, size))
      return loaded->program;
  return NULL;
}

const uattn_program_t *
uattn_xla_find_program(const char *name, size_t name_size, int32_t ordinal) {
  pthread_rwlock_rdlock(&registry_lock);
  const uattn_program_t *program = find_program(name, name_size, ordinal);
  pthread_rwlock_unlock(&registry_lock);
  return program;
}

/* Opened once: a program borrows it. */
static uattn_error_t *get_device(int32_t ordinal,
                                 const uattn_device_t **out_device) {
  for (gpu_t *gpu = gpus; gpu; gpu = gpu->next)
    if (gpu->ordinal == ordinal) {
      *out_device = gpu->device;
      return NULL;
    }
  gpu_t *gpu = calloc(1, sizeof *gpu);
  if (!gpu)
    return no_memory();
  uattn_device_options_t options = {.struct_size = sizeof options,
                                    .context = UATTN_CONTEXT_PRIMARY,
                                    .ordinal = ordinal};
  uattn_error_t *error = uattn_device_open(&options, &gpu->device);
  if (error) {
    free(gpu);
    return error;
  }
  gpu->ordinal = ordinal;
  gpu->next = gpus;
  gpus = gpu;
  *out_device = gpu->device;
  return NULL;
}

static uattn_error_t *load(const entry_t *entry, int32_t ordinal) {
  const uattn_device_t *device = NULL;
  uattn_error_t *error = get_device(ordinal, &device);
  if (error)
    return error;
  loaded_t *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return no_memory();
  error = uattn_program_create(device, entry->artifact, &loaded->program);
  if (error) {
    free(loaded);
    return error;
  }
  loaded->entry = entry;
  loaded->ordinal = ordinal;
  loaded->next = programs;
  programs = loaded;
  return NULL;
}

uattn_error_t *uattn_xla_load_program(const char *name, size_t name_size,
                                      int32_t ordinal) {
  uattn_error_t *error = NULL;
  pthread_rwlock_wrlock(&registry_lock);
  const entry_t *entry = find_entry(name, name_size);
  if (!entry)
    error = uattn_error_create(
        UATTN_ERROR_IO,
        "artifact %.*s is not in this process: expected one that was lowered "
        "here, or a file of a folder of UATTN_PREBUILT_PATH",
        (int)(name_size & 0xff), name);
  else if (!find_program(name, name_size, ordinal))
    error = load(entry, ordinal);
  pthread_rwlock_unlock(&registry_lock);
  return error;
}

uattn_error_t *uattn_xla_add_artifact(const char *name, const void *bytes,
                                      size_t size) {
  size_t name_size = strlen(name);
  uattn_error_t *error = NULL;
  entry_t *entry = NULL;
  pthread_rwlock_wrlock(&registry_lock);
  if (find_entry(name, name_size))
    goto unlock;
  entry = calloc(1, sizeof *entry + name_size + 1);
  if (!entry) {
    error = no_memory();
    goto unlock;
  }
  error = uattn_artifact_parse(bytes, size, &entry->artifact);
  if (error) {
    free(entry);
    goto unlock;
  }
  memcpy(entry->name, name, name_size);
  entry->next = entries;
  entries = entry;
unlock:
  pthread_rwlock_unlock(&registry_lock);
  return error;
}
