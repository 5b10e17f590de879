/* The part of DLPack 1.x's binary interface that the runtime uses, declared
 * from its documentation (dmlc.github.io/dlpack).
 * Layer: runtime. Must not know: uattn's tensors, any framework.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_DLPACK_ABI_H
#define UATTN_RUNTIME_DLPACK_ABI_H

#include <stdint.h>

enum {
  DLPACK_MAJOR = 1,

  DLPACK_CPU = 1,

  DLPACK_INT = 0,
  DLPACK_UINT = 1,
  DLPACK_FLOAT = 2,
  DLPACK_BFLOAT = 4,
};

typedef struct {
  int32_t type;
  int32_t ordinal;
} dlpack_device_t;

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} dlpack_dtype_t;

typedef struct {
  void *data;
  dlpack_device_t device;
  int32_t rank;
  dlpack_dtype_t dtype;
  int64_t *shape;
  int64_t *strides; /* of elements; NULL: dense in C order */
  uint64_t byte_offset;
} dlpack_tensor_t;

typedef struct {
  uint32_t major;
  uint32_t minor;
} dlpack_version_t;

/* A tensor with an owner. */
typedef struct dlpack_managed {
  dlpack_version_t version;
  void *context;
  void (*destroy)(struct dlpack_managed *self);
  uint64_t flags;
  dlpack_tensor_t tensor;
} dlpack_managed_t;

/* All functions return 0, or -1 with Python's exception set; those that make
 * nothing of Python's report to `set_error` instead. */
typedef struct dlpack_exchange {
  dlpack_version_t version;
  const struct dlpack_exchange *older; /* of another major version, or NULL */
  int (*allocate)(dlpack_tensor_t *prototype, dlpack_managed_t **out_tensor,
                  void *user_data,
                  void (*set_error)(void *user_data, const char *kind,
                                    const char *message));
  int (*export_managed)(void *object, dlpack_managed_t **out_tensor);
  int (*import_managed)(dlpack_managed_t *tensor, void **out_object);
  int (*describe)(void *object, dlpack_tensor_t *out_tensor); /* or NULL */
  int (*current_stream)(int32_t device_type, int32_t ordinal,
                        void **out_stream);
} dlpack_exchange_t;

#endif /* UATTN_RUNTIME_DLPACK_ABI_H */
