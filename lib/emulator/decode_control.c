/* Control flow: branches, ends, traps.
 * Layer: emulator. Must not know: how lanes are grouped and scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode.h"

static emu_outcome_t execute_branch(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes) {
  (void)warp;
  (void)insn;
  (void)lanes;
  return EMU_BRANCH;
}

static uattn_error_t *decode_bra(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  emu_take(&parts, "uni");
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 1, 1);
  if (error)
    return error;
  if (syntax->operands[0].kind != PTX_OPERAND_LABEL)
    return emu_unsupported(decoder, syntax, "expected a label");
  insn->execute = execute_branch;
  insn->target = syntax->operands[0].index;
  return NULL;
}

/* ---- Branches through a list -----------------------------------------------
 */

typedef struct {
  uint32_t count;
  uint32_t targets[];
} targets_t;

static emu_outcome_t execute_indexed(emu_warp_t *warp, const emu_insn_t *insn,
                                     uint32_t lanes) {
  const targets_t *targets = insn->detail;
  const uint32_t *indices = emu_words(warp, insn->rows[0]);
  EMU_FOR_LANES(lane, lanes) {
    if (indices[lane] >= targets->count) {
      emu_fault(warp->cta, warp, (int)lane, insn,
                "index %u of a list of %u targets", indices[lane],
                targets->count);
      return EMU_FAULT;
    }
    warp->pc[lane] = targets->targets[indices[lane]];
  }
  return EMU_JUMPED;
}

static uattn_error_t *decode_brx(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  bool is_indexed = emu_take(&parts, "idx");
  emu_take(&parts, "uni");
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 2, 2);
  if (error)
    return error;
  const ptx_operand_t *list = &syntax->operands[1];
  if (!is_indexed || list->kind != PTX_OPERAND_VECTOR)
    return emu_unsupported(decoder, syntax,
                           "expected .idx and a list of targets");
  targets_t *targets = uattn_arena_allocate(
      decoder->arena,
      sizeof *targets + list->element_count * sizeof *targets->targets);
  targets->count = list->element_count;
  for (uint32_t i = 0; i < list->element_count; ++i) {
    if (list->elements[i].kind != PTX_OPERAND_LABEL)
      return emu_unsupported(decoder, syntax, "expected labels as targets");
    targets->targets[i] = list->elements[i].index;
  }
  insn->detail = targets;
  insn->execute = execute_indexed;
  return emu_decode_source(decoder, syntax, &syntax->operands[0], PTX_TYPE_U32,
                           &insn->rows[0]);
}

/* ---- Ends and pauses -------------------------------------------------------
 */

static emu_outcome_t execute_exit(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  (void)warp;
  (void)insn;
  (void)lanes;
  return EMU_EXITED;
}

static uattn_error_t *decode_exit(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  if (strcmp(syntax->parts[0], "ret") == 0)
    emu_take(&parts, "uni");
  insn->execute = execute_exit;
  uattn_error_t *error = emu_parts_end(&parts);
  return error ? error : emu_expect_operands(decoder, syntax, 0, 0);
}

static emu_outcome_t execute_trap(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  emu_fault(warp->cta, warp, __builtin_ctz(lanes), insn,
            "the kernel has trapped");
  return EMU_FAULT;
}

static uattn_error_t *decode_trap(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  insn->execute = execute_trap;
  uattn_error_t *error = emu_parts_end(&parts);
  return error ? error : emu_expect_operands(decoder, syntax, 0, 0);
}

static emu_outcome_t execute_pause(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  (void)warp;
  (void)insn;
  (void)lanes;
  return EMU_NEXT;
}

/* A pause ends the warp's turn, as the program has noted; nobody listens to
 * events and there is no debugger. */
static uattn_error_t *decode_pause(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  bool is_sleep = strcmp(syntax->parts[0], "nanosleep") == 0;
  bool has_word = is_sleep && emu_take(&parts, "u32");
  if (strcmp(syntax->parts[0], "pmevent") == 0)
    emu_take(&parts, "mask");
  insn->execute = execute_pause;
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error && is_sleep && !has_word)
    error = emu_unsupported(decoder, syntax, "expected .u32");
  if (!error)
    error = emu_expect_operands(decoder, syntax, is_sleep, 1);
  if (!error && syntax->operand_count)
    error = emu_decode_source(decoder, syntax, &syntax->operands[0],
                              PTX_TYPE_U32, &insn->rows[0]);
  return error;
}

const emu_opcode_t emu_control_opcodes[] = {
    {"bra", decode_bra},
    {"brx", decode_brx},
    {"exit", decode_exit},
    {"ret", decode_exit},
    {"trap", decode_trap},
    {"nanosleep", decode_pause},
    {"pmevent", decode_pause},
    {"brkpt", decode_pause},
    {NULL, NULL},
};
