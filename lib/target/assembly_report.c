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

static int32_t number_behind(const char *text, const char *word) {
  const char *found = strstr(text, word);
  return found ? (int32_t)strtol(found + strlen(word), NULL, 10) : 0;
}

/* Whether there is a remark of a number from `first` to `last`: "(C7510)". */
static bool has_remark(const char *text, long first, long last) {
  for (const char *at = strstr(text, "(C"); at; at = strstr(at + 1, "(C")) {
    long number = strtol(at + 2, NULL, 10);
    if (number >= first && number <= last)
      return true;
  }
  return false;
}

/* The remarks' texts too, since their numbers are nowhere promised. Other
 * remarks speak of "registers", only the summary of "Used N registers". */
uattn_assembly_report_t uattn_assembly_report_parse(const char *messages) {
  uattn_assembly_report_t report = {
      .registers = number_behind(messages, "Used "),
      .stack_bytes = number_before(messages, " bytes stack frame"),
      .spill_store_bytes = number_before(messages, " bytes spill stores"),
      .spill_load_bytes = number_before(messages, " bytes spill loads"),
      .is_wgmma_serialized = has_remark(messages, 7510, 7516) ||
                             strstr(messages, "instructions are serialized"),
      .is_wgmma_order_injected = has_remark(messages, 7517, 7519) ||
                                 strstr(messages, "is injected in around line"),
      .is_setmaxnreg_ignored = has_remark(messages, 7504, 7508) ||
                               strstr(messages, "'setmaxnreg' ignored"),
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
  if (report->is_wgmma_order_injected)
    uattn_string_appendf(
        text,
        "%s has waits or fences injected between its wgmma instructions by "
        "ptxas (C7517, C7519)\n",
        kernel);
  if (report->is_setmaxnreg_ignored)
    uattn_string_appendf(text,
                         "%s has its setmaxnreg ignored by ptxas "
                         "(C7508)\n",
                         kernel);
}
