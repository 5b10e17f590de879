/* Host memory: zeroed, and checked where only a bug could exhaust it.
 * Layer: support. Must not know: any concept of attention, MLIR or CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

void *uattn_try_allocate(size_t bytes) {
  return calloc(1, bytes == 0 ? 1 : bytes);
}

void *uattn_allocate(size_t bytes) {
  void *memory = uattn_try_allocate(bytes);
  UATTN_CHECK(memory != NULL);
  return memory;
}

char *uattn_string_copy(const char *text) {
  if (!text)
    return NULL;
  char *copy = strdup(text);
  UATTN_CHECK(copy != NULL);
  return copy;
}
