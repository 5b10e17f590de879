/* Copies of tiles by tensor maps: load, change, store, reduce.
 * Layer: test. Must not know: the emulator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "hopper.cuh"

enum { TILE_COLUMNS = 32, TILE_ROWS = 16, TILE_BYTES = 2048 };

/* A block a tile of 16 x 32 floats. `raw` takes each tile as it lies in shared
 * memory; the target becomes 2 * source + 1. */
extern "C" __global__ void tma_copy(const __grid_constant__ tensor_map source,
                                    const __grid_constant__ tensor_map target,
                                    float *raw) {
  __shared__ alignas(1024) float tile[TILE_ROWS * TILE_COLUMNS];
  __shared__ unsigned long long barrier;
  int column = blockIdx.x * TILE_COLUMNS;
  int row = blockIdx.y * TILE_ROWS;
  if (threadIdx.x == 0) {
    barrier_init(&barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    barrier_expect(&barrier, TILE_BYTES);
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                     "r"(shared_address(tile)),
                 "l"(&source), "r"(column), "r"(row),
                 "r"(shared_address(&barrier))
                 : "memory");
  }
  barrier_wait(&barrier, 0);
  raw += (blockIdx.y * gridDim.x + blockIdx.x) * TILE_ROWS * TILE_COLUMNS;
  for (int i = threadIdx.x; i < TILE_ROWS * TILE_COLUMNS; i += blockDim.x) {
    raw[i] = tile[i];
    tile[i] = 2.0f * tile[i] + 1.0f;
  }
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
                 "[%0, {%1, %2}], [%3];" ::"l"(&target),
                 "r"(column), "r"(row), "r"(shared_address(tile))
                 : "memory");
    commit_stores();
    wait_stores();
  }
}

/* Every block adds a tile of its own numbers to the same place of a 3-d
 * tensor. */
extern "C" __global__ void tma_reduce(const __grid_constant__ tensor_map target,
                                      int x, int y, int z) {
  __shared__ alignas(128) int tile[2][4][8];
  int *flat = &tile[0][0][0];
  flat[threadIdx.x] = (int)(threadIdx.x * (blockIdx.x + 1));
  fence_async();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.tile"
                 ".bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&target),
                 "r"(x), "r"(y), "r"(z), "r"(shared_address(flat))
                 : "memory");
    commit_stores();
    wait_stores();
  }
}
