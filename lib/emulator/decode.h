/* What the decoders of scalar instructions share: the parts of an opcode, and
 * loops over the lanes of rows.
 * Layer: emulator. Must not know: how warps are scheduled, PTX text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_DECODE_H
#define UATTN_EMULATOR_DECODE_H

#include <string.h>

#include "emulator/machine.h"

/* ---- Parts of an opcode ----------------------------------------------------
 * A decoder takes those that it understands, each once and in any order, and
 * ends with emu_parts_end, which refuses what was not taken. */

typedef struct {
  emu_decoder_t *decoder;
  const ptx_instruction_t *syntax;
  uint64_t taken; /* bit a part; the first part is the opcode */
} emu_parts_t;

emu_parts_t emu_parts(emu_decoder_t *decoder, const ptx_instruction_t *syntax);
bool emu_take(emu_parts_t *parts, const char *part);
/* The next part that is a type, from the left; NONE where there is none. */
ptx_type_t emu_take_type(emu_parts_t *parts);
/* The index in `names` (ended by NULL) of the first name that is among the
 * parts, -1 where none is. */
int emu_take_one(emu_parts_t *parts, const char *const *names);
UATTN_NODISCARD uattn_error_t *emu_parts_end(const emu_parts_t *parts);

/* Fails unless the instruction has from `least` to `most` operands. */
UATTN_NODISCARD uattn_error_t *
emu_expect_operands(const emu_decoder_t *decoder,
                    const ptx_instruction_t *syntax, uint32_t least,
                    uint32_t most);

/* Decodes operands 0 (written, not a sink) and 1 to count - 1 (read) as
 * `types` into insn->rows; the instruction has at least `count` operands. */
UATTN_NODISCARD uattn_error_t *emu_decode_rows(emu_decoder_t *decoder,
                                               const ptx_instruction_t *syntax,
                                               emu_insn_t *insn, uint32_t count,
                                               const ptx_type_t *types);

/* Like emu_decode_source and emu_decode_target for instructions whose registers
 * may be wider than the type (ld, st, cvt): the row is of the register's own
 * kind. */
UATTN_NODISCARD uattn_error_t *
emu_decode_wide_source(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                       const ptx_operand_t *operand, ptx_type_t type,
                       emu_row_t *out_row);
UATTN_NODISCARD uattn_error_t *
emu_decode_wide_target(emu_decoder_t *decoder, const ptx_instruction_t *syntax,
                       const ptx_operand_t *operand, ptx_type_t type,
                       emu_row_t *out_row);

/* Bytes of the register that `operand` names, 0 where it is none. */
size_t emu_register_bytes(const emu_decoder_t *decoder,
                          const ptx_operand_t *operand);

/* A constant integer operand, for what is an immediate by rule. */
UATTN_NODISCARD uattn_error_t *
emu_decode_immediate(const emu_decoder_t *decoder,
                     const ptx_instruction_t *syntax,
                     const ptx_operand_t *operand, int64_t *out_value);

/* Constant rows, shared by equal values. */
emu_row_t emu_constant_word(emu_decoder_t *decoder, uint32_t value);
emu_row_t emu_constant_long(emu_decoder_t *decoder, uint64_t value);
emu_row_t emu_constant_predicate(bool value);
/* A new row of the warp's. */
emu_row_t emu_new_row(emu_decoder_t *decoder, emu_row_kind_t kind);

/* WORD, LONG or PREDICATE; NONE for b128 and no type. */
emu_row_kind_t emu_row_kind(ptx_type_t type);
const char *emu_type_name(ptx_type_t type);

/* True where every lane is in its own member mask and all lanes named there
 * have come; else `*out_outcome` is what to return: a fault, or to wait. */
bool emu_members_have_come(emu_warp_t *warp, const emu_insn_t *insn,
                           uint32_t lanes, const uint32_t *masks,
                           emu_outcome_t *out_outcome);

