/* wgmma: fence, mma_async, commit_group, wait_group.
 * Layer: emulator. Must not know: how and when products are executed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "emulator/decode.h"
#include "emulator/hazards.h"
#include "emulator/timeline_record.h"
#include "emulator/wgmma_product.h"

/* ---- Execution -------------------------------------------------------------
 */

static emu_outcome_t execute_fence(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  (void)lanes;
  emu_hazards_aligned(warp, insn, 0);
  emu_hazards_product_fence(warp);
  return EMU_NEXT;
}

static emu_outcome_t execute_commit(emu_warp_t *warp, const emu_insn_t *insn,
                                    uint32_t lanes) {
  (void)lanes;
  emu_hazards_aligned(warp, insn, 0);
  emu_record_product_commit(warp);
  emu_products_commit(warp);
  return EMU_NEXT;
}

static emu_outcome_t execute_wait(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  (void)lanes;
  uint64_t allowed = (uint64_t)insn->immediates[0];
  emu_outcome_t outcome = emu_products_wait(warp, allowed);
  if (outcome == EMU_NEXT) {
    emu_record_product_wait(warp, insn, allowed);
    emu_hazards_aligned(warp, insn, 0);
  }
  return outcome;
}

/* The value that all lanes have. */
static bool uniform_long(emu_warp_t *warp, const emu_insn_t *insn,
                         uint32_t lanes, emu_row_t row, uint64_t *out_value) {
  const uint64_t *longs = emu_longs(warp, row);
  uint32_t first = (uint32_t)__builtin_ctz(lanes);
  EMU_FOR_LANES(lane, lanes) {
    if (longs[lane] == longs[first])
      continue;
    emu_fault(warp->cta, warp, (int)lane, insn,
              "descriptor 0x%016" PRIx64 ", and 0x%016" PRIx64
              " in lane %u: expected one for the warp",
              longs[lane], longs[first], first);
    return false;
  }
  *out_value = longs[first];
  return true;
}

static bool check_warpgroup(emu_warp_t *warp, const emu_insn_t *insn) {
  uint32_t end = warp->index - warp->index % EMU_WGMMA_WARPS + EMU_WGMMA_WARPS;
  if (end * EMU_LANES <= warp->cta->thread_count)
    return true;
  emu_fault(warp->cta, warp, -1, insn,
            "the CTA has %u threads: expected whole warpgroups of %d",
            warp->cta->thread_count, EMU_WGMMA_WARPS * EMU_LANES);
  return false;
}

static emu_outcome_t execute_product(emu_warp_t *warp, const emu_insn_t *insn,
                                     uint32_t lanes) {
  const emu_wgmma_form_t *form = insn->detail;
  emu_product_t product = {.insn = insn, .form = form};
  if (!check_warpgroup(warp, insn) ||
      !uniform_long(warp, insn, lanes, form->b, &product.b_descriptor))
    return EMU_FAULT;
  if (!form->a_is_registers &&
      !uniform_long(warp, insn, lanes, form->a[0], &product.a_descriptor))
    return EMU_FAULT;
  uint32_t scales = emu_predicate(warp, form->scale_d) & lanes;
  if (scales && scales != lanes) {
    emu_fault(warp->cta, warp, -1, insn,
              "scale-d is true in lanes 0x%08x: expected all or none", scales);
    return EMU_FAULT;
  }
  product.accumulates = scales != 0;
  emu_hazards_aligned(warp, insn,
                      product.a_descriptor ^ product.b_descriptor << 1 ^
                          (uint64_t)product.accumulates << 63);
  emu_record_product(warp, insn, form->n);
  emu_product_start(warp, &product);
  return EMU_NEXT;
}

/* ---- Decoding --------------------------------------------------------------
 */

typedef struct {
  emu_decoder_t *decoder;
  const ptx_instruction_t *syntax;
  emu_insn_t *insn;
  emu_parts_t parts;
  emu_wgmma_form_t *form;
} reader_t;

static uattn_error_t *refuse(const reader_t *reader, const char *what) {
  return emu_unsupported(reader->decoder, reader->syntax, "%s", what);
}

