/* Ops' names and attributes, read and written by name.
 * Layer: dialect. Must not know: which attributes which op may have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect.h"

static MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

bool uattn_op_is(MlirOperation op, const char *name) {
  return uattn_string_ref_is(mlirIdentifierStr(mlirOperationGetName(op)), name);
}

MlirAttribute uattn_op_get_attribute(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, ref(name));
}

void uattn_op_set_attribute(MlirOperation op, const char *name,
                            MlirAttribute attribute) {
  mlirOperationSetAttributeByName(op, ref(name), attribute);
}

bool uattn_op_get_i64(MlirOperation op, const char *name, int64_t *out_value) {
  MlirAttribute attribute = uattn_op_get_attribute(op, name);
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAInteger(attribute))
    return false;
  MlirType type = mlirAttributeGetType(attribute);
  if (!mlirTypeIsAInteger(type) || !mlirIntegerTypeIsSignless(type) ||
      mlirIntegerTypeGetWidth(type) != 64)
    return false;
  *out_value = mlirIntegerAttrGetValueInt(attribute);
  return true;
}

bool uattn_op_get_f64(MlirOperation op, const char *name, double *out_value) {
  MlirAttribute attribute = uattn_op_get_attribute(op, name);
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAFloat(attribute))
    return false;
  MlirType type = mlirAttributeGetType(attribute);
  if (!mlirTypeIsAF32(type) && !mlirTypeIsAF64(type))
    return false;
  *out_value = mlirFloatAttrGetValueDouble(attribute);
  return true;
}

bool uattn_op_get_string(MlirOperation op, const char *name,
                         MlirStringRef *out_value) {
  MlirAttribute attribute = uattn_op_get_attribute(op, name);
  if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAString(attribute))
    return false;
  *out_value = mlirStringAttrGetValue(attribute);
  return true;
}

bool uattn_op_has_unit(MlirOperation op, const char *name) {
  MlirAttribute attribute = uattn_op_get_attribute(op, name);
  return !mlirAttributeIsNull(attribute) && mlirAttributeIsAUnit(attribute);
}
