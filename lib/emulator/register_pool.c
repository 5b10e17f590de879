/* setmaxnreg: registers that warps give to the CTA's pool and take from it.
 * Layer: emulator. Must not know: what registers hold.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 9.0, "setmaxnreg": the pool begins empty; .dec gives to it, .inc
 * takes from it and waits until it has enough. */
#include "emulator/decode.h"
#include "emulator/decode_fence.h"
#include "emulator/hazards.h"
#include "emulator/run_launch.h"

enum {
  LEAST_REGISTERS = 24,
  MOST_REGISTERS = 256,
  REGISTER_STEP = 8,
  SM_REGISTERS = 65536,
  MOST_AT_LAUNCH = 248 /* what a thread can have, in whole steps */
};

/* What a thread has at the launch, as far as the entry's directives say; 0
 * where they do not. */
static uint32_t registers_at_launch(const emu_cta_t *cta) {
  const ptx_entry_t *entry = cta->launch->program->entry;
  if (entry->maxnreg)
    return entry->maxnreg / REGISTER_STEP * REGISTER_STEP;
  if (!entry->reqntid[0] && !entry->maxntid[0])
    return 0;
  uint32_t count = SM_REGISTERS / (cta->warp_count * EMU_LANES);
  count = count / REGISTER_STEP * REGISTER_STEP;
  return count < MOST_AT_LAUNCH ? count : MOST_AT_LAUNCH;
}

void emu_registers_start(emu_cta_t *cta) {
  uint32_t count = registers_at_launch(cta);
  cta->register_pool = 0;
  for (uint32_t i = 0; i < cta->warp_count; ++i)
    cta->warps[i].register_count = count;
}

static void report(emu_warp_t *warp, const emu_insn_t *insn, const char *what) {
  emu_party_t party = {warp->index, 0, insn};
  if (warp->register_count == 0)
    emu_find(warp->cta, EMU_FINDING_REGISTER_COUNT, &party, NULL,
             "the launch does not say how many registers a thread has: "
             "expected .maxnreg, .maxntid or .reqntid");
  else
    emu_find(warp->cta, EMU_FINDING_REGISTER_COUNT, &party, NULL,
             "a thread has %u registers: expected %s", warp->register_count,
             what);
}

static emu_outcome_t execute_give(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  (void)lanes;
  uint32_t count = (uint32_t)insn->immediates[0];
  emu_hazards_aligned(warp, insn, 0);
  if (warp->register_count == 0 || count > warp->register_count)
    report(warp, insn, "at least as many as setmaxnreg.dec leaves");
  else
    warp->cta->register_pool += (warp->register_count - count) * EMU_LANES;
  warp->register_count = count;
  return EMU_NEXT;
}

static emu_outcome_t execute_take(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  (void)lanes;
  uint32_t count = (uint32_t)insn->immediates[0];
  if (warp->register_count && count > warp->register_count) {
    uint32_t wanted = (count - warp->register_count) * EMU_LANES;
    if (wanted > warp->cta->register_pool) {
      warp->wait = (emu_wait_t){.kind = EMU_WAIT_REGISTERS};
      return EMU_BLOCKED;
    }
    warp->cta->register_pool -= wanted;
  }
  emu_hazards_aligned(warp, insn, 0);
  if (warp->register_count == 0 || count < warp->register_count)
    report(warp, insn, "at most as many as setmaxnreg.inc asks for");
  warp->register_count = count;
  return EMU_NEXT;
}

uattn_error_t *emu_decode_setmaxnreg(emu_decoder_t *decoder,
                                     const ptx_instruction_t *syntax,
                                     emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  bool takes = emu_take(&parts, "inc");
  bool is_right = (takes || emu_take(&parts, "dec")) &&
                  emu_take(&parts, "sync") && emu_take(&parts, "aligned") &&
                  emu_take(&parts, "u32");
  insn->execute = takes ? execute_take : execute_give;
  insn->is_aligned = true;
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error && !is_right)
    error = emu_unsupported(decoder, syntax, "no known form of setmaxnreg");
  int64_t count = 0;
  if (!error)
    error = emu_expect_operands(decoder, syntax, 1, 1);
  if (!error)
    error = emu_decode_immediate(decoder, syntax, &syntax->operands[0], &count);
  if (!error && (count < LEAST_REGISTERS || count > MOST_REGISTERS ||
                 count % REGISTER_STEP))
    error = emu_unsupported(
        decoder, syntax, "%lld registers: expected a multiple of %d, %d to %d",
        (long long)count, REGISTER_STEP, LEAST_REGISTERS, MOST_REGISTERS);
  insn->immediates[0] = count;
  return error;
}
