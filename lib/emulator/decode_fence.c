/* Fences, and hints about grids: memory operations happen one after the other
 * here, so that fences matter to the checks for hazards alone; every word is
 * checked.
 * Layer: emulator. Must not know: barriers, how warps are scheduled.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/decode_fence.h"
#include "emulator/decode.h"
#include "emulator/hazards.h"

/* Every form, PTX ISA 9.0; "*" is a scope. */
static const char *const forms[] = {
    "fence.*",
    "fence.sc.*",
    "fence.acq_rel.*",
    "fence.acquire.*",
    "fence.release.*",
    "fence.acquire.sync_restrict::shared::cluster.cluster",
    "fence.release.sync_restrict::shared::cta.cluster",
    "fence.mbarrier_init.release.cluster",
    "fence.proxy.alias",
    "fence.proxy.async",
    "fence.proxy.async.global",
    "fence.proxy.async.shared::cta",
    "fence.proxy.async.shared::cluster",
    "fence.proxy.tensormap::generic.release.*",
    "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster",
    "membar.cta",
    "membar.gl",
    "membar.sys",
    "membar.proxy.alias",
    "membar.proxy.async",
    "membar.proxy.async.global",
    "membar.proxy.async.shared::cta",
    "membar.proxy.async.shared::cluster",
    "griddepcontrol.launch_dependents",
    "griddepcontrol.wait",
    NULL};

static bool is_scope(const char *part) {
  static const char *const scopes[] = {"cta", "cluster", "gpu", "sys"};
  for (size_t i = 0; i < sizeof scopes / sizeof *scopes; ++i)
    if (strcmp(part, scopes[i]) == 0)
      return true;
  return false;
}

/* The parts, joined by dots, are `form`. */
static bool has_form(const ptx_instruction_t *syntax, const char *form) {
  for (uint32_t i = 0; i < syntax->part_count; ++i) {
    const char *part = syntax->parts[i];
    size_t size = strcspn(form, ".");
    bool is_wild = size == 1 && *form == '*';
    if (is_wild ? !is_scope(part)
                : strlen(part) != size || memcmp(part, form, size))
      return false;
    form += size;
    if (*form == '.')
      ++form;
    else if (i + 1 < syntax->part_count)
      return false;
  }
  return *form == 0;
}

static emu_outcome_t nothing(emu_warp_t *warp, const emu_insn_t *insn,
                             uint32_t lanes) {
  (void)warp, (void)insn, (void)lanes;
  return EMU_NEXT;
}

static emu_outcome_t fence_proxy(emu_warp_t *warp, const emu_insn_t *insn,
                                 uint32_t lanes) {
  (void)insn;
  emu_hazards_proxy_fence(warp, lanes);
  return EMU_NEXT;
}

static emu_outcome_t fence_init(emu_warp_t *warp, const emu_insn_t *insn,
                                uint32_t lanes) {
  (void)insn;
  emu_hazards_init_fence(warp, lanes);
  return EMU_NEXT;
}

/* What a form does for shared memory. */
static emu_execute_t execute_of(const char *form) {
  if (strstr(form, "mbarrier_init"))
    return fence_init;
  bool is_proxy = strstr(form, ".proxy.async") && !strstr(form, ".global");
  return is_proxy ? fence_proxy : nothing;
}

/* fence.proxy.tensormap::generic.acquire.scope [map], 128. */
static uattn_error_t *decode_tensor_map_acquire(emu_decoder_t *decoder,
                                                const ptx_instruction_t *syntax,
                                                emu_insn_t *insn) {
  uattn_error_t *error = emu_expect_operands(decoder, syntax, 2, 2);
  int64_t offset = 0, size = 0;
  if (!error)
    error = emu_decode_address(decoder, syntax, &syntax->operands[0],
                               &insn->rows[0], &offset);
  if (!error)
    error = emu_decode_immediate(decoder, syntax, &syntax->operands[1], &size);
  if (!error && size != 128)
    error = emu_unsupported(decoder, syntax, "size %lld: expected 128",
                            (long long)size);
  return error;
}

uattn_error_t *emu_decode_fence(emu_decoder_t *decoder,
                                const ptx_instruction_t *syntax,
                                emu_insn_t *insn) {
  insn->execute = nothing;
  if (has_form(syntax, "fence.proxy.tensormap::generic.acquire.*"))
    return decode_tensor_map_acquire(decoder, syntax, insn);
  for (size_t i = 0; forms[i]; ++i)
    if (has_form(syntax, forms[i])) {
      insn->execute = execute_of(forms[i]);
      return emu_expect_operands(decoder, syntax, 0, 0);
    }
  return emu_unsupported(decoder, syntax, "no known form of %s",
                         syntax->parts[0]);
}
