/* Instructions of a warp as a whole: elections, reductions, meeting.
 * Layer: emulator. Must not know: how lanes are grouped and scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode.h"
#include "emulator/hazards.h"
#include "emulator/run_launch.h"

/* ---- redux -----------------------------------------------------------------
 * rows: d, a, member mask. */

typedef enum { ADD, MIN, MAX, AND, OR, XOR } reduction_t;
static const char *const reductions[] = {"add", "min", "max", "and",
                                         "or",  "xor", NULL};

static uint32_t reduce(reduction_t reduction, bool is_signed, uint32_t a,
                       uint32_t b) {
  bool is_less = is_signed ? (int32_t)a < (int32_t)b : a < b;
  switch (reduction) {
  case ADD:
    return a + b;
  case MIN:
    return is_less ? a : b;
  case MAX:
    return is_less ? b : a;
  case AND:
    return a & b;
  case OR:
    return a | b;
  case XOR:
    break;
  }
  return a ^ b;
}

static emu_outcome_t execute_redux(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  const uint32_t *a = emu_words(warp, insn->rows[1]);
  const uint32_t *masks = emu_words(warp, insn->rows[2]);
  emu_outcome_t outcome;
  if (!emu_members_have_come(warp, insn, lanes, masks, &outcome))
    return outcome;
  uint32_t values[EMU_LANES];
  EMU_FOR_LANES(lane, lanes) {
    values[lane] = a[lane];
    EMU_FOR_LANES(other, masks[lane] & lanes & ~(1u << lane))
    values[lane] = reduce((reduction_t)insn->immediates[0],
                          insn->immediates[1] != 0, values[lane], a[other]);
  }
  emu_set_words(warp, insn->rows[0], lanes, values);
  return EMU_NEXT;
}

static uattn_error_t *decode_redux(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  bool is_sync = emu_take(&parts, "sync");
  int reduction = emu_take_one(&parts, reductions);
  ptx_type_t type = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  bool is_bits = type == PTX_TYPE_B32 && reduction >= AND;
  bool is_number = (type == PTX_TYPE_U32 || type == PTX_TYPE_S32) &&
                   reduction >= 0 && reduction < AND;
  if (!error && (!is_sync || (!is_bits && !is_number)))
    error = emu_unsupported(decoder, syntax,
                            "expected .sync, .add, .min or .max of .u32 or "
                            ".s32, or .and, .or or .xor of .b32");
  if (!error)
    error = emu_expect_operands(decoder, syntax, 3, 3);
  insn->execute = execute_redux;
  insn->immediates[0] = reduction;
  insn->immediates[1] = type == PTX_TYPE_S32;
  const ptx_type_t types[] = {type, type, PTX_TYPE_B32};
  return error ? error : emu_decode_rows(decoder, syntax, insn, 3, types);
}

/* ---- elect -----------------------------------------------------------------
 * rows: d, p, member mask. The lowest lane is elected. */

static emu_outcome_t execute_elect(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  const uint32_t *masks = emu_words(warp, insn->rows[2]);
  emu_outcome_t outcome;
  if (!emu_members_have_come(warp, insn, lanes, masks, &outcome))
    return outcome;
  uint32_t values[EMU_LANES];
  uint32_t elected = 0;
  EMU_FOR_LANES(lane, lanes) {
    values[lane] = (uint32_t)__builtin_ctz(masks[lane] & lanes);
    elected |= (uint32_t)(values[lane] == lane) << lane;
  }
  emu_set_words(warp, insn->rows[0], lanes, values);
  emu_set_predicate(warp, insn->rows[1], lanes, elected);
  return EMU_NEXT;
}

