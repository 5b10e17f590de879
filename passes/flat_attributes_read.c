/* From a flat dictionary to the attributes of an attention op.
 * Layer: passes. Must not know: StableHLO's ops, symbols.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "passes/flat_attributes.h"
#include "passes/stablehlo_names.h"

/* The backward op's own come last. */
static const char *const known_names[] = {
    UATTN_ATTR_OPERAND_SEGMENTS, UATTN_ATTR_RESULT_SEGMENTS,
    UATTN_FLAT_CAP_METHOD,       UATTN_FLAT_CAP,
    UATTN_FLAT_CAP_ALPHA,        UATTN_FLAT_CAP_BETA,
    UATTN_ATTR_SM_SCALE,         UATTN_ATTR_CAUSAL,
    UATTN_ATTR_WINDOW_LEN,       UATTN_ATTR_Q_OFFSET,
    UATTN_FLAT_ARTIFACT,         UATTN_ATTR_Z_LOSS_WEIGHT,
    UATTN_ATTR_DETERMINISTIC,
};
enum { KNOWN_COUNT = sizeof known_names / sizeof *known_names };

static MlirAttribute find(const uattn_flat_attributes_t *flat,
                          const char *name) {
  return mlirDictionaryAttrGetElementByName(
      flat->dictionary, mlirStringRefCreateFromCString(name));
}

static bool refuse(const uattn_flat_attributes_t *flat, const char *name,
                   const char *wanted) {
  MlirAttribute found = find(flat, name);
  uattn_string_t text = {0};
  if (!mlirAttributeIsNull(found))
    text = uattn_attribute_text(found);
  uattn_emit_error(flat->op, "%s is %s %s: expected %s", name,
                   mlirAttributeIsNull(found) ? "missing"
                                              : uattn_string_get(&text),
                   flat->place, wanted);
  uattn_string_release(&text);
  return false;
}

/* ---- Names ---------------------------------------------------------------
 */

static bool is_known(MlirStringRef name, size_t known_count) {
  for (size_t i = 0; i < known_count; ++i)
    if (uattn_string_ref_is(name, known_names[i]))
      return true;
  return false;
}

static bool check_names(const uattn_flat_attributes_t *flat) {
  size_t known_count =
      flat->kind == UATTN_OP_FORWARD ? KNOWN_COUNT - 2 : KNOWN_COUNT;
  bool is_right = true;
  intptr_t count = mlirDictionaryAttrGetNumElements(flat->dictionary);
  for (intptr_t i = 0; i < count; ++i) {
    MlirStringRef name = mlirIdentifierStr(
        mlirDictionaryAttrGetElement(flat->dictionary, i).name);
    if (is_known(name, known_count))
      continue;
    uattn_emit_unknown_attribute(flat->op, name, flat->place, known_names,
                                 known_count);
    is_right = false;
  }
  return is_right;
}

/* ---- Values: the default where they are missing ---------------------------
 */

static bool is_signless(MlirType type, unsigned width) {
  return mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) &&
         mlirIntegerTypeGetWidth(type) == width;
}

/* The attribute as it stands, or 0.0 : f32. */
static bool read_f32(const uattn_flat_attributes_t *flat, const char *name,
                     MlirAttribute *out_value) {
  MlirAttribute found = find(flat, name);
  MlirContext context = mlirAttributeGetContext(flat->dictionary);
  *out_value =
      mlirAttributeIsNull(found)
          ? mlirFloatAttrDoubleGet(context, mlirF32TypeGet(context), 0.0)
          : found;
  return (mlirAttributeIsAFloat(*out_value) &&
          mlirTypeIsAF32(mlirAttributeGetType(*out_value))) ||
         refuse(flat, name, "an f32");
}

static bool read_i64(const uattn_flat_attributes_t *flat, const char *name,
                     int64_t *out_value) {
  MlirAttribute found = find(flat, name);
  *out_value = 0;
  if (mlirAttributeIsNull(found))
    return true;
  if (!mlirAttributeIsAInteger(found) ||
      !is_signless(mlirAttributeGetType(found), 64))
    return refuse(flat, name, "an i64");
  *out_value = mlirIntegerAttrGetValueInt(found);
  return true;
}

/* Any integer type that holds 0 or 1. */
static bool integer_is_flag(MlirAttribute found, bool *out_value) {
  if (!mlirAttributeIsAInteger(found))
    return false;
  MlirType type = mlirAttributeGetType(found);
  if (!mlirTypeIsAInteger(type) || mlirIntegerTypeGetWidth(type) > 64)
    return false;
  uint64_t value = mlirIntegerTypeIsSignless(type)
                       ? (uint64_t)mlirIntegerAttrGetValueInt(found)
                   : mlirIntegerTypeIsSigned(type)
                       ? (uint64_t)mlirIntegerAttrGetValueSInt(found)
                       : mlirIntegerAttrGetValueUInt(found);
  *out_value = value == 1;
  return value <= 1;
}

