/* Random numbers that depend on a key and an index alone.
 * Layer: tools. Must not know: attention, operands, files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_RANDOM_STREAM_H
#define UATTN_RUN_RANDOM_STREAM_H

#include <stdint.h>

/* The key of a stream of its own for each seed and pair of numbers. */
uint64_t uattn_random_key(uint64_t seed, uint64_t first, uint64_t second);

/* 64 uniform bits. Pure: the number at an index needs none of those before. */
uint64_t uattn_random_bits(uint64_t key, uint64_t index);

/* In [0, 1), a multiple of 2^-53. */
double uattn_random_uniform(uint64_t key, uint64_t index);

/* From N(0, 1), accurate to some 1e-7 and never beyond 9 or so. */
double uattn_random_normal(uint64_t key, uint64_t index);

/* In [0, limit); limit > 0 and far below 2^53. */
int64_t uattn_random_below(uint64_t key, uint64_t index, int64_t limit);

#endif /* UATTN_RUN_RANDOM_STREAM_H */