static uattn_error_t *decode_elect(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  bool is_sync = emu_take(&parts, "sync");
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 2, 2);
  if (error)
    return error;
  const ptx_operand_t *target = &syntax->operands[0];
  if (!is_sync || target->kind != PTX_OPERAND_PAIR)
    return emu_unsupported(decoder, syntax, "expected .sync and d|p");
  insn->execute = execute_elect;
  error = emu_decode_target(decoder, syntax, &target->elements[0], PTX_TYPE_B32,
                            &insn->rows[0]);
  if (!error)
    error = emu_decode_target(decoder, syntax, &target->elements[1],
                              PTX_TYPE_PRED, &insn->rows[1]);
  return error ? error
               : emu_decode_source(decoder, syntax, &syntax->operands[1],
                                   PTX_TYPE_B32, &insn->rows[2]);
}

/* ---- activemask, bar.warp.sync ---------------------------------------------
 */

static emu_outcome_t
execute_activemask(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes) {
  uint32_t *target = emu_target_word(warp, insn->rows[0]);
  EMU_LANE_LOOP(lanes, target[lane] = lanes)
  return EMU_NEXT;
}

static uattn_error_t *decode_activemask(emu_decoder_t *decoder,
                                        const ptx_instruction_t *syntax,
                                        emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  ptx_type_t type = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error && type != PTX_TYPE_B32)
    error = emu_unsupported(decoder, syntax, "expected .b32");
  if (!error)
    error = emu_expect_operands(decoder, syntax, 1, 1);
  insn->execute = execute_activemask;
  return error ? error : emu_decode_rows(decoder, syntax, insn, 1, &type);
}

static emu_outcome_t
execute_warp_barrier(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes);

/* Lanes that wait at another bar.warp.sync of the same mask: two branches may
 * have one each. */
static uint32_t lanes_elsewhere(const emu_warp_t *warp, uint32_t lanes,
                                uint32_t mask) {
  const emu_insn_t *insns = warp->cta->launch->program->insns;
  uint32_t elsewhere = 0;
  EMU_FOR_LANES(lane, warp->waiting & warp->live & ~(lanes | warp->met)) {
    const emu_insn_t *insn = &insns[warp->pc[lane]];
    if (insn->execute == execute_warp_barrier &&
        emu_words(warp, insn->rows[0])[lane] == mask)
      elsewhere |= 1u << lane;
  }
  return elsewhere;
}

/* Some of `lanes` have met others here while they waited; others of them, if
 * any, have only come. */
static emu_outcome_t
leave_warp_barrier(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes) {
  uint32_t place = (uint32_t)(insn - warp->cta->launch->program->insns);
  uint32_t met = lanes & warp->met;
  warp->met &= ~met;
  EMU_FOR_LANES(lane, lanes)
  warp->pc[lane] = place + (met >> lane & 1);
  return met == lanes ? EMU_NEXT : EMU_JUMPED;
}

static emu_outcome_t
execute_warp_barrier(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes) {
  const uint32_t *masks = emu_words(warp, insn->rows[0]);
  if (lanes & warp->met)
    return leave_warp_barrier(warp, insn, lanes);
  emu_outcome_t outcome;
  uint32_t others = 0;
  if (!emu_members_have_come(warp, insn, lanes, masks, &outcome)) {
    others = warp->wait.lanes;
    uint32_t mask = masks[__builtin_ctz(lanes)];
    if (outcome != EMU_BLOCKED || others & ~lanes_elsewhere(warp, lanes, mask))
      return outcome;
  }
  warp->met |= others;
  warp->blocked &= ~others;
  emu_hazards_warp_sync(warp, lanes | others);
  return EMU_NEXT;
}

static uattn_error_t *decode_warp_barrier(emu_decoder_t *decoder,
                                          const ptx_instruction_t *syntax,
                                          emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  emu_take(&parts, "warp");
  emu_take(&parts, "sync");
  insn->execute = execute_warp_barrier;
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 1, 1);
  return error ? error
               : emu_decode_source(decoder, syntax, &syntax->operands[0],
                                   PTX_TYPE_B32, &insn->rows[0]);
}

const emu_opcode_t emu_warp_sync_opcodes[] = {
    {"redux", decode_redux},
    {"elect", decode_elect},
    {"activemask", decode_activemask},
    {"bar.warp.sync", decode_warp_barrier},
    {NULL, NULL},
};
