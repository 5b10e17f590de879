/* Loops that are worth a second version for wider vectors.
 * Layer: emulator. Must not know: anything else.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_VECTOR_CLONES_H
#define UATTN_EMULATOR_VECTOR_CLONES_H

/* Before a function: chosen between when the library is loaded. The same
 * results on every machine: AVX2 has no fused multiplication, and the build
 * allows none. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__)
#define EMU_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define EMU_VECTOR_CLONES
#endif

#endif /* UATTN_EMULATOR_VECTOR_CLONES_H */
