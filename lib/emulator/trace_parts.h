/* What the parts of a trace share.
 * Layer: emulator (private). Must not know: where the texts go.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_TRACE_PARTS_H
#define UATTN_EMULATOR_TRACE_PARTS_H

#include <regex.h>

#include "emulator/trace.h"

/* ---- Values (trace_value.c) ------------------------------------------------
 */

enum { EMU_TRACE_VALUE_CHARS = 64 };
/* The low bits of `bits` as a number; floats so that reading it gives the bits
 * again. */
void emu_trace_format(ptx_type_t type, uint64_t bits,
                      char out_text[EMU_TRACE_VALUE_CHARS]);

/* "%r4 = 17\n", or a table of the lanes. `type` is how the bits are read. */
void emu_trace_append_row(uattn_string_t *text, const char *name,
                          const emu_warp_t *warp, emu_row_t row,
                          ptx_type_t type, uint32_t lanes);

/* A line of the columns' numbers, then a line a row. `data` is dense. */
void emu_trace_append_matrix(uattn_string_t *text, ptx_type_t type,
                             uint32_t rows, uint32_t columns,
                             const uint8_t *data);

/* ---- Operands (trace_operands.c) -------------------------------------------
 */

/* A register that an instruction names. */
typedef struct {
  const char *name;
  emu_row_t row;
  ptx_type_t type; /* how the instruction reads its bits */
  bool is_target;
} emu_trace_operand_t;

/* In the order of the text, each once as a source and once as a target; their
 * number. D of a warpgroup's product is left out: it is written later. */
enum { EMU_TRACE_MOST_OPERANDS = 64 };
uint32_t
emu_trace_operands(const emu_program_t *program, const emu_insn_t *insn,
                   emu_trace_operand_t out_operands[EMU_TRACE_MOST_OPERANDS]);

/* ---- Tiles (find_tile.c, trace_tile.c) -------------------------------------
 */

typedef struct {
  const uattn_emulator_tile_t *wanted;
  bool is_bound; /* to a launch: the first whose program it fits */
  bool is_told;
  const emu_insn_t *insn;
  uint64_t seen; /* a box: issued by the CTA */
  uint64_t copy; /* the number of the box's copy, 0 before it is issued */
  /* Of a product. */
  int64_t warpgroup; /* -1: none has executed it */
  uint64_t warp_seen[EMU_WGMMA_WARPS];
  uint32_t warps;       /* bit each: whose rows are in `values` */
  uint32_t other_warps; /* bit each: have read another B than the first */
  float *values;
} emu_trace_tile_t;

bool emu_trace_tile_fits(const emu_program_t *program,
                         const uattn_emulator_tile_t *tile);
/* NULL for shared memory. */
const emu_insn_t *emu_trace_tile_insn(const emu_program_t *program,
                                      const uattn_emulator_tile_t *tile);
/* That no program fits, and what there is. */
uattn_error_t *emu_trace_tile_missing(const emu_program_t *const *programs,
                                      size_t program_count,
                                      const uattn_emulator_tile_t *tile);
/* What is wrong with the tile's own fields, or with them in a launch. */
UATTN_NODISCARD uattn_error_t *
emu_trace_tile_check(const uattn_emulator_tile_t *tile);
UATTN_NODISCARD uattn_error_t *
emu_trace_tile_check_launch(const emu_launch_t *launch,
                            const uattn_emulator_tile_t *tile);

/* An error where a tile of the launch was not told. */
UATTN_NODISCARD uattn_error_t *emu_trace_tile_end(const emu_launch_t *launch,
                                                  const emu_trace_tile_t *tile);

/* "cta 5 (2, 1, 0)" */
void emu_trace_append_cta(uattn_string_t *text, const emu_cta_t *cta);
ptx_type_t emu_trace_element_type(uattn_element_t element);

struct emu_trace {
  uattn_emulator_trace_t options;
  regex_t expression; /* where there is a pattern */
  bool has_expression;
  const emu_program_t **programs; /* that will be launched */
  size_t program_count;
  bool has_cta; /* in any launch, as the options want them */
  bool has_warp;
  emu_trace_tile_t *tiles;
  uint64_t copies; /* numbered */
  /* Of the launch that runs. */
  const emu_launch_t *launch;
  bool *matches; /* of each instruction; NULL without a pattern */
  uattn_string_t before;
};

#endif /* UATTN_EMULATOR_TRACE_PARTS_H */
