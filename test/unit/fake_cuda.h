/* A CUDA driver without a GPU: device memory is host memory, kernels do
 * nothing, and what is asked of it is recorded.
 * Layer: test. Must not know: the runtime beyond the driver's interface.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_FAKE_CUDA_H
#define UATTN_FAKE_CUDA_H

#include "runtime/cuda_driver.h"

typedef struct {
  int dtype;
  uint32_t rank;
  void *address;
  uint64_t sizes[4];
  uint64_t stride_bytes[3];
  uint32_t box[4];
  uint32_t element_strides[4];
  int interleave;
  int swizzle;
  int promotion;
  int fill;
} fake_map_t;

typedef struct {
  unsigned grid[3];
  unsigned block[3];
  unsigned smem_bytes;
  cu_stream_t stream;
} fake_launch_t;

typedef struct {
  /* What the driver is like; tests set it. The defaults, after each cuInit,
   * come from UATTN_FAKE_CUDA, such as "capability=80,memory=4096":
   * devices (1), capability (90), memory in bytes (2^30), smem (232448),
   * kernel: 0 does nothing, 1 zeroes memory that is all 0xff, 2 fails, 3 is 1
   * in two launches and then fills such memory with ones. */
  int device_count;
  int capability;
  size_t memory_bytes;
  int smem_bytes;
  int kernel;
  bool refuses_cubin;
  bool refuses_ptx;
  bool refuses_maps;
  int pointer_ordinal; /* the device of all memory */
  void (*on_launch)(void **params);

  /* What happened. */
  int retained_count;
  int module_count; /* loaded now */
  int event_count;  /* alive now */
  size_t used_bytes;
  int launch_count;
  bool has_cold_time;         /* of the next pair of events that is asked for */
  fake_launch_t launches[16]; /* the first ones */
  int map_count;
  fake_map_t maps[64]; /* the first ones; a map's first word is its index */
  int copy_count;
  int allocation_count; /* ever */
  int synchronize_count;
  int smem_limit_bytes; /* as last raised */
  char entry[64];       /* as last looked up */
  bool was_ptx;         /* the last image loaded */
} fake_cuda_t;

/* Found with dlsym("fake_cuda_state") and dlsym("fake_cuda_depth"): how many
 * contexts the calling thread has pushed. */
typedef fake_cuda_t *(*fake_cuda_state_t)(void);
typedef int (*fake_cuda_depth_t)(void);

#endif /* UATTN_FAKE_CUDA_H */
