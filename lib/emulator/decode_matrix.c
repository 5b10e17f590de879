/* ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements, a row of them
 * in 4 lanes.
 * Layer: emulator. Must not know: products, how warps are scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode.h"
#include "emulator/decode_mma.h"
#include "emulator/shared_address.h"

enum {
  SIZE = 8, /* rows and columns */
  ROW_BYTES = 16,
  MAX_COUNT = 4,
  ROW_LANES = 4, /* lanes that hold a row */
  ROW_ADDRESS = MAX_COUNT
};

typedef struct {
  uint32_t count; /* matrices; insn->rows[i] is the register of one */
  bool is_transposed;
  bool is_generic;
} matrix_form_t;

typedef uint16_t matrix_t[SIZE][SIZE];

/* ---- Execution -------------------------------------------------------------
 */

/* Lane l holds elements (l / 4, 2 * (l % 4)) and the next one of its row. */
static void to_registers(matrix_t matrix, bool is_transposed,
                         uint32_t out_words[EMU_LANES]) {
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
    uint32_t row = lane / ROW_LANES, column = 2 * (lane % ROW_LANES);
    uint32_t low = is_transposed ? matrix[column][row] : matrix[row][column];
    uint32_t high =
        is_transposed ? matrix[column + 1][row] : matrix[row][column + 1];
    out_words[lane] = low | high << 16;
  }
}

static void from_registers(const uint32_t words[EMU_LANES], bool is_transposed,
                           matrix_t out_matrix) {
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {
    uint32_t row = lane / ROW_LANES, column = 2 * (lane % ROW_LANES);
    uint16_t low = (uint16_t)words[lane], high = (uint16_t)(words[lane] >> 16);
    if (is_transposed) {
      out_matrix[column][row] = low;
      out_matrix[column + 1][row] = high;
    } else {
      out_matrix[row][column] = low;
      out_matrix[row][column + 1] = high;
    }
  }
}

/* Lanes 8 i to 8 i + 7 give the addresses of matrix i's rows. */
static bool row_addresses(emu_warp_t *warp, const emu_insn_t *insn,
                          uint64_t out_addresses[EMU_LANES]) {
  const matrix_form_t *form = insn->detail;
  uint32_t lanes =
      form->count == MAX_COUNT ? EMU_ALL_LANES : (1u << SIZE * form->count) - 1;
  emu_addresses(warp, insn->rows[ROW_ADDRESS], insn->immediates[0],
                out_addresses);
  return !form->is_generic ||
         emu_shared_offsets(warp, insn, lanes, out_addresses);
}

static uint8_t *row_memory(emu_warp_t *warp, const emu_insn_t *insn,
                           const uint64_t addresses[EMU_LANES], uint32_t lane,
                           bool is_write) {
  return emu_memory(warp, insn, lane, PTX_SPACE_SHARED, addresses[lane],
                    ROW_BYTES, ROW_BYTES, is_write);
}

static emu_outcome_t execute_load(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  const matrix_form_t *form = insn->detail;
  uint64_t addresses[EMU_LANES];
  uint32_t words[MAX_COUNT][EMU_LANES];
  if (!row_addresses(warp, insn, addresses))
    return EMU_FAULT;
  for (uint32_t i = 0; i < form->count; ++i) {
    matrix_t matrix;
    for (uint32_t row = 0; row < SIZE; ++row) {
      const uint8_t *memory =
          row_memory(warp, insn, addresses, SIZE * i + row, false);
      if (!memory)
        return EMU_FAULT;
      memcpy(matrix[row], memory, ROW_BYTES);
    }
    to_registers(matrix, form->is_transposed, words[i]);
  }
  for (uint32_t i = 0; i < form->count; ++i)
    emu_set_words(warp, insn->rows[i], lanes, words[i]);
  return EMU_NEXT;
}

static emu_outcome_t execute_store(emu_warp_t *warp, const emu_insn_t *insn,
                                   uint32_t lanes) {
  (void)lanes;
  const matrix_form_t *form = insn->detail;
  uint64_t addresses[EMU_LANES];
  if (!row_addresses(warp, insn, addresses))
    return EMU_FAULT;
  for (uint32_t i = 0; i < form->count; ++i) {
    matrix_t matrix;
    from_registers(emu_words(warp, insn->rows[i]), form->is_transposed, matrix);
    for (uint32_t row = 0; row < SIZE; ++row) {
      uint8_t *memory = row_memory(warp, insn, addresses, SIZE * i + row, true);
      if (!memory)
        return EMU_FAULT;
      memcpy(memory, matrix[row], ROW_BYTES);
    }
  }
  return EMU_NEXT;
}

