/* cp.async without bulk: copies of 4, 8 or 16 bytes a lane into shared memory,
 * in groups.
 * Layer: emulator. Must not know: bulk copies, scheduling.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A copy happens at a seeded moment, or when a wait for its group or an
 * mbarrier's arrival asks for it. */
#include <stdlib.h>

#include "emulator/access_parts.h"
#include "emulator/hazards.h"
#include "emulator/timeline_record.h"

/* ---- Copies on their way ---------------------------------------------------
 */

typedef struct copy {
  emu_async_t async;
  struct copy *next; /* of the warp, in order of issue */
  emu_warp_t *warp;
  uint32_t lanes; /* whose copy has not happened */
  uint32_t bytes;
  uint64_t groups[EMU_LANES];
  uint8_t *targets[EMU_LANES];
  const uint8_t *sources[EMU_LANES];
  uint32_t source_bytes[EMU_LANES];
} copy_t;

/* warp->copies */
typedef struct {
  copy_t *first;
  uint64_t groups[EMU_LANES]; /* the open one of each lane */
} copies_t;

static copies_t *copies_of(emu_warp_t *warp) {
  if (!warp->copies)
    warp->copies = uattn_allocate(sizeof(copies_t));
  return warp->copies;
}

static void happen(copy_t *copy, uint32_t lanes) {
  EMU_FOR_LANES(lane, lanes & copy->lanes) {
    uint32_t bytes = copy->source_bytes[lane];
    if (bytes)
      memcpy(copy->targets[lane], copy->sources[lane], bytes);
    memset(copy->targets[lane] + bytes, 0, copy->bytes - bytes);
  }
  copy->lanes &= ~lanes;
}

static bool run_copy(emu_cta_t *cta, emu_async_t *work) {
  (void)cta;
  copy_t *copy = (copy_t *)work;
  happen(copy, copy->lanes);
  copy_t **place = &copies_of(copy->warp)->first;
  while (*place != copy)
    place = &(*place)->next;
  *place = copy->next;
  return true;
}

/* All copies of `lane` in groups before `group`. */
static void happen_before(copies_t *copies, uint32_t lane, uint64_t group) {
  for (copy_t *copy = copies->first; copy; copy = copy->next)
    if (copy->groups[lane] < group)
      happen(copy, 1u << lane);
}

/* ---- Instructions ----------------------------------------------------------
 * rows: target, source, source bytes or predicate to ignore the source;
 * immediates: offsets of both, bytes. */

static uint32_t source_bytes_of(const emu_warp_t *warp, const emu_insn_t *insn,
                                uint32_t lane) {
  emu_row_t row = insn->rows[2];
  uint32_t bytes = (uint32_t)insn->immediates[2];
  if (row.kind == EMU_ROW_PREDICATE)
    return emu_predicate(warp, row) >> lane & 1 ? 0 : bytes;
  return row.kind == EMU_ROW_WORD ? emu_words(warp, row)[lane] : bytes;
}

static bool locate(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lane,
                   uint64_t target, uint64_t source, copy_t *copy) {
  uint32_t bytes = source_bytes_of(warp, insn, lane);
  if (bytes > copy->bytes) {
    emu_fault(warp->cta, warp, (int)lane, insn,
              "%u source bytes: expected at most %u", bytes, copy->bytes);
    return false;
  }
  copy->source_bytes[lane] = bytes;
  copy->targets[lane] =
      emu_memory_locate(warp, insn, lane, PTX_SPACE_SHARED, target, copy->bytes,
                        copy->bytes, true);
  if (!copy->targets[lane])
    return false;
  emu_hazards_async_copy(warp, insn, lane, target, copy->bytes,
                         copy->groups[lane]);
  if (bytes)
    copy->sources[lane] = emu_memory_locate(warp, insn, lane, PTX_SPACE_GLOBAL,
                                            source, bytes, 1, false);
  if (bytes && copy->sources[lane] && source % copy->bytes) {
    emu_fault(warp->cta, warp, (int)lane, insn,
              "the source address is misaligned: expected a multiple of %u",
              copy->bytes);
    return false;
  }
  return !bytes || copy->sources[lane];
}

