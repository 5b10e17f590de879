/* stablehlo.composite: checked, read and built.
 * Layer: passes. Must not know: the flat attributes, the attention op.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/stablehlo_names.h"
#include "passes/stablehlo_ops.h"

static const char *const known_names[] = {
    UATTN_COMPOSITE_NAME,
    UATTN_COMPOSITE_ATTRIBUTES,
    UATTN_COMPOSITE_DECOMPOSITION,
    UATTN_COMPOSITE_VERSION,
};
enum { KNOWN_COUNT = sizeof known_names / sizeof *known_names };

bool uattn_composite_has_name(MlirOperation composite, const char *name) {
  MlirStringRef found;
  return uattn_op_get_string(composite, UATTN_COMPOSITE_NAME, &found) &&
         uattn_string_ref_is(found, name);
}

static bool check_regions(MlirOperation composite) {
  intptr_t count = mlirOperationGetNumRegions(composite);
  if (count == 0)
    return true;
  uattn_emit_error(composite, "a composite has %td regions: expected none",
                   count);
  return false;
}

/* Another version may mean something else by the same attributes. JAX's default
 * is 0. */
static bool check_version(MlirOperation composite) {
  MlirAttribute found =
      uattn_op_get_attribute(composite, UATTN_COMPOSITE_VERSION);
  if (mlirAttributeIsNull(found))
    return true;
  MlirType type = mlirAttributeGetType(found);
  if (mlirAttributeIsAInteger(found) && mlirTypeIsAInteger(type) &&
      mlirIntegerTypeIsSignless(type) && mlirIntegerTypeGetWidth(type) == 32) {
    int64_t version = mlirIntegerAttrGetValueInt(found);
    if (version == 0 || version == UATTN_COMPOSITE_CURRENT_VERSION)
      return true;
  }
  return uattn_refuse_attribute(composite, UATTN_COMPOSITE_VERSION,
                                "0 : i32 or 1 : i32");
}

static bool check_dictionary(MlirOperation composite, MlirAttribute found) {
  return (!mlirAttributeIsNull(found) && mlirAttributeIsADictionary(found)) ||
         uattn_refuse_attribute(composite, UATTN_COMPOSITE_ATTRIBUTES,
                                "a dictionary");
}

MlirAttribute uattn_composite_dictionary(MlirOperation composite,
                                         const char **out_place) {
  MlirAttribute found =
      uattn_op_get_attribute(composite, UATTN_COMPOSITE_ATTRIBUTES);
  const bool checks[] = {
      uattn_verify_attribute_names(composite, known_names, KNOWN_COUNT),
      check_regions(composite),
      check_version(composite),
      check_dictionary(composite, found),
  };
  for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i)
    if (!checks[i])
      return mlirAttributeGetNull();
  *out_place = "in " UATTN_COMPOSITE_ATTRIBUTES;
  return found;
}

MlirOperation uattn_composite_append(const uattn_builder_t *b,
                                     const uattn_stablehlo_facts_t *facts,
                                     MlirAttribute decomposition) {
  uattn_op_t op = uattn_op(UATTN_STABLEHLO_COMPOSITE);
  uattn_op_more_operands(&op, facts->operands, (int)facts->operand_count);
  for (intptr_t i = 0; i < facts->result_count; ++i)
    uattn_op_result(&op, facts->results[i]);
  const uattn_property_t properties[] = {
      {UATTN_COMPOSITE_NAME, uattn_attribute_string(b, facts->target)},
      {UATTN_COMPOSITE_ATTRIBUTES, facts->dictionary},
      {UATTN_COMPOSITE_DECOMPOSITION, decomposition},
      {UATTN_COMPOSITE_VERSION,
       uattn_attribute_i32(b, UATTN_COMPOSITE_CURRENT_VERSION)},
  };
  return uattn_append_with_properties(b, &op, properties,
                                      sizeof properties / sizeof *properties);
}
