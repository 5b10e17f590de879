/* Loops that are worth a second version for wider vectors.
 * Layer: host. Must not know: anything else.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_HOST_CLONES_H
#define UATTN_HOST_HOST_CLONES_H

/* Before a static function: chosen between when the library is loaded. Results
 * differ between the versions, since one has fused multiplications. (Of one
 * that is not static a library would export the versions.) */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    __GNUC__ >= 12 && !defined(__SANITIZE_ADDRESS__) &&                        \
    !defined(__SANITIZE_THREAD__)
#define HOST_VECTOR_CLONES                                                     \
  __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define HOST_VECTOR_CLONES
#endif

/* Of functions that become part of each version. */
#define HOST_INLINE static inline __attribute__((always_inline))

#endif /* UATTN_HOST_HOST_CLONES_H */
