/* All passes as data: documentation, command line and registry in one place.
 *
 * A new pass is a file named as its flag with underscores, a declaration in
 * pass_runs.h and a row below; `--help`, the markdown list and the parsers
 * follow from the row.
 *
 * Layer: passes. Must not know: how any pass works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/pass_runs.h"

#include <string.h>

/* The example that several rows share: a dense forward op. */
#define FORWARD_OP_WITH(attributes)                                            \
  "func.func @main(%q: tensor<1x64x2x64xbf16>, %k: tensor<1x64x1x64xbf16>)\n"  \
  "    -> tensor<1x64x2x64xbf16> {\n"                                          \
  "  %out = \"uattn.ranker_attention\"(%q, %k, %k) {\n"                        \
  "    cap = #uattn.cap<\"none\", 0.0 : f32, 0.0 : f32, 0.0 : f32>,\n"         \
  "    sm_scale = 0.125 : f32,\n" attributes                                   \
  "    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,\n"               \
  "    resultSegmentSizes = array<i32: 1, 0>\n"                                \
  "  } : (tensor<1x64x2x64xbf16>, tensor<1x64x1x64xbf16>,\n"                   \
  "       tensor<1x64x1x64xbf16>) -> tensor<1x64x2x64xbf16>\n"                 \
  "  return %out : tensor<1x64x2x64xbf16>\n"                                   \
  "}\n"
#define FORWARD_OP FORWARD_OP_WITH("")

static const uattn_pass_t table[] = {
    {
        .flag = "uattn-verify",
        .anchor = "builtin.module",
        .summary = "Checks what uattn's ops mean beyond their declaration: "
                   "shapes, types, attributes.",
        .before = FORWARD_OP,
        .after = FORWARD_OP,
        .requires = "nothing",
        .ensures = "every uattn op obeys its rules; the IR is unchanged",
        .run = uattn_verify_run,
    },
};

const uattn_pass_t *uattn_pass_table(size_t *out_count) {
  *out_count = sizeof table / sizeof *table;
  return table;
}

const uattn_pass_t *uattn_pass_find(const char *flag) {
  flag += strspn(flag, "-");
  for (size_t index = 0; index < sizeof table / sizeof *table; ++index)
    if (strcmp(table[index].flag, flag) == 0)
      return &table[index];
  return NULL;
}
