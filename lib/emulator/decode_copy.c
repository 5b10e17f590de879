/* cp.async.bulk and cp.reduce.async.bulk, with and without tensor maps, their
 * groups and prefetches.
 * Layer: emulator. Must not know: how and when bytes are moved.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode_copy.h"
#include "emulator/decode.h"
#include "emulator/timeline_record.h"

typedef struct {
  emu_decoder_t *decoder;
  const ptx_instruction_t *syntax;
  emu_insn_t *insn;
  emu_parts_t parts;
  emu_copy_form_t *form;
  bool has_mask;
  bool has_policy;
  uint32_t next; /* operand */
} reader_t;

static uattn_error_t *refuse(const reader_t *reader, const char *what) {
  return emu_unsupported(reader->decoder, reader->syntax, "%s", what);
}

/* ---- Groups ----------------------------------------------------------------
 */

static emu_outcome_t execute_commit(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes) {
  (void)insn;
  emu_record_commit(warp, EMU_FAMILY_BULK);
  emu_stores_commit(warp, lanes);
  return EMU_NEXT;
}

enum { IMMEDIATE_ALLOWED, IMMEDIATE_ONLY_READS };

static emu_outcome_t execute_wait(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  uint32_t allowed = (uint32_t)insn->immediates[IMMEDIATE_ALLOWED];
  bool only_reads = insn->immediates[IMMEDIATE_ONLY_READS] != 0;
  emu_record_copy_wait(warp, insn, EMU_FAMILY_BULK, allowed, only_reads);
  return emu_stores_wait(warp, lanes, allowed, only_reads) ? EMU_NEXT
                                                           : EMU_FAULT;
}

static uattn_error_t *decode_commit(reader_t *reader) {
  reader->insn->execute = execute_commit;
  uattn_error_t *error = emu_parts_end(&reader->parts);
  return error ? error
               : emu_expect_operands(reader->decoder, reader->syntax, 0, 0);
}

static uattn_error_t *decode_wait(reader_t *reader) {
  int64_t allowed = 0;
  reader->insn->execute = execute_wait;
  reader->insn->immediates[IMMEDIATE_ONLY_READS] =
      emu_take(&reader->parts, "read");
  uattn_error_t *error = emu_parts_end(&reader->parts);
  if (!error)
    error = emu_expect_operands(reader->decoder, reader->syntax, 1, 1);
  if (!error)
    error = emu_decode_immediate(reader->decoder, reader->syntax,
                                 &reader->syntax->operands[0], &allowed);
  if (!error && (allowed < 0 || allowed > INT32_MAX))
    error = refuse(reader, "expected a number of groups");
  reader->insn->immediates[IMMEDIATE_ALLOWED] = allowed;
  return error;
}

/* ---- Operands --------------------------------------------------------------
 */

static const ptx_operand_t *next_operand(reader_t *reader) {
  return &reader->syntax->operands[reader->next++];
}

static uattn_error_t *read_address(reader_t *reader, uint32_t row) {
  return emu_decode_address(reader->decoder, reader->syntax,
                            next_operand(reader), &reader->insn->rows[row],
                            &reader->insn->immediates[row]);
}

static uattn_error_t *read_source(reader_t *reader, ptx_type_t type,
                                  emu_row_t *out_row) {
  return emu_decode_source(reader->decoder, reader->syntax,
                           next_operand(reader), type, out_row);
}

/* [map, {coordinates}] */
static uattn_error_t *read_tensor(reader_t *reader) {
  const ptx_operand_t *operand = &reader->syntax->operands[reader->next];
  uint32_t rank = reader->form->rank;
  uattn_error_t *error = read_address(reader, EMU_COPY_ROW_GLOBAL);
  if (error)
    return error;
  if (operand->elements[0].kind == PTX_OPERAND_PARAMETER)
    reader->insn->immediates[EMU_COPY_ROW_GLOBAL] += (int64_t)EMU_PARAM_WINDOW;
  const ptx_operand_t *vector =
      operand->element_count == 2 ? &operand->elements[1] : NULL;
  if (!vector || vector->kind != PTX_OPERAND_VECTOR ||
      vector->element_count != rank)
    return emu_unsupported(reader->decoder, reader->syntax,
                           "expected {} with %u coordinates behind the tensor "
                           "map",
                           rank);
  for (uint32_t i = 0; !error && i < rank; ++i)
    error =
        emu_decode_source(reader->decoder, reader->syntax, &vector->elements[i],
                          PTX_TYPE_S32, &reader->form->coordinates[i]);
  return error;
}

