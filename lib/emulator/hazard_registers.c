/* Registers that nothing has written, and registers of products in flight.
 * Layer: emulator. Must not know: memory, order between warps.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "emulator/decode.h"
#include "emulator/hazard_state.h"
#include "emulator/run_launch.h"

static uint32_t row_count(const emu_program_t *program, int kind) {
  return kind == EMU_ROW_WORD        ? program->word_rows
         : kind == EMU_ROW_LONG      ? program->long_rows
         : kind == EMU_ROW_PREDICATE ? program->predicate_rows
                                     : 0;
}

void emu_hazard_registers_create(emu_hazards_t *hazards, const emu_cta_t *cta) {
  const emu_program_t *program = cta->launch->program;
  size_t words = program->word_rows + 1;
  for (uint32_t i = 0; i < hazards->warp_count; ++i) {
    emu_warp_registers_t *registers = &hazards->registers[i];
    for (int kind = 0; kind <= EMU_ROW_PREDICATE; ++kind)
      registers->written[kind] =
          uattn_allocate((row_count(program, kind) + 1) * sizeof(uint32_t));
    registers->d_product = uattn_allocate(words * sizeof(uint64_t));
    registers->a_product = uattn_allocate(words * sizeof(uint64_t));
    registers->last_read = uattn_allocate(words * sizeof(uint64_t));
    registers->last_write = uattn_allocate(words * sizeof(uint64_t));
    registers->read_insn = uattn_allocate(words * sizeof *registers->read_insn);
    registers->write_insn =
        uattn_allocate(words * sizeof *registers->write_insn);
    registers->product_insn =
        uattn_allocate(words * sizeof *registers->product_insn);
  }
}

void emu_hazard_registers_start(emu_hazards_t *hazards, const emu_cta_t *cta) {
  const emu_program_t *program = cta->launch->program;
  size_t words = program->word_rows + 1;
  for (uint32_t i = 0; i < hazards->warp_count; ++i) {
    emu_warp_registers_t *registers = &hazards->registers[i];
    for (int kind = 0; kind <= EMU_ROW_PREDICATE; ++kind)
      memset(registers->written[kind], 0,
             row_count(program, kind) * sizeof(uint32_t));
    memset(registers->d_product, 0, words * sizeof(uint64_t));
    memset(registers->a_product, 0, words * sizeof(uint64_t));
    memset(registers->last_read, 0, words * sizeof(uint64_t));
    memset(registers->last_write, 0, words * sizeof(uint64_t));
    registers->fences = 0;
    registers->done = 0;
    registers->issued = 0;
    registers->last_product = NULL;
  }
}

void emu_hazard_registers_destroy(emu_hazards_t *hazards) {
  for (uint32_t i = 0; i < hazards->warp_count; ++i) {
    emu_warp_registers_t *registers = &hazards->registers[i];
    for (int kind = 0; kind <= EMU_ROW_PREDICATE; ++kind)
      free(registers->written[kind]);
    free(registers->d_product);
    free(registers->a_product);
    free(registers->last_read);
    free(registers->last_write);
    free(registers->read_insn);
    free(registers->write_insn);
    free(registers->product_insn);
  }
}

/* ---- Ordinary instructions -------------------------------------------------
 */

/* The name of a row's register. */
static const char *register_name(const emu_warp_t *warp, emu_row_t row) {
  const emu_program_t *program = warp->cta->launch->program;
  for (uint32_t i = 0; i < program->entry->register_count; ++i)
    if (program->register_rows[i].kind == row.kind &&
        program->register_rows[i].index == row.index)
      return program->entry->registers[i].name;
  return "a register";
}

static void report_unwritten(emu_warp_t *warp, const emu_insn_t *insn,
                             emu_row_t row, uint32_t lanes) {
  emu_party_t party = {warp->index, lanes, insn};
  emu_find(warp->cta, EMU_FINDING_UNINITIALISED_REGISTER, &party, NULL,
           "%s is read, and nothing has written it", register_name(warp, row));
}

