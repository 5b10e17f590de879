/* Parameters of the dialect's attributes and types, by way of their text.
 *
 * MLIR's C API neither builds nor reads dynamic attributes and types; their
 * text does both: #uattn.NAME<a, b> and !uattn.NAME<a, b>, with parameters in
 * attribute syntax, so that [a, b] is an array of them.
 *
 * Layer: dialect. Must not know: what the parameters mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect.h"

#include <string.h>

/* `name` without sigil, followed by "<" or the end. */
static bool text_names(const uattn_string_t *text, const char *name) {
  const char *start = uattn_string_get(text);
  size_t size = strlen(name);
  if (text->size < size + 1 || memcmp(start + 1, name, size) != 0)
    return false;
  return start[1 + size] == '\0' || start[1 + size] == '<';
}

static bool is_of_dialect(MlirDialect dialect) {
  return uattn_string_ref_is(mlirDialectGetNamespace(dialect), UATTN_NAMESPACE);
}

bool uattn_attribute_is(MlirAttribute attribute, const char *name) {
  if (mlirAttributeIsNull(attribute) ||
      !is_of_dialect(mlirAttributeGetDialect(attribute)))
    return false;
  uattn_string_t text = {0};
  mlirAttributePrint(attribute, uattn_string_append_ref, &text);
  bool is = text_names(&text, name);
  uattn_string_release(&text);
  return is;
}

bool uattn_type_is(MlirType type, const char *name) {
  if (mlirTypeIsNull(type) || !is_of_dialect(mlirTypeGetDialect(type)))
    return false;
  uattn_string_t text = {0};
  mlirTypePrint(type, uattn_string_append_ref, &text);
  bool is = text_names(&text, name);
  uattn_string_release(&text);
  return is;
}

static MlirAttribute parse_parameters(MlirContext context,
                                      const uattn_string_t *text) {
  const char *start = uattn_string_get(text);
  const char *open = strchr(start, '<');
  if (!open)
    return mlirArrayAttrGet(context, 0, NULL);
  UATTN_CHECK(start[text->size - 1] == '>');
  uattn_string_t array = {0};
  uattn_string_append(&array, "[");
  uattn_string_append_bytes(&array, open + 1,
                            text->size - (size_t)(open + 1 - start) - 1);
  uattn_string_append(&array, "]");
  MlirAttribute parameters =
      mlirAttributeParseGet(context, uattn_string_ref(&array));
  uattn_string_release(&array);
  return parameters;
}

MlirAttribute uattn_parameters_of_attribute(MlirAttribute attribute) {
  uattn_string_t text = {0};
  mlirAttributePrint(attribute, uattn_string_append_ref, &text);
  MlirAttribute parameters =
      parse_parameters(mlirAttributeGetContext(attribute), &text);
  uattn_string_release(&text);
  return parameters;
}

MlirAttribute uattn_parameters_of_type(MlirType type) {
  uattn_string_t text = {0};
  mlirTypePrint(type, uattn_string_append_ref, &text);
  MlirAttribute parameters = parse_parameters(mlirTypeGetContext(type), &text);
  uattn_string_release(&text);
  return parameters;
}

MlirAttribute uattn_attribute_get(MlirContext context, const char *name,
                                  const char *parameters) {
  uattn_string_t text = {0};
  uattn_string_appendf(&text, "#%s<%s>", name, parameters);
  MlirAttribute attribute =
      mlirAttributeParseGet(context, uattn_string_ref(&text));
  uattn_string_release(&text);
  UATTN_CHECK(!mlirAttributeIsNull(attribute));
  return attribute;
}

MlirType uattn_type_get(MlirContext context, const char *name,
                        const char *parameters) {
  uattn_string_t text = {0};
  uattn_string_appendf(&text, "!%s<%s>", name, parameters);
  MlirType type = mlirTypeParseGet(context, uattn_string_ref(&text));
  uattn_string_release(&text);
  UATTN_CHECK(!mlirTypeIsNull(type));
  return type;
}
