/* A CUDA driver without a GPU, for tests of what the runtime asks of one.
 * Layer: test. Must not know: the runtime beyond the driver's interface.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(field, name, params) UATTN_EXPORT cu_result_t name params;
UATTN_CUDA_FUNCTIONS(DECLARE)
#undef DECLARE
UATTN_EXPORT fake_cuda_t *fake_cuda_state(void);
UATTN_EXPORT int fake_cuda_depth(void);

enum { INVALID_VALUE = 1, INVALID_PTX = 218, NOT_FOUND = 500, FAILED = 719 };

static fake_cuda_t state;
static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int context_depth;

/* Device memory: a list of host blocks. */
typedef struct block {
  struct block *next;
  char *data;
  size_t bytes;
} block_t;
static block_t *blocks;

fake_cuda_t *fake_cuda_state(void) { return &state; }
int fake_cuda_depth(void) { return context_depth; }

static size_t setting(const char *name, size_t otherwise) {
  const char *settings = getenv("UATTN_FAKE_CUDA");
  const char *found = settings ? strstr(settings, name) : NULL;
  return found ? strtoull(found + strlen(name), NULL, 10) : otherwise;
}

cu_result_t cuInit(unsigned flags) {
  state = (fake_cuda_t){
      .device_count = (int)setting("devices=", 1),
      .capability = (int)setting("capability=", 90),
      .memory_bytes = setting("memory=", (size_t)1 << 30),
      .smem_bytes = (int)setting("smem=", 232448),
      .kernel = (int)setting("kernel=", 0),
  };
  return flags == 0 ? 0 : INVALID_VALUE;
}

cu_result_t cuGetErrorName(cu_result_t result, const char **name) {
  *name = result == CU_RESULT_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == INVALID_VALUE         ? "CUDA_ERROR_INVALID_VALUE"
          : result == INVALID_PTX           ? "CUDA_ERROR_INVALID_PTX"
          : result == NOT_FOUND             ? "CUDA_ERROR_NOT_FOUND"
          : result == FAILED                ? "CUDA_ERROR_LAUNCH_FAILED"
                                            : NULL;
  return *name ? 0 : INVALID_VALUE;
}

cu_result_t cuGetErrorString(cu_result_t result, const char **text) {
  *text = "as the test wants";
  return result != 0 ? 0 : INVALID_VALUE;
}

cu_result_t cuDeviceGetCount(int *count) {
  *count = state.device_count;
  return 0;
}

cu_result_t cuDeviceGet(cu_device_t *device, int ordinal) {
  *device = ordinal;
  return ordinal < state.device_count ? 0 : INVALID_VALUE;
}

cu_result_t cuDeviceGetName(char *name, int bytes, cu_device_t device) {
  (void)device;
  strncpy(name, "Fake GPU", (size_t)bytes);
  return 0;
}

cu_result_t cuDeviceGetAttribute(int *value, int attribute,
                                 cu_device_t device) {
  (void)device;
  if (attribute == CU_DEVICE_CAPABILITY_MAJOR)
    *value = state.capability / 10;
  else if (attribute == CU_DEVICE_CAPABILITY_MINOR)
    *value = state.capability % 10;
  else if (attribute == CU_DEVICE_SMEM_OPTIN_BYTES)
    *value = state.smem_bytes;
  else if (attribute == CU_DEVICE_SM_COUNT)
    *value = 100;
  else if (attribute == CU_DEVICE_CLOCK_KHZ ||
           attribute == CU_DEVICE_MEMORY_CLOCK_KHZ)
    *value = 1000000;
  else if (attribute == CU_DEVICE_MEMORY_BUS_BITS)
    *value = 4000; /* 1e12 bytes a second */
  else
    return INVALID_VALUE;
  return 0;
}

/* Contexts are only told apart from NULL. */
static cu_context_t fake_context(void) { return (cu_context_t)(void *)&state; }

cu_result_t cuDevicePrimaryCtxRetain(cu_context_t *context,
                                     cu_device_t device) {
  (void)device;
  ++state.retained_count;
  *context = fake_context();
  return 0;
}

cu_result_t cuDevicePrimaryCtxRelease_v2(cu_device_t device) {
  (void)device;
  --state.retained_count;
  return 0;
}

