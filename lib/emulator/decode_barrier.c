/* bar, barrier, barrier.cluster.
 * Layer: emulator. Must not know: mbarriers, how warps are scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode.h"
#include "emulator/decode_fence.h"
#include "emulator/hazards.h"

enum { ROW_TARGET, ROW_BARRIER, ROW_THREADS, ROW_PREDICATE };

typedef enum { REDUCE_NONE, REDUCE_COUNT, REDUCE_ALL, REDUCE_ANY } reduction_t;

typedef struct {
  bool waits;
  reduction_t reduction;
} barrier_form_t;

/* ---- Execution -------------------------------------------------------------
 */

/* The value that all `lanes` have. */
static bool uniform_word(emu_warp_t *warp, const emu_insn_t *insn,
                         uint32_t lanes, uint32_t row, const char *what,
                         uint32_t *out_value) {
  const uint32_t *words = emu_words(warp, insn->rows[row]);
  uint32_t first = (uint32_t)__builtin_ctz(lanes);
  EMU_FOR_LANES(lane, lanes) {
    if (words[lane] == words[first])
      continue;
    emu_fault(warp->cta, warp, (int)lane, insn,
              "%s %u, and %u in lane %u: expected one for the warp", what,
              words[lane], words[first], first);
    return false;
  }
  *out_value = words[first];
  return true;
}

static bool read_barrier(emu_warp_t *warp, const emu_insn_t *insn,
                         uint32_t lanes, uint32_t *out_barrier) {
  if (!uniform_word(warp, insn, lanes, ROW_BARRIER, "barrier", out_barrier))
    return false;
  if (*out_barrier < EMU_NAMED_BARRIERS)
    return true;
  emu_fault(warp->cta, warp, -1, insn, "barrier %u: expected 0 to %d",
            *out_barrier, EMU_NAMED_BARRIERS - 1);
  return false;
}

/* Threads as warps; 0 where the instruction names none. */
static bool read_expected(emu_warp_t *warp, const emu_insn_t *insn,
                          uint32_t lanes, uint32_t *out_warps) {
  *out_warps = 0;
  if (insn->rows[ROW_THREADS].kind == EMU_ROW_NONE)
    return true;
  uint32_t threads = 0;
  if (!uniform_word(warp, insn, lanes, ROW_THREADS, "thread count", &threads))
    return false;
  if (threads == 0 || threads % EMU_LANES ||
      threads > EMU_MAX_WARPS * EMU_LANES) {
    emu_fault(warp->cta, warp, -1, insn,
              "%u threads: expected a multiple of %d, up to %d", threads,
              EMU_LANES, EMU_MAX_WARPS * EMU_LANES);
    return false;
  }
  *out_warps = threads / EMU_LANES;
  return true;
}

static void store_reduction(emu_warp_t *warp, const emu_insn_t *insn,
                            uint32_t lanes, reduction_t reduction,
                            uint32_t true_count, uint32_t thread_count) {
  emu_row_t target = insn->rows[ROW_TARGET];
  if (reduction == REDUCE_COUNT) {
    uint32_t values[EMU_LANES];
    for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
      values[lane] = true_count;
    emu_set_words(warp, target, lanes, values);
    return;
  }
  bool is_true =
      reduction == REDUCE_ALL ? true_count == thread_count : true_count > 0;
  emu_set_predicate(warp, target, lanes, is_true ? EMU_ALL_LANES : 0);
}

static emu_outcome_t execute_barrier(emu_warp_t *warp, const emu_insn_t *insn,
                                     uint32_t lanes) {
  const barrier_form_t *form = insn->detail;
  emu_arrival_t arrival = {.waits = form->waits,
                           .is_reduction = form->reduction != REDUCE_NONE};
  if (!read_barrier(warp, insn, lanes, &arrival.barrier) ||
      !read_expected(warp, insn, lanes, &arrival.expected))
    return EMU_FAULT;
  if (arrival.is_reduction)
    arrival.predicates = emu_predicate(warp, insn->rows[ROW_PREDICATE]);
  uint32_t true_count = 0, thread_count = 0;
  emu_outcome_t outcome = emu_barrier_arrive(warp, insn, lanes, &arrival,
                                             &true_count, &thread_count);
  if (outcome == EMU_NEXT && arrival.is_reduction)
    store_reduction(warp, insn, lanes, form->reduction, true_count,
                    thread_count);
  return outcome;
}

/* ---- Decoding --------------------------------------------------------------
 */

