/* Instructions about addresses and caches: cvta, isspacep, prefetches.
 * Layer: emulator. Must not know: how memory is reached.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode.h"

static emu_outcome_t do_nothing(emu_warp_t *warp, const emu_insn_t *insn,
                                uint32_t lanes) {
  (void)warp;
  (void)insn;
  (void)lanes;
  return EMU_NEXT;
}

/* ---- Generic addresses -----------------------------------------------------
 */

static const char *const spaces[] = {
    "global",          "shared",       "shared::cta",
    "shared::cluster", "local",        "const",
    "param",           "param::entry", NULL};
/* Where the space's window starts; global addresses are generic ones. */
static const uint64_t windows[] = {0,
                                   EMU_SHARED_WINDOW,
                                   EMU_SHARED_WINDOW,
                                   EMU_SHARED_WINDOW,
                                   EMU_LOCAL_WINDOW,
                                   EMU_CONST_WINDOW,
                                   EMU_PARAM_WINDOW,
                                   EMU_PARAM_WINDOW};

EMU_DEFINE_1(add_window, long, long, a + (uint64_t)insn->immediates[0])

static uattn_error_t *decode_cvta(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  bool is_to = emu_take(&parts, "to");
  int space = emu_take_one(&parts, spaces);
  ptx_type_t type = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 2, 2);
  if (!error && (space < 0 || type != PTX_TYPE_U64))
    error = emu_unsupported(decoder, syntax, "expected a state space and .u64");
  if (error)
    return error;
  insn->execute = add_window;
  insn->immediates[0] = (int64_t)(is_to ? 0 - windows[space] : windows[space]);
  const ptx_type_t types[] = {type, type};
  return emu_decode_rows(decoder, syntax, insn, 2, types);
}

static bool is_in_window(uint64_t address, uint64_t window) {
  return address - window < EMU_WINDOW_BYTES;
}

/* Parameters of a kernel and its constants lie in the global window too. */
static bool is_in_space(uint64_t address, uint64_t window) {
  if (window)
    return is_in_window(address, window);
  return !is_in_window(address, EMU_SHARED_WINDOW) &&
         !is_in_window(address, EMU_LOCAL_WINDOW);
}

static emu_outcome_t execute_isspacep(emu_warp_t *warp, const emu_insn_t *insn,
                                      uint32_t lanes) {
  const uint64_t *addresses = emu_longs(warp, insn->rows[1]);
  uint32_t result = 0;
  for (uint32_t lane = 0; lane < EMU_LANES; ++lane)
    result |=
        (uint32_t)is_in_space(addresses[lane], (uint64_t)insn->immediates[0])
        << lane;
  emu_set_predicate(warp, insn->rows[0], lanes, result);
  return EMU_NEXT;
}

static uattn_error_t *decode_isspacep(emu_decoder_t *decoder,
                                      const ptx_instruction_t *syntax,
                                      emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  int space = emu_take_one(&parts, spaces);
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error)
    error = emu_expect_operands(decoder, syntax, 2, 2);
  if (!error && space < 0)
    error = emu_unsupported(decoder, syntax, "expected a state space");
  if (error)
    return error;
  insn->execute = execute_isspacep;
  insn->immediates[0] = (int64_t)windows[space];
  const ptx_type_t types[] = {PTX_TYPE_PRED, PTX_TYPE_U64};
  return emu_decode_rows(decoder, syntax, insn, 2, types);
}

/* ---- Caches ----------------------------------------------------------------
 * There are none: hints are read and do nothing. */

static const char *const hint_spaces[] = {"global", "local", "const", "param",
                                          NULL};
static const char *const hint_levels[] = {
    "L1", "L2", "tensormap", "L2::evict_last", "L2::evict_normal", NULL};

static uattn_error_t *decode_hint(emu_decoder_t *decoder,
                                  const ptx_instruction_t *syntax,
                                  emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  emu_take_one(&parts, hint_spaces);
  int level = emu_take_one(&parts, hint_levels);
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error && level < 0)
    error = emu_unsupported(decoder, syntax, "expected a cache level");
  if (!error)
    error = emu_expect_operands(decoder, syntax, 1, 2);
  insn->execute = do_nothing;
  int64_t offset;
  return error ? error
               : emu_decode_address(decoder, syntax, &syntax->operands[0],
                                    &insn->rows[0], &offset);
}

/* createpolicy: no instruction looks into a policy. */
static emu_outcome_t set_zero(emu_warp_t *warp, const emu_insn_t *insn,
                              uint32_t lanes) {
  uint64_t *target = emu_target_long(warp, insn->rows[0]);
  EMU_LANE_LOOP(lanes, target[lane] = 0)
  return EMU_NEXT;
}

static const char *const priorities[] = {"L2::evict_last", "L2::evict_normal",
                                         "L2::evict_first",
                                         "L2::evict_unchanged", NULL};

static uattn_error_t *decode_createpolicy(emu_decoder_t *decoder,
                                          const ptx_instruction_t *syntax,
                                          emu_insn_t *insn) {
  emu_parts_t parts = emu_parts(decoder, syntax);
  bool is_known = emu_take(&parts, "fractional");
  while (emu_take_one(&parts, priorities) >= 0)
    continue;
  ptx_type_t type = emu_take_type(&parts);
  uattn_error_t *error = emu_parts_end(&parts);
  if (!error && (!is_known || type != PTX_TYPE_B64))
    error = emu_unsupported(decoder, syntax, "expected .fractional and .b64");
  if (!error)
    error = emu_expect_operands(decoder, syntax, 1, 2);
  insn->execute = set_zero;
  return error ? error : emu_decode_rows(decoder, syntax, insn, 1, &type);
}

const emu_opcode_t emu_address_opcodes[] = {
    {"cvta", decode_cvta},
    {"isspacep", decode_isspacep},
    {"prefetch", decode_hint},
    {"prefetchu", decode_hint},
    {"discard", decode_hint},
    {"applypriority", decode_hint},
    {"createpolicy", decode_createpolicy},
    {NULL, NULL},
};
