/* The verifier's rules on the attention ops' attributes.
 * Layer: dialect. Must not know: operands, shapes, plans' fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect_verify.h"

#include <inttypes.h>
#include <string.h>

static const char *const known_attributes[] = {
    UATTN_ATTR_CAP,
    UATTN_ATTR_SM_SCALE,
    UATTN_ATTR_CAUSAL,
    UATTN_ATTR_WINDOW_LEN,
    UATTN_ATTR_Q_OFFSET,
    UATTN_ATTR_Z_LOSS_WEIGHT,
    UATTN_ATTR_DETERMINISTIC,
    UATTN_ATTR_PLAN,
    UATTN_ATTR_KERNELS,
    UATTN_ATTR_OPERAND_SEGMENTS,
    UATTN_ATTR_RESULT_SEGMENTS,
};
static const size_t known_attribute_count =
    sizeof known_attributes / sizeof *known_attributes;

uattn_string_t uattn_type_text(MlirType type) {
  uattn_string_t text = {0};
  mlirTypePrint(type, uattn_string_append_ref, &text);
  return text;
}

uattn_string_t uattn_attribute_text(MlirAttribute attribute) {
  uattn_string_t text = {0};
  mlirAttributePrint(attribute, uattn_string_append_ref, &text);
  return text;
}

static bool is_known(MlirStringRef name, const char *const *known,
                     size_t known_count) {
  for (size_t index = 0; index < known_count; ++index)
    if (uattn_string_ref_is(name, known[index]))
      return true;
  return false;
}

/* Attributes with a dialect's prefix may stand on any op. */
static bool belongs_elsewhere(MlirStringRef name) {
  return memchr(name.data, '.', name.length) &&
         strncmp(name.data, UATTN_NAMESPACE ".", sizeof UATTN_NAMESPACE) != 0;
}

void uattn_emit_unknown_attribute(MlirOperation op, MlirStringRef name,
                                  const char *place, const char *const *known,
                                  size_t known_count) {
  const char *nearest = uattn_nearest_name(name, known, known_count);
  uattn_string_t wanted = {0};
  if (nearest)
    uattn_string_appendf(&wanted, "did you mean '%s'?", nearest);
  else
    uattn_string_append(&wanted,
                        known_count > 0 ? "expected" : "expected none");
  for (size_t index = 0; index < known_count && !nearest; ++index)
    uattn_string_appendf(&wanted, "%s %s", index > 0 ? "," : "", known[index]);
  uattn_emit_error(op, "unknown attribute '%.*s' %s: %s", (int)name.length,
                   name.data, place, uattn_string_get(&wanted));
  uattn_string_release(&wanted);
}

static void refuse_unknown_attribute(MlirOperation op, MlirStringRef name,
                                     const char *const *known,
                                     size_t known_count) {
  MlirStringRef op_name = mlirIdentifierStr(mlirOperationGetName(op));
  uattn_string_t place = {0};
  uattn_string_appendf(&place, "on %.*s", (int)op_name.length, op_name.data);
  uattn_emit_unknown_attribute(op, name, uattn_string_get(&place), known,
                               known_count);
  uattn_string_release(&place);
}

bool uattn_verify_attribute_names(MlirOperation op, const char *const *known,
                                  size_t known_count) {
  bool is_right = true;
  intptr_t count = mlirOperationGetNumAttributes(op);
  for (intptr_t index = 0; index < count; ++index) {
    MlirStringRef name =
        mlirIdentifierStr(mlirOperationGetAttribute(op, index).name);
    if (is_known(name, known, known_count) || belongs_elsewhere(name))
      continue;
    refuse_unknown_attribute(op, name, known, known_count);
    is_right = false;
  }
  return is_right;
}

bool uattn_refuse_attribute(MlirOperation op, const char *name,
                            const char *wanted) {
  MlirAttribute found = uattn_op_get_attribute(op, name);
  bool is_missing = mlirAttributeIsNull(found);
  uattn_string_t text = {0};
  if (!is_missing)
    text = uattn_attribute_text(found);
  uattn_emit_error(op, "%s is %s: expected %s", name,
                   is_missing ? "missing" : uattn_string_get(&text), wanted);
  uattn_string_release(&text);
  return false;
}

static bool has(MlirOperation op, const char *name) {
  return !mlirAttributeIsNull(uattn_op_get_attribute(op, name));
}

static bool is_f32_attribute(MlirAttribute attribute) {
  return !mlirAttributeIsNull(attribute) && mlirAttributeIsAFloat(attribute) &&
         mlirTypeIsAF32(mlirAttributeGetType(attribute));
}

static bool is_i64(MlirOperation op, const char *name) {
  int64_t value = 0;
  return !has(op, name) || uattn_op_get_i64(op, name, &value) ||
         uattn_refuse_attribute(op, name, "an i64");
}

static bool is_unit(MlirOperation op, const char *name) {
  return !has(op, name) || uattn_op_has_unit(op, name) ||
         uattn_refuse_attribute(op, name, "no value (a unit attribute)");
}

static bool is_f32(MlirOperation op, const char *name) {
  return !has(op, name) || is_f32_attribute(uattn_op_get_attribute(op, name)) ||
         uattn_refuse_attribute(op, name, "an f32");
}

static bool is_present(MlirOperation op, const char *name) {
  if (has(op, name))
    return true;
  uattn_emit_error(op, "%s is missing: expected it always", name);
  return false;
}

static bool is_backward_only(MlirOperation op, const char *name) {
  if (!has(op, name) || uattn_op_is(op, UATTN_OPNAME_RANKER_ATTENTION_BWD))
    return true;
  uattn_emit_error(op,
                   "%s is given on the forward op: expected it on the backward "
                   "op alone",
                   name);
  return false;
}

