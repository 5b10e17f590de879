/* mbarrier.*, mapa, getctarank.
 * Layer: emulator. Must not know: what mbarriers count, copies.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "emulator/decode.h"
#include "emulator/hazards.h"
#include "emulator/shared_address.h"
#include "emulator/timeline_record.h"

enum { ROW_TARGET, ROW_ADDRESS, ROW_VALUE, ROW_BYTES };
enum { IMMEDIATE_OFFSET };

typedef struct {
  bool is_generic; /* the address */
  bool expects_bytes;
  bool drops;
  bool may_not_complete;
  bool blocks;
  bool is_by_parity;
} mbarrier_form_t;

/* ---- Execution -------------------------------------------------------------
 */

typedef struct {
  emu_actor_t actor;
  const mbarrier_form_t *form;
  uint64_t addresses[EMU_LANES];
} access_t;

static bool access_start(emu_warp_t *warp, const emu_insn_t *insn,
                         uint32_t lanes, access_t *out_access) {
  out_access->form = insn->detail;
  out_access->actor =
      (emu_actor_t){.cta = warp->cta, .warp = warp, .insn = insn};
  emu_addresses(warp, insn->rows[ROW_ADDRESS],
                insn->immediates[IMMEDIATE_OFFSET], out_access->addresses);
  return !out_access->form->is_generic ||
         emu_shared_offsets(warp, insn, lanes, out_access->addresses);
}

/* The word of a row that may be absent. */
static uint32_t word_or(const emu_warp_t *warp, emu_row_t row, uint32_t lane,
                        uint32_t absent) {
  return row.kind == EMU_ROW_NONE ? absent : emu_words(warp, row)[lane];
}

static emu_outcome_t execute_init(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  access_t access;
  if (!access_start(warp, insn, lanes, &access))
    return EMU_FAULT;
  EMU_FOR_LANES(lane, lanes) {
    access.actor.lane = (int)lane;
    if (!emu_mbarrier_init(&access.actor, access.addresses[lane],
                           emu_words(warp, insn->rows[ROW_VALUE])[lane]))
      return EMU_FAULT;
  }
  return EMU_NEXT;
}

static emu_outcome_t
execute_invalidate(emu_warp_t *warp, const emu_insn_t *insn, uint32_t lanes) {
  access_t access;
  if (!access_start(warp, insn, lanes, &access))
    return EMU_FAULT;
  EMU_FOR_LANES(lane, lanes) {
    access.actor.lane = (int)lane;
    if (!emu_mbarrier_invalidate(&access.actor, access.addresses[lane]))
      return EMU_FAULT;
  }
  return EMU_NEXT;
}

static emu_outcome_t execute_arrive(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes) {
  access_t access;
  if (!access_start(warp, insn, lanes, &access))
    return EMU_FAULT;
  uint64_t states[EMU_LANES] = {0};
  EMU_FOR_LANES(lane, lanes) {
    access.actor.lane = (int)lane;
    emu_mbarrier_arrival_t arrival = {
        .count = word_or(warp, insn->rows[ROW_VALUE], lane, 1),
        .expected_bytes = word_or(warp, insn->rows[ROW_BYTES], lane, 0),
        .drops = access.form->drops,
        .may_not_complete = access.form->may_not_complete};
    if (!emu_mbarrier_arrive(&access.actor, access.addresses[lane], &arrival,
                             &states[lane]))
      return EMU_FAULT;
  }
  emu_set_longs(warp, insn->rows[ROW_TARGET], lanes, states);
  return EMU_NEXT;
}

/* expect_tx and complete_tx */
static emu_outcome_t execute_bytes(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  access_t access;
  if (!access_start(warp, insn, lanes, &access))
    return EMU_FAULT;
  const uint32_t *bytes = emu_words(warp, insn->rows[ROW_BYTES]);
  EMU_FOR_LANES(lane, lanes) {
    access.actor.lane = (int)lane;
    int64_t change = bytes[lane];
    if (!emu_mbarrier_add_bytes(&access.actor, access.addresses[lane],
                                access.form->expects_bytes ? change : -change))
      return EMU_FAULT;
  }
  return EMU_NEXT;
}

