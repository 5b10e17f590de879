/* An artifact as an object: made, read from a file, asked, freed.
 * Layer: artifact. Must not know: MLIR, CUDA, the bytes of the file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "artifact/artifact.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

uattn_artifact_t *uattn_artifact_create(void) {
  uattn_artifact_t *artifact = uattn_allocate(sizeof *artifact);
  artifact->format_major = UATTN_ARTIFACT_FORMAT_MAJOR;
  artifact->format_minor = UATTN_ARTIFACT_FORMAT_MINOR;
  return artifact;
}

static void release_function(uattn_artifact_function_t *function) {
  for (uint32_t i = 0; i < function->value_count; ++i)
    free(function->values[i].name);
  for (uint32_t i = 0; i < function->step_count; ++i) {
    free(function->steps[i].plan_text);
    free(function->steps[i].scratch);
  }
  free(function->name);
  free(function->values);
  free(function->result_values);
  free(function->steps);
}

void uattn_artifact_destroy(uattn_artifact_t *artifact) {
  if (!artifact)
    return;
  for (uint32_t i = 0; i < artifact->function_count; ++i)
    release_function(&artifact->functions[i]);
  for (uint32_t i = 0; i < artifact->kernel_count; ++i) {
    free(artifact->kernels[i].entry);
    free(artifact->kernels[i].params);
  }
  for (uint32_t i = 0; i < artifact->image_count; ++i) {
    free(artifact->images[i].chip);
    free(artifact->images[i].ptx);
    free(artifact->images[i].cubin);
  }
  free(artifact->functions);
  free(artifact->kernels);
  free(artifact->images);
  free(artifact);
}

uattn_error_t *uattn_artifact_read(const char *path,
                                   uattn_artifact_t **out_artifact) {
  char *bytes = NULL;
  size_t size = 0;
  uattn_error_t *error = uattn_file_read(path, &bytes, &size);
  if (error)
    return error;
  error = uattn_artifact_parse(bytes, size, out_artifact);
  free(bytes);
  return uattn_error_annotate(error, "`%s`", path);
}

size_t uattn_artifact_function_count(const uattn_artifact_t *artifact) {
  return artifact->function_count;
}

static const uattn_artifact_function_t *
get_function(const uattn_artifact_t *artifact, size_t function) {
  UATTN_CHECK(function < artifact->function_count);
  return &artifact->functions[function];
}

const char *uattn_artifact_function_name(const uattn_artifact_t *artifact,
                                         size_t function) {
  return get_function(artifact, function)->name;
}

int64_t uattn_artifact_find_function(const uattn_artifact_t *artifact,
                                     const char *name) {
  for (uint32_t i = 0; i < artifact->function_count; ++i)
    if (strcmp(artifact->functions[i].name, name) == 0)
      return i;
  return -1;
}

size_t uattn_artifact_argument_count(const uattn_artifact_t *artifact,
                                     size_t function) {
  return get_function(artifact, function)->argument_count;
}

size_t uattn_artifact_result_count(const uattn_artifact_t *artifact,
                                   size_t function) {
  return get_function(artifact, function)->result_count;
}

static uattn_value_info_t value_info(const uattn_artifact_value_t *value) {
  uattn_value_info_t info = {
      .name = value->name, .dtype = value->dtype, .rank = value->rank};
  for (int axis = 0; axis < value->rank; ++axis)
    info.shape[axis] = value->shape[axis];
  return info;
}

uattn_value_info_t uattn_artifact_argument(const uattn_artifact_t *artifact,
                                           size_t function, size_t argument) {
  const uattn_artifact_function_t *owner = get_function(artifact, function);
  UATTN_CHECK(argument < owner->argument_count);
  return value_info(&owner->values[argument]);
}

uattn_value_info_t uattn_artifact_result(const uattn_artifact_t *artifact,
                                         size_t function, size_t result) {
  const uattn_artifact_function_t *owner = get_function(artifact, function);
  UATTN_CHECK(result < owner->result_count);
  return value_info(&owner->values[owner->result_values[result]]);
}

size_t uattn_artifact_op_count(const uattn_artifact_t *artifact,
                               size_t function) {
  return get_function(artifact, function)->step_count;
}

const char *uattn_artifact_plan_text(const uattn_artifact_t *artifact,
                                     size_t function, size_t op) {
  const uattn_artifact_function_t *owner = get_function(artifact, function);
  UATTN_CHECK(op < owner->step_count);
  return owner->steps[op].plan_text;
}

size_t uattn_param_bytes(uattn_param_kind_t kind) {
  switch (kind) {
  case UATTN_PARAM_TENSOR_MAP:
    return 128;
  case UATTN_PARAM_POINTER:
    return 8;
  case UATTN_PARAM_I32:
  case UATTN_PARAM_F32:
    return 4;
  }
  UATTN_CHECK(!"kind is one of uattn_param_kind_t");
  return 0;
}

size_t uattn_param_alignment(uattn_param_kind_t kind) {
  return kind == UATTN_PARAM_TENSOR_MAP ? 64 : uattn_param_bytes(kind);
}
