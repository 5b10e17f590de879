/* What a launch tells of itself: chosen instructions, tiles as matrices.
 * Layer: emulator. Must not know: where the texts go.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A CTA that nothing is asked of has no trace (cta->trace is NULL), which is
 * all that others look at. Files: trace.c is its life; trace_insn.c tells
 * instructions, with the registers that trace_operands.c finds; find_tile.c
 * finds tiles in programs, trace_tile.c collects and tells them; trace_value.c
 * turns values into text. */
#ifndef UATTN_EMULATOR_TRACE_H
#define UATTN_EMULATOR_TRACE_H

#include "emulator/bulk_copy.h"
#include "emulator/run_launch.h"
#include "emulator/wgmma_product.h"

/* ---- Its life (trace.c) ----------------------------------------------------
 * One trace serves all launches of a call, one after the other, none of which
 * may be another's while it runs. */

/* Checks what can be checked without a program; NULL options give NULL. They
 * are borrowed until the trace is destroyed. */
UATTN_NODISCARD uattn_error_t *
emu_trace_create(const uattn_emulator_trace_t *options,
                 emu_trace_t **out_trace);
/* Accepts NULL. */
void emu_trace_destroy(emu_trace_t *trace);

/* For each program that will be launched; then whether what is asked for is in
 * any of them. */
void emu_trace_expect(emu_trace_t *trace, const emu_program_t *program);
UATTN_NODISCARD uattn_error_t *emu_trace_check(const emu_trace_t *trace);

/* Around a launch: the end takes the launch's error, and makes one where there
 * is none and a tile was not told. It comes after a failed beginning too. */
UATTN_NODISCARD uattn_error_t *emu_trace_begin(emu_trace_t *trace,
                                               emu_launch_t *launch);
UATTN_NODISCARD uattn_error_t *emu_trace_end(emu_trace_t *trace,
                                             uattn_error_t *owned_error);
/* Whether any launch had the CTA and the warp that are asked for. */
UATTN_NODISCARD uattn_error_t *emu_trace_check_places(const emu_trace_t *trace);

/* The launch's trace where something is asked of this CTA, else NULL. */
emu_trace_t *emu_trace_of_cta(const emu_cta_t *cta);

/* ---- Instructions (trace_insn.c) --------------------------------------------
 * Of a CTA with a trace: before and after each is executed. */

void emu_trace_before(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes);
void emu_trace_after(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes,
                     emu_outcome_t outcome);

/* ---- Tiles (trace_tile.c) --------------------------------------------------
 * Of a CTA with a trace. */

/* What a warp has multiplied: A of 16 columns, B and D of EMU_WGMMA_MAX_N; B is
 * all of it, A and D are the warp's rows. */
void emu_trace_product(emu_warp_t *warp, const emu_product_t *product,
                       const float *a, const float *b, const float *d);
/* When a copy is issued: numbers it. */
void emu_trace_copy(emu_cta_t *cta, emu_copy_t *copy);
/* When a numbered copy's box is in shared memory. */
void emu_trace_box(emu_cta_t *cta, const emu_copy_t *copy);
void emu_trace_cta_end(emu_cta_t *cta);

#endif /* UATTN_EMULATOR_TRACE_H */
