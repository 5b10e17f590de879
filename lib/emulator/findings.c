/* What a run shows to be wrong with a kernel: noted by a CTA, gathered from
 * all. Layer: emulator. Must not know: how hazards are found, scheduling.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/findings.h"

#include <inttypes.h>
#include <stdlib.h>

#include "emulator/run_launch.h"

/* Different findings of a CTA; who has so many needs no more of them. */
enum { MOST_FINDINGS = 64 };

static const char *const names[] = {
    [EMU_FINDING_RACE] = "race",
    [EMU_FINDING_PROXY_FENCE] = "no proxy fence",
    [EMU_FINDING_PROXY_FENCE_READ] = "no proxy fence after a read",
    [EMU_FINDING_OPERAND_OVERWRITTEN] = "operand overwritten",
    [EMU_FINDING_ACCUMULATOR_IN_FLIGHT] = "register in flight",
    [EMU_FINDING_WGMMA_FENCE] = "no wgmma.fence",
    [EMU_FINDING_UNINITIALISED_SHARED] = "uninitialised shared memory",
    [EMU_FINDING_UNINITIALISED_REGISTER] = "uninitialised register",
    [EMU_FINDING_TRANSACTION_COUNT] = "transaction count",
    [EMU_FINDING_REGISTER_COUNT] = "register count",
    [EMU_FINDING_NON_UNIFORM] = "not uniform",
    [EMU_FINDING_EXIT_IN_FLIGHT] = "exit in flight",
    [EMU_FINDING_HALF_DONE_BARRIER] = "half-done barrier",
    [EMU_FINDING_REPEATED_ARRIVAL] = "repeated arrival"};

/* ---- A CTA's ---------------------------------------------------------------
 */

static emu_finding_t *same_finding(const emu_findings_t *findings,
                                   emu_finding_kind_t kind,
                                   const emu_insn_t *insn,
                                   const emu_insn_t *other) {
  for (uint32_t i = 0; i < findings->count; ++i) {
    emu_finding_t *finding = &findings->list[i];
    if (finding->kind == kind && finding->insn == insn &&
        finding->other == other)
      return finding;
  }
  return NULL;
}

static void append(emu_findings_t *findings, const emu_finding_t *finding) {
  if (findings->count == findings->capacity) {
    uint32_t capacity = findings->capacity ? 2 * findings->capacity : 8;
    emu_finding_t *list = uattn_allocate(capacity * sizeof *list);
    for (uint32_t i = 0; i < findings->count; ++i)
      list[i] = findings->list[i];
    free(findings->list);
    findings->list = list;
    findings->capacity = capacity;
  }
  findings->list[findings->count++] = *finding;
}

static void append_party(uattn_string_t *text, const emu_party_t *party) {
  uattn_string_appendf(text, "line %d ", party->insn->syntax->line);
  emu_append_text(text, party->insn);
  uattn_string_append(text, " of");
  emu_append_lanes(text, party->warp, party->lanes);
}

void emu_find(emu_cta_t *cta, emu_finding_kind_t kind, const emu_party_t *party,
              const emu_party_t *other, const char *format, ...) {
  const emu_insn_t *other_insn = other ? other->insn : NULL;
  emu_finding_t *known =
      same_finding(&cta->findings, kind, party->insn, other_insn);
  if (known) {
    ++known->count;
    return;
  }
  if (cta->findings.count >= MOST_FINDINGS)
    return;
  uattn_string_t text = {0};
  emu_append_place(&text, cta, party->insn ? &cta->warps[party->warp] : NULL,
                   party->lanes, party->insn);
  uattn_string_appendf(&text, "%s: ", names[kind]);
  va_list arguments;
  va_start(arguments, format);
  uattn_string_appendv(&text, format, arguments);
  va_end(arguments);
  if (other_insn) {
    uattn_string_append(&text, "; the other party: ");
    append_party(&text, other);
  }
  emu_finding_t finding = {.kind = kind,
                           .insn = party->insn,
                           .other = other_insn,
                           .cta = cta->linear_index,
                           .order = cta->findings.count,
                           .count = 1,
                           .text = uattn_string_take(&text)};
  append(&cta->findings, &finding);
}

/* ---- All CTAs' -------------------------------------------------------------
 */

void emu_findings_merge(emu_findings_t *into, emu_findings_t *from) {
  for (uint32_t i = 0; i < from->count; ++i) {
    emu_finding_t *finding = &from->list[i];
    emu_finding_t *known =
        same_finding(into, finding->kind, finding->insn, finding->other);
    if (!known) {
      append(into, finding);
      continue;
    }
    char *unused = finding->text;
    if (finding->cta < known->cta) {
      unused = known->text;
      *known = *finding;
    }
    free(unused);
  }
  from->count = 0;
}

void emu_findings_drop_after(emu_findings_t *findings, uint64_t last) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < findings->count; ++i) {
    if (findings->list[i].cta <= last)
      findings->list[kept++] = findings->list[i];
    else
      free(findings->list[i].text);
  }
  findings->count = kept;
}

void emu_findings_release(emu_findings_t *findings) {
  for (uint32_t i = 0; i < findings->count; ++i)
    free(findings->list[i].text);
  free(findings->list);
  *findings = (emu_findings_t){0};
}

static int compare_findings(const void *left, const void *right) {
  const emu_finding_t *a = left;
  const emu_finding_t *b = right;
  if (a->cta != b->cta)
    return a->cta < b->cta ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

uattn_error_t *emu_findings_error(emu_findings_t *findings,
                                  uattn_error_t *owned_fault) {
  if (findings->count == 0)
    return owned_fault;
  uattn_string_t text = {0};
  qsort(findings->list, findings->count, sizeof *findings->list,
        compare_findings);
  for (uint32_t i = 0; i < findings->count; ++i) {
    const emu_finding_t *finding = &findings->list[i];
    uattn_string_appendf(&text, "%s%s", i ? "\n" : "", finding->text);
    if (finding->count > 1)
      uattn_string_appendf(&text, " (%" PRIu64 " times)", finding->count);
  }
  if (owned_fault)
    uattn_string_appendf(&text, "\n%s", uattn_error_message(owned_fault));
  uattn_error_destroy(owned_fault);
  uattn_error_t *error =
      uattn_error_create(UATTN_ERROR_FAULT, "%s", uattn_string_get(&text));
  uattn_string_release(&text);
  return error;
}
