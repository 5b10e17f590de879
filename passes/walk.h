/* Collecting ops of a module before changing it.
 * Layer: passes. Must not know: what the ops mean.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_WALK_H
#define UATTN_PASSES_WALK_H

#include "dialect/dialect.h"

/* Ops in the order of the text. Zero-initialise; free `ops` with free(). */
typedef struct {
  MlirOperation *ops;
  size_t count;
  size_t capacity;
} uattn_op_list_t;

void uattn_op_list_append(uattn_op_list_t *list, MlirOperation op);
/* Does nothing where the list has the op. */
void uattn_op_list_append_once(uattn_op_list_t *list, MlirOperation op);

/* All ops nested in `root` (not itself) whose name is `name`. */
uattn_op_list_t uattn_collect_ops(MlirOperation root, const char *name);

#endif /* UATTN_PASSES_WALK_H */
