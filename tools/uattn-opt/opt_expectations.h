/* Diagnostics that a source announces in comments, and those that come.
 * Layer: tools. Must not know: passes, the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_TOOLS_OPT_EXPECTATIONS_H
#define UATTN_TOOLS_OPT_EXPECTATIONS_H

#include "dialect/dialect.h"

/* The comments of one piece of the input:
 *
 *   // expected-error {{part of the message}}             on this line
 *   // expected-error @below {{...}}  @above              next, previous line
 *   // expected-error @+2 {{...}}  @-1                    so many lines off
 *   // expected-error @unknown {{...}}                    without a position
 *
 * also for warning, note and remark. "below" and "above" pass over lines that
 * hold another expectation, so that several can speak of one line. */
typedef struct opt_expectations opt_expectations_t;

/* Reports malformed comments. The source is borrowed until the expectations
 * are destroyed. */
opt_expectations_t *opt_expectations_create(const uattn_source_t *source,
                                            uattn_string_t *report);
void opt_expectations_destroy(opt_expectations_t *expectations);

/* Marks what a diagnostic and its notes fulfil; reports those unexpected. */
void opt_expectations_take(opt_expectations_t *expectations,
                           MlirDiagnostic diagnostic, uattn_string_t *report);

/* Reports what has not come; true where everything went as announced. */
bool opt_expectations_finish(opt_expectations_t *expectations,
                             uattn_string_t *report);

#endif /* UATTN_TOOLS_OPT_EXPECTATIONS_H */
