/* What XLA's foreign function interface, version 0.1, looks like in memory.
 * Layer: python_bindings. Must not know: uattn.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Declared anew, so that building needs no jaxlib and one library serves every
 * jaxlib since the end of 2024: only what has not moved since then is here.
 * test/python/xla_abi.test holds it to the header that jaxlib installs. */
#ifndef UATTN_XLA_FFI_ABI_H
#define UATTN_XLA_FFI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { FFI_API_MAJOR = 0, FFI_API_MINOR = 1 };

typedef enum { FFI_EXTENSION_METADATA = 1 } ffi_extension_type_t;

typedef struct ffi_extension {
  size_t struct_size;
  ffi_extension_type_t type;
  struct ffi_extension *next;
} ffi_extension_t;

typedef struct {
  size_t struct_size;
  ffi_extension_t *extension_start;
  int major_version;
  int minor_version;
} ffi_api_version_t;

/* Launches that are the same at every call, given the same attributes. */
#define FFI_TRAIT_COMMAND_BUFFER_COMPATIBLE UINT32_C(1)

/* Later versions append to it: those fields are not ours to write. */
typedef struct {
  size_t struct_size;
  ffi_api_version_t api_version;
  uint32_t traits;
} ffi_metadata_t;

/* How a handler is asked what it is. */
typedef struct {
  ffi_extension_t base;
  ffi_metadata_t *metadata;
} ffi_metadata_extension_t;

typedef struct ffi_error ffi_error_t; /* XLA's, owned by it once returned */

/* As absl::StatusCode. */
typedef enum {
  FFI_CODE_INVALID_ARGUMENT = 3,
  FFI_CODE_NOT_FOUND = 5,
  FFI_CODE_UNIMPLEMENTED = 12,
  FFI_CODE_INTERNAL = 13,
  FFI_CODE_UNAVAILABLE = 14
} ffi_code_t;

typedef struct {
  size_t struct_size;
  ffi_extension_t *extension_start;
  const char *message;
  ffi_code_t code;
} ffi_error_create_args_t;

typedef enum {
  FFI_DTYPE_PRED = 1,
  FFI_DTYPE_S32 = 4,
  FFI_DTYPE_S64 = 5,
  FFI_DTYPE_U8 = 6,
  FFI_DTYPE_F16 = 10,
  FFI_DTYPE_F32 = 11,
  FFI_DTYPE_BF16 = 16
} ffi_dtype_t;

/* Dense, in C order. */
typedef struct {
  size_t struct_size;
  ffi_extension_t *extension_start;
  ffi_dtype_t dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
} ffi_buffer_t;

typedef enum { FFI_VALUE_BUFFER = 1 } ffi_value_type_t;

/* Arguments, and results alike. */
typedef struct {
  size_t struct_size;
  ffi_extension_t *extension_start;
  int64_t size;
  ffi_value_type_t *types;
  void **values;
} ffi_values_t;

typedef enum {
  FFI_ATTRIBUTE_ARRAY = 1,
  FFI_ATTRIBUTE_DICTIONARY = 2,
  FFI_ATTRIBUTE_SCALAR = 3,
  FFI_ATTRIBUTE_STRING = 4
} ffi_attribute_type_t;

typedef struct {
  const char *data;
  size_t size;
} ffi_bytes_t;

typedef struct {
  ffi_dtype_t dtype;
  void *value;
} ffi_scalar_t;

typedef struct {
  ffi_dtype_t dtype;
  size_t size;
  void *data;
} ffi_array_t;

/* Sorted by name. */
typedef struct {
  size_t struct_size;
  ffi_extension_t *extension_start;
  int64_t size;
  ffi_attribute_type_t *types;
  ffi_bytes_t **names;
  void **values;
} ffi_attributes_t;

typedef struct ffi_context ffi_context_t;

typedef struct {
  size_t struct_size;
  ffi_extension_t *extension_start;
  ffi_context_t *context;
  void *stream; /* out */
} ffi_stream_get_args_t;

typedef struct {
  size_t struct_size;
  ffi_extension_t *extension_start;
  ffi_context_t *context;
  int32_t device_ordinal; /* out */
} ffi_device_ordinal_get_args_t;

typedef void ffi_unused_t(void);

typedef struct {
  size_t struct_size;
  ffi_extension_t *extension_start;
  ffi_api_version_t api_version;
  const void *internal_api;
  ffi_error_t *(*error_create)(ffi_error_create_args_t *args);
  ffi_unused_t *unused_from_error_get_message[3];
  ffi_error_t *(*stream_get)(ffi_stream_get_args_t *args);
  ffi_unused_t *unused_from_type_register[12];
  /* Since April 2025: look at struct_size. */
  ffi_error_t *(*device_ordinal_get)(ffi_device_ordinal_get_args_t *args);
} ffi_api_t;

typedef enum {
  FFI_STAGE_INSTANTIATE = 0,
  FFI_STAGE_PREPARE = 1,
  FFI_STAGE_INITIALIZE = 2,
  FFI_STAGE_EXECUTE = 3
} ffi_stage_t;

typedef struct {
  size_t struct_size;
  ffi_extension_t *extension_start;
  const ffi_api_t *api;
  ffi_context_t *context;
  ffi_stage_t stage;
  ffi_values_t arguments;
  ffi_values_t results;
  ffi_attributes_t attributes;
} ffi_call_frame_t;

#endif /* UATTN_XLA_FFI_ABI_H */