/* ---- Loops over lanes ------------------------------------------------------
 * EMU_DEFINE_1 to _3 define the function NAME that executes
 *   target[lane] = EXPRESSION
 * of a (and b, c) for each lane; the kinds are word (uint32_t) or long
 * (uint64_t), rows[0] is the target, rows[1] is a, and so on. Rows are one
 * another or disjoint, so lanes do not depend on each other. */

typedef uint32_t emu_word_t;
typedef uint64_t emu_long_t;
static inline uint32_t *emu_target_word(const emu_warp_t *warp, emu_row_t row) {
  return warp->words + (size_t)row.index * EMU_LANES;
}
static inline uint64_t *emu_target_long(const emu_warp_t *warp, emu_row_t row) {
  return warp->longs + (size_t)row.index * EMU_LANES;
}
#define emu_source_word emu_words
#define emu_source_long emu_longs

#define EMU_FOR_LANES(lane, lanes)                                             \
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)                            \
    if ((lanes) >> lane & 1)

#define EMU_LANE_LOOP(lanes, statement)                                        \
  if ((lanes) == EMU_ALL_LANES) {                                              \
    _Pragma("GCC ivdep") for (uint32_t lane = 0; lane < EMU_LANES; ++lane) {   \
      statement;                                                               \
    }                                                                          \
  } else {                                                                     \
    EMU_FOR_LANES(lane, lanes) { statement; }                                  \
  }

#define EMU_DEFINE_1(name, target_kind, a_kind, expression)                    \
  static emu_outcome_t name(emu_warp_t *warp, const emu_insn_t *insn,          \
                            uint32_t lanes) {                                  \
    emu_##target_kind##_t *target =                                            \
        emu_target_##target_kind(warp, insn->rows[0]);                         \
    const emu_##a_kind##_t *a_row = emu_source_##a_kind(warp, insn->rows[1]);  \
    EMU_LANE_LOOP(lanes, const emu_##a_kind##_t a = a_row[lane];               \
                  target[lane] = (emu_##target_kind##_t)(expression))          \
    return EMU_NEXT;                                                           \
  }

#define EMU_DEFINE_2(name, target_kind, a_kind, b_kind, expression)            \
  static emu_outcome_t name(emu_warp_t *warp, const emu_insn_t *insn,          \
                            uint32_t lanes) {                                  \
    emu_##target_kind##_t *target =                                            \
        emu_target_##target_kind(warp, insn->rows[0]);                         \
    const emu_##a_kind##_t *a_row = emu_source_##a_kind(warp, insn->rows[1]);  \
    const emu_##b_kind##_t *b_row = emu_source_##b_kind(warp, insn->rows[2]);  \
    EMU_LANE_LOOP(lanes, const emu_##a_kind##_t a = a_row[lane];               \
                  const emu_##b_kind##_t b = b_row[lane];                      \
                  target[lane] = (emu_##target_kind##_t)(expression))          \
    return EMU_NEXT;                                                           \
  }

#define EMU_DEFINE_3(name, target_kind, a_kind, b_kind, c_kind, expression)    \
  static emu_outcome_t name(emu_warp_t *warp, const emu_insn_t *insn,          \
                            uint32_t lanes) {                                  \
    emu_##target_kind##_t *target =                                            \
        emu_target_##target_kind(warp, insn->rows[0]);                         \
    const emu_##a_kind##_t *a_row = emu_source_##a_kind(warp, insn->rows[1]);  \
    const emu_##b_kind##_t *b_row = emu_source_##b_kind(warp, insn->rows[2]);  \
    const emu_##c_kind##_t *c_row = emu_source_##c_kind(warp, insn->rows[3]);  \
    EMU_LANE_LOOP(lanes, const emu_##a_kind##_t a = a_row[lane];               \
                  const emu_##b_kind##_t b = b_row[lane];                      \
                  const emu_##c_kind##_t c = c_row[lane];                      \
                  target[lane] = (emu_##target_kind##_t)(expression))          \
    return EMU_NEXT;                                                           \
  }

/* ---- Bits and floats -------------------------------------------------------
 */

static inline float emu_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint32_t emu_float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline double emu_double(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint64_t emu_double_bits(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#endif /* UATTN_EMULATOR_DECODE_H */
