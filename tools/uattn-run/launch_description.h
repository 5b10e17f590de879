/* How to launch a kernel, read from a text; lib/emulator/README.md has its
 * grammar.
 * Layer: tools. Must not know: PTX, inputs, how kernels run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUN_LAUNCH_DESCRIPTION_H
#define UATTN_RUN_LAUNCH_DESCRIPTION_H

#include "support/support.h"
#include "uattn/emulator.h"

enum { LAUNCH_RANK_LIMIT = 8 };

typedef enum {
  LAUNCH_I8,
  LAUNCH_U8,
  LAUNCH_I16,
  LAUNCH_U16,
  LAUNCH_I32,
  LAUNCH_U32,
  LAUNCH_I64,
  LAUNCH_U64,
  LAUNCH_F16,
  LAUNCH_BF16,
  LAUNCH_F32,
  LAUNCH_F64,
  LAUNCH_TYPE_COUNT
} launch_type_t;

typedef enum {
  LAUNCH_FROM_INPUT, /* the next --input */
  LAUNCH_ZEROS,
  LAUNCH_RANDOM, /* from --seed */
  LAUNCH_POISON  /* bytes 0xff: NaN in every float type */
} launch_fill_t;

typedef struct {
  int line;
  const char *name;
  launch_type_t type;
  int rank;
  int64_t shape[LAUNCH_RANK_LIMIT];
  size_t element_count;
  size_t bytes;
  launch_fill_t fill;
  bool is_read_only; /* in */
  bool is_output;    /* out and inout: the next --output */
} launch_buffer_t;

typedef enum {
  LAUNCH_SCALAR,
  LAUNCH_POINTER,
  LAUNCH_MAP
} launch_argument_kind_t;

typedef struct {
  int line;
  launch_argument_kind_t kind;
  uint8_t scalar[8]; /* as it lies in memory */
  size_t bytes;      /* of the parameter */
  size_t buffer;     /* pointers and maps: index */
  int64_t offset_bytes;
  uattn_tensor_map_t map; /* without data */
} launch_argument_t;

/* Texts live in the arena. */
typedef struct {
  uattn_arena_t *arena;
  const char *entry; /* NULL: the only one */
  uint32_t grid[3];
  uint32_t block[3];
  size_t shared_bytes;
  launch_buffer_t *buffers;
  size_t buffer_count;
  launch_argument_t *arguments;
  size_t argument_count;
} launch_description_t;

/* `name` is what messages call the text, with the line: "NAME:3: ...". Release
 * the description in any case. */
UATTN_NODISCARD uattn_error_t *
launch_description_parse(const char *name, const char *text,
                         launch_description_t *out_description);
void launch_description_release(launch_description_t *description);

#endif /* UATTN_RUN_LAUNCH_DESCRIPTION_H */