/* m64nNk16; 0 where the opcode has no such shape. */
static uint32_t take_n(reader_t *reader) {
  char shape[32];
  for (uint32_t n = 8; n <= EMU_WGMMA_MAX_N; n += 8) {
    (void)snprintf(shape, sizeof shape, "m64n%uk16", n);
    if (emu_take(&reader->parts, shape))
      return n;
  }
  return 0;
}

/* .shape.dtype.atype.btype; allocates the form. */
static uattn_error_t *read_opcode(reader_t *reader) {
  static const char wanted[] =
      "expected .m64nNk16, N a multiple of 8 up to 256, with .f32.bf16.bf16, "
      ".f32.f16.f16 or .f16.f16.f16";
  uint32_t n = take_n(reader);
  ptx_type_t d = emu_take_type(&reader->parts);
  ptx_type_t a = emu_take_type(&reader->parts);
  ptx_type_t b = emu_take_type(&reader->parts);
  bool is_half = a == PTX_TYPE_F16 && b == PTX_TYPE_F16;
  bool is_bf16 = a == PTX_TYPE_BF16 && b == PTX_TYPE_BF16;
  bool d_is_half = d == PTX_TYPE_F16;
  if (n == 0 ||
      !(d == PTX_TYPE_F32 ? is_half || is_bf16 : d_is_half && is_half))
    return refuse(reader, wanted);
  uint32_t count = d_is_half ? n / 4 : n / 2;
  emu_wgmma_form_t *form = uattn_arena_allocate(
      reader->decoder->arena, sizeof *form + count * sizeof form->d[0]);
  form->n = n;
  form->is_bf16 = is_bf16;
  form->d_is_half = d_is_half;
  form->d_count = count;
  reader->form = form;
  reader->insn->detail = form;
  return emu_parts_end(&reader->parts);
}

static uattn_error_t *read_d(reader_t *reader) {
  const ptx_operand_t *operand = &reader->syntax->operands[0];
  emu_wgmma_form_t *form = reader->form;
  if (operand->kind != PTX_OPERAND_VECTOR ||
      operand->element_count != form->d_count)
    return emu_unsupported(reader->decoder, reader->syntax,
                           "expected {} with %u registers of D", form->d_count);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < form->d_count; ++i) {
    error = emu_decode_target(
        reader->decoder, reader->syntax, &operand->elements[i],
        form->d_is_half ? PTX_TYPE_B32 : PTX_TYPE_F32, &form->d[i]);
    if (!error && form->d[i].kind == EMU_ROW_NONE)
      error = refuse(reader, "expected a register of D");
    if (!error)
      reader->decoder->program->product_rows[form->d[i].index] = true;
  }
  reader->decoder->target_count = 0;
  return error;
}

static uattn_error_t *read_source(reader_t *reader,
                                  const ptx_operand_t *operand, ptx_type_t type,
                                  emu_row_t *out_row) {
  return emu_decode_source(reader->decoder, reader->syntax, operand, type,
                           out_row);
}

static uattn_error_t *read_a(reader_t *reader) {
  const ptx_operand_t *operand = &reader->syntax->operands[1];
  emu_wgmma_form_t *form = reader->form;
  form->a_is_registers = operand->kind == PTX_OPERAND_VECTOR;
  if (!form->a_is_registers)
    return read_source(reader, operand, PTX_TYPE_B64, &form->a[0]);
  if (operand->element_count != 4)
    return refuse(reader, "expected {} with 4 registers of A");
  uattn_error_t *error = NULL;
  uint32_t sources_before = reader->decoder->source_count;
  for (uint32_t i = 0; !error && i < 4; ++i) {
    error =
        read_source(reader, &operand->elements[i], PTX_TYPE_B32, &form->a[i]);
    if (!error && !form->a[i].is_constant)
      reader->decoder->program->product_rows[form->a[i].index] = true;
  }
  reader->decoder->source_count = sources_before;
  return error;
}

