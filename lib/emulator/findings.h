/* What a run shows to be wrong with a kernel, though it goes on: findings of a
 * CTA, and those of all CTAs.
 * Layer: emulator. Must not know: how hazards are found, scheduling.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_FINDINGS_H
#define UATTN_EMULATOR_FINDINGS_H

#include "emulator/machine.h"

/* Notes a finding of `party`; `other` (NULL: none) is named after the message.
 * One that repeats kind and both instructions is only counted. */
void emu_find(emu_cta_t *cta, emu_finding_kind_t kind, const emu_party_t *party,
              const emu_party_t *other, const char *format, ...)
    UATTN_PRINTF(5, 6);

/* ---- All CTAs' -------------------------------------------------------------
 */

/* Moves `from` into `into`, which keeps of equal ones that of the first CTA. */
void emu_findings_merge(emu_findings_t *into, emu_findings_t *from);
/* Drops the findings of CTAs after `last`. */
void emu_findings_drop_after(emu_findings_t *findings, uint64_t last);
void emu_findings_release(emu_findings_t *findings);
/* All of them, a line each in order of CTA and time, then `owned_fault` (may be
 * NULL), as one error; NULL where there is nothing. */
UATTN_NODISCARD uattn_error_t *emu_findings_error(emu_findings_t *findings,
                                                  uattn_error_t *owned_fault);

#endif /* UATTN_EMULATOR_FINDINGS_H */