/* The parity that a wait asks for; false after a fault. */
static bool wanted_parity(emu_warp_t *warp, const emu_insn_t *insn,
                          uint32_t lane, const mbarrier_form_t *form,
                          const emu_mbarrier_t *mbarrier,
                          uint32_t *out_parity) {
  if (form->is_by_parity) {
    *out_parity = emu_words(warp, insn->rows[ROW_VALUE])[lane];
    if (*out_parity <= 1)
      return true;
    emu_fault(warp->cta, warp, (int)lane, insn, "parity %u: expected 0 or 1",
              *out_parity);
    return false;
  }
  uint64_t state = emu_longs(warp, insn->rows[ROW_VALUE])[lane];
  uint32_t phase = (uint32_t)(state >> 32);
  *out_parity = phase & 1;
  if (mbarrier->phase - phase <= 1)
    return true;
  emu_fault(warp->cta, warp, (int)lane, insn,
            "state of phase %u, where phase %u is under way: expected that or "
            "the one before",
            phase, mbarrier->phase);
  return false;
}

/* What a lane waits for, and whether it is over; false after a fault. */
static bool look(emu_warp_t *warp, const emu_insn_t *insn, access_t *access,
                 uint32_t lane, emu_wait_t *out_wait, bool *out_is_over) {
  access->actor.lane = (int)lane;
  const emu_mbarrier_t *mbarrier =
      emu_mbarrier_find(&access->actor, access->addresses[lane]);
  *out_wait = (emu_wait_t){.kind = EMU_WAIT_MBARRIER,
                           .address = (uint32_t)access->addresses[lane]};
  if (!mbarrier || !wanted_parity(warp, insn, lane, access->form, mbarrier,
                                  &out_wait->parity))
    return false;
  *out_is_over = (mbarrier->phase & 1) != out_wait->parity;
  emu_hazards_mbarrier_use(&access->actor, access->addresses[lane]);
  return true;
}

static void record_wait(emu_warp_t *warp, const emu_insn_t *insn,
                        uint64_t address) {
  emu_actor_t actor = {.cta = warp->cta, .warp = warp, .insn = insn};
  const emu_mbarrier_t *mbarrier = emu_mbarrier_find(&actor, address);
  emu_record_wait(warp, insn, address, mbarrier->phase);
}

/* try_wait blocks where all lanes wait for one phase; else it says who is over,
 * as it may at any time. */
static emu_outcome_t execute_wait(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  access_t access;
  if (!access_start(warp, insn, lanes, &access))
    return EMU_FAULT;
  uint32_t over = 0;
  bool is_uniform = true;
  emu_wait_t first = {.kind = EMU_WAIT_NONE};
  EMU_FOR_LANES(lane, lanes) {
    emu_wait_t wait;
    bool is_over = false;
    if (!look(warp, insn, &access, lane, &wait, &is_over))
      return EMU_FAULT;
    if (is_over)
      over |= 1u << lane;
    if (first.kind == EMU_WAIT_NONE)
      first = wait;
    is_uniform = is_uniform && wait.address == first.address &&
                 wait.parity == first.parity;
  }
  if (access.form->blocks && over == 0 && is_uniform) {
    warp->wait = first;
    return EMU_BLOCKED;
  }
  if (over && is_uniform)
    emu_hazards_mbarrier_pass(warp, over, first.address);
  else
    EMU_FOR_LANES(lane, over) {
      emu_hazards_mbarrier_pass(warp, 1u << lane, access.addresses[lane]);
    }
  if (over && warp->cta->recorder)
    record_wait(warp, insn, access.addresses[__builtin_ctz(over)]);
  emu_set_predicate(warp, insn->rows[ROW_TARGET], lanes, over);
  return EMU_NEXT;
}

