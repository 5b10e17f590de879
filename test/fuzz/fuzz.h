/* Between a fuzzer's driver, its mutations and what it tests.
 * Layer: test. Must not know: what is tested.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_FUZZ_H
#define UATTN_FUZZ_H

#include "support/support.h"

/* libFuzzer's name for what is called with every input; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
  uint8_t *data;
  size_t size;
} fuzz_input_t;

/* The seeds, and where random numbers have got to. */
typedef struct {
  fuzz_input_t *seeds;
  size_t seed_count;
  uint64_t random;
} fuzz_corpus_t;

/* Below `bound`, which is above 0. */
size_t fuzz_random(fuzz_corpus_t *corpus, size_t bound);

/* A seed after one to eight mutations; free its data with free(). */
fuzz_input_t fuzz_mutate(fuzz_corpus_t *corpus);

#endif /* UATTN_FUZZ_H */
