/* Counting with atomics in shared and in global memory.
 * Layer: test. Must not know: the emulator.
 * SPDX-License-Identifier: Apache-2.0 */

enum { BINS = 64 };

/* counts[b] += how many bytes are b modulo 64; the last block to finish leaves
 * the largest count in *largest and how many blocks there were in *blocks. */
extern "C" __global__ void histogram(const unsigned char *bytes, int size,
                                     unsigned *counts, unsigned *finished,
                                     unsigned *largest, unsigned *blocks) {
  __shared__ unsigned local[BINS];
  __shared__ bool is_last;
  for (int i = threadIdx.x; i < BINS; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size;
       i += gridDim.x * blockDim.x)
    atomicAdd(&local[bytes[i] % BINS], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x)
    if (local[i] > 0)
      atomicAdd(&counts[i], local[i]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0)
    is_last = atomicInc(finished, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (!is_last)
    return;
  for (int i = threadIdx.x; i < BINS; i += blockDim.x)
    atomicMax(largest, atomicAdd(&counts[i], 0u));
  if (threadIdx.x == 0)
    *blocks = *finished;
}

/* One of every other atomic operation, by all threads on the same words. */
extern "C" __global__ void atomics(unsigned *words, int *signed_words,
                                   unsigned long long *longs, float *floats,
                                   double *doubles) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAnd(&words[0], ~(1u << i % 32));
  atomicOr(&words[1], 1u << i % 32);
  atomicXor(&words[2], i);
  atomicMin(&words[3], i + 5);
  atomicDec(&words[4], 1000);
  atomicSub(&words[5], i);
  atomicExch(&words[6], 77u);
  unsigned seen = words[7];
  for (unsigned assumed = seen + 1; seen != assumed;) {
    assumed = seen;
    seen = atomicCAS(&words[7], assumed, assumed * 3 + 1);
  }
  atomicMax(&signed_words[0], (int)i - 40);
  atomicMin(&signed_words[1], 20 - (int)i);
  atomicAdd(&longs[0], (unsigned long long)i << 32 | i);
  atomicMax(&longs[1], (unsigned long long)i << 40);
  atomicCAS(&longs[2], 0ull, 99ull);
  atomicAdd(&floats[0], (float)i);
  atomicAdd(&doubles[0], 0.5 * i);
}
