/* What ends a launch: the first fault of a CTA, with where it happened.
 * Layer: emulator. Must not know: instructions, scheduling.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "emulator/run_launch.h"

/* An instruction of a hundred operands says enough by its first ones. */
enum { MOST_TEXT = 100 };

void emu_append_text(uattn_string_t *text, const emu_insn_t *insn) {
  const char *instruction = insn->syntax->text;
  if (strlen(instruction) <= MOST_TEXT)
    uattn_string_appendf(text, "'%s'", instruction);
  else
    uattn_string_appendf(text, "'%.*s...'", MOST_TEXT, instruction);
}

void emu_append_lanes(uattn_string_t *text, uint32_t warp, uint32_t lanes) {
  uattn_string_appendf(text, " warp %u", warp);
  if (lanes && !(lanes & (lanes - 1)))
    uattn_string_appendf(text, " lane %d", __builtin_ctz(lanes));
  else if (lanes && lanes != EMU_ALL_LANES)
    uattn_string_appendf(text, " lanes 0x%08x", lanes);
}

void emu_append_place(uattn_string_t *text, const emu_cta_t *cta,
                      const emu_warp_t *warp, uint32_t lanes,
                      const emu_insn_t *insn) {
  const emu_program_t *program = cta->launch->program;
  uattn_string_appendf(text, "%s:", program->module->name);
  if (insn && insn->syntax->line > 0) {
    uattn_string_appendf(text, "%d: ", insn->syntax->line);
    emu_append_text(text, insn);
  } else {
    uattn_string_appendf(text, " %s", program->entry->name);
  }
  uattn_string_append(text, ":");
  uattn_string_appendf(text, " cta (%u, %u, %u)", cta->index[0], cta->index[1],
                       cta->index[2]);
  if (warp)
    emu_append_lanes(text, warp->index, lanes);
  uattn_string_append(text, ": ");
}

void emu_fault(emu_cta_t *cta, const emu_warp_t *warp, int lane,
               const emu_insn_t *insn, const char *format, ...) {
  if (cta->fault)
    return;
  uattn_string_t text = {0};
  emu_append_place(&text, cta, warp, lane < 0 ? 0 : 1u << lane, insn);
  va_list arguments;
  va_start(arguments, format);
  uattn_string_appendv(&text, format, arguments);
  va_end(arguments);
  cta->fault =
      uattn_error_create(UATTN_ERROR_FAULT, "%s", uattn_string_get(&text));
  uattn_string_release(&text);
}