cu_result_t cuCtxGetCurrent(cu_context_t *context) {
  *context = context_depth > 0 ? fake_context() : NULL;
  return 0;
}

cu_result_t cuCtxGetDevice(cu_device_t *device) {
  *device = 0;
  return 0;
}

cu_result_t cuCtxPushCurrent_v2(cu_context_t context) {
  if (context != fake_context())
    return INVALID_VALUE;
  ++context_depth;
  return 0;
}

cu_result_t cuCtxPopCurrent_v2(cu_context_t *context) {
  *context = fake_context();
  --context_depth;
  return 0;
}

/* Everything below needs a current context. */
static cu_result_t in_context(void) {
  return context_depth > 0 ? 0 : INVALID_VALUE;
}

cu_result_t cuCtxSynchronize(void) {
  ++state.synchronize_count;
  return in_context();
}

cu_result_t cuModuleLoadDataEx(cu_module_t *module, const void *image,
                               unsigned option_count, int *options,
                               void **values) {
  state.was_ptx = strncmp(image, ".version", 8) == 0;
  if (state.was_ptx ? state.refuses_ptx : state.refuses_cubin) {
    for (unsigned i = 0; i < option_count; ++i)
      if (options[i] == CU_JIT_ERROR_LOG)
        strcpy(values[i], "line 1: not to my taste");
    return INVALID_PTX;
  }
  ++state.module_count;
  *module = (cu_module_t)(void *)&state.module_count;
  return in_context();
}

cu_result_t cuModuleUnload(cu_module_t module) {
  (void)module;
  --state.module_count;
  return in_context();
}

cu_result_t cuModuleGetFunction(cu_function_t *function, cu_module_t module,
                                const char *name) {
  (void)module;
  strncpy(state.entry, name, sizeof state.entry - 1);
  *function = (cu_function_t)(void *)state.entry;
  return strstr(name, "missing") ? NOT_FOUND : in_context();
}

cu_result_t cuFuncSetAttribute(cu_function_t function, int attribute,
                               int value) {
  (void)function;
  if (attribute != CU_FUNCTION_DYNAMIC_SMEM_BYTES)
    return INVALID_VALUE;
  state.smem_limit_bytes = value;
  return in_context();
}

static void fill_poisoned_blocks(int byte) {
  for (block_t *block = blocks; block; block = block->next) {
    size_t i = 0;
    while (i < block->bytes && (unsigned char)block->data[i] == 0xff)
      ++i;
    if (i == block->bytes)
      memset(block->data, byte, block->bytes);
  }
}

cu_result_t cuLaunchKernel(cu_function_t function, unsigned grid_x,
                           unsigned grid_y, unsigned grid_z, unsigned block_x,
                           unsigned block_y, unsigned block_z,
                           unsigned smem_bytes, cu_stream_t stream,
                           void **params, void **extra) {
  if (!function || extra || state.kernel == 2)
    return FAILED;
  pthread_mutex_lock(&state_lock);
  if (state.launch_count < 16)
    state.launches[state.launch_count] =
        (fake_launch_t){.grid = {grid_x, grid_y, grid_z},
                        .block = {block_x, block_y, block_z},
                        .smem_bytes = smem_bytes,
                        .stream = stream};
  ++state.launch_count;
  if (state.on_launch)
    state.on_launch(params);
  if (state.kernel == 1)
    fill_poisoned_blocks(0);
  else if (state.kernel == 3)
    fill_poisoned_blocks(state.launch_count > 2);
  pthread_mutex_unlock(&state_lock);
  return in_context();
}