static emu_outcome_t execute_transpose(emu_warp_t *warp, const emu_insn_t *insn,
                                       uint32_t lanes) {
  matrix_t matrix;
  uint32_t words[EMU_LANES];
  from_registers(emu_words(warp, insn->rows[1]), false, matrix);
  to_registers(matrix, true, words);
  emu_set_words(warp, insn->rows[0], lanes, words);
  return EMU_NEXT;
}

/* ---- Decoding --------------------------------------------------------------
 */

static uattn_error_t *expect_parts(emu_parts_t *parts,
                                   const char *const *wanted) {
  for (; *wanted; ++wanted)
    if (!emu_take(parts, *wanted))
      return emu_unsupported(parts->decoder, parts->syntax, "no .%s", *wanted);
  return NULL;
}

/* .sync.aligned.m8n8.num{.trans}{.shared}.b16 */
static uattn_error_t *read_opcode(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  matrix_form_t *form) {
  static const char *const wanted[] = {"sync", "aligned", "m8n8", "b16", NULL};
  static const char *const counts[] = {"x1", "x2", "x4", NULL};
  static const char *const spaces[] = {"shared", "shared::cta", NULL};
  emu_parts_t parts = emu_parts(decoder, syntax);
  int count = emu_take_one(&parts, counts);
  if (count < 0)
    return emu_unsupported(decoder, syntax, "no .x1, .x2 or .x4");
  form->count = 1u << count;
  form->is_transposed = emu_take(&parts, "trans");
  form->is_generic = emu_take_one(&parts, spaces) < 0;
  uattn_error_t *error = expect_parts(&parts, wanted);
  return error ? error : emu_parts_end(&parts);
}

/* A register of a matrix that is read or written. */
static uattn_error_t *read_register(emu_decoder_t *decoder,
                                    const ptx_instruction_t *syntax,
                                    const ptx_operand_t *operand,
                                    bool is_written, emu_row_t *out_row) {
  return is_written ? emu_decode_target(decoder, syntax, operand, PTX_TYPE_B32,
                                        out_row)
                    : emu_decode_source(decoder, syntax, operand, PTX_TYPE_B32,
                                        out_row);
}

static uattn_error_t *read_registers(emu_decoder_t *decoder,
                                     const ptx_instruction_t *syntax,
                                     emu_insn_t *insn,
                                     const ptx_operand_t *operand,
                                     bool is_written) {
  const matrix_form_t *form = insn->detail;
  if (operand->kind != PTX_OPERAND_VECTOR ||
      operand->element_count != form->count)
    return emu_unsupported(decoder, syntax, "expected {} with %u registers",
                           form->count);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < form->count; ++i)
    error = read_register(decoder, syntax, &operand->elements[i], is_written,
                          &insn->rows[i]);
  return error;
}

static uattn_error_t *decode(emu_decoder_t *decoder,
                             const ptx_instruction_t *syntax, emu_insn_t *insn,
                             bool is_load) {
  matrix_form_t *form = uattn_arena_allocate(decoder->arena, sizeof *form);
  insn->detail = form;
  insn->is_aligned = true;
  insn->execute = is_load ? execute_load : execute_store;
  uattn_error_t *error = read_opcode(decoder, syntax, form);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 2, 2);
  if (!error)
    error = read_registers(decoder, syntax, insn,
                           &syntax->operands[is_load ? 0 : 1], is_load);
  if (!error)
    error =
        emu_decode_address(decoder, syntax, &syntax->operands[is_load ? 1 : 0],
                           &insn->rows[ROW_ADDRESS], &insn->immediates[0]);
  return error;
}

static uattn_error_t *decode_load(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  return decode(decoder, syntax, insn, true);
}

static uattn_error_t *decode_store(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  return decode(decoder, syntax, insn, false);
}

static uattn_error_t *decode_transpose(emu_decoder_t *decoder,
                                       const ptx_instruction_t *syntax,
                                       emu_insn_t *insn) {
  static const char *const wanted[] = {"sync",  "aligned", "m8n8",
                                       "trans", "b16",     NULL};
  static const ptx_type_t types[] = {PTX_TYPE_B32, PTX_TYPE_B32};
  emu_parts_t parts = emu_parts(decoder, syntax);
  insn->is_aligned = true;
  insn->execute = execute_transpose;
  uattn_error_t *error = expect_parts(&parts, wanted);
  if (!error)
    error = emu_parts_end(&parts);
  return error ? error : emu_decode_rows(decoder, syntax, insn, 2, types);
}

const emu_opcode_t emu_matrix_opcodes[] = {
    {"ldmatrix", decode_load},
    {"mma", emu_decode_mma},
    {"movmatrix", decode_transpose},
    {"stmatrix", decode_store},
    {NULL, NULL},
};