/* The optional CTA mask and cache policy at the end. */
static uattn_error_t *read_rest(reader_t *reader) {
  emu_row_t policy;
  uattn_error_t *error = NULL;
  if (reader->has_mask)
    error = read_source(reader, PTX_TYPE_U16,
                        &reader->insn->rows[EMU_COPY_ROW_MASK]);
  if (!error && reader->has_policy)
    error = read_source(reader, PTX_TYPE_B64, &policy);
  return error;
}

static uattn_error_t *expect_operands(const reader_t *reader, uint32_t count) {
  count += reader->has_mask + reader->has_policy;
  return emu_expect_operands(reader->decoder, reader->syntax, count, count);
}

/* ---- Prefetches ------------------------------------------------------------
 */

static emu_outcome_t execute_nothing(emu_warp_t *warp, const emu_insn_t *insn,
                                     uint32_t lanes) {
  (void)warp, (void)insn, (void)lanes;
  return EMU_NEXT;
}

/* 1d to 5d; 0 where the opcode has no such part. */
static uint32_t take_rank(reader_t *reader) {
  static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d", NULL};
  return (uint32_t)(emu_take_one(&reader->parts, ranks) + 1);
}

static uattn_error_t *decode_prefetch(reader_t *reader) {
  emu_parts_t *parts = &reader->parts;
  reader->insn->execute = execute_nothing;
  reader->form->is_tensor = emu_take(parts, "tensor");
  if (reader->form->is_tensor) {
    reader->form->rank = take_rank(reader);
    (void)emu_take(parts, "tile");
    if (reader->form->rank == 0)
      return refuse(reader, "no rank from .1d to .5d");
  }
  if (!emu_take(parts, "L2") || !emu_take(parts, "global"))
    return refuse(reader, "expected .L2.global");
  reader->has_policy = emu_take(parts, "L2::cache_hint");
  uattn_error_t *error = emu_parts_end(parts);
  if (!error)
    error = expect_operands(reader, reader->form->is_tensor ? 1 : 2);
  if (!error)
    error = reader->form->is_tensor ? read_tensor(reader)
                                    : read_address(reader, EMU_COPY_ROW_GLOBAL);
  if (!error && !reader->form->is_tensor)
    error = read_source(reader, PTX_TYPE_U32,
                        &reader->insn->rows[EMU_COPY_ROW_SIZE]);
  return error ? error : read_rest(reader);
}

/* ---- Copies ----------------------------------------------------------------
 */

/* Takes the two spaces where the first, the destination's, stands before the
 * second. */
static bool take_spaces(reader_t *reader, const char *target,
                        const char *source) {
  const ptx_instruction_t *syntax = reader->syntax;
  for (uint32_t i = 1; i + 1 < syntax->part_count; ++i)
    if (strcmp(syntax->parts[i], target) == 0 &&
        strcmp(syntax->parts[i + 1], source) == 0)
      return emu_take(&reader->parts, target) &&
             emu_take(&reader->parts, source);
  return false;
}

/* .dst.src and how the copy says that it is complete. */
static uattn_error_t *read_kind(reader_t *reader) {
  static const char mbarrier[] = "mbarrier::complete_tx::bytes";
  bool ends_on_mbarrier = true;
  if (take_spaces(reader, "shared::cluster", "global") ||
      take_spaces(reader, "shared::cta", "global")) {
    reader->form->kind = EMU_COPY_LOAD;
  } else if (take_spaces(reader, "shared::cluster", "shared::cta")) {
    reader->form->kind = EMU_COPY_LOCAL;
  } else if (take_spaces(reader, "global", "shared::cta")) {
    reader->form->kind = EMU_COPY_STORE;
    ends_on_mbarrier = false;
  } else {
    return refuse(reader, "no known pair of state spaces");
  }
  if (!emu_take(&reader->parts, ends_on_mbarrier ? mbarrier : "bulk_group"))
    return emu_unsupported(reader->decoder, reader->syntax, "no .%s",
                           ends_on_mbarrier ? mbarrier : "bulk_group");
  if (reader->form->kind == EMU_COPY_LOAD)
    reader->has_mask = emu_take(&reader->parts, "multicast::cluster");
  if (reader->form->kind != EMU_COPY_LOCAL)
    reader->has_policy = emu_take(&reader->parts, "L2::cache_hint");
  return NULL;
}

static uattn_error_t *read_reduction(reader_t *reader) {
  emu_copy_form_t *form = reader->form;
  int name = emu_take_one(&reader->parts, emu_reduce_names);
  if (name < 0)
    return refuse(reader, "no known reduction");
  form->reduction = (emu_reduce_t)(EMU_REDUCE_ADD + name);
  if (form->kind == EMU_COPY_LOAD)
    return refuse(reader, "a reduction from global memory");
  bool is_to_global = form->kind == EMU_COPY_STORE;
  if (is_to_global)
    reader->decoder->program->has_global_communication = true;
  if (form->is_tensor)
    return NULL;
  bool keeps_subnormals = emu_take(&reader->parts, "noftz");
  form->type = emu_take_type(&reader->parts);
  bool is_half = form->type == PTX_TYPE_F16 || form->type == PTX_TYPE_BF16;
  if (!emu_reduce_is_valid(form->reduction, form->type, is_to_global) ||
      keeps_subnormals != (is_half && form->reduction == EMU_REDUCE_ADD))
    return emu_unsupported(reader->decoder, reader->syntax,
                           "no .%s of this type", emu_reduce_names[name]);
  return NULL;
}