cu_result_t
cuTensorMapEncodeTiled(cu_tensor_map_t *map, int dtype, uint32_t rank,
                       void *address, const uint64_t *sizes,
                       const uint64_t *stride_bytes, const uint32_t *box,
                       const uint32_t *element_strides, int interleave,
                       int swizzle, int promotion, int fill) {
  if (state.refuses_maps || rank != 4)
    return INVALID_VALUE;
  pthread_mutex_lock(&state_lock);
  map->opaque[0] = (uint64_t)state.map_count;
  if (state.map_count < 64) {
    fake_map_t *record = &state.maps[state.map_count];
    *record = (fake_map_t){.dtype = dtype,
                           .rank = rank,
                           .address = address,
                           .interleave = interleave,
                           .swizzle = swizzle,
                           .promotion = promotion,
                           .fill = fill};
    memcpy(record->sizes, sizes, sizeof record->sizes);
    memcpy(record->stride_bytes, stride_bytes, sizeof record->stride_bytes);
    memcpy(record->box, box, sizeof record->box);
    memcpy(record->element_strides, element_strides,
           sizeof record->element_strides);
  }
  ++state.map_count;
  pthread_mutex_unlock(&state_lock);
  return 0;
}

static block_t **find_block(cu_address_t address) {
  const char *data = (const char *)(uintptr_t)address;
  block_t **link = &blocks;
  while (*link &&
         !(data >= (*link)->data && data < (*link)->data + (*link)->bytes))
    link = &(*link)->next;
  return link;
}

cu_result_t cuPointerGetAttribute(void *value, int attribute,
                                  cu_address_t address) {
  if (attribute != CU_POINTER_DEVICE_ORDINAL || !*find_block(address))
    return INVALID_VALUE;
  memcpy(value, &state.pointer_ordinal, sizeof state.pointer_ordinal);
  return 0;
}

cu_result_t cuMemAlloc_v2(cu_address_t *address, size_t bytes) {
  if (bytes > state.memory_bytes - state.used_bytes)
    return CU_RESULT_OUT_OF_MEMORY;
  block_t *block = malloc(sizeof *block);
  *block = (block_t){.next = blocks,
                     .data = aligned_alloc(256, (bytes + 255) / 256 * 256),
                     .bytes = bytes};
  blocks = block;
  state.used_bytes += bytes;
  ++state.allocation_count;
  *address = (cu_address_t)(uintptr_t)block->data;
  return in_context();
}

cu_result_t cuMemFree_v2(cu_address_t address) {
  block_t **link = find_block(address);
  block_t *block = *link;
  if (!block)
    return INVALID_VALUE;
  *link = block->next;
  state.used_bytes -= block->bytes;
  free(block->data);
  free(block);
  return in_context();
}

cu_result_t cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  *free_bytes = state.memory_bytes - state.used_bytes;
  *total = state.memory_bytes;
  return 0;
}

cu_result_t cuMemcpyHtoD_v2(cu_address_t target, const void *source,
                            size_t bytes) {
  memcpy((void *)(uintptr_t)target, source, bytes);
  return in_context();
}

cu_result_t cuMemcpyDtoH_v2(void *target, cu_address_t source, size_t bytes) {
  memcpy(target, (const void *)(uintptr_t)source, bytes);
  return in_context();
}

cu_result_t cuMemcpyDtoDAsync_v2(cu_address_t target, cu_address_t source,
                                 size_t bytes, cu_stream_t stream) {
  (void)stream;
  ++state.copy_count;
  memcpy((void *)(uintptr_t)target, (const void *)(uintptr_t)source, bytes);
  return in_context();
}

cu_result_t cuMemsetD8_v2(cu_address_t target, unsigned char byte,
                          size_t bytes) {
  memset((void *)(uintptr_t)target, byte, bytes);
  return in_context();
}

cu_result_t cuEventCreate(cu_event_t *event, unsigned flags) {
  (void)flags;
  ++state.event_count;
  *event = (cu_event_t)(void *)&state.event_count;
  return in_context();
}

cu_result_t cuEventDestroy_v2(cu_event_t event) {
  (void)event;
  --state.event_count;
  return in_context();
}

cu_result_t cuEventRecord(cu_event_t event, cu_stream_t stream) {
  /* What is recorded before anything was launched takes the load of code in. */
  if (state.launch_count == 0)
    state.has_cold_time = true;
  (void)event;
  (void)stream;
  return in_context();
}

/* Every call takes a millisecond, the load of code a second. */
cu_result_t cuEventElapsedTime(float *ms, cu_event_t first, cu_event_t last) {
  (void)first;
  (void)last;
  *ms = state.has_cold_time ? 1000 : 1;
  state.has_cold_time = false;
  return in_context();
}