/* `is_write` of the instruction that touches a row of a product. */
static void check_flight(emu_warp_t *warp, const emu_insn_t *insn,
                         emu_row_t row, uint32_t lanes, bool is_write) {
  emu_warp_registers_t *registers = &warp->cta->hazards->registers[warp->index];
  bool is_d = registers->d_product[row.index] > registers->done;
  bool is_a = registers->a_product[row.index] > registers->done && is_write;
  if (is_write) {
    registers->last_write[row.index] = registers->fences + 1;
    registers->write_insn[row.index] = insn;
  } else if (registers->d_product[row.index] &&
             !registers->last_write[row.index]) {
    registers->last_read[row.index] = registers->fences + 1;
    registers->read_insn[row.index] = insn;
  }
  if (!is_d && !is_a)
    return;
  emu_party_t party = {warp->index, lanes, insn};
  emu_party_t other = {warp->index, 0, registers->product_insn[row.index]};
  emu_find(warp->cta, EMU_FINDING_ACCUMULATOR_IN_FLIGHT, &party, &other,
           "%s is %s, %s a wgmma that has not been waited for",
           register_name(warp, row), is_write ? "written" : "read",
           is_d ? "an accumulator of" : "the A operand of");
}

void emu_hazards_registers(emu_warp_t *warp, const emu_insn_t *insn,
                           uint32_t group, uint32_t lanes) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  uint32_t *const *written = hazards->registers[warp->index].written;
  if (insn->guard.kind == EMU_ROW_PREDICATE && !insn->guard.is_constant) {
    uint32_t missing = group & ~written[EMU_ROW_PREDICATE][insn->guard.index];
    if (missing)
      report_unwritten(warp, insn, insn->guard, missing);
  }
  if (!lanes)
    return;
  uint32_t first = insn->passes_on; /* the other is not used yet */
  const emu_row_t *row = insn->registers + first;
  for (uint32_t i = first; i < insn->source_count; ++i, ++row) {
    uint32_t missing = lanes & ~written[row->kind][row->index];
    if (missing)
      report_unwritten(warp, insn, *row, missing);
  }
  row += first;
  for (uint32_t i = first; i < insn->target_count; ++i, ++row)
    written[row->kind][row->index] |= lanes;
  if (!insn->touches_products)
    return;
  row = insn->registers;
  for (uint32_t i = 0; i < insn->source_count + insn->target_count; ++i, ++row)
    if (row->kind == EMU_ROW_WORD)
      check_flight(warp, insn, *row, lanes, i >= insn->source_count);
}

void emu_hazards_pass_on(emu_warp_t *warp, const emu_insn_t *insn,
                         uint32_t lanes, const uint32_t *source_lanes) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  uint32_t *const *written = hazards->registers[warp->index].written;
  emu_row_t source = insn->registers[0];
  emu_row_t target = insn->registers[insn->source_count];
  uint32_t source_written = written[source.kind][source.index];
  uint32_t set = source_written & lanes;
  if (source_lanes) {
    set = 0;
    EMU_FOR_LANES(lane, lanes)
    set |= (source_written >> source_lanes[lane] & 1) << lane;
  }
  uint32_t *target_written = &written[target.kind][target.index];
  *target_written = (*target_written & ~lanes) | set;
}

/* ---- Products --------------------------------------------------------------
 */

void emu_hazards_product_fence(emu_warp_t *warp) {
  if (warp->cta->hazards)
    ++warp->cta->hazards->registers[warp->index].fences;
}

/* An ordinary access that matters to the product has no wgmma.fence after it: a
 * write of what it reads, or a read of an earlier product's result where it
 * writes. Of a product the first such register is named. */
