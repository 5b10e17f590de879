/* Addresses of shared memory in a cluster of one CTA: mapa, getctarank.
 * Layer: emulator. Must not know: what lies at the addresses.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/shared_address.h"

#include <inttypes.h>

#include "emulator/decode.h"

enum { ROW_TARGET, ROW_ADDRESS, ROW_RANK };

bool emu_shared_offsets(emu_warp_t *warp, const emu_insn_t *insn,
                        uint32_t lanes, uint64_t io_addresses[EMU_LANES]) {
  EMU_FOR_LANES(lane, lanes) {
    uint64_t offset = io_addresses[lane] - EMU_SHARED_WINDOW;
    if (offset >= EMU_WINDOW_BYTES) {
      emu_fault(warp->cta, warp, (int)lane, insn,
                "generic address 0x%" PRIx64 " is not in shared memory",
                io_addresses[lane]);
      return false;
    }
    io_addresses[lane] = offset;
  }
  return true;
}

/* ---- Execution -------------------------------------------------------------
 */

static emu_outcome_t execute_map(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes) {
  const uint32_t *ranks = emu_words(warp, insn->rows[ROW_RANK]);
  EMU_FOR_LANES(lane, lanes) {
    if (ranks[lane] == 0)
      continue;
    emu_fault(warp->cta, warp, (int)lane, insn,
              "CTA rank %u: expected 0 in a cluster of one CTA", ranks[lane]);
    return EMU_FAULT;
  }
  emu_row_t target = insn->rows[ROW_TARGET], source = insn->rows[ROW_ADDRESS];
  uint64_t addresses[EMU_LANES];
  emu_addresses(warp, source, insn->immediates[0], addresses);
  if (target.kind == EMU_ROW_LONG) {
    emu_set_longs(warp, target, lanes, addresses);
    return EMU_NEXT;
  }
  uint32_t words[EMU_LANES];
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    words[lane] = (uint32_t)addresses[lane];
  emu_set_words(warp, target, lanes, words);
  return EMU_NEXT;
}

static emu_outcome_t execute_rank(emu_warp_t *warp, const emu_insn_t *insn,
                                  uint32_t lanes) {
  static const uint32_t zeros[EMU_LANES];
  emu_set_words(warp, insn->rows[ROW_TARGET], lanes, zeros);
  return EMU_NEXT;
}

/* ---- Decoding --------------------------------------------------------------
 */

/* {.shared::cluster}.u32 or .u64 */
static uattn_error_t *decode_type(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  ptx_type_t *out_type) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  (void)emu_take(&parts, "shared::cluster");
  *out_type = emu_take_type(&parts);
  if (*out_type != PTX_TYPE_U32 && *out_type != PTX_TYPE_U64)
    return emu_unsupported(decoder, syntax, "neither .u32 nor .u64");
  return emu_parts_end(&parts);
}

/* A register, or a variable and an offset. */
static uattn_error_t *decode_address(emu_decoder_t *decoder,
                                     const ptx_instruction_t *syntax,
                                     emu_insn_t *insn, ptx_type_t type) {
  return emu_decode_source(decoder, syntax, &syntax->operands[1], type,
                           &insn->rows[ROW_ADDRESS]);
}

uattn_error_t *emu_decode_map_address(emu_decoder_t *decoder,
                                      const ptx_instruction_t *syntax,
                                      emu_insn_t *insn) {
  ptx_type_t type = PTX_TYPE_NONE;
  insn->execute = execute_map;
  uattn_error_t *error = decode_type(decoder, syntax, &type);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 3, 3);
  if (!error)
    error = emu_decode_target(decoder, syntax, &syntax->operands[0], type,
                              &insn->rows[ROW_TARGET]);
  if (!error)
    error = decode_address(decoder, syntax, insn, type);
  if (!error)
    error = emu_decode_source(decoder, syntax, &syntax->operands[2],
                              PTX_TYPE_U32, &insn->rows[ROW_RANK]);
  return error;
}

uattn_error_t *emu_decode_cta_rank(emu_decoder_t *decoder,
                                   const ptx_instruction_t *syntax,
                                   emu_insn_t *insn) {
  ptx_type_t type = PTX_TYPE_NONE;
  insn->execute = execute_rank;
  uattn_error_t *error = decode_type(decoder, syntax, &type);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 2, 2);
  if (!error)
    error = emu_decode_target(decoder, syntax, &syntax->operands[0],
                              PTX_TYPE_U32, &insn->rows[ROW_TARGET]);
  return error ? error : decode_address(decoder, syntax, insn, type);
}
