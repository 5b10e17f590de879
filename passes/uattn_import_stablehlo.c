/* Pass uattn-import-stablehlo: custom calls and composites of StableHLO become
 * the attention ops that they name.
 * Layer: passes. Must not know: what the op computes, JAX.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of other dialects (mhlo.sharding, mhlo.frontend_attributes, ...)
 * go over to the new op; those of modules and functions stay where they are. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "passes/flat_attributes.h"
#include "passes/pass_runs.h"
#include "passes/stablehlo_names.h"
#include "passes/stablehlo_ops.h"
#include "passes/unused_functions.h"

/* ---- Check ----------------------------------------------------------------
 */

static bool is_bytes(MlirType type) {
  if (!mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) != 1)
    return false;
  MlirType element = mlirShapedTypeGetElementType(type);
  return mlirTypeIsAInteger(element) && mlirIntegerTypeIsUnsigned(element) &&
         mlirIntegerTypeGetWidth(element) == 8;
}

/* A sharding says something of every result. */
static bool has_no_sharding(MlirOperation op) {
  static const char *const names[] = {UATTN_SHARDING_MHLO, UATTN_SHARDING_SDY};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (!mlirAttributeIsNull(uattn_op_get_attribute(op, names[i])))
      return uattn_refuse_attribute(
          op, names[i], "none beside a workspace, which is dropped");
  return true;
}

/* Bytes that nothing reads. */
static bool check_workspace(MlirOperation op, intptr_t index) {
  MlirValue value = mlirOperationGetResult(op, index);
  MlirType type = mlirValueGetType(value);
  if (!is_bytes(type)) {
    uattn_string_t text = uattn_type_text(type);
    uattn_emit_error(op,
                     "the workspace, result %td, is a %s: expected a tensor of "
                     "ui8 of rank 1",
                     index, uattn_string_get(&text));
    uattn_string_release(&text);
    return false;
  }
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(value)))
    return has_no_sharding(op);
  uattn_emit_error(op,
                   "the workspace, result %td, is used: expected no use, since "
                   "the attention op has none",
                   index);
  return false;
}

/* A compiled kernel's workspace stands behind the results. */
static bool check_results(const uattn_flat_attributes_t *flat,
                          intptr_t result_count) {
  intptr_t found_count = mlirOperationGetNumResults(flat->op);
  if (found_count == result_count)
    return true;
  if (found_count == result_count + 1 &&
      uattn_flat_attributes_has_artifact(flat))
    return check_workspace(flat->op, result_count);
  uattn_emit_error(flat->op,
                   "%s adds up to %td: expected %td, the number of results",
                   UATTN_ATTR_RESULT_SEGMENTS, result_count, found_count);
  return false;
}

/* ---- Build and replace ----------------------------------------------------
 */

static void keep_foreign_attributes(MlirOperation from, MlirOperation to) {
  intptr_t count = mlirOperationGetNumDiscardableAttributes(from);
  for (intptr_t i = 0; i < count; ++i) {
    MlirNamedAttribute found = mlirOperationGetDiscardableAttribute(from, i);
    MlirStringRef name = mlirIdentifierStr(found.name);
    if (memchr(name.data, '.', name.length) &&
        !uattn_string_ref_is(name, UATTN_CALL_MHLO_CONFIG))
      mlirOperationSetDiscardableAttributeByName(to, name, found.attribute);
  }
}

/* Before the old op, or nothing where the new one is wrong. */
static bool build_and_replace(MlirOperation old, uattn_op_t *made,
                              intptr_t result_count) {
  uattn_builder_t b = uattn_builder_at_end(mlirOperationGetBlock(old),
                                           mlirOperationGetLocation(old));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(old); ++i)
    uattn_op_operand(made, mlirOperationGetOperand(old, i));
  for (intptr_t i = 0; i < result_count; ++i)
    uattn_op_result(made, mlirValueGetType(mlirOperationGetResult(old, i)));
  MlirOperation op = uattn_op_append(&b, made);
  mlirOperationMoveBefore(op, old);
  keep_foreign_attributes(old, op);
  if (!mlirOperationVerify(op) || !uattn_verify_op(op)) {
    mlirOperationDestroy(op);
    return false;
  }
  for (intptr_t i = 0; i < result_count; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(old, i),
                                  mlirOperationGetResult(op, i));
  mlirOperationDestroy(old);
  return true;
}

/* `flat` lacks its dictionary, which may be null after a diagnostic. */
static bool raise(uattn_flat_attributes_t flat, MlirAttribute dictionary) {
  intptr_t result_count = 0;
  uattn_op_t made = uattn_op(flat.kind == UATTN_OP_FORWARD
                                 ? UATTN_OPNAME_RANKER_ATTENTION
                                 : UATTN_OPNAME_RANKER_ATTENTION_BWD);
  if (mlirAttributeIsNull(dictionary))
    return false;
  flat.dictionary = dictionary;
  return uattn_flat_attributes_read(&flat, &made, &result_count) &&
         check_results(&flat, result_count) &&
         build_and_replace(flat.op, &made, result_count);
}

/* ---- Match ----------------------------------------------------------------
 */

/* False where the op names neither of ours. */
static bool match(MlirOperation op,
                  bool (*has_name)(MlirOperation op, const char *name),
                  uattn_op_kind_t *out_kind) {
  *out_kind = has_name(op, UATTN_OPNAME_RANKER_ATTENTION) ? UATTN_OP_FORWARD
                                                          : UATTN_OP_BACKWARD;
  return *out_kind == UATTN_OP_FORWARD ||
         has_name(op, UATTN_OPNAME_RANKER_ATTENTION_BWD);
}

static bool raise_calls(MlirOperation root) {
  uattn_op_list_t calls = uattn_collect_ops(root, UATTN_STABLEHLO_CUSTOM_CALL);
  bool is_ok = true;
  for (size_t i = 0; i < calls.count; ++i) {
    uattn_flat_attributes_t flat = {.op = calls.ops[i]};
    if (!match(flat.op, uattn_call_has_target, &flat.kind))
      continue;
    MlirAttribute dictionary = uattn_call_dictionary(flat.op, &flat.place);
    is_ok &= raise(flat, dictionary);
  }
  free(calls.ops);
  return is_ok;
}

/* The functions that say what raised composites compute go into
 * `decompositions`. */
static bool raise_composites(MlirOperation root,
                             uattn_op_list_t *decompositions) {
  uattn_op_list_t found = uattn_collect_ops(root, UATTN_STABLEHLO_COMPOSITE);
  bool is_ok = true;
  for (size_t i = 0; i < found.count; ++i) {
    uattn_flat_attributes_t flat = {.op = found.ops[i]};
    if (!match(flat.op, uattn_composite_has_name, &flat.kind))
      continue;
    MlirAttribute dictionary = uattn_composite_dictionary(flat.op, &flat.place);
    MlirOperation function = uattn_find_private_function(
        flat.op,
        uattn_op_get_attribute(flat.op, UATTN_COMPOSITE_DECOMPOSITION));
    is_ok &= raise(flat, dictionary);
    if (is_ok && !mlirOperationIsNull(function))
      uattn_op_list_append_once(decompositions, function);
  }
  free(found.ops);
  return is_ok;
}

/* Decompositions first: one that goes may hold a custom call that is none. */
bool uattn_import_stablehlo_run(MlirOperation root,
                                const uattn_pass_options_t *options) {
  (void)options;
  uattn_op_list_t decompositions = {0};
  if (!raise_composites(root, &decompositions)) {
    free(decompositions.ops);
    return false;
  }
  uattn_erase_unused_functions(root, &decompositions);
  return raise_calls(root);
}
