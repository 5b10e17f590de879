/* Pass uattn-export-stablehlo: attention ops become what StableHLO carries them
 * in.
 * Layer: passes. Must not know: what the op computes, JAX.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A composite needs a function that computes the same; it gets a private one
 * whose body is the custom call. */
#include <stdlib.h>
#include <string.h>

#include "passes/flat_attributes.h"
#include "passes/pass_runs.h"
#include "passes/stablehlo_names.h"
#include "passes/stablehlo_ops.h"
#include "passes/walk.h"

/* What an op has: operands, results and the facts that point at them. */
typedef struct {
  MlirOperation op;
  MlirValue operands[UATTN_OPERAND_COUNT];
  MlirType operand_types[UATTN_OPERAND_COUNT];
  MlirType results[UATTN_RESULT_COUNT];
  uattn_stablehlo_facts_t facts;
} source_t;

/* ---- Check ----------------------------------------------------------------
 */

/* StableHLO has no place for decisions and kernels; to drop them would lose
 * what somebody chose. */
static bool check(MlirOperation op) {
  static const char *const refused[] = {UATTN_ATTR_PLAN, UATTN_ATTR_KERNELS,
                                        UATTN_CALL_MHLO_CONFIG};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
    if (!mlirAttributeIsNull(uattn_op_get_attribute(op, refused[i]))) {
      uattn_emit_error(op,
                       "%s is given: expected an op without it, which "
                       "StableHLO cannot carry",
                       refused[i]);
      return false;
    }
  return true;
}

/* ---- Analyse --------------------------------------------------------------
 */

static void read_source(MlirOperation op, source_t *source) {
  intptr_t operand_count = mlirOperationGetNumOperands(op);
  intptr_t result_count = mlirOperationGetNumResults(op);
  UATTN_CHECK(operand_count <= UATTN_OPERAND_COUNT &&
              result_count <= UATTN_RESULT_COUNT);
  source->op = op;
  for (intptr_t i = 0; i < operand_count; ++i) {
    source->operands[i] = mlirOperationGetOperand(op, i);
    source->operand_types[i] = mlirValueGetType(source->operands[i]);
  }
  for (intptr_t i = 0; i < result_count; ++i)
    source->results[i] = mlirValueGetType(mlirOperationGetResult(op, i));
  source->facts = (uattn_stablehlo_facts_t){
      .target = uattn_op_is(op, UATTN_OPNAME_RANKER_ATTENTION)
                    ? UATTN_OPNAME_RANKER_ATTENTION
                    : UATTN_OPNAME_RANKER_ATTENTION_BWD,
      .dictionary = uattn_flat_attributes_write(op),
      .operands = source->operands,
      .operand_count = operand_count,
      .results = source->results,
      .result_count = result_count,
  };
}

/* ---- Build ----------------------------------------------------------------
 */

/* The body of the op around `op` that has a symbol table, and that table, which
 * the caller destroys. */
static MlirBlock find_symbols(MlirOperation op, MlirSymbolTable *out_table) {
  MlirOperation around = op;
  do {
    around = mlirOperationGetParentOperation(around);
    *out_table = mlirSymbolTableCreate(around);
  } while (mlirSymbolTableIsNull(*out_table));
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(around, 0));
}

/* A region with the custom call and a return. */
static MlirRegion build_body(const uattn_builder_t *b, const source_t *source) {
  uattn_builder_t inner;
  uattn_stablehlo_facts_t facts = source->facts;
  MlirRegion region = uattn_region_create(b, source->operand_types,
                                          (int)facts.operand_count, &inner);
  MlirValue arguments[UATTN_OPERAND_COUNT];
  for (intptr_t i = 0; i < facts.operand_count; ++i)
    arguments[i] = mlirBlockGetArgument(inner.block, i);
  facts.operands = arguments;
  MlirOperation call = uattn_call_append(&inner, &facts);
  uattn_op_t end = uattn_op("func.return");
  for (intptr_t i = 0; i < facts.result_count; ++i)
    uattn_op_operand(&end, mlirOperationGetResult(call, i));
  uattn_op_append(&inner, &end);
  return region;
}