static bool read_flag(const uattn_flat_attributes_t *flat, const char *name,
                      bool *out_value) {
  MlirAttribute found = find(flat, name);
  *out_value = false;
  if (mlirAttributeIsNull(found))
    return true;
  if (mlirAttributeIsABool(found)) {
    *out_value = mlirBoolAttrGetValue(found);
    return true;
  }
  return integer_is_flag(found, out_value) ||
         refuse(flat, name, "true, false, or an integer that is 0 or 1");
}

/* ---- Segment sizes --------------------------------------------------------
 */

/* The entries of array<i32 or i64: ...> or of a dense tensor of one dimension
 * of these; false where it is neither or has more than `capacity`. */
static bool get_integers(MlirAttribute attribute, int64_t *out_values,
                         intptr_t capacity, intptr_t *out_count) {
  bool is_i32 = mlirAttributeIsADenseI32Array(attribute);
  if (is_i32 || mlirAttributeIsADenseI64Array(attribute)) {
    *out_count = mlirDenseArrayGetNumElements(attribute);
    for (intptr_t i = 0; i < *out_count && i < capacity; ++i)
      out_values[i] = is_i32 ? mlirDenseI32ArrayGetElement(attribute, i)
                             : mlirDenseI64ArrayGetElement(attribute, i);
    return *out_count <= capacity;
  }
  if (!mlirAttributeIsADenseElements(attribute))
    return false;
  MlirType type = mlirAttributeGetType(attribute);
  is_i32 = is_signless(mlirShapedTypeGetElementType(type), 32);
  if (mlirShapedTypeGetRank(type) != 1 ||
      (!is_i32 && !is_signless(mlirShapedTypeGetElementType(type), 64)))
    return false;
  *out_count = (intptr_t)mlirElementsAttrGetNumElements(attribute);
  for (intptr_t i = 0; i < *out_count && i < capacity; ++i)
    out_values[i] = is_i32 ? mlirDenseElementsAttrGetInt32Value(attribute, i)
                           : mlirDenseElementsAttrGetInt64Value(attribute, i);
  return *out_count <= capacity;
}

static bool check_entries(const uattn_flat_attributes_t *flat, const char *name,
                          const int64_t *values, intptr_t count) {
  for (intptr_t i = 0; i < count; ++i) {
    if (values[i] == 0 || values[i] == 1)
      continue;
    uattn_emit_error(flat->op,
                     "%s has %" PRId64 " at entry %td: expected 0 or 1", name,
                     values[i], i);
    return false;
  }
  return true;
}

/* As array<i32: ...>, with the number of values that they stand for. */
static bool read_segments(const uattn_flat_attributes_t *flat, const char *name,
                          intptr_t group_count, uattn_op_t *out_op,
                          intptr_t *out_sum) {
  int64_t values[UATTN_OPERAND_COUNT] = {0};
  int32_t sizes[UATTN_OPERAND_COUNT] = {0};
  intptr_t count = 0;
  MlirAttribute found = find(flat, name);
  if (mlirAttributeIsNull(found) ||
      !get_integers(found, values, group_count, &count) ||
      count != group_count) {
    uattn_string_t wanted = {0};
    uattn_string_appendf(&wanted,
                         "%td entries, array<i32: ...> or dense<...> : "
                         "tensor<%tdxi32>",
                         group_count, group_count);
    (void)refuse(flat, name, uattn_string_get(&wanted));
    uattn_string_release(&wanted);
    return false;
  }
  if (!check_entries(flat, name, values, count))
    return false;
  *out_sum = 0;
  for (intptr_t i = 0; i < count; ++i) {
    sizes[i] = (int32_t)values[i];
    *out_sum += sizes[i];
  }
  uattn_op_attribute(
      out_op, name,
      mlirDenseI32ArrayGet(mlirAttributeGetContext(found), count, sizes));
  return true;
}

static bool read_operand_segments(const uattn_flat_attributes_t *flat,
                                  uattn_op_t *out_op) {
  intptr_t sum = 0;
  if (!read_segments(flat, UATTN_ATTR_OPERAND_SEGMENTS,
                     uattn_operand_count(flat->kind), out_op, &sum))
    return false;
  intptr_t count = mlirOperationGetNumOperands(flat->op);
  if (sum == count)
    return true;
  uattn_emit_error(flat->op,
                   "%s adds up to %td: expected %td, the number of operands",
                   UATTN_ATTR_OPERAND_SEGMENTS, sum, count);
  return false;
}