/* barrier.cluster.arrive{.release,.relaxed}{.aligned}, .wait{.acquire}. */
static uattn_error_t *decode_cluster(emu_parts_t *parts, emu_insn_t *insn) {
  if (emu_take(parts, "arrive")) {
    static const char *const orders[] = {"release", "relaxed", NULL};
    (void)emu_take_one(parts, orders);
    insn->execute = emu_cluster_arrive;
  } else if (emu_take(parts, "wait")) {
    (void)emu_take(parts, "acquire");
    insn->execute = emu_cluster_wait;
  } else {
    return emu_unsupported(parts->decoder, parts->syntax,
                           "neither .arrive nor .wait");
  }
  insn->is_aligned = emu_take(parts, "aligned");
  uattn_error_t *error = emu_parts_end(parts);
  return error ? error
               : emu_expect_operands(parts->decoder, parts->syntax, 0, 0);
}

/* .popc.u32, .and.pred, .or.pred */
static uattn_error_t *decode_reduction(emu_parts_t *parts, emu_insn_t *insn,
                                       reduction_t *out_reduction) {
  static const char *const names[] = {"popc", "and", "or", NULL};
  static const reduction_t reductions[] = {REDUCE_COUNT, REDUCE_ALL,
                                           REDUCE_ANY};
  int index = emu_take_one(parts, names);
  if (index < 0)
    return emu_unsupported(parts->decoder, parts->syntax,
                           "no .popc, .and or .or");
  *out_reduction = reductions[index];
  ptx_type_t wanted = index == 0 ? PTX_TYPE_U32 : PTX_TYPE_PRED;
  if (emu_take_type(parts) != wanted)
    return emu_unsupported(parts->decoder, parts->syntax, "no .%s",
                           index == 0 ? "u32" : "pred");
  return emu_decode_target(parts->decoder, parts->syntax,
                           &parts->syntax->operands[0], wanted,
                           &insn->rows[ROW_TARGET]);
}

/* a{, b}, between a reduction's target and predicate. */
static uattn_error_t *decode_operands(emu_parts_t *parts, emu_insn_t *insn,
                                      bool is_reduction, bool needs_threads) {
  emu_decoder_t *decoder = parts->decoder;
  const ptx_instruction_t *syntax = parts->syntax;
  uint32_t others = is_reduction ? 2 : 0;
  uattn_error_t *error = emu_expect_operands(
      decoder, syntax, others + (needs_threads ? 2 : 1), others + 2);
  if (error)
    return error;
  const ptx_operand_t *operands = syntax->operands + (is_reduction ? 1 : 0);
  error = emu_decode_source(decoder, syntax, &operands[0], PTX_TYPE_U32,
                            &insn->rows[ROW_BARRIER]);
  if (!error && syntax->operand_count == others + 2)
    error = emu_decode_source(decoder, syntax, &operands[1], PTX_TYPE_U32,
                              &insn->rows[ROW_THREADS]);
  if (!error && is_reduction)
    error = emu_decode_source(decoder, syntax,
                              &syntax->operands[syntax->operand_count - 1],
                              PTX_TYPE_PRED, &insn->rows[ROW_PREDICATE]);
  return error;
}

static uattn_error_t *decode_cta(emu_parts_t *parts, emu_insn_t *insn,
                                 bool is_aligned) {
  static const char *const modes[] = {"sync", "arrive", "red", NULL};
  (void)emu_take(parts, "cta");
  int mode = emu_take_one(parts, modes);
  if (mode < 0)
    return emu_unsupported(parts->decoder, parts->syntax,
                           "no .sync, .arrive or .red");
  bool is_reduction = mode == 2, only_arrives = mode == 1;
  insn->is_aligned = emu_take(parts, "aligned") || is_aligned;
  insn->execute = execute_barrier;
  barrier_form_t *form =
      uattn_arena_allocate(parts->decoder->arena, sizeof *form);
  form->waits = !only_arrives;
  insn->detail = form;
  uattn_error_t *error =
      decode_operands(parts, insn, is_reduction, only_arrives);
  if (!error && is_reduction)
    error = decode_reduction(parts, insn, &form->reduction);
  return error ? error : emu_parts_end(parts);
}

static uattn_error_t *decode_bar(emu_decoder_t *decoder,
                                 const ptx_instruction_t *syntax,
                                 emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  return decode_cta(&parts, insn, true);
}

static uattn_error_t *decode_barrier(emu_decoder_t *decoder,
                                     const ptx_instruction_t *syntax,
                                     emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  return emu_take(&parts, "cluster") ? decode_cluster(&parts, insn)
                                     : decode_cta(&parts, insn, false);
}

const emu_opcode_t emu_barrier_opcodes[] = {
    {"bar", decode_bar},
    {"barrier", decode_barrier},
    {"fence", emu_decode_fence},
    {"griddepcontrol", emu_decode_fence},
    {"membar", emu_decode_fence},
    {"setmaxnreg", emu_decode_setmaxnreg},
    {NULL, NULL},
};