/* Appends the function under a name that nothing else has; returns a reference
 * to it. */
static MlirAttribute append_decomposition(const source_t *source) {
  MlirSymbolTable table;
  MlirBlock symbols = find_symbols(source->op, &table);
  uattn_builder_t b =
      uattn_builder_at_end(symbols, mlirOperationGetLocation(source->op));
  MlirType type = mlirFunctionTypeGet(
      b.context, source->facts.operand_count, source->operand_types,
      source->facts.result_count, source->results);
  uattn_op_t function = uattn_op("func.func");
  uattn_op_attribute(&function, "sym_name",
                     uattn_attribute_string(&b, source->facts.target));
  uattn_op_attribute(&function, "function_type", mlirTypeAttrGet(type));
  uattn_op_attribute(&function, "sym_visibility",
                     uattn_attribute_string(&b, "private"));
  uattn_op_region(&function, build_body(&b, source));
  MlirAttribute name =
      mlirSymbolTableInsert(table, uattn_op_append(&b, &function));
  mlirSymbolTableDestroy(table);
  return mlirFlatSymbolRefAttrGet(b.context, mlirStringAttrGetValue(name));
}

static MlirOperation build(const source_t *source, bool is_composite) {
  uattn_builder_t b = uattn_builder_at_end(
      mlirOperationGetBlock(source->op), mlirOperationGetLocation(source->op));
  return is_composite ? uattn_composite_append(&b, &source->facts,
                                               append_decomposition(source))
                      : uattn_call_append(&b, &source->facts);
}

/* ---- Replace --------------------------------------------------------------
 */

/* Attributes of other dialects go over. */
static void replace(MlirOperation old, MlirOperation made) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(old); ++i) {
    MlirNamedAttribute found = mlirOperationGetAttribute(old, i);
    MlirStringRef name = mlirIdentifierStr(found.name);
    if (memchr(name.data, '.', name.length))
      mlirOperationSetDiscardableAttributeByName(made, name, found.attribute);
  }
  mlirOperationMoveBefore(made, old);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(old); ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(old, i),
                                  mlirOperationGetResult(made, i));
  mlirOperationDestroy(old);
}

static bool export_ops(MlirOperation root, const char *name,
                       bool is_composite) {
  uattn_op_list_t found = uattn_collect_ops(root, name);
  bool is_ok = true;
  for (size_t i = 0; i < found.count; ++i)
    is_ok &= check(found.ops[i]);
  for (size_t i = 0; i < found.count && is_ok; ++i) {
    source_t source;
    read_source(found.ops[i], &source);
    replace(found.ops[i], build(&source, is_composite));
  }
  free(found.ops);
  return is_ok;
}

bool uattn_export_stablehlo_run(MlirOperation root,
                                const uattn_pass_options_t *options) {
  const char *form = uattn_pass_options_get_string(options, "form");
  bool is_composite = strcmp(form, "composite") == 0;
  if (!is_composite && strcmp(form, "custom-call") != 0) {
    uattn_emit_error(root, "form is %s: expected custom-call or composite",
                     form);
    return false;
  }
  if (!mlirContextGetAllowUnregisteredDialects(mlirOperationGetContext(root))) {
    uattn_emit_error(root, "StableHLO is no registered dialect: expected "
                           "--allow-unregistered-dialect");
    return false;
  }
  bool forward_is_ok =
      export_ops(root, UATTN_OPNAME_RANKER_ATTENTION, is_composite);
  bool backward_is_ok =
      export_ops(root, UATTN_OPNAME_RANKER_ATTENTION_BWD, is_composite);
  return forward_is_ok && backward_is_ok;
}
