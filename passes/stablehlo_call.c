/* stablehlo.custom_call: checked, read and built.
 * Layer: passes. Must not know: the flat attributes, the attention op.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "passes/stablehlo_names.h"
#include "passes/stablehlo_ops.h"

static const char *const known_names[] = {
    UATTN_CALL_TARGET_NAME,     UATTN_CALL_API_VERSION,
    UATTN_CALL_BACKEND_CONFIG,  UATTN_CALL_SIDE_EFFECT,
    UATTN_CALL_COMPUTATIONS,    UATTN_CALL_ALIASES,
    UATTN_CALL_OPERAND_LAYOUTS, UATTN_CALL_RESULT_LAYOUTS,
};
enum { KNOWN_COUNT = sizeof known_names / sizeof *known_names };

bool uattn_call_has_target(MlirOperation call, const char *target) {
  MlirStringRef name;
  return uattn_op_get_string(call, UATTN_CALL_TARGET_NAME, &name) &&
         uattn_string_ref_is(name, target);
}

/* ---- Checking -------------------------------------------------------------
 */

static bool has_no_effect(MlirOperation call) {
  MlirAttribute found = uattn_op_get_attribute(call, UATTN_CALL_SIDE_EFFECT);
  return mlirAttributeIsNull(found) ||
         (mlirAttributeIsABool(found) && !mlirBoolAttrGetValue(found)) ||
         uattn_refuse_attribute(call, UATTN_CALL_SIDE_EFFECT, "false");
}

static bool is_empty_array(MlirOperation call, const char *name) {
  MlirAttribute found = uattn_op_get_attribute(call, name);
  return mlirAttributeIsNull(found) ||
         (mlirAttributeIsAArray(found) &&
          mlirArrayAttrGetNumElements(found) == 0) ||
         uattn_refuse_attribute(call, name, "none");
}

/* `role` is "operand" or "result". */
static bool refuse_layout(MlirOperation call, const char *role, intptr_t index,
                          MlirAttribute found, MlirAttribute wanted) {
  uattn_string_t found_text = uattn_attribute_text(found);
  uattn_string_t wanted_text = uattn_attribute_text(wanted);
  uattn_emit_error(call, "layout of %s %td is %s: expected %s, the default",
                   role, index, uattn_string_get(&found_text),
                   uattn_string_get(&wanted_text));
  uattn_string_release(&found_text);
  uattn_string_release(&wanted_text);
  return false;
}

/* No layouts at all mean the default. */
static bool layouts_are_default(MlirOperation call, const char *name,
                                const char *role, MlirAttribute wanted) {
  MlirAttribute found = uattn_op_get_attribute(call, name);
  if (mlirAttributeIsNull(found) || mlirAttributeEqual(found, wanted))
    return true;
  intptr_t count = mlirArrayAttrGetNumElements(wanted);
  if (!mlirAttributeIsAArray(found) ||
      mlirArrayAttrGetNumElements(found) != count) {
    uattn_string_t text = uattn_attribute_text(wanted);
    (void)uattn_refuse_attribute(call, name, uattn_string_get(&text));
    uattn_string_release(&text);
    return false;
  }
  bool is_right = true;
  for (intptr_t i = 0; i < count; ++i) {
    MlirAttribute found_one = mlirArrayAttrGetElement(found, i);
    MlirAttribute wanted_one = mlirArrayAttrGetElement(wanted, i);
    if (!mlirAttributeEqual(found_one, wanted_one))
      is_right = refuse_layout(call, role, i, found_one, wanted_one);
  }
  return is_right;
}

static bool check_layouts(MlirOperation call) {
  MlirContext context = mlirOperationGetContext(call);
  intptr_t operand_count = mlirOperationGetNumOperands(call);
  intptr_t result_count = mlirOperationGetNumResults(call);
  size_t count = (size_t)(operand_count + result_count);
  MlirType *types = uattn_allocate((count + 1) * sizeof *types);
  MlirType *result_types = types + operand_count;
  for (intptr_t i = 0; i < operand_count; ++i)
    types[i] = mlirValueGetType(mlirOperationGetOperand(call, i));
  for (intptr_t i = 0; i < result_count; ++i)
    result_types[i] = mlirValueGetType(mlirOperationGetResult(call, i));
  bool operands_are_right =
      layouts_are_default(call, UATTN_CALL_OPERAND_LAYOUTS, "operand",
                          uattn_default_layouts(context, types, operand_count));
  bool results_are_right = layouts_are_default(
      call, UATTN_CALL_RESULT_LAYOUTS, "result",
      uattn_default_layouts(context, result_types, result_count));
  free(types);
  return operands_are_right && results_are_right;
}

/* ---- The dictionary -------------------------------------------------------
 */

