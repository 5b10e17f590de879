/* Values of a pass's options: parsed from text, copied, read by name.
 * Layer: passes. Must not know: pipelines, the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_PASS_OPTIONS_H
#define UATTN_PASSES_PASS_OPTIONS_H

#include "passes/pass.h"
#include "support/support.h"

/* Parses "name=value name2=value2"; a boolean's bare name means true, a value
 * may stand in '...', "..." or {...}. Options that are not named keep their
 * defaults. The caller destroys the options. */
UATTN_NODISCARD uattn_error_t *
uattn_pass_options_parse(const uattn_pass_t *pass, const char *text,
                         size_t size, uattn_pass_options_t **out_options);

uattn_pass_options_t *
uattn_pass_options_copy(const uattn_pass_options_t *options);

/* Accepts NULL. */
void uattn_pass_options_destroy(uattn_pass_options_t *options);

#endif /* UATTN_PASSES_PASS_OPTIONS_H */
