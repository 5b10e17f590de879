/* What the decoders of bulk copies give to the functions that execute them.
 * Layer: emulator. Must not know: PTX text, how bytes are moved.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_DECODE_COPY_H
#define UATTN_EMULATOR_DECODE_COPY_H

#include "emulator/bulk_copy.h"

/* Rows of a copy; each of the first four is an address with an offset in the
 * immediate of the same number. */
enum {
  EMU_COPY_ROW_SHARED,
  EMU_COPY_ROW_GLOBAL, /* or the tensor map; or the source, of a local copy */
  EMU_COPY_ROW_MBARRIER,
  EMU_COPY_ROW_SIZE,
  EMU_COPY_ROW_MASK /* of CTAs */
};

typedef struct {
  emu_copy_kind_t kind;
  bool is_tensor;
  uint32_t rank;
  emu_row_t coordinates[EMU_TENSOR_MAX_RANK];
  emu_reduce_t reduction;
  ptx_type_t type;
} emu_copy_form_t;

/* `insn->detail` is an emu_copy_form_t. */
emu_outcome_t emu_execute_copy(emu_warp_t *warp, const emu_insn_t *insn,
                               uint32_t lanes);

#endif /* UATTN_EMULATOR_DECODE_COPY_H */
