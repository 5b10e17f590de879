/* Keeps artifacts by name, and their kernels on each GPU.
 * Layer: python_bindings. Must not know: XLA's call frames.
 * SPDX-License-Identifier: Apache-2.0 */
#include "kernel_registry.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/artifact.h"
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
  return strlen(entry->name) == size && memcmp(entry->name, name, size) == 0;
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

/* The first attribute in which two ops differ; NULL where they are one. */
static const char *find_difference(const uattn_problem_t *a,
                                   const uattn_problem_t *b) {
  const struct {
    bool is_same;
    const char *name;
  } attributes[] = {
      {a->kind == b->kind &&
           memcmp(a->has_operand, b->has_operand, sizeof a->has_operand) == 0,
       "operandSegmentSizes"},
      {memcmp(a->has_result, b->has_result, sizeof a->has_result) == 0,
       "resultSegmentSizes"},
      {a->cap.method == b->cap.method, "cap_method"},
      {a->cap.cap == b->cap.cap, "cap"},
      {a->cap.alpha == b->cap.alpha, "cap_alpha"},
      {a->cap.beta == b->cap.beta, "cap_beta"},
      {a->sm_scale == b->sm_scale, "sm_scale"},
      {a->is_causal == b->is_causal, "causal"},
      {a->window_tokens == b->window_tokens, "window_len"},
      {a->q_offset == b->q_offset, "q_offset"},
      {a->z_loss_weight == b->z_loss_weight, "z_loss_weight"},
      {a->is_deterministic == b->is_deterministic, "deterministic"},
  };
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i)
    if (!attributes[i].is_same)
      return attributes[i].name;
  return NULL;
}

static uattn_error_t *check_op(const entry_t *entry,
                               const uattn_problem_t *problem) {
  const uattn_artifact_t *artifact = entry->artifact;
  if (artifact->function_count != 1 || artifact->functions->step_count != 1)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "artifact %s is not of one op", entry->name);
  const char *name =
      find_difference(&artifact->functions->steps->problem, problem);
  if (!name)
    return NULL;
  return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                            "attribute %s is not what artifact %s was "
                            "compiled for",
                            name, entry->name);
}

uattn_error_t *uattn_xla_load_program(const char *name, size_t name_size,
                                      int32_t ordinal,
                                      const uattn_problem_t *problem) {
  uattn_error_t *error = NULL;
  pthread_rwlock_wrlock(&registry_lock);
  const entry_t *entry = find_entry(name, name_size);
  if (!entry)
    error = uattn_error_create(
        UATTN_ERROR_IO,
        "artifact %.*s is not in this process: expected one that was lowered "
        "here, or a file of a folder of UATTN_PREBUILT_PATH",
        name_size < 80 ? (int)name_size : 80, name);
  else
    error = check_op(entry, problem);
  if (!error && !find_program(name, name_size, ordinal))
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
