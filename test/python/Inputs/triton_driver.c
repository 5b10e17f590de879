/* A libcuda for Triton's loader and launcher without a GPU: kernels do nothing,
 * and what each launch is given is recorded.
 * Layer: test. Must not know: Triton, uattn.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tensor map holds the call that encoded it. How long a kernel's parameters
 * are, which a driver reads in the code, the test says beforehand. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
  PARAM_LIMIT = 64,
  LAUNCH_LIMIT = 16,
  ENTRY_LIMIT = 256,
  MAP_BYTES = 128,
  ENTRY_BYTES = 128
};

/* Mirrored by triton_testing.py. */
typedef struct {
  uint32_t dtype, rank;
  uint64_t address;
  uint64_t sizes[4];
  uint64_t stride_bytes[3];
  uint32_t box[4];
  uint32_t element_strides[4];
  uint32_t interleave, swizzle, fill;
} map_t;
_Static_assert(sizeof(map_t) <= MAP_BYTES, "a map holds its call");

typedef struct {
  char entry[ENTRY_BYTES];
  uint64_t stream;
  uint32_t grid[3], block[3];
  uint32_t smem_bytes, attribute_count;
  uint8_t params[PARAM_LIMIT][MAP_BYTES];
} launch_t;

/* CUlaunchConfig of cuda.h. */
typedef struct {
  uint32_t grid[3], block[3];
  uint32_t smem_bytes;
  void *stream;
  void *attributes;
  uint32_t attribute_count;
} config_t;

static launch_t launches[LAUNCH_LIMIT];
static int launch_count, module_count;
static char entries[ENTRY_LIMIT][ENTRY_BYTES];
static int entry_count;
static uint32_t param_bytes[LAUNCH_LIMIT][PARAM_LIMIT];
static uint32_t param_counts[LAUNCH_LIMIT];

/* Sizes of the parameters of the launch with this index. */
EXPORT void fake_expect(int launch, const uint32_t *bytes, uint32_t count) {
  memcpy(param_bytes[launch], bytes, count * sizeof *bytes);
  param_counts[launch] = count;
}
EXPORT const launch_t *fake_launches(int *count) {
  *count = launch_count;
  return launches;
}
EXPORT int fake_module_count(void) { return module_count; }
EXPORT void fake_reset(void) {
  launch_count = 0;
  memset(param_counts, 0, sizeof param_counts);
}

EXPORT int cuGetErrorString(int result, const char **text) {
  (void)result;
  *text = "refused by the test's driver";
  return 0;
}
EXPORT int cuDriverGetVersion(int *version) {
  *version = 13020;
  return 0;
}
EXPORT int cuInit(unsigned flags) { return (int)flags; }
EXPORT int cuCtxGetCurrent(void **context) {
  *context = launches;
  return 0;
}
EXPORT int cuCtxSetCurrent(void *context) { return context ? 0 : 1; }
EXPORT int cuCtxGetLimit(size_t *value, int limit) {
  *value = (size_t)limit;
  return 0;
}
EXPORT int cuCtxSetLimit(int limit, size_t value) {
  (void)limit, (void)value;
  return 0;
}
EXPORT int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  (void)device;
  *context = launches;
  return 0;
}
/* A Hopper's shared memory, whatever is asked for. */
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)attribute, (void)device;
  *value = 232448;
  return 0;
}
EXPORT int cuCtxGetDevice(int *device) {
  *device = 0;
  return 0;
}
EXPORT int cuStreamIsCapturing(void *stream, int *status) {
  (void)stream;
  *status = 0;
  return 0;
}
EXPORT int cuModuleUnload(void *module) {
  (void)module;
  return 0;
}
EXPORT int cuPointerGetAttribute(uint64_t *value, int attribute,
                                 uint64_t address) {
  (void)attribute;
  *value = address;
  return 0;
}
EXPORT int cuModuleLoadData(void **module, const void *image) {
  if (memcmp(image, "\x7f\x45LF", 4) != 0)
    return 1;
  ++module_count;
  *module = launches;
  return 0;
}
EXPORT int cuModuleGetFunction(void **function, void *module,
                               const char *name) {
  (void)module;
  if (entry_count == ENTRY_LIMIT)
    return 1;
  strncpy(entries[entry_count], name, ENTRY_BYTES - 1);
  *function = entries[entry_count++];
  return 0;
}
EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function) {
  (void)function;
  *value = attribute == 0 ? 1024 : 0; /* threads a CTA at most */
  return 0;
}
EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
  (void)function, (void)attribute, (void)value;
  return 0;
}
EXPORT int cuFuncSetCacheConfig(void *function, int config) {
  (void)function, (void)config;
  return 0;
}

EXPORT int
cuTensorMapEncodeTiled(void *out, int dtype, uint32_t rank, void *address,
                       const uint64_t *sizes, const uint64_t *stride_bytes,
                       const uint32_t *box, const uint32_t *element_strides,
                       int interleave, int swizzle, int promotion, int fill) {
  (void)promotion;
  if (rank != 4)
    return 1;
  map_t map = {.dtype = (uint32_t)dtype,
               .rank = rank,
               .address = (uint64_t)(uintptr_t)address,
               .interleave = (uint32_t)interleave,
               .swizzle = (uint32_t)swizzle,
               .fill = (uint32_t)fill};
  memcpy(map.sizes, sizes, sizeof map.sizes);
  memcpy(map.stride_bytes, stride_bytes, sizeof map.stride_bytes);
  memcpy(map.box, box, sizeof map.box);
  memcpy(map.element_strides, element_strides, sizeof map.element_strides);
  memset(out, 0, MAP_BYTES);
  memcpy(out, &map, sizeof map);
  return 0;
}

EXPORT int cuLaunchKernelEx(const config_t *config, void *function,
                            void **params, void **extra) {
  if (extra || launch_count == LAUNCH_LIMIT)
    return 1;
  launch_t *launch = &launches[launch_count];
  memset(launch, 0, sizeof *launch);
  memcpy(launch->entry, function, ENTRY_BYTES);
  launch->stream = (uint64_t)(uintptr_t)config->stream;
  memcpy(launch->grid, config->grid, sizeof launch->grid);
  memcpy(launch->block, config->block, sizeof launch->block);
  launch->smem_bytes = config->smem_bytes;
  launch->attribute_count = config->attribute_count;
  for (uint32_t i = 0; i < param_counts[launch_count]; ++i)
    memcpy(launch->params[i], params[i], param_bytes[launch_count][i]);
  ++launch_count;
  return 0;
}
