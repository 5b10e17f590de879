/* The command line of uattn-opt as plain data.
 * Layer: tools. Must not know: IR, how the work is done.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_TOOLS_OPT_COMMAND_H
#define UATTN_TOOLS_OPT_COMMAND_H

#include "support/support.h"

/* Strings are borrowed from the arguments, passes are owned. */
typedef struct {
  const char *input; /* "-" is stdin */
  const char *output;
  const char *pipeline; /* text of --pass-pipeline, or NULL */
  char **passes;        /* "canonicalize{max-iterations=3}", in order */
  size_t pass_count;
  bool asks_help;
  bool asks_list;
  bool asks_version;
  bool list_is_markdown;
  bool splits_input;
  bool verifies_diagnostics;
  bool verifies_each;
  bool allows_unregistered;
  bool disables_threading;
  bool prints_before_all;
  bool prints_after_all;
  bool prints_after_change;
  bool prints_after_failure;
  bool prints_module_scope;
  bool prints_timing;
  bool prints_locations;
  bool prints_generic;
  bool emits_bytecode;
} opt_command_t;

/* Arguments that are no option are passes, ours or upstream's; which of them
 * exist is found out when the pipeline is made. */
UATTN_NODISCARD uattn_error_t *opt_command_parse(int argument_count,
                                                 char **arguments,
                                                 opt_command_t *out_command);
void opt_command_release(opt_command_t *command);

/* The option that `name`, without dashes, was probably meant to be, or NULL. */
const char *opt_command_nearest_option(const char *name);

/* One line an option. */
void opt_command_append_options(uattn_string_t *text);

#endif /* UATTN_TOOLS_OPT_COMMAND_H */
