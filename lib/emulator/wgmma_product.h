/* Warpgroup products: what one warp multiplies, and when.
 * Layer: emulator. Must not know: PTX text, how warps are scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_WGMMA_PRODUCT_H
#define UATTN_EMULATOR_WGMMA_PRODUCT_H

#include "emulator/machine.h"

enum {
  EMU_WGMMA_K = 16,
  EMU_WGMMA_WARP_ROWS = 16, /* of the 64 */
  EMU_WGMMA_MAX_N = 256,
  EMU_WGMMA_WARPS = 4
};

typedef struct {
  uint32_t n;
  bool is_bf16; /* of A and B; else f16 */
  bool d_is_half;
  bool a_is_registers;
  bool a_is_mn_major;
  bool b_is_mn_major;
  bool is_negated;
  emu_row_t a[4]; /* registers, or a[0] with the descriptor */
  emu_row_t b;
  emu_row_t scale_d;
  uint32_t d_count;
  emu_row_t d[]; /* registers */
} emu_wgmma_form_t;

/* Read when the instruction is issued; registers of A and D are read when the
 * product is executed. */
typedef struct {
  const emu_insn_t *insn;
  const emu_wgmma_form_t *form;
  uint64_t a_descriptor;
  uint64_t b_descriptor;
  bool accumulates; /* D is added to */
} emu_product_t;

/* The 16 rows of `warp`. False after a fault. */
bool emu_product_execute(emu_warp_t *warp, const emu_product_t *product);

/* Queues a product in the warp's open group. */
void emu_product_start(emu_warp_t *warp, const emu_product_t *product);
void emu_products_commit(emu_warp_t *warp);
/* Executes all but the `allowed` latest committed groups. The four warps of a
 * warpgroup multiply together: the others must have issued the same products,
 * which are done for them too. Else BLOCKED. */
emu_outcome_t emu_products_wait(emu_warp_t *warp, uint64_t allowed);

#endif /* UATTN_EMULATOR_WGMMA_PRODUCT_H */