static emu_outcome_t execute_pending_count(emu_warp_t *warp,
                                           const emu_insn_t *insn,
                                           uint32_t lanes) {
  const uint64_t *states = emu_longs(warp, insn->rows[ROW_VALUE]);
  uint32_t counts[EMU_LANES];
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    counts[lane] = (uint32_t)states[lane];
  emu_set_words(warp, insn->rows[ROW_TARGET], lanes, counts);
  return EMU_NEXT;
}

/* ---- Decoding --------------------------------------------------------------
 */

typedef struct {
  emu_decoder_t *decoder;
  const ptx_instruction_t *syntax;
  emu_insn_t *insn;
  emu_parts_t parts;
  mbarrier_form_t *form;
} reader_t;

static uattn_error_t *refuse(const reader_t *reader, const char *what) {
  return emu_unsupported(reader->decoder, reader->syntax, "%s", what);
}

static uattn_error_t *decode_source(const reader_t *reader, uint32_t operand,
                                    ptx_type_t type, uint32_t row) {
  return emu_decode_source(reader->decoder, reader->syntax,
                           &reader->syntax->operands[operand], type,
                           &reader->insn->rows[row]);
}

static uattn_error_t *decode_address(const reader_t *reader, uint32_t operand) {
  return emu_decode_address(reader->decoder, reader->syntax,
                            &reader->syntax->operands[operand],
                            &reader->insn->rows[ROW_ADDRESS],
                            &reader->insn->immediates[IMMEDIATE_OFFSET]);
}

/* {.sem}{.scope}{.space}.b64; `order` is the semantics besides .relaxed. */
static uattn_error_t *decode_qualifiers(reader_t *reader, const char *order) {
  static const char *const spaces[] = {"shared", "shared::cta",
                                       "shared::cluster", NULL};
  static const char *const scopes[] = {"cta", "cluster", NULL};
  emu_parts_t *parts = &reader->parts;
  reader->form->is_generic = emu_take_one(parts, spaces) < 0;
  if (order) {
    if (!emu_take(parts, order))
      (void)emu_take(parts, "relaxed");
    (void)emu_take_one(parts, scopes);
  }
  if (!emu_take(parts, "b64"))
    return refuse(reader, "no .b64");
  return emu_parts_end(parts);
}

static uattn_error_t *expect(const reader_t *reader, uint32_t least,
                             uint32_t most) {
  return emu_expect_operands(reader->decoder, reader->syntax, least, most);
}

static uattn_error_t *decode_init(reader_t *reader, bool unused) {
  (void)unused;
  reader->insn->execute = execute_init;
  uattn_error_t *error = decode_qualifiers(reader, NULL);
  if (!error)
    error = expect(reader, 2, 2);
  if (!error)
    error = decode_address(reader, 0);
  return error ? error : decode_source(reader, 1, PTX_TYPE_U32, ROW_VALUE);
}

static uattn_error_t *decode_invalidate(reader_t *reader, bool unused) {
  (void)unused;
  reader->insn->execute = execute_invalidate;
  uattn_error_t *error = decode_qualifiers(reader, NULL);
  if (!error)
    error = expect(reader, 1, 1);
  return error ? error : decode_address(reader, 0);
}

static uattn_error_t *decode_bytes(reader_t *reader, bool expects_bytes) {
  reader->insn->execute = execute_bytes;
  reader->form->expects_bytes = expects_bytes;
  uattn_error_t *error = decode_qualifiers(reader, "relaxed");
  if (!error)
    error = expect(reader, 2, 2);
  if (!error)
    error = decode_address(reader, 0);
  return error ? error : decode_source(reader, 1, PTX_TYPE_U32, ROW_BYTES);
}