static emu_outcome_t execute_copy(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  copies_t *copies = copies_of(warp);
  copy_t *copy = uattn_allocate(sizeof *copy);
  uint64_t targets[EMU_LANES];
  uint64_t sources[EMU_LANES];
  copy->async.run = run_copy;
  copy->warp = warp;
  copy->lanes = lanes;
  copy->bytes = (uint32_t)insn->immediates[2];
  emu_addresses(warp, insn->rows[0], insn->immediates[0], targets);
  emu_addresses(warp, insn->rows[1], insn->immediates[1], sources);
  EMU_FOR_LANES(lane, lanes) {
    copy->groups[lane] = copies->groups[lane];
    if (!locate(warp, insn, lane, targets[lane], sources[lane], copy)) {
      free(copy);
      return EMU_FAULT;
    }
  }
  copy_t **end = &copies->first;
  while (*end)
    end = &(*end)->next;
  *end = copy;
  emu_record_copy(warp, insn, EMU_FAMILY_ASYNC, false,
                  copy->bytes * (size_t)__builtin_popcount(lanes));
  emu_cta_defer(warp->cta, &copy->async);
  return EMU_NEXT;
}

static emu_outcome_t execute_commit(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes) {
  (void)insn;
  copies_t *copies = copies_of(warp);
  emu_record_commit(warp, EMU_FAMILY_ASYNC);
  EMU_FOR_LANES(lane, lanes)
  ++copies->groups[lane];
  return EMU_NEXT;
}

/* All but the last immediates[0] groups; of wait_all, the open one too. */
static emu_outcome_t execute_wait(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  copies_t *copies = copies_of(warp);
  emu_record_copy_wait(warp, insn, EMU_FAMILY_ASYNC,
                       insn->immediates[0] < 0 ? EMU_ALL_GROUPS
                                               : (uint64_t)insn->immediates[0],
                       false);
  EMU_FOR_LANES(lane, lanes) {
    uint64_t open = copies->groups[lane];
    uint64_t kept = (uint64_t)insn->immediates[0];
    uint64_t end = insn->immediates[0] < 0 ? open + 1
                   : open > kept           ? open - kept
                                           : 0;
    happen_before(copies, lane, end);
    emu_hazards_async_copies_done(warp, lane, end);
  }
  return EMU_NEXT;
}

/* The arrival happens when the lane's copies have: at once. Without .noinc it
 * is one more than the barrier expects, which changes nothing. */
static emu_outcome_t execute_arrive(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes) {
  copies_t *copies = copies_of(warp);
  uint64_t addresses[EMU_LANES];
  bool counts = insn->immediates[1] != 0;
  emu_addresses(warp, insn->rows[0], insn->immediates[0], addresses);
  EMU_FOR_LANES(lane, lanes) {
    emu_actor_t actor = {warp->cta, warp, (int)lane, insn};
    emu_mbarrier_arrival_t arrival = {.count = 1};
    uint64_t state;
    happen_before(copies, lane, UINT64_MAX);
    emu_hazards_async_copies_arrive(&actor, addresses[lane],
                                    copies->groups[lane]);
    if (counts ? !emu_mbarrier_arrive(&actor, addresses[lane], &arrival, &state)
               : !emu_mbarrier_find(&actor, addresses[lane]))
      return EMU_FAULT;
  }
  return EMU_NEXT;
}

/* ---- Decoding --------------------------------------------------------------
 */