/* An immediate that is one of two values; `*out_is_second` says which. */
static uattn_error_t *read_choice(reader_t *reader, uint32_t operand,
                                  int64_t first, int64_t second,
                                  bool *out_is_second) {
  int64_t value = 0;
  uattn_error_t *error =
      emu_decode_immediate(reader->decoder, reader->syntax,
                           &reader->syntax->operands[operand], &value);
  if (!error && value != first && value != second)
    error = emu_unsupported(reader->decoder, reader->syntax,
                            "operand %u is %lld: expected %lld or %lld",
                            operand + 1, (long long)value, (long long)first,
                            (long long)second);
  *out_is_second = value == second;
  return error;
}

/* d, a, b, scale-d, scale-a, scale-b{, trans-a}, trans-b */
static uattn_error_t *read_operands(reader_t *reader) {
  emu_decoder_t *decoder = reader->decoder;
  const ptx_instruction_t *syntax = reader->syntax;
  emu_wgmma_form_t *form = reader->form;
  uattn_error_t *error = emu_expect_operands(decoder, syntax, 7, 8);
  if (!error)
    error = read_d(reader);
  if (!error)
    error = read_a(reader);
  if (!error)
    error = emu_expect_operands(decoder, syntax, form->a_is_registers ? 7 : 8,
                                form->a_is_registers ? 7 : 8);
  if (!error)
    error = read_source(reader, &syntax->operands[2], PTX_TYPE_B64, &form->b);
  if (!error)
    error = read_source(reader, &syntax->operands[3], PTX_TYPE_PRED,
                        &form->scale_d);
  bool negates_a = false, negates_b = false;
  if (!error)
    error = read_choice(reader, 4, 1, -1, &negates_a);
  if (!error)
    error = read_choice(reader, 5, 1, -1, &negates_b);
  form->is_negated = negates_a != negates_b;
  if (!error && !form->a_is_registers)
    error = read_choice(reader, 6, 0, 1, &form->a_is_mn_major);
  if (!error)
    error = read_choice(reader, syntax->operand_count - 1, 0, 1,
                        &form->b_is_mn_major);
  return error;
}

static uattn_error_t *decode_product(reader_t *reader) {
  reader->insn->execute = execute_product;
  uattn_error_t *error = read_opcode(reader);
  return error ? error : read_operands(reader);
}

static uattn_error_t *decode_wait(reader_t *reader) {
  int64_t allowed = 0;
  reader->insn->execute = execute_wait;
  uattn_error_t *error = emu_parts_end(&reader->parts);
  if (!error)
    error = emu_expect_operands(reader->decoder, reader->syntax, 1, 1);
  if (!error)
    error = emu_decode_immediate(reader->decoder, reader->syntax,
                                 &reader->syntax->operands[0], &allowed);
  if (!error && (allowed < 0 || allowed > INT32_MAX))
    error = refuse(reader, "expected a number of groups");
  reader->insn->immediates[0] = allowed;
  return error;
}

static uattn_error_t *decode_wgmma(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  reader_t reader = {.decoder = decoder,
                     .syntax = syntax,
                     .insn = insn,
                     .parts = emu_parts(decoder, syntax)};
  insn->is_aligned = true;
  static const char *const names[] = {"mma_async", "wait_group", "commit_group",
                                      "fence", NULL};
  int name = emu_take_one(&reader.parts, names);
  if (name < 0)
    return refuse(&reader, "unknown operation of a warpgroup");
  if (!emu_take(&reader.parts, "sync") || !emu_take(&reader.parts, "aligned"))
    return refuse(&reader, "no .sync.aligned");
  if (name == 0)
    return decode_product(&reader);
  if (name == 1)
    return decode_wait(&reader);
  insn->execute = name == 2 ? execute_commit : execute_fence;
  uattn_error_t *error = emu_parts_end(&reader.parts);
  return error ? error : emu_expect_operands(decoder, syntax, 0, 0);
}

const emu_opcode_t emu_wgmma_opcodes[] = {
    {"wgmma", decode_wgmma},
    {NULL, NULL},
};
