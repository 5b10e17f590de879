/* Pass uattn-print-plan: prints and explains every plan on stderr.
 * Layer: passes. Must not know: how plans are chosen or obeyed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "passes/pass_runs.h"
#include "passes/plan_attribute.h"
#include "passes/walk.h"

static bool append_plans(MlirOperation root, const char *name,
                         uattn_string_t *text) {
  uattn_op_list_t found = uattn_collect_ops(root, name);
  bool is_ok = true;
  for (size_t i = 0; i < found.count && is_ok; ++i)
    is_ok = uattn_op_append_plan_text(found.ops[i], text);
  free(found.ops);
  return is_ok;
}

bool uattn_print_plan_run(MlirOperation root,
                          const uattn_pass_options_t *options) {
  (void)options;
  uattn_string_t text = {0};
  bool is_ok = append_plans(root, UATTN_OPNAME_RANKER_ATTENTION, &text) &&
               append_plans(root, UATTN_OPNAME_RANKER_ATTENTION_BWD, &text);
  fputs(uattn_string_get(&text), stderr);
  uattn_string_release(&text);
  return is_ok;
}
