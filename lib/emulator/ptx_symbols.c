/* Hash tables of names and of what they stand for.
 * Layer: emulator. Must not know: tokens, grammar.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/ptx_symbols.h"

#include <stdlib.h>
#include <string.h>

void *ptx_list_add(ptx_list_t *list, size_t element_bytes) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 16;
    size_t bytes = 0;
    UATTN_CHECK(uattn_size_multiply(capacity, element_bytes, &bytes));
    list->data = realloc(list->data, bytes);
    UATTN_CHECK(list->data);
    list->capacity = capacity;
  }
  void *element = (char *)list->data + list->count++ * element_bytes;
  return memset(element, 0, element_bytes);
}

void *ptx_list_move(ptx_list_t *list, size_t first, size_t element_bytes,
                    uattn_arena_t *arena) {
  size_t bytes = (list->count - first) * element_bytes;
  if (bytes == 0)
    return NULL;
  void *copy = uattn_arena_allocate(arena, bytes);
  memcpy(copy, (const char *)list->data + first * element_bytes, bytes);
  list->count = first;
  return copy;
}

void ptx_list_release(ptx_list_t *list) {
  free(list->data);
  *list = (ptx_list_t){0};
}

/* FNV-1a, its high bits folded in. */
static size_t hash_text(const char *text, size_t size) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (size_t i = 0; i < size; ++i)
    hash = (hash ^ (unsigned char)text[i]) * 0x100000001B3u;
  return (size_t)(hash ^ hash >> 32);
}

/* The slot that holds the text, or the free one where it belongs. */
static const char **find_name(const ptx_names_t *names, const char *text,
                              size_t size) {
  size_t mask = names->capacity - 1;
  for (size_t at = hash_text(text, size) & mask;; at = (at + 1) & mask) {
    const char *name = names->slots[at];
    if (!name || (strncmp(name, text, size) == 0 && name[size] == '\0'))
      return &names->slots[at];
  }
}

static void grow_names(ptx_names_t *names) {
  ptx_names_t grown = {.capacity = names->capacity ? 2 * names->capacity : 256};
  grown.slots = uattn_allocate(grown.capacity * sizeof *grown.slots);
  grown.count = names->count;
  for (size_t i = 0; i < names->capacity; ++i)
    if (names->slots[i])
      *find_name(&grown, names->slots[i], strlen(names->slots[i])) =
          names->slots[i];
  free(names->slots);
  *names = grown;
}

const char *ptx_names_add(ptx_names_t *names, uattn_arena_t *arena,
                          const char *text, size_t size) {
  if (2 * names->count >= names->capacity)
    grow_names(names);
  const char **slot = find_name(names, text, size);
  if (!*slot) {
    char *copy = uattn_arena_allocate(arena, size + 1);
    memcpy(copy, text, size);
    *slot = copy;
    ++names->count;
  }
  return *slot;
}

void ptx_names_release(ptx_names_t *names) {
  free(names->slots);
  *names = (ptx_names_t){0};
}

static ptx_symbol_t *find_symbol(const ptx_symbols_t *symbols, const char *name,
                                 uint32_t scope) {
  uint64_t key = (uint64_t)(uintptr_t)name + scope * 0x9E3779B97F4A7C15u;
  key *= 0xD6E8FEB86659FD93u;
  size_t mask = symbols->capacity - 1;
  for (size_t at = (size_t)(key >> 32) & mask;; at = (at + 1) & mask) {
    ptx_symbol_t *symbol = &symbols->slots[at];
    if (symbol->kind == PTX_SYMBOL_NONE ||
        (symbol->name == name && symbol->scope == scope))
      return symbol;
  }
}

ptx_symbol_t *ptx_symbols_find(const ptx_symbols_t *symbols, const char *name,
                               uint32_t scope) {
  if (symbols->capacity == 0)
    return NULL;
  ptx_symbol_t *symbol = find_symbol(symbols, name, scope);
  return symbol->kind == PTX_SYMBOL_NONE ? NULL : symbol;
}

static void grow_symbols(ptx_symbols_t *symbols) {
  ptx_symbols_t grown = {.count = symbols->count};
  grown.capacity = symbols->capacity ? 2 * symbols->capacity : 64;
  grown.slots = uattn_allocate(grown.capacity * sizeof *grown.slots);
  for (size_t i = 0; i < symbols->capacity; ++i) {
    const ptx_symbol_t *symbol = &symbols->slots[i];
    if (symbol->kind != PTX_SYMBOL_NONE)
      *find_symbol(&grown, symbol->name, symbol->scope) = *symbol;
  }
  free(symbols->slots);
  *symbols = grown;
}

void ptx_symbols_add(ptx_symbols_t *symbols, ptx_symbol_t symbol) {
  if (2 * symbols->count >= symbols->capacity)
    grow_symbols(symbols);
  ptx_symbol_t *slot = find_symbol(symbols, symbol.name, symbol.scope);
  UATTN_CHECK(slot->kind == PTX_SYMBOL_NONE);
  *slot = symbol;
  ++symbols->count;
}

void ptx_symbols_release(ptx_symbols_t *symbols) {
  free(symbols->slots);
  *symbols = (ptx_symbols_t){0};
}
