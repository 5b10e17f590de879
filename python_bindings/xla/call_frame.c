/* Reads XLA's call frames and writes its errors.
 * Layer: python_bindings. Must not know: what the op computes, kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call_frame.h"

#include <inttypes.h>
#include <string.h>

bool uattn_xla_answer_question(ffi_call_frame_t *frame, uint32_t traits) {
  const ffi_extension_t *extension = frame->extension_start;
  if (!extension || extension->type != FFI_EXTENSION_METADATA)
    return false;
  ffi_metadata_t *metadata =
      ((const ffi_metadata_extension_t *)(const void *)extension)->metadata;
  metadata->api_version.struct_size = sizeof metadata->api_version;
  metadata->api_version.extension_start = NULL;
  metadata->api_version.major_version = FFI_API_MAJOR;
  metadata->api_version.minor_version = FFI_API_MINOR;
  metadata->traits = traits;
  return true;
}

static ffi_code_t ffi_code(uattn_error_code_t code) {
  switch (code) {
  case UATTN_ERROR_INVALID_ARGUMENT:
    return FFI_CODE_INVALID_ARGUMENT;
  case UATTN_ERROR_UNSUPPORTED:
    return FFI_CODE_UNIMPLEMENTED;
  case UATTN_ERROR_IO:
    return FFI_CODE_NOT_FOUND;
  case UATTN_ERROR_DEVICE:
    return FFI_CODE_UNAVAILABLE;
  case UATTN_ERROR_TOOLCHAIN:
  case UATTN_ERROR_INTERNAL:
  case UATTN_ERROR_FAULT:
    break;
  }
  return FFI_CODE_INTERNAL;
}

ffi_error_t *uattn_xla_give_error(const ffi_call_frame_t *frame,
                                  uattn_error_t *owned_error) {
  if (!owned_error)
    return NULL;
  ffi_error_create_args_t args = {.struct_size = sizeof args,
                                  .message = uattn_error_message(owned_error),
                                  .code =
                                      ffi_code(uattn_error_code(owned_error))};
  ffi_error_t *error = frame->api->error_create(&args); /* copies the message */
  uattn_error_destroy(owned_error);
  return error;
}

static bool find_dtype(ffi_dtype_t found, uattn_dtype_t *out_dtype) {
  switch (found) {
  case FFI_DTYPE_BF16:
    *out_dtype = UATTN_DTYPE_BF16;
    return true;
  case FFI_DTYPE_F16:
    *out_dtype = UATTN_DTYPE_F16;
    return true;
  case FFI_DTYPE_F32:
    *out_dtype = UATTN_DTYPE_F32;
    return true;
  case FFI_DTYPE_S32:
    *out_dtype = UATTN_DTYPE_I32;
    return true;
  default:
    return false;
  }
}

uattn_error_t *uattn_xla_read_tensors(const ffi_values_t *values,
                                      const char *role, size_t limit,
                                      uattn_tensor_t *out_tensors) {
  if ((uint64_t)values->size > limit)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "%" PRId64 " %ss are given: expected at most %zu",
                              values->size, role, limit);
  for (int64_t i = 0; i < values->size; ++i) {
    const ffi_buffer_t *buffer = values->values[i];
    uattn_dtype_t dtype = UATTN_DTYPE_F32;
    if (values->types[i] != FFI_VALUE_BUFFER ||
        !find_dtype(buffer->dtype, &dtype))
      return uattn_error_create(
          UATTN_ERROR_INVALID_ARGUMENT,
          "%s %" PRId64 " has XLA's type %d: expected bf16, f16, f32 or s32",
          role, i, (int)buffer->dtype);
    if (buffer->rank < 0 || buffer->rank > 4)
      return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                                "%s %" PRId64 " has rank %" PRId64
                                ": expected at most 4",
                                role, i, buffer->rank);
    out_tensors[i] = uattn_tensor_dense(buffer->data, dtype,
                                        (int32_t)buffer->rank, buffer->dims);
  }
  return NULL;
}

void *uattn_xla_take_workspace(ffi_values_t *results, size_t *out_bytes) {
  *out_bytes = 0;
  if (results->size == 0)
    return NULL;
  const ffi_buffer_t *last = results->values[results->size - 1];
  if (last->dtype != FFI_DTYPE_U8 || last->rank != 1)
    return NULL;
  --results->size;
  *out_bytes = (size_t)last->dims[0];
  return last->data;
}

static const void *find(const ffi_attributes_t *attributes, const char *name,
                        ffi_attribute_type_t type) {
  size_t size = strlen(name);
  for (int64_t i = 0; i < attributes->size; ++i) {
    const ffi_bytes_t *found = attributes->names[i];
    if (found->size == size && memcmp(found->data, name, size) == 0)
      return attributes->types[i] == type ? attributes->values[i] : NULL;
  }
  return NULL;
}

int uattn_xla_shown_size(const ffi_bytes_t *text) {
  enum { MOST = 80 };
  return text->size < MOST ? (int)text->size : MOST;
}

bool uattn_xla_find_text(const ffi_attributes_t *attributes, const char *name,
                         ffi_bytes_t *out_text) {
  const ffi_bytes_t *text = find(attributes, name, FFI_ATTRIBUTE_STRING);
  if (text)
    *out_text = *text;
  return text != NULL;
}

static size_t dtype_bytes(ffi_dtype_t dtype) {
  return dtype == FFI_DTYPE_PRED ? 1 : dtype == FFI_DTYPE_S64 ? 8 : 4;
}

bool uattn_xla_find_scalar(const ffi_attributes_t *attributes, const char *name,
                           ffi_dtype_t dtype, void *out_value) {
  const ffi_scalar_t *scalar = find(attributes, name, FFI_ATTRIBUTE_SCALAR);
  if (!scalar || scalar->dtype != dtype)
    return false;
  memcpy(out_value, scalar->value, dtype_bytes(dtype));
  return true;
}

bool uattn_xla_find_array(const ffi_attributes_t *attributes, const char *name,
                          ffi_dtype_t dtype, ffi_array_t *out_array) {
  const ffi_array_t *array = find(attributes, name, FFI_ATTRIBUTE_ARRAY);
  if (!array || array->dtype != dtype)
    return false;
  *out_array = *array;
  return true;
}