static bool verify_cap_method(MlirOperation op, MlirAttribute parameter) {
  uattn_cap_method_t method;
  if (!mlirAttributeIsAString(parameter)) {
    uattn_string_t text = uattn_attribute_text(parameter);
    uattn_emit_error(op, "cap method is %s: expected a string",
                     uattn_string_get(&text));
    uattn_string_release(&text);
    return false;
  }
  MlirStringRef value = mlirStringAttrGetValue(parameter);
  uattn_string_t name = {0};
  uattn_string_append_bytes(&name, value.data, value.length);
  bool is_method = strlen(uattn_string_get(&name)) == value.length &&
                   uattn_cap_method_parse(uattn_string_get(&name), &method);
  if (!is_method)
    uattn_emit_error(op,
                     "cap method is \"%s\": expected \"none\", \"tanh\", "
                     "\"soft_sign\" or \"alsc\"",
                     uattn_string_get(&name));
  uattn_string_release(&name);
  return is_method;
}

static bool verify_cap(MlirOperation op) {
  static const char *const names[] = {"method", "cap", "alpha", "beta"};
  if (!is_present(op, UATTN_ATTR_CAP))
    return false;
  MlirAttribute cap = uattn_op_get_attribute(op, UATTN_ATTR_CAP);
  if (!uattn_attribute_is(cap, UATTN_ATTRNAME_CAP))
    return uattn_refuse_attribute(op, UATTN_ATTR_CAP, "a #" UATTN_ATTRNAME_CAP);
  MlirAttribute parameters = uattn_parameters_of_attribute(cap);
  if (mlirAttributeIsNull(parameters) ||
      mlirArrayAttrGetNumElements(parameters) != 4)
    return uattn_refuse_attribute(op, UATTN_ATTR_CAP,
                                  "4 parameters: method, cap, alpha, beta");
  if (!verify_cap_method(op, mlirArrayAttrGetElement(parameters, 0)))
    return false;
  for (intptr_t index = 1; index < 4; ++index) {
    MlirAttribute parameter = mlirArrayAttrGetElement(parameters, index);
    if (is_f32_attribute(parameter))
      continue;
    uattn_string_t text = uattn_attribute_text(parameter);
    uattn_emit_error(op, "cap parameter %s is %s: expected an f32",
                     names[index], uattn_string_get(&text));
    uattn_string_release(&text);
    return false;
  }
  return true;
}

static bool verify_window(MlirOperation op) {
  int64_t tokens = 0;
  if (!is_i64(op, UATTN_ATTR_WINDOW_LEN))
    return false;
  if (!uattn_op_get_i64(op, UATTN_ATTR_WINDOW_LEN, &tokens) || tokens > 0)
    return true;
  uattn_emit_error(op, "window_len is %" PRId64 ": expected above 0", tokens);
  return false;
}

static bool verify_plan(MlirOperation op) {
  if (!has(op, UATTN_ATTR_PLAN))
    return true;
  MlirAttribute plan = uattn_op_get_attribute(op, UATTN_ATTR_PLAN);
  if (!uattn_attribute_is(plan, UATTN_ATTRNAME_PLAN))
    return uattn_refuse_attribute(op, UATTN_ATTR_PLAN,
                                  "a #" UATTN_ATTRNAME_PLAN);
  MlirAttribute parameters = uattn_parameters_of_attribute(plan);
  return (!mlirAttributeIsNull(parameters) &&
          mlirArrayAttrGetNumElements(parameters) == 1 &&
          mlirAttributeIsADictionary(mlirArrayAttrGetElement(parameters, 0))) ||
         uattn_refuse_attribute(op, UATTN_ATTR_PLAN,
                                "one dictionary as its parameter");
}

static bool verify_kernels(MlirOperation op) {
  static const char wanted[] = "an array of symbol references";
  if (!has(op, UATTN_ATTR_KERNELS))
    return true;
  MlirAttribute kernels = uattn_op_get_attribute(op, UATTN_ATTR_KERNELS);
  if (!mlirAttributeIsAArray(kernels))
    return uattn_refuse_attribute(op, UATTN_ATTR_KERNELS, wanted);
  intptr_t count = mlirArrayAttrGetNumElements(kernels);
  for (intptr_t index = 0; index < count; ++index)
    if (!mlirAttributeIsASymbolRef(mlirArrayAttrGetElement(kernels, index)))
      return uattn_refuse_attribute(op, UATTN_ATTR_KERNELS, wanted);
  return true;
}

bool uattn_verify_attributes(MlirOperation op) {
  const bool checks[] = {
      uattn_verify_attribute_names(op, known_attributes, known_attribute_count),
      verify_cap(op),
      is_present(op, UATTN_ATTR_SM_SCALE) && is_f32(op, UATTN_ATTR_SM_SCALE),
      is_unit(op, UATTN_ATTR_CAUSAL),
      verify_window(op),
      is_i64(op, UATTN_ATTR_Q_OFFSET),
      is_backward_only(op, UATTN_ATTR_Z_LOSS_WEIGHT) &&
          is_f32(op, UATTN_ATTR_Z_LOSS_WEIGHT),
      is_backward_only(op, UATTN_ATTR_DETERMINISTIC) &&
          is_unit(op, UATTN_ATTR_DETERMINISTIC),
      verify_plan(op),
      verify_kernels(op),
  };
  for (size_t index = 0; index < sizeof checks / sizeof *checks; ++index)
    if (!checks[index])
      return false;
  return true;
}
