/* Names of a PTX module: each kept once, and what it stands for in a scope.
 * Layer: emulator. Must not know: tokens, grammar.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_PTX_SYMBOLS_H
#define UATTN_EMULATOR_PTX_SYMBOLS_H

#include "support/support.h"

/* A growing array on the heap. Zero-initialise; release when done. */
typedef struct {
  void *data;
  size_t count;
  size_t capacity;
} ptx_list_t;

/* A zeroed element at the end, until the next is added. All elements of a list
 * have the same size. */
void *ptx_list_add(ptx_list_t *list, size_t element_bytes);
/* A copy of the elements from `first` on in `arena`, NULL for none; they leave
 * the list. */
void *ptx_list_move(ptx_list_t *list, size_t first, size_t element_bytes,
                    uattn_arena_t *arena);
void ptx_list_release(ptx_list_t *list);

/* Equal texts give equal pointers. Zero-initialise; release when done. */
typedef struct {
  const char **slots;
  size_t count;
  size_t capacity; /* 0 or a power of two */
} ptx_names_t;
const char *ptx_names_add(ptx_names_t *names, uattn_arena_t *arena,
                          const char *text, size_t size);
void ptx_names_release(ptx_names_t *names);

typedef enum {
  PTX_SYMBOL_NONE = 0,
  PTX_SYMBOL_REGISTER,
  PTX_SYMBOL_VARIABLE,
  PTX_SYMBOL_PARAMETER,
  PTX_SYMBOL_ENTRY,
  PTX_SYMBOL_LABEL,  /* `index`: an instruction */
  PTX_SYMBOL_TARGETS /* `index`: a list of .branchtargets */
} ptx_symbol_kind_t;

typedef struct {
  const char *name; /* of ptx_names_add: compared by address */
  uint32_t scope;
  ptx_symbol_kind_t kind;
  uint32_t index;
} ptx_symbol_t;

/* Zero-initialise; release when done. */
typedef struct {
  ptx_symbol_t *slots;
  size_t count;
  size_t capacity;
} ptx_symbols_t;

/* NULL where the scope itself has no such name; until the next is added. */
ptx_symbol_t *ptx_symbols_find(const ptx_symbols_t *symbols, const char *name,
                               uint32_t scope);
/* The name must be new in its scope. */
void ptx_symbols_add(ptx_symbols_t *symbols, ptx_symbol_t symbol);
void ptx_symbols_release(ptx_symbols_t *symbols);

#endif /* UATTN_EMULATOR_PTX_SYMBOLS_H */
