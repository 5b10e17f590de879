/* mbarriers in shared memory and the barriers of warps and CTAs.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/thread_builder.h"

static const MlirType no_result = {NULL};

void uattn_emit_mbarrier_init(const uattn_builder_t *b, MlirValue address,
                              int32_t arrivals) {
  MlirValue operands[2] = {address, uattn_constant_i32(b, arrivals)};
  uattn_inline_ptx(b, "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r",
                   operands, 2, no_result);
}

void uattn_emit_mbarrier_init_fence(const uattn_builder_t *b) {
  uattn_inline_ptx(b, "fence.mbarrier_init.release.cluster;", "", NULL, 0,
                   no_result);
}

void uattn_emit_mbarrier_wait(const uattn_builder_t *b, MlirValue address,
                              MlirValue parity) {
  MlirValue operands[2] = {address, parity};
  uattn_inline_ptx(b,
                   "{\n.reg .pred done;\nWAIT_${:uid}:\n"
                   "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n"
                   "@!done bra.uni WAIT_${:uid};\n}",
                   "r,r", operands, 2, no_result);
}

void uattn_emit_mbarrier_arrive_when(const uattn_builder_t *b,
                                     MlirValue address, MlirValue when) {
  MlirValue operands[2] = {address, when};
  uattn_inline_ptx(b, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b",
                   operands, 2, no_result);
}

void uattn_emit_mbarrier_arrive_expect_tx(const uattn_builder_t *b,
                                          MlirValue address, int32_t bytes) {
  MlirValue operands[2] = {address, uattn_constant_i32(b, bytes)};
  uattn_inline_ptx(b, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
                   "r,r", operands, 2, no_result);
}

void uattn_emit_warp_barrier(const uattn_builder_t *b) {
  uattn_inline_ptx(b, "bar.warp.sync 0xffffffff;", "", NULL, 0, no_result);
}

void uattn_emit_cta_barrier(const uattn_builder_t *b) {
  uattn_op_t op = uattn_op("nvvm.barrier0");
  uattn_op_append(b, &op);
}

void uattn_emit_bar(const uattn_builder_t *b, bool waits, MlirValue id,
                    int64_t threads, MlirValue when) {
  bool is_conditional = !mlirValueIsNull(when);
  MlirValue operands[2] = {id, when};
  uattn_string_t text = {0};
  uattn_string_appendf(&text, "%sbar.%s $0, %lld;",
                       is_conditional ? "@$1 " : "", waits ? "sync" : "arrive",
                       (long long)threads);
  uattn_inline_ptx(b, uattn_string_get(&text), is_conditional ? "r,b" : "r",
                   operands, is_conditional ? 2 : 1, no_result);
  uattn_string_release(&text);
}

MlirValue uattn_emit_bar_all(const uattn_builder_t *b, MlirValue id,
                             MlirValue value) {
  MlirValue operands[2] = {id, value};
  return mlirOperationGetResult(
      uattn_inline_ptx(b, "bar.red.and.pred $0, $1, 128, $2;", "=b,r,b",
                       operands, 2, uattn_type_i1(b)),
      0);
}
