/* Sums, maxima and running sums by shuffles, votes and shared memory.
 * Layer: test. Must not know: the emulator.
 * SPDX-License-Identifier: Apache-2.0 */

enum { WARPS = 8 };

__device__ __forceinline__ float warp_sum(float value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xFFFFFFFFu, value, distance);
  return value;
}

__device__ __forceinline__ float warp_maximum(float value) {
  for (int distance = 1; distance < 32; distance *= 2)
    value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFu, value, distance));
  return value;
}

/* A block sums its 256-strided share, then one adds all blocks' sums; sums are
 * exact where the numbers are small integers. */
extern "C" __global__ void block_reduce(const float *values, int count,
                                        float *sum, float *maxima) {
  __shared__ float sums[WARPS], tops[WARPS];
  int lane = threadIdx.x % 32;
  int warp = threadIdx.x / 32;
  float total = 0.0f;
  float top = -INFINITY;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    total += values[i];
    top = fmaxf(top, values[i]);
  }
  total = warp_sum(total);
  top = warp_maximum(top);
  if (lane == 0) {
    sums[warp] = total;
    tops[warp] = top;
  }
  __syncthreads();
  if (warp != 0)
    return;
  total = warp_sum(lane < WARPS ? sums[lane] : 0.0f);
  top = warp_maximum(lane < WARPS ? tops[lane] : -INFINITY);
  if (lane == 0) {
    atomicAdd(sum, total);
    maxima[blockIdx.x] = top;
  }
}

/* The running sum of one block's numbers, inclusive. */
extern "C" __global__ void block_scan(const int *values, int *running) {
  __shared__ int sums[32];
  int lane = threadIdx.x % 32;
  int warp = threadIdx.x / 32;
  int value = values[threadIdx.x];
  for (int distance = 1; distance < 32; distance *= 2) {
    int left = __shfl_up_sync(0xFFFFFFFFu, value, distance);
    if (lane >= distance)
      value += left;
  }
  if (lane == 31)
    sums[warp] = value;
  __syncthreads();
  int before = 0;
  for (int i = 0; i < warp; ++i)
    before += sums[i];
  running[threadIdx.x] = value + before;
}

/* What the votes and the warp's own reductions say of 32 numbers; lanes whose
 * number is negative leave first. */
extern "C" __global__ void warp_votes(const int *values, unsigned *results) {
  int value = values[threadIdx.x];
  unsigned odd = __ballot_sync(0xFFFFFFFFu, value & 1);
  if (value < 0)
    return;
  unsigned here = __activemask();
  unsigned *to = results + threadIdx.x * 8;
  to[0] = odd;
  to[1] = here;
  to[2] = __any_sync(here, value > 100);
  to[3] = __all_sync(here, value >= 0);
  to[4] = __reduce_add_sync(here, (unsigned)value);
  to[5] = (unsigned)__reduce_max_sync(here, value);
  to[6] = __reduce_xor_sync(here, (unsigned)value);
  to[7] = __popc(__match_any_sync(here, value));
}
