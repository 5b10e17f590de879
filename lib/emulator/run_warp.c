/* Executes a warp: groups of lanes that are at one instruction, until they
 * meet, part, wait or end.
 * Layer: emulator. Must not know: what instructions do.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Lanes part at branches and meet again where their pcs are equal; the group
 * with the lowest pc goes first, so that those behind catch up. Lanes that poll
 * or that run alone for long yield to the others, so that these can do what is
 * waited for. */
#include "emulator/hazards.h"
#include "emulator/run_launch.h"
#include "emulator/timeline_record.h"
#include "emulator/trace.h"

/* One group of lanes goes on alone for so long while others of the warp could
 * run. */
enum { LONE_INSTRUCTIONS = 8192 };

typedef enum {
  GROUP_PARTED, /* look which lanes go first now */
  GROUP_POLLED, /* the warp's turn is over */
  GROUP_SPENT,  /* the budget is */
  GROUP_FAULT
} group_end_t;

static void set_pc(emu_warp_t *warp, uint32_t lanes, uint32_t pc) {
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    if (lanes >> lane & 1)
      warp->pc[lane] = pc;
}

static uint32_t lanes_at(const emu_warp_t *warp, uint32_t among, uint32_t pc) {
  uint32_t lanes = 0;
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    lanes |= (uint32_t)(warp->pc[lane] == pc) << lane;
  return lanes & among;
}

static uint32_t lowest_pc(const emu_warp_t *warp, uint32_t among) {
  uint32_t lowest = UINT32_MAX;
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    if ((among >> lane & 1) && warp->pc[lane] < lowest)
      lowest = warp->pc[lane];
  return lowest;
}

/* The lanes that go first, all at `*out_pc`; 0 where all wait. */
static uint32_t choose_group(emu_warp_t *warp, uint32_t *out_pc) {
  uint32_t ready = warp->live & ~warp->blocked;
  if (!ready)
    return 0;
  if (!(ready & ~warp->yielded))
    warp->yielded = 0;
  uint32_t pc = lowest_pc(warp, ready & ~warp->yielded);
  uint32_t group = lanes_at(warp, warp->live, pc);
  uint32_t waiting = group & warp->waiting;
  warp->wait = waiting ? warp->lane_wait[__builtin_ctz(waiting)]
                       : (emu_wait_t){.kind = EMU_WAIT_NONE};
  warp->waiting &= ~group;
  warp->blocked &= ~group;
  warp->yielded &= ~group;
  *out_pc = pc;
  return group;
}

/* True where another group is to go on before one at `pc`, or with it. */
static bool meets(const emu_warp_t *warp, uint32_t others, uint32_t pc) {
  uint32_t ready = others & ~warp->blocked & ~warp->yielded;
  uint32_t before = 0;
  uint32_t beside = 0;
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
    before |= (uint32_t)(warp->pc[lane] < pc) << lane;
    beside |= (uint32_t)(warp->pc[lane] == pc) << lane;
  }
  return (before & ready) || (beside & others);
}

static void block(emu_warp_t *warp, uint32_t lanes) {
  warp->blocked |= lanes;
  warp->waiting |= lanes;
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    if (lanes >> lane & 1)
      warp->lane_wait[lane] = warp->wait;
}

/* Checks that an aligned instruction has all live lanes. */
static emu_outcome_t execute_aligned(emu_warp_t *warp, const emu_insn_t *insn,
                                     uint32_t group, uint32_t lanes) {
  if (!emu_lanes_have_come(warp, group, warp->live))
    return EMU_BLOCKED;
  if (lanes == group)
    return insn->execute(warp, insn, lanes);
  emu_fault(warp->cta, warp, -1, insn,
            "not uniform: executed by lanes 0x%08x of the live lanes 0x%08x: "
            "expected all of the warp",
            lanes, group);
  return EMU_FAULT;
}

static emu_outcome_t execute_lanes(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t group, uint32_t lanes) {
  if (insn->is_aligned)
    return execute_aligned(warp, insn, group, lanes);
  return insn->execute(warp, insn, lanes);
}

static emu_outcome_t execute_traced(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t group, uint32_t lanes) {
  emu_trace_before(warp, insn, lanes);
  emu_outcome_t outcome = execute_lanes(warp, insn, group, lanes);
  emu_trace_after(warp, insn, lanes, outcome);
  return outcome;
}

static emu_outcome_t execute(emu_warp_t *warp, const emu_insn_t *insn,
                             uint32_t group, uint32_t *out_lanes) {
  uint32_t lanes = group;
  if (insn->guard.kind != EMU_ROW_NONE)
    lanes &= emu_predicate(warp, insn->guard);
  *out_lanes = lanes;
  if (warp->cta->hazards)
    emu_hazards_registers(warp, insn, group, lanes);
  if (!lanes)
    return EMU_NEXT;
  if (warp->cta->trace)
    return execute_traced(warp, insn, group, lanes);
  return execute_lanes(warp, insn, group, lanes);
}