static bool has_version(MlirOperation call, int64_t wanted) {
  MlirAttribute found = uattn_op_get_attribute(call, UATTN_CALL_API_VERSION);
  return !mlirAttributeIsNull(found) && mlirAttributeIsAInteger(found) &&
         mlirTypeIsAInteger(mlirAttributeGetType(found)) &&
         mlirIntegerTypeIsSignless(mlirAttributeGetType(found)) &&
         mlirIntegerTypeGetWidth(mlirAttributeGetType(found)) == 32 &&
         mlirIntegerAttrGetValueInt(found) == wanted;
}

/* Missing, or the "" that JAX leaves. */
static bool has_no_config(MlirOperation call) {
  MlirAttribute found = uattn_op_get_attribute(call, UATTN_CALL_BACKEND_CONFIG);
  MlirStringRef text;
  return mlirAttributeIsNull(found) ||
         (uattn_op_get_string(call, UATTN_CALL_BACKEND_CONFIG, &text) &&
          text.length == 0);
}

/* JAX (0.10) keeps the dictionary out of backend_config, since StableHLO's
 * Python builder takes only a string there. */
static bool check_interface(MlirOperation call, const char *name) {
  bool is_mhlo = uattn_string_ref_is(
      mlirStringRefCreateFromCString(UATTN_CALL_MHLO_CONFIG), name);
  bool is_right = true;
  if (is_mhlo && !has_no_config(call))
    is_right = uattn_refuse_attribute(call, UATTN_CALL_BACKEND_CONFIG,
                                      "none beside " UATTN_CALL_MHLO_CONFIG);
  if (!has_version(call, UATTN_CALL_API_TYPED) &&
      !(is_mhlo && has_version(call, UATTN_CALL_API_UNTYPED)))
    is_right = uattn_refuse_attribute(
        call, UATTN_CALL_API_VERSION,
        "4 : i32, or 1 : i32 with " UATTN_CALL_MHLO_CONFIG);
  MlirAttribute found = uattn_op_get_attribute(call, name);
  if (mlirAttributeIsNull(found) || !mlirAttributeIsADictionary(found))
    is_right = uattn_refuse_attribute(call, name, "a dictionary");
  return is_right;
}

MlirAttribute uattn_call_dictionary(MlirOperation call,
                                    const char **out_place) {
  bool is_mhlo = !mlirAttributeIsNull(
      uattn_op_get_attribute(call, UATTN_CALL_MHLO_CONFIG));
  const char *name =
      is_mhlo ? UATTN_CALL_MHLO_CONFIG : UATTN_CALL_BACKEND_CONFIG;
  const bool checks[] = {
      uattn_verify_attribute_names(call, known_names, KNOWN_COUNT),
      check_interface(call, name),
      has_no_effect(call),
      is_empty_array(call, UATTN_CALL_COMPUTATIONS),
      is_empty_array(call, UATTN_CALL_ALIASES),
      check_layouts(call),
  };
  for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i)
    if (!checks[i])
      return mlirAttributeGetNull();
  *out_place =
      is_mhlo ? "in " UATTN_CALL_MHLO_CONFIG : "in " UATTN_CALL_BACKEND_CONFIG;
  return uattn_op_get_attribute(call, name);
}

/* ---- Building -------------------------------------------------------------
 */

MlirOperation uattn_call_append(const uattn_builder_t *b,
                                const uattn_stablehlo_facts_t *facts) {
  uattn_op_t op = uattn_op(UATTN_STABLEHLO_CUSTOM_CALL);
  uattn_op_more_operands(&op, facts->operands, (int)facts->operand_count);
  MlirType operand_types[UATTN_OPERAND_COUNT];
  UATTN_CHECK(facts->operand_count <= UATTN_OPERAND_COUNT);
  for (intptr_t i = 0; i < facts->operand_count; ++i)
    operand_types[i] = mlirValueGetType(facts->operands[i]);
  for (intptr_t i = 0; i < facts->result_count; ++i)
    uattn_op_result(&op, facts->results[i]);
  MlirAttribute none = mlirArrayAttrGet(b->context, 0, NULL);
  const uattn_property_t properties[] = {
      {UATTN_CALL_TARGET_NAME, uattn_attribute_string(b, facts->target)},
      {UATTN_CALL_API_VERSION, uattn_attribute_i32(b, UATTN_CALL_API_TYPED)},
      {UATTN_CALL_BACKEND_CONFIG, facts->dictionary},
      {UATTN_CALL_SIDE_EFFECT, mlirBoolAttrGet(b->context, 0)},
      {UATTN_CALL_COMPUTATIONS, none},
      {UATTN_CALL_ALIASES, none},
      {UATTN_CALL_OPERAND_LAYOUTS,
       uattn_default_layouts(b->context, operand_types, facts->operand_count)},
      {UATTN_CALL_RESULT_LAYOUTS,
       uattn_default_layouts(b->context, facts->results, facts->result_count)},
  };
  return uattn_append_with_properties(b, &op, properties,
                                      sizeof properties / sizeof *properties);
}
