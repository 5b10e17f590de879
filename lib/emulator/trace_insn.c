/* Tells executed instructions: where, by whom, what they read and wrote.
 * Layer: emulator. Must not know: which registers an instruction names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/trace_parts.h"

static bool is_wanted(const emu_trace_t *trace, const emu_warp_t *warp,
                      const emu_insn_t *insn) {
  const uint64_t *cta = trace->options.cta;
  const uint32_t *chosen = trace->options.warp;
  return trace->matches &&
         trace->matches[insn - trace->launch->program->insns] &&
         (!cta || *cta == warp->cta->linear_index) &&
         (!chosen || *chosen == warp->index);
}

static void append_operands(uattn_string_t *text, const emu_warp_t *warp,
                            const emu_insn_t *insn, uint32_t lanes,
                            bool are_targets) {
  emu_trace_operand_t operands[EMU_TRACE_MOST_OPERANDS];
  uint32_t count =
      emu_trace_operands(warp->cta->launch->program, insn, operands);
  for (uint32_t i = 0; i < count; ++i) {
    const emu_trace_operand_t *operand = &operands[i];
    if (operand->is_target != are_targets)
      continue;
    uattn_string_append(text, are_targets ? "  out " : "  in  ");
    emu_trace_append_row(text, operand->name, warp, operand->row, operand->type,
                         lanes);
  }
}

static void append_head(uattn_string_t *text, const emu_warp_t *warp,
                        const emu_insn_t *insn, uint32_t lanes) {
  uattn_string_appendf(text,
                       "%s:%d: ", warp->cta->launch->program->module->name,
                       insn->syntax->line);
  emu_trace_append_cta(text, warp->cta);
  uattn_string_appendf(text, " warp %u ", warp->index);
  if (lanes == EMU_ALL_LANES)
    uattn_string_append(text, "all lanes");
  else
    uattn_string_appendf(text, "lanes 0x%08x", lanes);
  uattn_string_appendf(text, ": %s\n", insn->syntax->text);
}

void emu_trace_before(emu_warp_t *warp, const emu_insn_t *insn,
                      uint32_t lanes) {
  emu_trace_t *trace = warp->cta->trace;
  if (!is_wanted(trace, warp, insn))
    return;
  append_head(&trace->before, warp, insn, lanes);
  append_operands(&trace->before, warp, insn, lanes, false);
}

void emu_trace_after(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes,
                     emu_outcome_t outcome) {
  emu_trace_t *trace = warp->cta->trace;
  uattn_string_t *text = &trace->before;
  if (text->size == 0)
    return;
  if (outcome == EMU_FAULT)
    uattn_string_append(text, "  fault\n");
  else
    append_operands(text, warp, insn, lanes, true);
  /* One that waits is told when it has been executed. */
  if (outcome != EMU_BLOCKED)
    trace->options.tell_instruction(uattn_string_get(text),
                                    trace->options.user_data);
  uattn_string_release(text);
}