/* state or _, [address]{, count or bytes} */
static uattn_error_t *decode_arrive(reader_t *reader, bool drops) {
  mbarrier_form_t *form = reader->form;
  reader->insn->execute = execute_arrive;
  form->drops = drops;
  form->expects_bytes = emu_take(&reader->parts, "expect_tx");
  form->may_not_complete = emu_take(&reader->parts, "noComplete");
  if (form->expects_bytes && form->may_not_complete)
    return refuse(reader, ".noComplete with .expect_tx");
  uattn_error_t *error = decode_qualifiers(reader, "release");
  bool needs_value = form->expects_bytes || form->may_not_complete;
  if (!error)
    error = expect(reader, needs_value ? 3 : 2, 3);
  if (!error && reader->syntax->operands[0].kind != PTX_OPERAND_SINK)
    error = emu_decode_target(reader->decoder, reader->syntax,
                              &reader->syntax->operands[0], PTX_TYPE_B64,
                              &reader->insn->rows[ROW_TARGET]);
  if (!error)
    error = decode_address(reader, 1);
  if (!error && reader->syntax->operand_count == 3)
    error = decode_source(reader, 2, PTX_TYPE_U32,
                          form->expects_bytes ? ROW_BYTES : ROW_VALUE);
  return error;
}

/* done, [address], state or parity{, time} */
static uattn_error_t *decode_wait(reader_t *reader, bool blocks) {
  mbarrier_form_t *form = reader->form;
  reader->insn->execute = execute_wait;
  form->blocks = blocks;
  form->is_by_parity = emu_take(&reader->parts, "parity");
  uattn_error_t *error = decode_qualifiers(reader, "acquire");
  if (!error)
    error = expect(reader, 3, blocks ? 4 : 3);
  if (!error)
    error = emu_decode_target(reader->decoder, reader->syntax,
                              &reader->syntax->operands[0], PTX_TYPE_PRED,
                              &reader->insn->rows[ROW_TARGET]);
  if (!error)
    error = decode_address(reader, 1);
  if (!error)
    error = decode_source(
        reader, 2, form->is_by_parity ? PTX_TYPE_U32 : PTX_TYPE_B64, ROW_VALUE);
  if (!error && reader->syntax->operand_count == 4)
    error = decode_source(reader, 3, PTX_TYPE_U32, ROW_BYTES);
  return error;
}

static uattn_error_t *decode_pending_count(reader_t *reader, bool unused) {
  (void)unused;
  reader->insn->execute = execute_pending_count;
  uattn_error_t *error = decode_qualifiers(reader, NULL);
  if (!error)
    error = expect(reader, 2, 2);
  if (!error)
    error = emu_decode_target(reader->decoder, reader->syntax,
                              &reader->syntax->operands[0], PTX_TYPE_B32,
                              &reader->insn->rows[ROW_TARGET]);
  return error ? error : decode_source(reader, 1, PTX_TYPE_B64, ROW_VALUE);
}

typedef struct {
  const char *name;
  uattn_error_t *(*decode)(reader_t *reader, bool flag);
  bool flag;
} operation_t;

static const operation_t operations[] = {
    {"init", decode_init, false},
    {"inval", decode_invalidate, false},
    {"expect_tx", decode_bytes, true},
    {"complete_tx", decode_bytes, false},
    {"arrive", decode_arrive, false},
    {"arrive_drop", decode_arrive, true},
    {"test_wait", decode_wait, false},
    {"try_wait", decode_wait, true},
    {"pending_count", decode_pending_count, false},
};

static uattn_error_t *decode_mbarrier(emu_decoder_t *decoder,
                                      const ptx_instruction_t *syntax,
                                      emu_insn_t *insn) {
  reader_t reader = {.decoder = decoder,
                     .syntax = syntax,
                     .insn = insn,
                     .parts = emu_parts(decoder, syntax)};
  reader.form = uattn_arena_allocate(decoder->arena, sizeof *reader.form);
  insn->detail = reader.form;
  const char *name = syntax->part_count > 1 ? syntax->parts[1] : "";
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i)
    if (strcmp(operations[i].name, name) == 0) {
      (void)emu_take(&reader.parts, name);
      return operations[i].decode(&reader, operations[i].flag);
    }
  return refuse(&reader, "unknown operation on an mbarrier");
}

const emu_opcode_t emu_mbarrier_opcodes[] = {
    {"getctarank", emu_decode_cta_rank},
    {"mapa", emu_decode_map_address},
    {"mbarrier", decode_mbarrier},
    {NULL, NULL},
};
