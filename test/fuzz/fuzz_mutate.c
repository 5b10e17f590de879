/* Changes seeds at random: bytes, words, ranges, other seeds' pieces.
 * Layer: test. Must not know: what is tested.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 16 };

/* SplitMix64. */
static uint64_t next_random(fuzz_corpus_t *corpus) {
  uint64_t z = corpus->random += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

size_t fuzz_random(fuzz_corpus_t *corpus, size_t bound) {
  return (size_t)(next_random(corpus) % bound);
}

/* Bytes from `at` to `end`, or what takes their place. */
typedef struct {
  size_t at;
  size_t end;
} range_t;

/* Puts `size` bytes, which may be the input's own, in place of a range. */
static void replace(fuzz_input_t *input, range_t range, const void *bytes,
                    size_t size) {
  size_t rest = input->size - range.end;
  if (range.at + size + rest > MAX_BYTES)
    return;
  uint8_t *data = uattn_allocate(range.at + size + rest + 1);
  memcpy(data, input->data, range.at);
  if (size > 0)
    memcpy(data + range.at, bytes, size);
  memcpy(data + range.at + size, input->data + range.end, rest);
  free(input->data);
  input->data = data;
  input->size = range.at + size + rest;
}

static range_t random_range(fuzz_corpus_t *corpus, const fuzz_input_t *input,
                            size_t longest) {
  range_t range = {.at = fuzz_random(corpus, input->size + 1)};
  size_t rest = input->size - range.at;
  range.end =
      range.at + fuzz_random(corpus, (rest < longest ? rest : longest) + 1);
  return range;
}

static bool is_word(uint8_t c) {
  return isalnum(c) || c == '_' || c == '$' || c == '%' || c == '.' || c == ':';
}

/* A run of word characters, or one other byte; empty in an empty input. */
static range_t random_token(fuzz_corpus_t *corpus, const fuzz_input_t *input) {
  if (input->size == 0)
    return (range_t){0};
  size_t at = fuzz_random(corpus, input->size);
  range_t token = {.at = at, .end = at + 1};
  if (!is_word(input->data[at]))
    return token;
  while (token.at > 0 && is_word(input->data[token.at - 1]))
    --token.at;
  while (token.end < input->size && is_word(input->data[token.end]))
    ++token.end;
  return token;
}

static const fuzz_input_t *random_seed(fuzz_corpus_t *corpus) {
  return &corpus->seeds[fuzz_random(corpus, corpus->seed_count)];
}

/* ---- Mutations -------------------------------------------------------------
 */

static void flip_bits(fuzz_corpus_t *corpus, fuzz_input_t *input) {
  if (input->size > 0)
    input->data[fuzz_random(corpus, input->size)] ^=
        (uint8_t)(1 + fuzz_random(corpus, 255));
}

static void insert_byte(fuzz_corpus_t *corpus, fuzz_input_t *input) {
  uint8_t byte = (uint8_t)fuzz_random(corpus, 256);
  size_t at = fuzz_random(corpus, input->size + 1);
  replace(input, (range_t){at, at}, &byte, 1);
}

static void erase_range(fuzz_corpus_t *corpus, fuzz_input_t *input) {
  replace(input, random_range(corpus, input, 64), NULL, 0);
}

static void truncate_end(fuzz_corpus_t *corpus, fuzz_input_t *input) {
  input->size = fuzz_random(corpus, input->size + 1);
}

/* One piece, many times over: depth and length. */
static void repeat_token(fuzz_corpus_t *corpus, fuzz_input_t *input) {
  range_t token = random_token(corpus, input);
  size_t size = token.end - token.at;
  size_t count = (size_t)1 << fuzz_random(corpus, 9);
  uint8_t *copies = uattn_allocate(size * count + 1);
  for (size_t i = 0; i < count; ++i)
    memcpy(copies + i * size, input->data + token.at, size);
  replace(input, token, copies, size * count);
  free(copies);
}

static void copy_range(fuzz_corpus_t *corpus, fuzz_input_t *input) {
  range_t from = random_range(corpus, input, 256);
  size_t at = fuzz_random(corpus, input->size + 1);
  replace(input, (range_t){at, at}, input->data + from.at, from.end - from.at);
}

/* A token in place of another, of this input or a seed. */
static void replace_token(fuzz_corpus_t *corpus, fuzz_input_t *input) {
  const fuzz_input_t *other =
      fuzz_random(corpus, 2) ? random_seed(corpus) : input;
  range_t from = random_token(corpus, other);
  range_t to = random_token(corpus, input);
  replace(input, to, other->data + from.at, from.end - from.at);
}

static void replace_number(fuzz_corpus_t *corpus, fuzz_input_t *input) {
  static const char *const numbers[] = {
      "0",
      "-1",
      "1",
      "2147483647",
      "4294967296",
      "0xFFFFFFFFFFFFFFFF",
      "18446744073709551616",
      "-9223372036854775808",
      "99999999",
      "131072",
      "0f7FC00000",
      "0dFFF0000000000000",
      "1e308",
      "-1.5e-320",
      "65536",
      "(1<<31)/-1",
      "08",
  };
  const char *number =
      numbers[fuzz_random(corpus, sizeof numbers / sizeof *numbers)];
  for (int tries = 0; tries < 20; ++tries) {
    range_t token = random_token(corpus, input);
    if (token.at < token.end && isdigit(input->data[token.at])) {
      replace(input, token, number, strlen(number));
      return;
    }
  }
}

/* The start of this and the end of another. */
static void splice(fuzz_corpus_t *corpus, fuzz_input_t *input) {
  const fuzz_input_t *other = random_seed(corpus);
  size_t from = fuzz_random(corpus, other->size + 1);
  size_t at = fuzz_random(corpus, input->size + 1);
  replace(input, (range_t){at, input->size}, other->data + from,
          other->size - from);
}

/* A line of a seed anywhere: whole statements keep a text valid for long. */
static void insert_line(fuzz_corpus_t *corpus, fuzz_input_t *input) {
  const fuzz_input_t *other = random_seed(corpus);
  size_t at = fuzz_random(corpus, other->size + 1);
  size_t end = at;
  while (at > 0 && other->data[at - 1] != '\n')
    --at;
  while (end < other->size && other->data[end] != '\n')
    ++end;
  size_t to = fuzz_random(corpus, input->size + 1);
  while (to > 0 && input->data[to - 1] != '\n')
    --to;
  replace(input, (range_t){to, to}, other->data + at,
          end < other->size ? end + 1 - at : end - at);
}

fuzz_input_t fuzz_mutate(fuzz_corpus_t *corpus) {
  static void (*const mutations[])(fuzz_corpus_t *, fuzz_input_t *) = {
      flip_bits,     insert_byte,    erase_range,    truncate_end,
      repeat_token,  copy_range,     replace_token,  replace_token,
      replace_token, replace_number, replace_number, splice,
      insert_line,   insert_line,
  };
  const fuzz_input_t *seed = random_seed(corpus);
  fuzz_input_t input = {.data = uattn_allocate(seed->size + 1),
                        .size = seed->size};
  memcpy(input.data, seed->data, seed->size);
  size_t count = (size_t)1 << fuzz_random(corpus, 4);
  for (size_t i = 0; i < count; ++i)
    mutations[fuzz_random(corpus, sizeof mutations / sizeof *mutations)](
        corpus, &input);
  return input;
}
