/* A map from values of one function to values of another: open addressing.
 * Layer: passes. Must not know: what the values mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/value_map.h"

#include <stdint.h>
#include <stdlib.h>

#include "support/support.h"

/* The slot that holds `key`, or the free one where it would go. */
static size_t find_slot(const uattn_value_map_t *map, MlirValue key) {
  uint64_t hash = (uint64_t)(uintptr_t)key.ptr * 0x9E3779B97F4A7C15u;
  size_t slot = (size_t)(hash >> 32) & (map->capacity - 1);
  while (map->keys[slot].ptr && map->keys[slot].ptr != key.ptr)
    slot = (slot + 1) & (map->capacity - 1);
  return slot;
}

static void grow(uattn_value_map_t *map) {
  uattn_value_map_t larger = {.capacity =
                                  map->capacity ? 2 * map->capacity : 64};
  larger.keys = uattn_allocate(larger.capacity * sizeof *larger.keys);
  larger.values = uattn_allocate(larger.capacity * sizeof *larger.values);
  for (size_t i = 0; i < map->capacity; ++i)
    if (map->keys[i].ptr)
      uattn_value_map_set(&larger, map->keys[i], map->values[i]);
  uattn_value_map_release(map);
  *map = larger;
}

void uattn_value_map_set(uattn_value_map_t *map, MlirValue key,
                         MlirValue value) {
  if (2 * map->count >= map->capacity)
    grow(map);
  size_t slot = find_slot(map, key);
  if (!map->keys[slot].ptr)
    ++map->count;
  map->keys[slot] = key;
  map->values[slot] = value;
}

MlirValue uattn_value_map_get(const uattn_value_map_t *map, MlirValue key) {
  MlirValue none = {NULL};
  return map->capacity ? map->values[find_slot(map, key)] : none;
}

void uattn_value_map_release(uattn_value_map_t *map) {
  free(map->keys);
  free(map->values);
  uattn_value_map_t empty = {0};
  *map = empty;
}
