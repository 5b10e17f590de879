/* The part of the CUDA driver's binary interface that the runtime calls,
 * declared from its documentation and found by name at run time.
 * Layer: runtime. Must not know: artifacts, attention, CUDA's own headers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_CUDA_DRIVER_H
#define UATTN_RUNTIME_CUDA_DRIVER_H

#include "uattn/error.h"

typedef int cu_result_t; /* 0 is success */
typedef int cu_device_t;
typedef uint64_t cu_address_t; /* device memory */
typedef struct cu_context *cu_context_t;
typedef struct cu_module *cu_module_t;
typedef struct cu_function *cu_function_t;
typedef struct cu_stream *cu_stream_t;
typedef struct cu_event *cu_event_t;

enum {
  CU_RESULT_OUT_OF_MEMORY = 2,

  CU_DEVICE_CLOCK_KHZ = 13,
  CU_DEVICE_SM_COUNT = 16,
  CU_DEVICE_MEMORY_CLOCK_KHZ = 36,
  CU_DEVICE_MEMORY_BUS_BITS = 37,
  CU_DEVICE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_CAPABILITY_MINOR = 76,
  CU_DEVICE_SMEM_OPTIN_BYTES = 97,

  CU_FUNCTION_DYNAMIC_SMEM_BYTES = 8,

  CU_POINTER_DEVICE_ORDINAL = 9,

  CU_JIT_ERROR_LOG = 5,
  CU_JIT_ERROR_LOG_BYTES = 6,

  CU_TENSOR_MAP_F16 = 6,
  CU_TENSOR_MAP_F32 = 7,
  CU_TENSOR_MAP_I32 = 3,
  CU_TENSOR_MAP_BF16 = 9,
  CU_TENSOR_MAP_NO_INTERLEAVE = 0,
  CU_TENSOR_MAP_SWIZZLE_128B = 3,
  CU_TENSOR_MAP_PROMOTE_256B = 3,
  CU_TENSOR_MAP_ZERO_FILL = 0,
};

/* Passed to kernels by value. */
typedef struct {
  _Alignas(128) uint64_t opaque[16];
} cu_tensor_map_t;

/* Field of the table below, exported name, parameters. */
#define UATTN_CUDA_FUNCTIONS(X)                                                \
  X(init, cuInit, (unsigned flags))                                            \
  X(get_error_name, cuGetErrorName, (cu_result_t result, const char **name))   \
  X(get_error_string, cuGetErrorString,                                        \
    (cu_result_t result, const char **text))                                   \
  X(device_get_count, cuDeviceGetCount, (int *count))                          \
  X(device_get, cuDeviceGet, (cu_device_t * device, int ordinal))              \
  X(device_get_name, cuDeviceGetName,                                          \
    (char *name, int bytes, cu_device_t device))                               \
  X(device_get_attribute, cuDeviceGetAttribute,                                \
    (int *value, int attribute, cu_device_t device))                           \
  X(primary_retain, cuDevicePrimaryCtxRetain,                                  \
    (cu_context_t * context, cu_device_t device))                              \
  X(primary_release, cuDevicePrimaryCtxRelease_v2, (cu_device_t device))       \
  X(context_get, cuCtxGetCurrent, (cu_context_t * context))                    \
  X(context_get_device, cuCtxGetDevice, (cu_device_t * device))                \
  X(context_push, cuCtxPushCurrent_v2, (cu_context_t context))                 \
  X(context_pop, cuCtxPopCurrent_v2, (cu_context_t * context))                 \
  X(context_synchronize, cuCtxSynchronize, (void))                             \
  X(module_load, cuModuleLoadDataEx,                                           \
    (cu_module_t * module, const void *image, unsigned option_count,           \
     int *options, void **values))                                             \
  X(module_unload, cuModuleUnload, (cu_module_t module))                       \
  X(module_get_function, cuModuleGetFunction,                                  \
    (cu_function_t * function, cu_module_t module, const char *name))          \
  X(function_set, cuFuncSetAttribute,                                          \
    (cu_function_t function, int attribute, int value))                        \
  X(launch, cuLaunchKernel,                                                    \
    (cu_function_t function, unsigned grid_x, unsigned grid_y,                 \
     unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,    \
     unsigned smem_bytes, cu_stream_t stream, void **params, void **extra))    \
  X(tensor_map_encode, cuTensorMapEncodeTiled,                                 \
    (cu_tensor_map_t * map, int dtype, uint32_t rank, void *address,           \
     const uint64_t *sizes, const uint64_t *stride_bytes, const uint32_t *box, \
     const uint32_t *element_strides, int interleave, int swizzle,             \
     int promotion, int fill))                                                 \
  X(pointer_get, cuPointerGetAttribute,                                        \
    (void *value, int attribute, cu_address_t address))                        \
  X(memory_allocate, cuMemAlloc_v2, (cu_address_t * address, size_t bytes))    \
  X(memory_free, cuMemFree_v2, (cu_address_t address))                         \
  X(memory_info, cuMemGetInfo_v2, (size_t * free, size_t * total))             \
  X(memory_upload, cuMemcpyHtoD_v2,                                            \
    (cu_address_t target, const void *source, size_t bytes))                   \
  X(memory_download, cuMemcpyDtoH_v2,                                          \
    (void *target, cu_address_t source, size_t bytes))                         \
  X(memory_copy, cuMemcpyDtoDAsync_v2,                                         \
    (cu_address_t target, cu_address_t source, size_t bytes,                   \
     cu_stream_t stream))                                                      \
  X(memory_fill, cuMemsetD8_v2,                                                \
    (cu_address_t target, unsigned char byte, size_t bytes))                   \
  X(event_create, cuEventCreate, (cu_event_t * event, unsigned flags))         \
  X(event_destroy, cuEventDestroy_v2, (cu_event_t event))                      \
  X(event_record, cuEventRecord, (cu_event_t event, cu_stream_t stream))       \
  X(event_elapsed, cuEventElapsedTime,                                         \
    (float *ms, cu_event_t first, cu_event_t last))

typedef struct {
#define UATTN_CUDA_FIELD(field, name, params) cu_result_t(*field) params;
  UATTN_CUDA_FUNCTIONS(UATTN_CUDA_FIELD)
#undef UATTN_CUDA_FIELD
  /* Since CUDA 12.4: loads a function's code now; NULL in older drivers. */
  cu_result_t (*function_load)(cu_function_t function);
} uattn_cuda_driver_t;

/* Opens `path` (never closed: the driver keeps threads of its own), finds the
 * functions and initialises the driver. */
UATTN_NODISCARD uattn_error_t *
uattn_cuda_driver_open(const char *path, uattn_cuda_driver_t *out_driver);

/* NULL for success, else an error "WHAT: NAME (text)". */
UATTN_NODISCARD uattn_error_t *
uattn_cuda_driver_error(const uattn_cuda_driver_t *driver, cu_result_t result,
                        const char *what);

#endif /* UATTN_RUNTIME_CUDA_DRIVER_H */
