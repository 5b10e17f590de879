/* The Hopper instructions that the test programs use, as inline PTX.
 * Layer: test. Must not know: the emulator.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct alignas(64) tensor_map {
  char opaque[128];
};

__device__ __forceinline__ unsigned shared_address(const void *pointer) {
  return (unsigned)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ void barrier_init(unsigned long long *barrier,
                                             unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(count)
               : "memory");
}

__device__ __forceinline__ void barrier_expect(unsigned long long *barrier,
                                               unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned long long *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(
                   shared_address(barrier))
               : "memory");
}

__device__ __forceinline__ void barrier_wait(unsigned long long *barrier,
                                             unsigned parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "WAIT:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@done bra.uni DONE;\n"
               "bra.uni WAIT;\n"
               "DONE:\n"
               "}" ::"r"(shared_address(barrier)),
               "r"(parity)
               : "memory");
}

/* What threads wrote to shared memory is seen by copies and products. */
__device__ __forceinline__ void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ __forceinline__ void wait_stores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
