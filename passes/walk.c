/* Collecting ops of a module before changing it.
 * Layer: passes. Must not know: what the ops mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/walk.h"

#include <stdlib.h>

typedef struct {
  MlirOperation root;
  const char *name;
  uattn_op_list_t list;
} walk_t;

static MlirWalkResult visit(MlirOperation op, void *user_data) {
  walk_t *walk = user_data;
  if (mlirOperationEqual(op, walk->root) || !uattn_op_is(op, walk->name))
    return MlirWalkResultAdvance;
  uattn_op_list_t *list = &walk->list;
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? 2 * list->capacity : 8;
    list->ops = realloc(list->ops, list->capacity * sizeof *list->ops);
    UATTN_CHECK(list->ops != NULL);
  }
  list->ops[list->count++] = op;
  return MlirWalkResultAdvance;
}

uattn_op_list_t uattn_collect_ops(MlirOperation root, const char *name) {
  walk_t walk = {.root = root, .name = name};
  mlirOperationWalk(root, visit, &walk, MlirWalkPreOrder);
  return walk.list;
}
