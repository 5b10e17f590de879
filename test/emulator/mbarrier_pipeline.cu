/* A ring of chunks between a producer warp and three consumer warps.
 * Layer: test. Must not know: the emulator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "hopper.cuh"

enum { STAGES = 3, CHUNK = 256, CHUNK_BYTES = 1024, CONSUMERS = 3 };

/* Block b takes the chunks b, b + blocks, ...; warp w of 1 to 3 leaves the sum
 * of w * x over all their numbers x in sums[3 * b + w - 1], and warp 2 sends
 * x + 1 from the ring to `copies`. */
extern "C" __global__ void mbarrier_pipeline(const int *numbers, int chunks,
                                             int *sums, int *copies) {
  __shared__ alignas(128) int ring[STAGES][CHUNK];
  __shared__ unsigned long long full[STAGES], empty[STAGES];
  int warp = threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      barrier_init(&full[i], 1);
      barrier_init(&empty[i], CONSUMERS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (warp == 0) {
    int step = 0;
    for (int chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x, ++step) {
      int stage = step % STAGES;
      barrier_wait(&empty[stage], (step / STAGES & 1) ^ 1);
      if (lane == 0) {
        barrier_expect(&full[stage], CHUNK_BYTES);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier"
                     "::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         shared_address(ring[stage])),
                     "l"(numbers + chunk * CHUNK), "r"(CHUNK_BYTES),
                     "r"(shared_address(&full[stage]))
                     : "memory");
      }
      __syncwarp();
    }
    return;
  }
  int sum = 0;
  int step = 0;
  for (int chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x, ++step) {
    int stage = step % STAGES;
    barrier_wait(&full[stage], step / STAGES & 1);
    for (int i = lane; i < CHUNK; i += 32)
      sum += ring[stage][i] * warp;
    if (warp == 2) {
      /* Once all three have read the chunk. */
      asm volatile("bar.sync %0, 96;" ::"r"(1 + stage) : "memory");
      for (int i = lane; i < CHUNK; i += 32)
        ring[stage][i] += 1;
      fence_async();
      __syncwarp();
      if (lane == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group "
                     "[%0], [%1], %2;" ::"l"(copies + chunk * CHUNK),
                     "r"(shared_address(ring[stage])), "r"(CHUNK_BYTES)
                     : "memory");
        commit_stores();
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      }
      __syncwarp();
    } else {
      asm volatile("bar.arrive %0, 96;" ::"r"(1 + stage) : "memory");
    }
    if (lane == 0)
      barrier_arrive(&empty[stage]);
  }
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_down_sync(0xFFFFFFFFu, sum, distance);
  if (lane == 0)
    sums[blockIdx.x * CONSUMERS + warp - 1] = sum;
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
