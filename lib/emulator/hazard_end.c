/* The end of a CTA: what was begun and nobody has seen the end of.
 * Layer: emulator. Must not know: how threads come to know of each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "emulator/hazard_state.h"

static void check_agents(emu_cta_t *cta) {
  static const char *const works[EMU_AGENT_KINDS] = {
      [EMU_AGENT_MBARRIER] =
          "this copy to shared memory: no thread has passed its mbarrier since",
      [EMU_AGENT_STORES] = "this copy from shared memory: its thread has not "
                           "waited for the bulk group",
      [EMU_AGENT_ASYNC_COPY] = "this cp.async: its thread has not waited for "
                               "the group"};
  const emu_hazards_t *hazards = cta->hazards;
  for (uint32_t i = 0; i < hazards->agent_count; ++i) {
    const emu_agent_t *agent = &hazards->agents[i];
    if (agent->last_party.insn && hazards->observed[i] < agent->last)
      emu_find(cta, EMU_FINDING_EXIT_IN_FLIGHT, &agent->last_party, NULL,
               "the CTA ends with %s", works[agent->kind]);
  }
}

static void check_products(emu_cta_t *cta) {
  const emu_hazards_t *hazards = cta->hazards;
  for (uint32_t i = 0; i < hazards->warp_count; ++i) {
    const emu_warp_registers_t *registers = &hazards->registers[i];
    emu_party_t party = {i, 0, registers->last_product};
    if (registers->issued > registers->done)
      emu_find(cta, EMU_FINDING_EXIT_IN_FLIGHT, &party, NULL,
               "the CTA ends with this wgmma, which its warp has not waited "
               "for");
  }
}

/* All copies have landed: there were bytes that nobody announced, or bytes are
 * all that is missing. */
static bool is_miscounted(const emu_mbarrier_t *mbarrier) {
  return mbarrier->pending_bytes < 0 ||
         (mbarrier->pending_bytes > 0 && mbarrier->pending == 0);
}

static void check_mbarriers(emu_cta_t *cta) {
  const emu_barriers_t *barriers = emu_barriers(cta);
  for (size_t i = 0; i < barriers->mbarrier_count; ++i) {
    const emu_mbarrier_t *mbarrier = &barriers->mbarriers[i];
    bool is_half_done =
        mbarrier->pending != mbarrier->expected || mbarrier->pending_bytes != 0;
    if (!mbarrier->is_initialised || !is_half_done)
      continue;
    uint32_t point = emu_mbarrier_point(cta->hazards, i * 8);
    uattn_string_t text = {0};
    emu_mbarrier_describe(cta, i * 8, &text);
    emu_find(cta,
             is_miscounted(mbarrier) ? EMU_FINDING_TRANSACTION_COUNT
                                     : EMU_FINDING_HALF_DONE_BARRIER,
             &cta->hazards->points[point].init, NULL,
             "the CTA ends in the middle of a phase of the mbarrier at shared "
             "address %zu: %s",
             i * 8, uattn_string_get(&text));
    uattn_string_release(&text);
  }
}

static void check_named(emu_cta_t *cta) {
  const emu_barriers_t *barriers = emu_barriers(cta);
  for (uint32_t i = 0; i < EMU_NAMED_BARRIERS; ++i) {
    if (!barriers->named[i].is_active)
      continue;
    emu_party_t nobody = {0};
    uattn_string_t text = {0};
    emu_barrier_describe(cta, i, &text);
    emu_find(cta, EMU_FINDING_HALF_DONE_BARRIER, &nobody, NULL,
             "the CTA ends in the middle of a phase of %s",
             uattn_string_get(&text));
    uattn_string_release(&text);
  }
}

void emu_hazards_end(emu_cta_t *cta) {
  if (!cta->hazards)
    return;
  check_agents(cta);
  check_products(cta);
  emu_uniform_end(cta);
  if (!cta->barriers)
    return;
  check_mbarriers(cta);
  check_named(cta);
}
