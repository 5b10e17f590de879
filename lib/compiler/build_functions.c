/* A module's functions as the artifact's records.
 * Layer: compiler. Must not know: kernels, the artifact's bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "compiler/session.h"
#include "passes/walk.h"

uattn_function_ops_t uattn_function_ops(MlirOperation function) {
  uattn_function_ops_t found = {NULL, 0};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  if (mlirBlockIsNull(body))
    return found;
  MlirOperation op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!uattn_is_attention_op(op))
      continue;
    found.ops = realloc(found.ops, (found.count + 1) * sizeof *found.ops);
    UATTN_CHECK(found.ops != NULL);
    found.ops[found.count++] = op;
  }
  return found;
}

/* At any depth: what is nested is refused later, not overlooked. */
static bool holds_attention(MlirOperation function) {
  uattn_op_list_t forward =
      uattn_collect_ops(function, UATTN_OPNAME_RANKER_ATTENTION);
  uattn_op_list_t backward =
      uattn_collect_ops(function, UATTN_OPNAME_RANKER_ATTENTION_BWD);
  free(forward.ops);
  free(backward.ops);
  return forward.count + backward.count > 0;
}

uattn_function_ops_t uattn_attention_functions(const uattn_session_t *session) {
  uattn_op_list_t all =
      uattn_collect_ops(mlirModuleGetOperation(session->module), "func.func");
  uattn_function_ops_t kept = {all.ops, 0};
  for (size_t i = 0; i < all.count; ++i)
    if (holds_attention(all.ops[i]))
      kept.ops[kept.count++] = all.ops[i];
  return kept;
}

/* ---- What a function may hold ---------------------------------------------
 */

static bool check_body(MlirOperation function) {
  MlirRegion region = mlirOperationGetRegion(function, 0);
  MlirBlock body = mlirRegionGetFirstBlock(region);
  if (!mlirBlockIsNull(mlirBlockGetNextInRegion(body))) {
    uattn_emit_error(function, "a function has several blocks: expected one");
    return false;
  }
  MlirOperation op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (uattn_is_attention_op(op) || uattn_op_is(op, "func.return"))
      continue;
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    uattn_emit_error(op,
                     "a function holds %.*s: expected uattn's attention "
                     "ops and the return, nothing else",
                     (int)name.length, name.data);
    return false;
  }
  return true;
}

/* ---- Values ---------------------------------------------------------------
 */

/* Values in the order in which they appear, with the MLIR value of each. */
typedef struct {
  MlirOperation function;
  uattn_artifact_function_t *record;
  MlirValue *values;
} builder_t;

static int32_t find_value(const builder_t *builder, MlirValue value) {
  for (uint32_t i = 0; i < builder->record->value_count; ++i)
    if (mlirValueEqual(builder->values[i], value))
      return (int32_t)i;
  return -1;
}

static bool read_dtype(MlirType element, uattn_dtype_t *out_dtype) {
  if (mlirTypeIsABF16(element))
    *out_dtype = UATTN_DTYPE_BF16;
  else if (mlirTypeIsAF16(element))
    *out_dtype = UATTN_DTYPE_F16;
  else if (mlirTypeIsAF32(element))
    *out_dtype = UATTN_DTYPE_F32;
  else if (mlirTypeIsAInteger(element) &&
           mlirIntegerTypeGetWidth(element) == 32)
    *out_dtype = UATTN_DTYPE_I32;
  else
    return false;
  return true;
}

/* Appends a value of type `type`; takes `owned_name`. */
static bool add_value(builder_t *builder, MlirValue value, char *owned_name) {
  uattn_artifact_function_t *record = builder->record;
  MlirType type = mlirValueGetType(value);
  uattn_artifact_value_t made = {.name = owned_name};
  if (!mlirTypeIsARankedTensor(type) || mlirShapedTypeGetRank(type) > 4 ||
      !read_dtype(mlirShapedTypeGetElementType(type), &made.dtype)) {
    uattn_string_t text = {0};
    mlirTypePrint(type, uattn_string_append_ref, &text);
    uattn_emit_error(builder->function,
                     "%s has type %s: expected a tensor of bf16, f16, f32 or "
                     "i32 with at most 4 dimensions",
                     owned_name, uattn_string_get(&text));
    uattn_string_release(&text);
    free(owned_name);
    return false;
  }
  made.rank = (int32_t)mlirShapedTypeGetRank(type);
  for (int32_t i = 0; i < made.rank; ++i)
    made.shape[i] = mlirShapedTypeIsDynamicDim(type, i)
                        ? UATTN_DIM_DYNAMIC
                        : mlirShapedTypeGetDimSize(type, i);
  size_t count = record->value_count + 1u;
  record->values = realloc(record->values, count * sizeof *record->values);
  builder->values = realloc(builder->values, count * sizeof *builder->values);
  UATTN_CHECK(record->values != NULL && builder->values != NULL);
  record->values[record->value_count] = made;
  builder->values[record->value_count++] = value;
  return true;
}

/* An argument is called as the first op that reads it calls it, where no
 * argument before it is called so already. */
