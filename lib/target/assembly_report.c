/* What ptxas says of a kernel, as numbers and as warnings.
 * Layer: target. Must not know: how ptxas is run.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "target/target.h"

/* The number that stands right before `unit`; 0 where `unit` is not found. */
static int32_t number_before(const char *text, const char *unit) {
  const char *end = strstr(text, unit);
  if (!end)
    return 0;
  const char *start = end;
  while (start > text && start[-1] >= '0' && start[-1] <= '9')
    --start;
  return start < end ? (int32_t)strtol(start, NULL, 10) : 0;
}

uattn_assembly_report_t uattn_assembly_report_parse(const char *messages) {
  uattn_assembly_report_t report = {
      .registers = number_before(messages, " registers"),
      .stack_bytes = number_before(messages, " bytes stack frame"),
      .spill_store_bytes = number_before(messages, " bytes spill stores"),
      .spill_load_bytes = number_before(messages, " bytes spill loads"),
      /* C7510 to C7519 are reasons for the same thing. */
      .is_wgmma_serialized = strstr(messages, "C751") != NULL ||
                             strstr(messages, "wgmma.mma_async instructions "
                                              "are serialized") != NULL,
      .is_setmaxnreg_ignored = strstr(messages, "C7508") != NULL ||
                               strstr(messages, "setmaxnreg ignored") != NULL,
  };
  return report;
}

void uattn_assembly_report_warn(const uattn_assembly_report_t *report,
                                const char *kernel, uattn_string_t *text) {
  if (report->spill_store_bytes > 0 || report->spill_load_bytes > 0)
    uattn_string_appendf(
        text, "%s spills registers: %d bytes of stores, %d bytes of loads\n",
        kernel, report->spill_store_bytes, report->spill_load_bytes);
  if (report->stack_bytes > 0)
    uattn_string_appendf(text, "%s uses %d bytes of local memory a thread\n",
                         kernel, report->stack_bytes);
  if (report->is_wgmma_serialized)
    uattn_string_appendf(
        text, "%s has its wgmma instructions serialized by ptxas (C7510)\n",
        kernel);
  if (report->is_setmaxnreg_ignored)
    uattn_string_appendf(text,
                         "%s has its setmaxnreg ignored by ptxas "
                         "(C7508)\n",
                         kernel);
}
