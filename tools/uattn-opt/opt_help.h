/* What uattn-opt says of itself and of the passes.
 * Layer: tools. Must not know: how a pass or the tool works.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_TOOLS_OPT_HELP_H
#define UATTN_TOOLS_OPT_HELP_H

#include "support/support.h"

void opt_append_help(uattn_string_t *text);
void opt_append_version(uattn_string_t *text);
void opt_append_pass_list(uattn_string_t *text, bool is_markdown);

#endif /* UATTN_TOOLS_OPT_HELP_H */