/* Notes what others may see of an instruction that has been executed. */
static void note_effects(emu_warp_t *warp, const emu_insn_t *insn) {
  emu_cta_t *cta = warp->cta;
  if (insn->is_effect)
    *cta->progress = (emu_progress_t){0};
  if (insn->is_event)
    cta->asleep_warps = 0;
  if (insn->is_poll)
    ++cta->progress->idle_polls;
}

static bool must_yield(emu_warp_t *warp, uint32_t group, bool is_poll) {
  uint32_t others = warp->live & ~group & ~warp->blocked;
  if (!others)
    return false;
  if (!is_poll && ++warp->lone_instructions < LONE_INSTRUCTIONS)
    return false;
  warp->lone_instructions = 0;
  return true;
}

/* Leaves the pcs of a group of which only `lanes` have been executed. */
static group_end_t part(emu_warp_t *warp, uint32_t lanes, uint32_t lanes_pc,
                        uint32_t skipping, uint32_t skipping_pc) {
  set_pc(warp, lanes, lanes_pc);
  set_pc(warp, skipping, skipping_pc);
  return GROUP_PARTED;
}

static void exit_lanes(emu_warp_t *warp, uint32_t lanes) {
  warp->live &= ~lanes;
  *warp->cta->progress = (emu_progress_t){0};
  warp->cta->asleep_warps = 0; /* barriers may count those that live */
}

/* After an instruction: whether the lanes at `pc` stop here for others of the
 * warp or of the CTA. */
static bool must_stop(emu_warp_t *warp, uint32_t group, uint32_t others,
                      uint32_t pc, const emu_insn_t *insn,
                      group_end_t *out_end) {
  *out_end = insn->is_poll ? GROUP_POLLED : GROUP_PARTED;
  if (others && must_yield(warp, group, insn->is_poll)) {
    warp->yielded |= group;
    return true;
  }
  return insn->is_poll || (others && meets(warp, others, pc));
}

/* Runs the lanes `group` from `pc` on until the CTA's clock is `end`. */
static group_end_t run_group(emu_warp_t *warp, uint32_t group, uint32_t pc,
                             uint64_t end) {
  emu_cta_t *cta = warp->cta;
  const emu_insn_t *insns = cta->launch->program->insns;
  uint32_t others = warp->live & ~group;
  group_end_t how;
  while (cta->clock < end) {
    const emu_insn_t *insn = &insns[pc];
    uint32_t lanes;
    emu_outcome_t outcome = execute(warp, insn, group, &lanes);
    uint32_t skipping = group & ~lanes;
    if (outcome == EMU_BLOCKED) {
      block(warp, lanes);
      return part(warp, lanes, pc, skipping, pc + 1);
    }
    if (outcome == EMU_FAULT)
      return GROUP_FAULT;
    ++cta->clock;
    if (outcome == EMU_EXITED) {
      exit_lanes(warp, lanes);
      return part(warp, 0, 0, skipping, pc + 1);
    }
    emu_record_step(warp, insn);
    if (outcome == EMU_JUMPED)
      return part(warp, 0, 0, skipping, pc + 1);
    if (outcome == EMU_BRANCH && skipping)
      return part(warp, lanes, insn->target, skipping, pc + 1);
    pc = outcome == EMU_BRANCH ? insn->target : pc + 1;
    warp->wait.kind = EMU_WAIT_NONE;
    if (lanes && (insn->is_effect || insn->is_poll))
      note_effects(warp, insn);
    if ((others || insn->is_poll) &&
        must_stop(warp, group, others, pc, insn, &how)) {
      set_pc(warp, group, pc);
      return how;
    }
  }
  set_pc(warp, group, pc);
  return GROUP_SPENT;
}

emu_turn_t emu_warp_run(emu_warp_t *warp, uint32_t budget) {
  emu_cta_t *cta = warp->cta;
  uint64_t start = cta->clock;
  group_end_t how = GROUP_PARTED;
  warp->blocked = 0;
  while (how == GROUP_PARTED && warp->live) {
    uint32_t pc;
    uint32_t group = choose_group(warp, &pc);
    if (!group)
      break;
    how = run_group(warp, group, pc, start + budget);
  }
  uint64_t executed = cta->clock - start;
  warp->executed += executed;
  cta->progress->idle_instructions += executed;
  if (how == GROUP_FAULT)
    return EMU_TURN_FAULT;
  if (!warp->live)
    return EMU_TURN_DONE;
  return executed ? EMU_TURN_RAN : EMU_TURN_BLOCKED;
}