static uattn_error_t *decode_sizes(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   bool is_global_cached, bool has_policy,
                                   emu_insn_t *insn) {
  int64_t bytes = 0;
  uattn_error_t *error =
      emu_decode_immediate(decoder, syntax, &syntax->operands[2], &bytes);
  bool is_right =
      bytes == 16 || (!is_global_cached && (bytes == 4 || bytes == 8));
  if (!error && !is_right)
    error = emu_unsupported(decoder, syntax,
                            "a copy of %lld bytes: expected 4, 8 or 16, of "
                            ".cg 16",
                            (long long)bytes);
  insn->immediates[2] = bytes;
  if (error || syntax->operand_count < 4u + has_policy)
    return error;
  const ptx_operand_t *last = &syntax->operands[3];
  bool is_predicate =
      last->kind == PTX_OPERAND_REGISTER &&
      decoder->entry->registers[last->index].type == PTX_TYPE_PRED;
  return emu_decode_source(decoder, syntax, last,
                           is_predicate ? PTX_TYPE_PRED : PTX_TYPE_U32,
                           &insn->rows[2]);
}

static uattn_error_t *decode_copy(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  static const char *const prefetches[] = {"L2::64B", "L2::128B", "L2::256B",
                                           NULL};
  emu_parts_t parts = emu_parts(decoder, syntax);
  emu_take(&parts, "async");
  bool is_global_cached = emu_take(&parts, "cg");
  if (!is_global_cached)
    emu_take(&parts, "ca");
  bool is_right =
      (emu_take(&parts, "shared") || emu_take(&parts, "shared::cta")) &&
      emu_take(&parts, "global");
  emu_access_parts_t words = {.has_cache_policy =
                                  emu_take(&parts, "L2::cache_hint")};
  emu_take_one(&parts, prefetches);
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error && !is_right)
    error = emu_unsupported(decoder, syntax, "expected .shared.global");
  uint32_t policy = words.has_cache_policy;
  if (!error)
    error = emu_expect_operands(decoder, syntax, 3 + policy, 4 + policy);
  if (!error)
    error = emu_decode_address(decoder, syntax, &syntax->operands[0],
                               &insn->rows[0], &insn->immediates[0]);
  if (!error)
    error = emu_decode_address(decoder, syntax, &syntax->operands[1],
                               &insn->rows[1], &insn->immediates[1]);
  if (!error)
    error = emu_decode_policy(decoder, syntax, &words);
  insn->execute = execute_copy;
  return error ? error
               : decode_sizes(decoder, syntax, is_global_cached, policy, insn);
}

static uattn_error_t *decode_group(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  emu_take(&parts, "async");
  bool is_commit = emu_take(&parts, "commit_group");
  bool is_wait = emu_take(&parts, "wait_group");
  emu_take(&parts, "wait_all");
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error)
    error = emu_expect_operands(decoder, syntax, is_wait, is_wait);
  insn->execute = is_commit ? execute_commit : execute_wait;
  insn->immediates[0] = -1;
  if (!error && is_wait)
    error = emu_decode_immediate(decoder, syntax, &syntax->operands[0],
                                 &insn->immediates[0]);
  if (!error && is_wait && insn->immediates[0] < 0)
    error = emu_unsupported(decoder, syntax, "expected 0 or more groups");
  return error;
}

static uattn_error_t *decode_arrive(emu_decoder_t *decoder,
                                    const ptx_instruction_t *syntax,
                                    emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  emu_take(&parts, "async");
  emu_take(&parts, "mbarrier");
  emu_take(&parts, "arrive");
  insn->immediates[1] = emu_take(&parts, "noinc");
  if (!emu_take(&parts, "shared"))
    emu_take(&parts, "shared::cta");
  ptx_type_t type = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error && type != PTX_TYPE_B64)
    error = emu_unsupported(decoder, syntax, "expected .b64");
  if (!error)
    error = emu_expect_operands(decoder, syntax, 1, 1);
  insn->execute = execute_arrive;
  return error ? error
               : emu_decode_address(decoder, syntax, &syntax->operands[0],
                                    &insn->rows[0], &insn->immediates[0]);
}

const emu_opcode_t emu_async_copy_opcodes[] = {
    {"cp.async.ca", decode_copy},
    {"cp.async.cg", decode_copy},
    {"cp.async.commit_group", decode_group},
    {"cp.async.wait_group", decode_group},
    {"cp.async.wait_all", decode_group},
    {"cp.async.mbarrier.arrive", decode_arrive},
    {NULL, NULL},
};