static uattn_error_t *read_bytes_operands(reader_t *reader) {
  bool is_store = reader->form->kind == EMU_COPY_STORE;
  uattn_error_t *error = expect_operands(reader, is_store ? 3 : 4);
  if (!error)
    error = read_address(reader,
                         is_store ? EMU_COPY_ROW_GLOBAL : EMU_COPY_ROW_SHARED);
  if (!error)
    error = read_address(reader,
                         is_store ? EMU_COPY_ROW_SHARED : EMU_COPY_ROW_GLOBAL);
  if (!error)
    error = read_source(reader, PTX_TYPE_U32,
                        &reader->insn->rows[EMU_COPY_ROW_SIZE]);
  if (!error && !is_store)
    error = read_address(reader, EMU_COPY_ROW_MBARRIER);
  return error ? error : read_rest(reader);
}

static uattn_error_t *read_tensor_operands(reader_t *reader) {
  bool is_store = reader->form->kind == EMU_COPY_STORE;
  uattn_error_t *error = expect_operands(reader, is_store ? 2 : 3);
  if (!error && is_store)
    error = read_tensor(reader);
  if (!error)
    error = read_address(reader, EMU_COPY_ROW_SHARED);
  if (!error && !is_store)
    error = read_tensor(reader);
  if (!error && !is_store)
    error = read_address(reader, EMU_COPY_ROW_MBARRIER);
  return error ? error : read_rest(reader);
}

static uattn_error_t *decode_transfer(reader_t *reader, bool reduces) {
  emu_copy_form_t *form = reader->form;
  reader->insn->execute = emu_execute_copy;
  form->is_tensor = emu_take(&reader->parts, "tensor");
  if (form->is_tensor) {
    form->rank = take_rank(reader);
    (void)emu_take(&reader->parts, "tile");
    if (form->rank == 0)
      return refuse(reader, "no rank from .1d to .5d");
  }
  uattn_error_t *error = read_kind(reader);
  if (!error && form->is_tensor && form->kind == EMU_COPY_LOCAL)
    error = refuse(reader, "a tensor copy inside shared memory");
  if (!error && reduces)
    error = read_reduction(reader);
  if (!error)
    error = emu_parts_end(&reader->parts);
  if (error)
    return error;
  return form->is_tensor ? read_tensor_operands(reader)
                         : read_bytes_operands(reader);
}

/* ---- Opcodes ---------------------------------------------------------------
 */

static reader_t start(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                      emu_insn_t *insn) {
  reader_t reader = {.decoder = decoder,
                     .syntax = syntax,
                     .insn = insn,
                     .parts = emu_parts(decoder, syntax)};
  reader.form = uattn_arena_allocate(decoder->arena, sizeof *reader.form);
  insn->detail = reader.form;
  (void)emu_take(&reader.parts, "async");
  (void)emu_take(&reader.parts, "bulk");
  return reader;
}

static uattn_error_t *decode_copy(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  reader_t reader = start(decoder, syntax, insn);
  if (emu_take(&reader.parts, "commit_group"))
    return decode_commit(&reader);
  if (emu_take(&reader.parts, "wait_group"))
    return decode_wait(&reader);
  return emu_take(&reader.parts, "prefetch") ? decode_prefetch(&reader)
                                             : decode_transfer(&reader, false);
}

static uattn_error_t *decode_reduce(emu_decoder_t *decoder,
                                    const ptx_instruction_t *syntax,
                                    emu_insn_t *insn) {
  reader_t reader = start(decoder, syntax, insn);
  (void)emu_take(&reader.parts, "reduce");
  return decode_transfer(&reader, true);
}

static uattn_error_t *decode_tensormap(emu_decoder_t *decoder,
                                       const ptx_instruction_t *syntax,
                                       emu_insn_t *insn) {
  (void)insn;
  return emu_unsupported(decoder, syntax,
                         "tensor maps cannot be changed by a kernel here: "
                         "expected them from the host");
}

const emu_opcode_t emu_copy_opcodes[] = {
    {"cp.async.bulk", decode_copy},
    {"cp.reduce.async.bulk", decode_reduce},
    {"tensormap", decode_tensormap},
    {NULL, NULL},
};
