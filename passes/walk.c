/* Collecting ops of a module before changing it.
 * Layer: passes. Must not know: what the ops mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/walk.h"

#include <stdlib.h>

void uattn_op_list_append(uattn_op_list_t *list, MlirOperation op) {
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? 2 * list->capacity : 8;
    list->ops = realloc(list->ops, list->capacity * sizeof *list->ops);
    UATTN_CHECK(list->ops != NULL);
  }
  list->ops[list->count++] = op;
}

void uattn_op_list_append_once(uattn_op_list_t *list, MlirOperation op) {
  for (size_t i = 0; i < list->count; ++i)
    if (mlirOperationEqual(list->ops[i], op))
      return;
  uattn_op_list_append(list, op);
}

typedef struct {
  MlirOperation root;
  const char *name;
  uattn_op_list_t list;
} walk_t;

static MlirWalkResult visit(MlirOperation op, void *user_data) {
  walk_t *walk = user_data;
  if (mlirOperationEqual(op, walk->root) || !uattn_op_is(op, walk->name))
    return MlirWalkResultAdvance;
  uattn_op_list_append(&walk->list, op);
  return MlirWalkResultAdvance;
}

uattn_op_list_t uattn_collect_ops(MlirOperation root, const char *name) {
  walk_t walk = {.root = root, .name = name};
  mlirOperationWalk(root, visit, &walk, MlirWalkPreOrder);
  return walk.list;
}
