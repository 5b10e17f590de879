/* What a pass is: one row of data and a function.
 * Layer: passes. Must not know: the tools that list and run passes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_PASS_H
#define UATTN_PASSES_PASS_H

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum {
  UATTN_PASS_OPTION_STRING,
  UATTN_PASS_OPTION_INTEGER,
  UATTN_PASS_OPTION_BOOLEAN
} uattn_pass_option_kind_t;

typedef struct {
  const char *name;
  uattn_pass_option_kind_t kind;
  const char *default_value; /* as text, "" for an unset string */
  const char *summary;
} uattn_pass_option_t;

/* Values of a pass's options as parsed from pipeline text or flags. */
typedef struct uattn_pass_options uattn_pass_options_t;
/* By the option's name; the default where it was not given. A name that the
 * row does not list is our bug. */
const char *uattn_pass_options_get_string(const uattn_pass_options_t *options,
                                          const char *name);
int64_t uattn_pass_options_get_integer(const uattn_pass_options_t *options,
                                       const char *name);
bool uattn_pass_options_get_boolean(const uattn_pass_options_t *options,
                                    const char *name);

/* Returns false after it has emitted a diagnostic at the op in question. */
typedef bool (*uattn_pass_run_t)(MlirOperation root,
                                 const uattn_pass_options_t *options);

/* One row of the table: documentation, command line and registry all come
 * from here. Strings are static. */
typedef struct {
  const char *flag;    /* "uattn-plan", without dashes */
  const char *anchor;  /* op that it runs on, "builtin.module" as a rule */
  const char *summary; /* one sentence with a verb */
  const char *before;  /* example IR, short */
  const char *after;
  const char *requires; /* what must hold, in words */
  const char *ensures;
  const uattn_pass_option_t *options;
  size_t option_count;
  uattn_pass_run_t run;
} uattn_pass_t;

/* All passes, in the order in which the pipeline uses them. */
const uattn_pass_t *uattn_pass_table(size_t *out_count);
/* NULL where no pass has that flag (with or without leading dashes). */
const uattn_pass_t *uattn_pass_find(const char *flag);

#endif /* UATTN_PASSES_PASS_H */
