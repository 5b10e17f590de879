/* Bulk tensor copies between global and shared memory.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/thread_builder.h"

static const MlirType no_result = {NULL};

void uattn_emit_tma_load(const uattn_builder_t *b, MlirValue map,
                         const uattn_tma_coordinates_t *at, MlirValue target,
                         MlirValue barrier) {
  MlirValue operands[7] = {target,  map,       at->column, at->head,
                           at->row, at->batch, barrier};
  uattn_inline_ptx(b,
                   "cp.async.bulk.tensor.4d.shared::cluster.global"
                   ".mbarrier::complete_tx::bytes "
                   "[$0], [$1, {$2, $3, $4, $5}], [$6];",
                   "r,l,r,r,r,r,r", operands, 7, no_result);
}

void uattn_emit_bulk_load(const uattn_builder_t *b, MlirValue source,
                          int32_t bytes, MlirValue target, MlirValue barrier) {
  MlirValue operands[4] = {target, source, uattn_constant_i32(b, bytes),
                           barrier};
  uattn_inline_ptx(b,
                   "cp.async.bulk.shared::cluster.global"
                   ".mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];",
                   "r,l,r,r", operands, 4, no_result);
}

void uattn_emit_tma_store(const uattn_builder_t *b, MlirValue map,
                          const uattn_tma_coordinates_t *at, MlirValue source) {
  MlirValue operands[6] = {map,     at->column, at->head,
                           at->row, at->batch,  source};
  uattn_inline_ptx(b,
                   "cp.async.bulk.tensor.4d.global.shared::cta.bulk_group "
                   "[$0, {$1, $2, $3, $4}], [$5];",
                   "l,r,r,r,r,r", operands, 6, no_result);
}

void uattn_emit_tma_store_wait(const uattn_builder_t *b) {
  uattn_inline_ptx(b,
                   "cp.async.bulk.commit_group;\n"
                   "cp.async.bulk.wait_group.read 0;",
                   "", NULL, 0, no_result);
}

void uattn_emit_async_proxy_fence(const uattn_builder_t *b) {
  uattn_inline_ptx(b, "fence.proxy.async.shared::cta;", "", NULL, 0, no_result);
}
