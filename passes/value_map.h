/* A map from values of one function to values of another.
 * Layer: passes. Must not know: what the values mean.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_VALUE_MAP_H
#define UATTN_PASSES_VALUE_MAP_H

#include <mlir-c/IR.h>
#include <stddef.h>

/* Zero-initialise; release when done. */
typedef struct {
  MlirValue *keys;
  MlirValue *values;
  size_t count;
  size_t capacity; /* a power of two */
} uattn_value_map_t;

/* Replaces what `key` had. */
void uattn_value_map_set(uattn_value_map_t *map, MlirValue key,
                         MlirValue value);
/* Null where `key` has nothing. */
MlirValue uattn_value_map_get(const uattn_value_map_t *map, MlirValue key);
void uattn_value_map_release(uattn_value_map_t *map);

#endif /* UATTN_PASSES_VALUE_MAP_H */
