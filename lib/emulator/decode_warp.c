/* Instructions of several lanes of a warp: shuffles, votes, matches, sums.
 * Layer: emulator. Must not know: how lanes are grouped and scheduled.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each waits until all lanes that its member mask names have come. */
#include "emulator/decode.h"
#include "emulator/hazards.h"

/* What a lane reads from one that does not take part: as float, a NaN. */
#define UNDEFINED 0x7FBADBADu

/* ---- shfl ------------------------------------------------------------------
 * rows: d, p, a, b, c, member mask. */

typedef enum { UP, DOWN, BUTTERFLY, INDEX } shuffle_t;
static const char *const shuffles[] = {"up", "down", "bfly", "idx", NULL};

/* The lane that `lane` reads; its own where the other is out of the segment. */
static uint32_t source_lane(shuffle_t mode, uint32_t lane, uint32_t b,
                            uint32_t c, bool *out_is_in) {
  uint32_t segment = c >> 8 & 31;
  uint32_t distance = b & 31;
  uint32_t last = (lane & segment) | (c & 31 & ~segment);
  int32_t source = 0;
  switch (mode) {
  case UP:
    source = (int32_t)lane - (int32_t)distance;
    *out_is_in = source >= (int32_t)last;
    break;
  case DOWN:
    source = (int32_t)(lane + distance);
    *out_is_in = source <= (int32_t)last;
    break;
  case BUTTERFLY:
    source = (int32_t)(lane ^ distance);
    *out_is_in = source <= (int32_t)last;
    break;
  case INDEX:
    source = (int32_t)((lane & segment) | (distance & ~segment));
    *out_is_in = source <= (int32_t)last;
    break;
  }
  return *out_is_in ? (uint32_t)source : lane;
}

static emu_outcome_t execute_shfl(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  const uint32_t *a = emu_words(warp, insn->rows[2]);
  const uint32_t *b = emu_words(warp, insn->rows[3]);
  const uint32_t *c = emu_words(warp, insn->rows[4]);
  const uint32_t *masks = emu_words(warp, insn->rows[5]);
  emu_outcome_t outcome;
  if (!emu_members_have_come(warp, insn, lanes, masks, &outcome))
    return outcome;
  uint32_t values[EMU_LANES];
  uint32_t sources[EMU_LANES];
  uint32_t predicate = 0;
  EMU_FOR_LANES(lane, lanes) {
    bool is_in = false;
    uint32_t source = source_lane((shuffle_t)insn->immediates[0], lane, b[lane],
                                  c[lane], &is_in);
    sources[lane] = source;
    values[lane] = masks[lane] & lanes & 1u << source ? a[source] : UNDEFINED;
    predicate |= (uint32_t)is_in << lane;
  }
  if (insn->passes_on)
    emu_hazards_pass_on(warp, insn, lanes, sources);
  emu_set_words(warp, insn->rows[0], lanes, values);
  emu_set_predicate(warp, insn->rows[1], lanes, predicate);
  return EMU_NEXT;
}

/* d or d|p */
static uattn_error_t *decode_pair(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  ptx_type_t type, emu_insn_t *insn) {
  const ptx_operand_t *target = &syntax->operands[0];
  if (target->kind != PTX_OPERAND_PAIR)
    return emu_decode_target(decoder, syntax, target, type, &insn->rows[0]);
  uattn_error_t *error = emu_decode_target(
      decoder, syntax, &target->elements[0], type, &insn->rows[0]);
  return error ? error
               : emu_decode_target(decoder, syntax, &target->elements[1],
                                   PTX_TYPE_PRED, &insn->rows[1]);
}

static uattn_error_t *decode_shfl(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  bool is_sync = emu_take(&parts, "sync");
  int mode = emu_take_one(&parts, shuffles);
  ptx_type_t type = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error && (!is_sync || mode < 0 || type != PTX_TYPE_B32))
    error = emu_unsupported(decoder, syntax, "expected .sync, a mode and .b32");
  if (!error)
    error = emu_expect_operands(decoder, syntax, 5, 5);
  if (!error)
    error = decode_pair(decoder, syntax, type, insn);
  for (uint32_t i = 1; !error && i < 5; ++i)
    error = emu_decode_source(decoder, syntax, &syntax->operands[i],
                              PTX_TYPE_B32, &insn->rows[i + 1]);
  insn->passes_on = insn->rows[0].kind != EMU_ROW_NONE &&
                    syntax->operands[1].kind == PTX_OPERAND_REGISTER;
  insn->execute = execute_shfl;
  insn->immediates[0] = mode;
  return error;
}

/* ---- vote ------------------------------------------------------------------
 * rows: d, predicate, member mask. */

typedef enum { ALL, ANY, UNIFORM, BALLOT } vote_t;
static const char *const votes[] = {"all", "any", "uni", "ballot", NULL};

