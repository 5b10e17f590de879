/* Pass uattn-print-plan: prints and explains every plan on stderr.
 * Layer: passes. Must not know: how plans are chosen or obeyed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "passes/pass_runs.h"
#include "passes/plan_attribute.h"
#include "passes/walk.h"

bool uattn_print_plan_run(MlirOperation root,
                          const uattn_pass_options_t *options) {
  (void)options;
  uattn_op_list_t found =
      uattn_collect_ops(root, UATTN_OPNAME_RANKER_ATTENTION);
  bool is_ok = true;
  uattn_string_t text = {0};
  for (size_t i = 0; i < found.count && is_ok; ++i) {
    uattn_forward_plan_t plan;
    const uattn_target_t *target;
    is_ok = uattn_plan_from_op(found.ops[i], &plan, &target);
    if (is_ok)
      uattn_forward_plan_print(&plan, target, &text);
  }
  fputs(uattn_string_get(&text), stderr);
  uattn_string_release(&text);
  free(found.ops);
  return is_ok;
}
