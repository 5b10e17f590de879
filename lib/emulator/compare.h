/* Comparisons of rows.
 * Layer: emulator. Must not know: how instructions are decoded.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_COMPARE_H
#define UATTN_EMULATOR_COMPARE_H

#include "emulator/decode.h"

typedef enum {
  EMU_COMPARE_EQ,
  EMU_COMPARE_NE,
  EMU_COMPARE_LT,
  EMU_COMPARE_LE,
  EMU_COMPARE_GT,
  EMU_COMPARE_GE,
  EMU_COMPARE_LO, /* to HS: unsigned lt, le, gt, ge */
  EMU_COMPARE_LS,
  EMU_COMPARE_HI,
  EMU_COMPARE_HS,
  EMU_COMPARE_EQU, /* to GEU: or a NaN */
  EMU_COMPARE_NEU,
  EMU_COMPARE_LTU,
  EMU_COMPARE_LEU,
  EMU_COMPARE_GTU,
  EMU_COMPARE_GEU,
  EMU_COMPARE_NUM, /* neither is a NaN */
  EMU_COMPARE_NAN  /* one is */
} emu_comparison_t;

typedef enum {
  EMU_BOOL_NONE,
  EMU_BOOL_AND,
  EMU_BOOL_OR,
  EMU_BOOL_XOR
} emu_bool_operation_t;

typedef struct {
  emu_comparison_t comparison;
  emu_bool_operation_t operation; /* with c */
  ptx_type_t type;
  bool flushes;
} emu_compare_t;

/* rows: 0 p, 1 q or none, 2 a, 3 b, 4 c; detail: the comparison. */
emu_execute_t emu_choose_setp(const emu_compare_t *compare);
/* rows: 0 target, 2 a, 3 b, 4 c; immediates[0]: the value for true, of pairs
 * that of a half. */
emu_execute_t emu_choose_set(const emu_compare_t *compare);
/* rows: target, a, b, predicate. */
emu_outcome_t emu_execute_selp_word(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes);
emu_outcome_t emu_execute_selp_long(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes);
/* rows: target, a, b, c; immediates[0]: the type of c. */
emu_outcome_t emu_execute_slct(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t lanes);

#endif /* UATTN_EMULATOR_COMPARE_H */