static bool outcome_of(vote_t vote, uint32_t yes, uint32_t members) {
  switch (vote) {
  case ALL:
    return yes == members;
  case ANY:
    return yes != 0;
  default:
    return yes == 0 || yes == members;
  }
}

static emu_outcome_t execute_vote(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  vote_t vote = (vote_t)insn->immediates[0];
  uint32_t predicate = emu_predicate(warp, insn->rows[1]);
  const uint32_t *masks = emu_words(warp, insn->rows[2]);
  emu_outcome_t outcome;
  if (!emu_members_have_come(warp, insn, lanes, masks, &outcome))
    return outcome;
  uint32_t ballots[EMU_LANES];
  uint32_t result = 0;
  EMU_FOR_LANES(lane, lanes) {
    uint32_t members = masks[lane] & lanes;
    ballots[lane] = predicate & members;
    result |= (uint32_t)outcome_of(vote, ballots[lane], members) << lane;
  }
  if (vote == BALLOT)
    emu_set_words(warp, insn->rows[0], lanes, ballots);
  else
    emu_set_predicate(warp, insn->rows[0], lanes, result);
  return EMU_NEXT;
}

static uattn_error_t *decode_vote(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  bool is_sync = emu_take(&parts, "sync");
  int vote = emu_take_one(&parts, votes);
  ptx_type_t type = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  ptx_type_t wanted = vote == BALLOT ? PTX_TYPE_B32 : PTX_TYPE_PRED;
  if (!error && (!is_sync || vote < 0 || type != wanted))
    error =
        emu_unsupported(decoder, syntax, "expected .sync, a vote and its type");
  if (!error)
    error = emu_expect_operands(decoder, syntax, 3, 3);
  insn->execute = execute_vote;
  insn->immediates[0] = vote;
  const ptx_type_t types[] = {wanted, PTX_TYPE_PRED, PTX_TYPE_B32};
  return error ? error : emu_decode_rows(decoder, syntax, insn, 3, types);
}

/* ---- match -----------------------------------------------------------------
 * rows: d, p, a, member mask. */

static uint64_t value_at(const emu_warp_t *warp, emu_row_t row, uint32_t lane) {
  return row.kind == EMU_ROW_LONG ? emu_longs(warp, row)[lane]
                                  : emu_words(warp, row)[lane];
}

static emu_outcome_t execute_match(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  const uint32_t *masks = emu_words(warp, insn->rows[3]);
  emu_outcome_t outcome;
  if (!emu_members_have_come(warp, insn, lanes, masks, &outcome))
    return outcome;
  bool wants_all = insn->immediates[0] == ALL;
  uint32_t values[EMU_LANES];
  uint32_t predicate = 0;
  EMU_FOR_LANES(lane, lanes) {
    uint64_t own = value_at(warp, insn->rows[2], lane);
    uint32_t members = masks[lane] & lanes;
    uint32_t same = 0;
    EMU_FOR_LANES(other, members)
    if (value_at(warp, insn->rows[2], other) == own)
      same |= 1u << other;
    values[lane] = wants_all && same != members ? 0 : same;
    predicate |= (uint32_t)(same == members) << lane;
  }
  emu_set_words(warp, insn->rows[0], lanes, values);
  emu_set_predicate(warp, insn->rows[1], lanes, predicate);
  return EMU_NEXT;
}

static uattn_error_t *decode_match(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  static const char *const kinds[] = {"all", "any", NULL};
  int kind = emu_take_one(&parts, kinds);
  bool is_sync = emu_take(&parts, "sync");
  ptx_type_t type = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  bool is_bits = type == PTX_TYPE_B32 || type == PTX_TYPE_B64;
  if (!error && (!is_sync || kind < 0 || !is_bits))
    error = emu_unsupported(decoder, syntax,
                            "expected .any or .all, .sync, .b32 or .b64");
  if (!error)
    error = emu_expect_operands(decoder, syntax, 3, 3);
  if (!error && kind == ANY && syntax->operands[0].kind == PTX_OPERAND_PAIR)
    error = emu_unsupported(decoder, syntax, "a predicate of match.any");
  if (!error)
    error = decode_pair(decoder, syntax, PTX_TYPE_B32, insn);
  if (!error)
    error = emu_decode_source(decoder, syntax, &syntax->operands[1], type,
                              &insn->rows[2]);
  if (!error)
    error = emu_decode_source(decoder, syntax, &syntax->operands[2],
                              PTX_TYPE_B32, &insn->rows[3]);
  insn->execute = execute_match;
  insn->immediates[0] = kind;
  return error;
}

const emu_opcode_t emu_warp_opcodes[] = {
    {"shfl", decode_shfl},
    {"vote", decode_vote},
    {"match", decode_match},
    {NULL, NULL},
};