static char *argument_name(const builder_t *builder,
                           const uattn_function_ops_t *ops, MlirValue argument,
                           intptr_t index) {
  uattn_string_t name = {0};
  for (size_t i = 0; i < ops->count && name.size == 0; ++i) {
    uattn_op_view_t view = uattn_op_view(ops->ops[i]);
    for (int o = 0; o < UATTN_OPERAND_COUNT && name.size == 0; ++o)
      if (!mlirValueIsNull(view.operands[o]) &&
          mlirValueEqual(view.operands[o], argument))
        uattn_string_append(&name, uattn_operand_name((uattn_operand_t)o));
  }
  bool is_taken = name.size == 0;
  for (uint32_t i = 0; i < builder->record->value_count && !is_taken; ++i) {
    uattn_string_t other = {0};
    uattn_string_append(&other, builder->record->values[i].name);
    is_taken =
        other.size == name.size &&
        uattn_string_ref_is(uattn_string_ref(&other), uattn_string_get(&name));
    uattn_string_release(&other);
  }
  if (is_taken) {
    uattn_string_release(&name);
    uattn_string_appendf(&name, "arg%lld", (long long)index);
  }
  return uattn_string_take(&name);
}

static bool add_arguments(builder_t *builder, const uattn_function_ops_t *ops) {
  MlirBlock body =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(builder->function, 0));
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i) {
    MlirValue argument = mlirBlockGetArgument(body, i);
    if (!add_value(builder, argument, argument_name(builder, ops, argument, i)))
      return false;
  }
  builder->record->argument_count = builder->record->value_count;
  return true;
}

/* ---- Steps and results ----------------------------------------------------
 */

static bool add_step(builder_t *builder, MlirOperation op) {
  uattn_artifact_function_t *record = builder->record;
  uattn_artifact_step_t step = {.first_kernel = 0};
  uattn_op_view_t view = uattn_op_view(op);
  uattn_problem_from_op(op, &step.problem);
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    step.operand_values[i] = mlirValueIsNull(view.operands[i])
                                 ? -1
                                 : find_value(builder, view.operands[i]);
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i) {
    step.result_values[i] = -1;
    if (mlirValueIsNull(view.results[i]))
      continue;
    step.result_values[i] = (int32_t)record->value_count;
    if (!add_value(builder, view.results[i],
                   uattn_string_copy(uattn_result_name(step.problem.kind, i))))
      return false;
  }
  step.plan_text = uattn_string_copy("");
  record->steps =
      realloc(record->steps, (record->step_count + 1u) * sizeof step);
  UATTN_CHECK(record->steps != NULL);
  record->steps[record->step_count++] = step;
  return true;
}

static void add_results(builder_t *builder) {
  uattn_artifact_function_t *record = builder->record;
  MlirBlock body =
      mlirRegionGetFirstBlock(mlirOperationGetRegion(builder->function, 0));
  MlirOperation end = mlirBlockGetTerminator(body);
  record->result_count = (uint32_t)mlirOperationGetNumOperands(end);
  record->result_values = uattn_allocate((record->result_count + 1u) *
                                         sizeof *record->result_values);
  for (uint32_t i = 0; i < record->result_count; ++i)
    record->result_values[i] =
        find_value(builder, mlirOperationGetOperand(end, (intptr_t)i));
}

/* The function's name, which no function before it in the artifact has; two
 * modules inside the source's may each have a function of one name. */
static bool take_name(MlirOperation function, const uattn_artifact_t *artifact,
                      uattn_artifact_function_t *record) {
  MlirStringRef symbol;
  UATTN_CHECK(uattn_op_get_string(function, "sym_name", &symbol));
  if (memchr(symbol.data, '\0', symbol.length)) {
    uattn_emit_error(function, "a function's name has a zero byte: expected "
                               "none");
    return false;
  }
  for (uint32_t i = 0; i + 1 < artifact->function_count; ++i)
    if (uattn_string_ref_is(symbol, artifact->functions[i].name)) {
      uattn_emit_error(function,
                       "a second function is called %.*s: expected one of "
                       "that name in all modules",
                       (int)symbol.length, symbol.data);
      return false;
    }
  uattn_string_t name = {0};
  uattn_string_append_bytes(&name, symbol.data, symbol.length);
  record->name = uattn_string_take(&name);
  return true;
}

static bool build_function(MlirOperation function,
                           const uattn_artifact_t *artifact,
                           uattn_artifact_function_t *record) {
  builder_t builder = {function, record, NULL};
  if (!check_body(function) || !take_name(function, artifact, record))
    return false;
  uattn_function_ops_t ops = uattn_function_ops(function);
  bool is_ok = add_arguments(&builder, &ops);
  for (size_t i = 0; i < ops.count && is_ok; ++i)
    is_ok = add_step(&builder, ops.ops[i]);
  if (is_ok)
    add_results(&builder);
  free(ops.ops);
  free(builder.values);
  return is_ok;
}

uattn_error_t *uattn_build_functions(const uattn_session_t *session,
                                     uattn_artifact_t *artifact) {
  uattn_function_ops_t functions = uattn_attention_functions(session);
  bool is_ok = true;
  artifact->functions =
      uattn_allocate((functions.count + 1) * sizeof *artifact->functions);
  for (size_t i = 0; i < functions.count && is_ok; ++i) {
    artifact->function_count = (uint32_t)i + 1;
    is_ok = build_function(functions.ops[i], artifact, &artifact->functions[i]);
  }
  size_t count = functions.count;
  free(functions.ops);
  if (!is_ok)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "%s is not a module of uattn ops",
                              session->options.source_name);
  if (count == 0)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "%s has no function with a uattn attention op: expected one at least",
        session->options.source_name);
  return uattn_error_annotate(uattn_artifact_validate(artifact), "%s",
                              session->options.source_name);
}