/* ---- The op's attributes --------------------------------------------------
 */

/* The method's name is the verifier's to judge. */
static bool read_cap(const uattn_flat_attributes_t *flat, uattn_op_t *out_op) {
  static const char *const names[] = {UATTN_FLAT_CAP_METHOD, UATTN_FLAT_CAP,
                                      UATTN_FLAT_CAP_ALPHA,
                                      UATTN_FLAT_CAP_BETA};
  MlirAttribute parameters[4] = {find(flat, UATTN_FLAT_CAP_METHOD)};
  if (mlirAttributeIsNull(parameters[0]) ||
      !mlirAttributeIsAString(parameters[0]))
    return refuse(flat, UATTN_FLAT_CAP_METHOD,
                  "\"none\", \"tanh\", \"soft_sign\" or \"alsc\"");
  bool is_right = true;
  for (int i = 1; i < 4; ++i)
    is_right &= read_f32(flat, names[i], &parameters[i]);
  if (!is_right)
    return false;
  uattn_string_t text = {0};
  for (int i = 0; i < 4; ++i) {
    uattn_string_append(&text, i > 0 ? ", " : "");
    mlirAttributePrint(parameters[i], uattn_string_append_ref, &text);
  }
  uattn_op_attribute(
      out_op, UATTN_ATTR_CAP,
      uattn_attribute_get(mlirAttributeGetContext(flat->dictionary),
                          UATTN_ATTRNAME_CAP, uattn_string_get(&text)));
  uattn_string_release(&text);
  return true;
}

static bool read_scale(const uattn_flat_attributes_t *flat,
                       uattn_op_t *out_op) {
  MlirAttribute scale;
  if (mlirAttributeIsNull(find(flat, UATTN_ATTR_SM_SCALE)))
    return refuse(flat, UATTN_ATTR_SM_SCALE, "an f32");
  if (!read_f32(flat, UATTN_ATTR_SM_SCALE, &scale))
    return false;
  uattn_op_attribute(out_op, UATTN_ATTR_SM_SCALE, scale);
  return true;
}

static bool add_i64(const uattn_flat_attributes_t *flat, const char *name,
                    uattn_op_t *out_op) {
  int64_t value = 0;
  bool is_right = read_i64(flat, name, &value);
  if (is_right && value != 0)
    uattn_op_attribute(out_op, name, find(flat, name));
  return is_right;
}

static bool add_flag(const uattn_flat_attributes_t *flat, const char *name,
                     uattn_op_t *out_op) {
  bool is_set = false;
  bool is_right = read_flag(flat, name, &is_set);
  if (is_set)
    uattn_op_attribute(
        out_op, name,
        mlirUnitAttrGet(mlirAttributeGetContext(flat->dictionary)));
  return is_right;
}

static bool add_z_loss_weight(const uattn_flat_attributes_t *flat,
                              uattn_op_t *out_op) {
  MlirAttribute weight;
  if (!read_f32(flat, UATTN_ATTR_Z_LOSS_WEIGHT, &weight))
    return false;
  if (mlirFloatAttrGetValueDouble(weight) != 0.0)
    uattn_op_attribute(out_op, UATTN_ATTR_Z_LOSS_WEIGHT, weight);
  return true;
}

static bool check_artifact(const uattn_flat_attributes_t *flat) {
  return !uattn_flat_attributes_has_artifact(flat) ||
         mlirAttributeIsAString(find(flat, UATTN_FLAT_ARTIFACT)) ||
         refuse(flat, UATTN_FLAT_ARTIFACT, "a string");
}

bool uattn_flat_attributes_has_artifact(const uattn_flat_attributes_t *flat) {
  return !mlirAttributeIsNull(find(flat, UATTN_FLAT_ARTIFACT));
}

bool uattn_flat_attributes_read(const uattn_flat_attributes_t *flat,
                                uattn_op_t *out_op,
                                intptr_t *out_result_count) {
  const bool checks[] = {
      check_names(flat),
      check_artifact(flat),
      read_operand_segments(flat, out_op),
      read_segments(flat, UATTN_ATTR_RESULT_SEGMENTS,
                    uattn_result_count(flat->kind), out_op, out_result_count),
      read_cap(flat, out_op),
      read_scale(flat, out_op),
      add_flag(flat, UATTN_ATTR_CAUSAL, out_op),
      add_i64(flat, UATTN_ATTR_WINDOW_LEN, out_op),
      add_i64(flat, UATTN_ATTR_Q_OFFSET, out_op),
      add_z_loss_weight(flat, out_op),
      add_flag(flat, UATTN_ATTR_DETERMINISTIC, out_op),
  };
  for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i)
    if (!checks[i])
      return false;
  return true;
}
