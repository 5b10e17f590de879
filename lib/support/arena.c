/* Memory whose pieces are all released at once.
 * Layer: support. Must not know: any concept of attention, MLIR or CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include <stdlib.h>

#define BLOCK_BYTES ((size_t)16384)

typedef struct block {
  struct block *next;
  size_t used_bytes;
  size_t capacity_bytes;
  max_align_t data[];
} block_t;

struct uattn_arena {
  block_t *blocks; /* newest first */
};

uattn_arena_t *uattn_arena_create(void) {
  return uattn_allocate(sizeof(uattn_arena_t));
}

void uattn_arena_destroy(uattn_arena_t *arena) {
  if (!arena)
    return;
  block_t *block = arena->blocks;
  while (block) {
    block_t *next = block->next;
    free(block);
    block = next;
  }
  free(arena);
}

static block_t *add_block(uattn_arena_t *arena, size_t needed_bytes) {
  size_t capacity = needed_bytes > BLOCK_BYTES ? needed_bytes : BLOCK_BYTES;
  size_t total = 0;
  UATTN_CHECK(uattn_size_add(capacity, sizeof(block_t), &total));
  block_t *block = uattn_allocate(total);
  block->capacity_bytes = capacity;
  block->next = arena->blocks;
  arena->blocks = block;
  return block;
}

void *uattn_arena_allocate(uattn_arena_t *arena, size_t bytes) {
  size_t rounded = 0;
  UATTN_CHECK(uattn_size_add(bytes, _Alignof(max_align_t) - 1, &rounded));
  rounded -= rounded % _Alignof(max_align_t);
  block_t *block = arena->blocks;
  if (!block || block->capacity_bytes - block->used_bytes < rounded)
    block = add_block(arena, rounded);
  void *piece = (char *)block->data + block->used_bytes;
  block->used_bytes += rounded;
  return piece;
}

char *uattn_arena_format(uattn_arena_t *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  int size = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  UATTN_CHECK(size >= 0);
  char *text = uattn_arena_allocate(arena, (size_t)size + 1);
  vsnprintf(text, (size_t)size + 1, format, again);
  va_end(again);
  return text;
}
