/* Bulk copies: bytes or boxes between global and shared memory, now or later.
 * Layer: emulator. Must not know: PTX text, how the operands were written.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_BULK_COPY_H
#define UATTN_EMULATOR_BULK_COPY_H

#include "emulator/bulk_reduce.h"
#include "emulator/machine.h"
#include "emulator/tensor_box.h"

typedef enum {
  EMU_COPY_LOAD,  /* global to shared, ends on an mbarrier */
  EMU_COPY_LOCAL, /* shared to shared, ends on an mbarrier */
  EMU_COPY_STORE  /* shared to global, in a bulk group */
} emu_copy_kind_t;

/* Checked: sizes, alignments, bounds in shared memory. */
typedef struct {
  emu_copy_kind_t kind;
  const emu_insn_t *insn;
  uint64_t shared;   /* offset; of EMU_COPY_LOCAL: where to */
  uint64_t source;   /* offset; of EMU_COPY_LOCAL alone */
  uint64_t mbarrier; /* offset */
  uint32_t phase;    /* of the mbarrier, when the copy was issued */
  emu_party_t party; /* who issued it */
  uint64_t global;   /* without a tensor map */
  size_t bytes;      /* of the whole box */
  emu_reduce_t reduction;
  ptx_type_t type; /* of a reduction */
  bool is_tensor;
  emu_tensor_map_t map;
  int32_t at[EMU_TENSOR_MAX_RANK];
  uint64_t number; /* of those whose box a trace tells, from 1; else 0 */
} emu_copy_t;

/* Copies to shared memory, some time later, and counts the bytes. */
void emu_copy_start(emu_warp_t *warp, uint32_t lane, const emu_copy_t *copy);

/* Copies from shared memory, some time later, in the open group of `lane`. */
void emu_store_start(emu_warp_t *warp, uint32_t lane, const emu_copy_t *copy);

/* cp.async.bulk.commit_group, for each lane. */
void emu_stores_commit(emu_warp_t *warp, uint32_t lanes);

/* All but the `allowed` latest committed groups of each lane have read their
 * shared memory, and written too unless `only_reads`. False after a fault. */
bool emu_stores_wait(emu_warp_t *warp, uint32_t lanes, uint32_t allowed,
                     bool only_reads);

/* ---- Parts of a copy (bulk_transfer.c) ------------------------------------
 * False after a fault. */

bool emu_transfer_load(emu_cta_t *cta, const emu_copy_t *copy);
bool emu_transfer_local(emu_cta_t *cta, const emu_copy_t *copy);
/* A store in two steps: `data` has copy->bytes. */
bool emu_transfer_read(emu_cta_t *cta, const emu_copy_t *copy, uint8_t *data);
bool emu_transfer_write(emu_cta_t *cta, const emu_copy_t *copy,
                        const uint8_t *data);

#endif /* UATTN_EMULATOR_BULK_COPY_H */
