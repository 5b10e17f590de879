/* Private functions that nothing uses any more: found and erased.
 * Layer: passes. Must not know: what the functions compute.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/unused_functions.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Symbols --------------------------------------------------------------
 */

static MlirStringRef symbol_name(MlirOperation op) {
  MlirStringRef name = {NULL, 0};
  (void)uattn_op_get_string(op, "sym_name", &name);
  return name;
}

/* Whether the name prints as it is, perhaps in quotes. */
static bool is_plain(MlirStringRef name) {
  for (size_t i = 0; i < name.length; ++i)
    if (!isprint((unsigned char)name.data[i]) || name.data[i] == '"' ||
        name.data[i] == '\\')
      return false;
  return name.length > 0;
}

static bool is_private_function(MlirOperation op) {
  MlirStringRef visibility;
  return !mlirOperationIsNull(op) && uattn_op_is(op, "func.func") &&
         uattn_op_get_string(op, "sym_visibility", &visibility) &&
         uattn_string_ref_is(visibility, "private") &&
         is_plain(symbol_name(op));
}

/* The table of the nearest op around `op` that has one. */
static MlirOperation look_up(MlirOperation op, MlirStringRef name) {
  MlirOperation found = {NULL};
  MlirOperation around = mlirOperationGetParentOperation(op);
  for (; !mlirOperationIsNull(around);
       around = mlirOperationGetParentOperation(around)) {
    MlirSymbolTable table = mlirSymbolTableCreate(around);
    if (mlirSymbolTableIsNull(table))
      continue;
    found = mlirSymbolTableLookup(table, name);
    mlirSymbolTableDestroy(table);
    break;
  }
  return found;
}

MlirOperation uattn_find_private_function(MlirOperation user,
                                          MlirAttribute symbol) {
  MlirOperation none = {NULL};
  if (mlirAttributeIsNull(symbol) || !mlirAttributeIsAFlatSymbolRef(symbol))
    return none;
  MlirOperation found = look_up(user, mlirFlatSymbolRefAttrGetValue(symbol));
  return is_private_function(found) ? found : none;
}

/* ---- Mentions -------------------------------------------------------------
 */

typedef void (*mention_t)(MlirStringRef name, void *user_data);

/* Prints ops without regions and long constants. One state serves all ops in
 * `root`: it numbers their values once. */
static MlirAsmState create_printer(MlirOperation root) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsSkipRegions(flags);
  mlirOpPrintingFlagsUseLocalScope(flags);
  mlirOpPrintingFlagsElideLargeElementsAttrs(flags, 16);
  mlirOpPrintingFlagsElideLargeResourceString(flags, 16);
  MlirAsmState printer = mlirAsmStateCreateForOperation(root, flags);
  mlirOpPrintingFlagsDestroy(flags);
  return printer;
}

/* The name behind an "@". */
static MlirStringRef name_at(const char *text) {
  size_t size = 0;
  if (*text == '"') {
    ++text;
    size = strcspn(text, "\"");
  } else {
    while (isalnum((unsigned char)text[size]) ||
           (text[size] && strchr("_$.", text[size])))
      ++size;
  }
  return mlirStringRefCreate(text, size);
}

/* Calls `mention` for every symbol that the op itself mentions, the one that it
 * defines apart. */
static void each_mention(MlirOperation op, MlirAsmState printer,
                         mention_t mention, void *user_data) {
  MlirStringRef own = symbol_name(op);
  uattn_string_t text = {0};
  mlirOperationPrintWithState(op, printer, uattn_string_append_ref, &text);
  const char *at = strchr(uattn_string_get(&text), '@');
  for (; at; at = strchr(at + 1, '@')) {
    MlirStringRef name = name_at(at + 1);
    if (name.length > 0 && !mlirStringRefEqual(name, own))
      mention(name, user_data);
  }
  uattn_string_release(&text);
}

/* ---- One round ------------------------------------------------------------
 */

/* `next` are the functions of the next round. */
typedef struct {
  const uattn_op_list_t *functions;
  bool *is_used;
  MlirAsmState printer;
  MlirOperation function;
  uattn_op_list_t next;
} round_t;

static void note_use(MlirStringRef name, void *user_data) {
  round_t *round = user_data;
  for (size_t i = 0; i < round->functions->count; ++i)
    if (mlirStringRefEqual(symbol_name(round->functions->ops[i]), name))
      round->is_used[i] = true;
}

static MlirWalkResult visit_user(MlirOperation op, void *user_data) {
  round_t *round = user_data;
  each_mention(op, round->printer, note_use, round);
  return MlirWalkResultAdvance;
}

static void note_callee(MlirStringRef name, void *user_data) {
  round_t *round = user_data;
  MlirOperation callee = look_up(round->function, name);
  if (is_private_function(callee))
    uattn_op_list_append_once(&round->next, callee);
}

static MlirWalkResult visit_body(MlirOperation op, void *user_data) {
  round_t *round = user_data;
  each_mention(op, round->printer, note_callee, round);
  return MlirWalkResultAdvance;
}

/* The used, and what the unused mention: that is used, so that it is not
 * unused in this round itself. */
static void find_next(round_t *round) {
  for (size_t i = 0; i < round->functions->count; ++i) {
    round->function = round->functions->ops[i];
    if (round->is_used[i])
      uattn_op_list_append_once(&round->next, round->function);
    else
      mlirOperationWalk(round->function, visit_body, round, MlirWalkPreOrder);
  }
}

/* Erases the unused. False where nothing was erased. */
static bool erase_once(MlirOperation root, uattn_op_list_t *functions) {
  round_t round = {.functions = functions, .printer = create_printer(root)};
  bool is_any_unused = false;
  round.is_used = uattn_allocate((functions->count + 1) * sizeof(bool));
  mlirOperationWalk(root, visit_user, &round, MlirWalkPreOrder);
  find_next(&round);
  mlirAsmStateDestroy(round.printer);
  for (size_t i = 0; i < functions->count; ++i) {
    if (round.is_used[i])
      continue;
    mlirOperationDestroy(functions->ops[i]);
    is_any_unused = true;
  }
  free(round.is_used);
  free(functions->ops);
  *functions = round.next;
  return is_any_unused;
}

void uattn_erase_unused_functions(MlirOperation root,
                                  uattn_op_list_t *functions) {
  while (functions->count > 0 && erase_once(root, functions))
    continue;
  free(functions->ops);
  *functions = (uattn_op_list_t){0};
}
