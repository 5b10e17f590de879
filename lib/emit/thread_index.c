/* Which thread this is, exchange within a warp, and register counts.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/thread_builder.h"

static MlirValue special_register(const uattn_builder_t *b, const char *name) {
  uattn_op_t op = uattn_op(name);
  uattn_op_result(&op, uattn_type_i32(b));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_thread_index(const uattn_builder_t *b) {
  return special_register(b, "nvvm.read.ptx.sreg.tid.x");
}

MlirValue uattn_emit_cta_index_x(const uattn_builder_t *b) {
  return special_register(b, "nvvm.read.ptx.sreg.ctaid.x");
}

static MlirValue shuffle(const uattn_builder_t *b, const char *kind,
                         MlirValue value, MlirValue lane_or_mask) {
  uattn_op_t op = uattn_op("nvvm.shfl.sync");
  uattn_op_operand(&op, uattn_constant_i32(b, -1)); /* all lanes take part */
  uattn_op_operand(&op, value);
  uattn_op_operand(&op, lane_or_mask);
  uattn_op_operand(&op, uattn_constant_i32(b, 31));
  uattn_op_attribute(
      &op, "kind",
      uattn_attribute_parse(b->context, "#nvvm<shfl_kind %s>", kind));
  uattn_op_result(&op, mlirValueGetType(value));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_warpgroup_index(const uattn_builder_t *b,
                                     MlirValue thread) {
  MlirValue index =
      uattn_binary(b, "arith.shrui", thread, uattn_constant_i32(b, 7));
  return shuffle(b, "idx", index, uattn_constant_i32(b, 0));
}

MlirValue uattn_emit_shuffle_xor(const uattn_builder_t *b, MlirValue value,
                                 int32_t mask) {
  return shuffle(b, "bfly", value, uattn_constant_i32(b, mask));
}

MlirValue uattn_emit_vote_any(const uattn_builder_t *b, MlirValue value) {
  return mlirOperationGetResult(
      uattn_inline_ptx(b, "vote.sync.any.pred $0, $1, 0xffffffff;", "=b,b",
                       &value, 1, uattn_type_i1(b)),
      0);
}

void uattn_emit_set_max_registers(const uattn_builder_t *b, int64_t registers,
                                  int64_t entry_registers) {
  MlirType none = {NULL};
  if (registers == entry_registers)
    return;
  uattn_string_t text = {0};
  uattn_string_appendf(&text, "setmaxnreg.%s.sync.aligned.u32 %lld;",
                       registers < entry_registers ? "dec" : "inc",
                       (long long)registers);
  uattn_inline_ptx(b, uattn_string_get(&text), "", NULL, 0, none);
  uattn_string_release(&text);
}
