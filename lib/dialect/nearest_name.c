/* Which known name a misspelt one was probably meant to be.
 * Layer: dialect. Must not know: what is being named.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect.h"

#include <string.h>

#define MAX_NAME_SIZE 63

static size_t least(size_t a, size_t b, size_t c) {
  size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

/* Insertions, deletions and replacements from `a` to `b`. */
static size_t edit_distance(const char *a, size_t a_size, const char *b,
                            size_t b_size) {
  size_t row[MAX_NAME_SIZE + 1];
  for (size_t j = 0; j <= b_size; ++j)
    row[j] = j;
  for (size_t i = 1; i <= a_size; ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_size; ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = least(row[j] + 1, row[j - 1] + 1, replaced);
    }
  }
  return row[b_size];
}

const char *uattn_nearest_name(MlirStringRef name, const char *const *known,
                               size_t known_count) {
  const char *nearest = NULL;
  size_t nearest_distance = name.length < 6 ? 1 : name.length / 3;
  if (name.length > MAX_NAME_SIZE)
    return NULL;
  for (size_t index = 0; index < known_count; ++index) {
    size_t size = strlen(known[index]);
    if (size < 2 || size > MAX_NAME_SIZE)
      continue;
    size_t distance = edit_distance(name.data, name.length, known[index], size);
    if (distance <= nearest_distance &&
        (!nearest || distance < nearest_distance)) {
      nearest = known[index];
      nearest_distance = distance;
    }
  }
  return nearest;
}
