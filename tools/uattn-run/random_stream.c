/* Random numbers that depend on a key and an index alone.
 * Layer: tools. Must not know: attention, operands, files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "random_stream.h"

#include <math.h>

/* The finaliser of SplitMix64: every input bit reaches every output bit. */
static uint64_t mix_bits(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/* The step between the states of SplitMix64, odd and without pattern. */
static const uint64_t golden_step = 0x9e3779b97f4a7c15u;

uint64_t uattn_random_key(uint64_t seed, uint64_t first, uint64_t second) {
  uint64_t key = mix_bits(seed + golden_step);
  key = mix_bits(key + golden_step * (first + 1));
  return mix_bits(key + golden_step * (second + 1));
}

uint64_t uattn_random_bits(uint64_t key, uint64_t index) {
  return mix_bits(key + golden_step * (index + 1));
}

double uattn_random_uniform(uint64_t key, uint64_t index) {
  return (double)(uattn_random_bits(key, index) >> 11) * 0x1p-53;
}

int64_t uattn_random_below(uint64_t key, uint64_t index, int64_t limit) {
  return (int64_t)(uattn_random_uniform(key, index) * (double)limit);
}

/* The quantile function of N(0, 1) in the middle, |p - 1/2| = |centred| <=
 * 0.425: Wichura 1988, algorithm AS 241, PPND7. Sums and products alone, so
 * machines agree on it but for the last bit. */
static double central_quantile(double centred) {
  double r = 0.180625 - centred * centred;
  double numerator =
      ((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179;
  double denominator =
      ((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1;
  return centred * numerator / denominator;
}

/* The same in a tail of probability `tail`, without its sign. */
static double tail_quantile(double tail) {
  double r = sqrt(-log(tail));
  double numerator = 0;
  double denominator = 0;
  if (r <= 5) {
    r -= 1.6;
    numerator = ((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r +
                1.4234372777;
    denominator = (0.12021132975 * r + 0.73700164250) * r + 1;
  } else {
    r -= 5;
    numerator = ((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r +
                6.6579051150;
    denominator = (0.012258202635 * r + 0.24197894225) * r + 1;
  }
  return numerator / denominator;
}

double uattn_random_normal(uint64_t key, uint64_t index) {
  /* The middle of one of 2^53 equal parts: neither 0 nor 1. */
  double probability = uattn_random_uniform(key, index) + 0x1p-54;
  double centred = probability - 0.5;
  if (fabs(centred) <= 0.425)
    return central_quantile(centred);
  return centred < 0 ? -tail_quantile(probability)
                     : tail_quantile(1 - probability);
}