static void check_fence(emu_warp_t *warp, const emu_party_t *party,
                        emu_row_t row, bool is_d, bool is_read,
                        bool *is_found) {
  emu_warp_registers_t *registers = &warp->cta->hazards->registers[warp->index];
  bool is_written = registers->last_write[row.index] > registers->fences;
  bool was_read = registers->last_read[row.index] > registers->fences;
  registers->last_write[row.index] = registers->last_read[row.index] = 0;
  bool is_late_write = is_written && is_read;
  if (*is_found || !(is_late_write || (was_read && is_d)))
    return;
  emu_party_t other = {warp->index, 0,
                       is_late_write ? registers->write_insn[row.index]
                                     : registers->read_insn[row.index]};
  emu_find(warp->cta, EMU_FINDING_WGMMA_FENCE, party, &other,
           "%s, %s, was %s by another instruction since the last "
           "wgmma.fence",
           register_name(warp, row), is_d ? "an accumulator" : "of A",
           is_late_write ? "written" : "read");
  *is_found = true;
}

/* Products of one shape may follow each other on one accumulator; a register of
 * D must not be one of A of a product in flight. */
static void check_accumulator(emu_warp_t *warp, const emu_product_t *product,
                              const emu_party_t *party, emu_row_t row) {
  emu_warp_registers_t *registers = &warp->cta->hazards->registers[warp->index];
  const emu_insn_t *before = registers->product_insn[row.index];
  bool is_other_shape =
      registers->d_product[row.index] > registers->done && before &&
      ((const emu_wgmma_form_t *)before->detail)->n != product->form->n;
  bool is_a = registers->a_product[row.index] > registers->done;
  if (!is_other_shape && !is_a)
    return;
  emu_party_t other = {warp->index, 0, before};
  emu_find(warp->cta, EMU_FINDING_ACCUMULATOR_IN_FLIGHT, party, &other,
           "%s is an accumulator, and %s a wgmma that has not been waited for",
           register_name(warp, row),
           is_a ? "the A operand of" : "of another shape in");
}

void emu_hazards_product(emu_warp_t *warp, const emu_product_t *product,
                         uint64_t number) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  const emu_wgmma_form_t *form = product->form;
  emu_warp_registers_t *registers = &hazards->registers[warp->index];
  uint32_t *written = registers->written[EMU_ROW_WORD];
  emu_party_t party = {warp->index, 0, product->insn};
  registers->issued = number;
  registers->last_product = product->insn;
  bool is_unfenced = registers->fences == 0;
  if (is_unfenced)
    emu_find(warp->cta, EMU_FINDING_WGMMA_FENCE, &party, NULL,
             "the first wgmma follows no wgmma.fence");
  for (uint32_t i = 0; i < form->d_count; ++i) {
    emu_row_t row = form->d[i];
    if (product->accumulates && (warp->live & ~written[row.index]))
      report_unwritten(warp, product->insn, row,
                       warp->live & ~written[row.index]);
    check_fence(warp, &party, row, true, product->accumulates, &is_unfenced);
    check_accumulator(warp, product, &party, row);
    written[row.index] = EMU_ALL_LANES;
    registers->d_product[row.index] = number;
    registers->product_insn[row.index] = product->insn;
  }
  for (uint32_t i = 0; form->a_is_registers && i < 4; ++i) {
    emu_row_t row = form->a[i];
    if (row.is_constant)
      continue;
    if (warp->live & ~written[row.index])
      report_unwritten(warp, product->insn, row,
                       warp->live & ~written[row.index]);
    check_fence(warp, &party, row, false, true, &is_unfenced);
    registers->a_product[row.index] = number;
    registers->product_insn[row.index] = product->insn;
  }
  emu_hazards_operands(warp, product, number);
}

void emu_hazards_products_done(emu_warp_t *warp, uint64_t number) {
  emu_hazards_t *hazards = warp->cta->hazards;
  if (!hazards)
    return;
  emu_warp_registers_t *registers = &hazards->registers[warp->index];
  if (number > registers->done)
    registers->done = number;
  emu_agent_done(warp, warp->live, emu_product_agent(hazards, warp),
                 (uint32_t)number);
}
