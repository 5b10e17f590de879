/* A product of two matrices by wgmma, tiles of 64 x 64 x 64 in shared memory
 * with the 128-byte swizzle.
 * Layer: test. Must not know: the emulator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "hopper.cuh"

enum { TILE = 64, TILE_BYTES = 8192 };

typedef unsigned short bf16; /* bits */

/* Where element (row, column) of a tile of 128-byte rows lies: its 16-byte
 * piece is exchanged by the row's lowest three bits. */
__device__ __forceinline__ int swizzled(int row, int column) {
  return row * TILE + ((column / 8 ^ row % 8) * 8 + column % 8);
}

/* The tile whose first element is at `from`, row by row. */
__device__ __forceinline__ void load_tile(bf16 *tile, const bf16 *from,
                                          int stride) {
  for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x)
    tile[swizzled(i / TILE, i % TILE)] = from[i / TILE * stride + i % TILE];
}

/* Start, leading and stride offsets in units of 16 bytes, 128-byte swizzle. */
__device__ __forceinline__ unsigned long long
descriptor(const void *tile, unsigned offset_bytes, unsigned leading_bytes) {
  unsigned long long start = shared_address(tile) + offset_bytes;
  return (start & 0x3FFFF) >> 4 |
         (unsigned long long)(leading_bytes >> 4) << 16 |
         (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

#define MULTIPLY(MN_MAJOR)                                                     \
  asm volatile(                                                                \
      "{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\n"                         \
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "                  \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15," \
      " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29," \
      " %30, %31}, %32, %33, add, 1, 1, 0, " MN_MAJOR ";\n}"                   \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]),            \
        "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]),            \
        "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]),       \
        "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]), "+f"(c[19]),       \
        "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),       \
        "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]),       \
        "+f"(c[30]), "+f"(c[31])                                               \
      : "l"(a_tile), "l"(b_tile), "r"(adds))

/* Rows 16 warp + lane / 4 and the one 8 below, column pairs 2 (lane % 4). */
__device__ __forceinline__ void store_fragment(float *to, int stride,
                                               const float *c) {
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  int column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 32; ++i)
    to[(row + (i & 2 ? 8 : 0)) * stride + column + i / 4 * 8 + i % 2] = c[i];
}

/* c = a * b: a is m x k and b is k x n (n x k where IS_TRANSPOSED), in rows.
 * 128 threads; block x takes columns from 64 x, block y rows from 64 y. */
template <bool IS_TRANSPOSED>
__device__ __forceinline__ void product(const bf16 *a, const bf16 *b, float *to,
                                        int n, int k) {
  __shared__ alignas(1024) bf16 a_shared[TILE * TILE];
  __shared__ alignas(1024) bf16 b_shared[TILE * TILE];
  float c[32];
  int row = blockIdx.y * TILE;
  int column = blockIdx.x * TILE;
  for (int step = 0; step < k; step += TILE) {
    load_tile(a_shared, a + row * k + step, k);
    load_tile(b_shared,
              IS_TRANSPOSED ? b + column * k + step : b + step * n + column,
              IS_TRANSPOSED ? k : n);
    fence_async();
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      int adds = step + part;
      unsigned long long a_tile = descriptor(a_shared, part * 32, 16);
      unsigned long long b_tile =
          IS_TRANSPOSED ? descriptor(b_shared, part * 32, 16)
                        : descriptor(b_shared, part * 2048, TILE_BYTES);
      if (IS_TRANSPOSED)
        MULTIPLY("0");
      else
        MULTIPLY("1");
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  store_fragment(to + row * n + column, n, c);
}

extern "C" __global__ void __launch_bounds__(128)
    wgmma_k_major(const bf16 *a, const bf16 *b, float *c, int n, int k) {
  product<true>(a, b, c, n, k);
}

extern "C" __global__ void __launch_bounds__(128)
    wgmma_mn_major(const bf16 *a, const bf16 *b, float *c, int n, int k) {
  product<false>(a, b, c, n, k);
}
