/* The pipeline level's types: smem, ring, tensor_map and global.
 * Layer: dialect. Must not know: what ops do with them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect.h"

#include <inttypes.h>

static MlirType wrap(const char *name, MlirType inner, const char *suffix) {
  uattn_string_t parameters = {0};
  mlirTypePrint(inner, uattn_string_append_ref, &parameters);
  uattn_string_append(&parameters, suffix);
  MlirType type = uattn_type_get(mlirTypeGetContext(inner), name,
                                 uattn_string_get(&parameters));
  uattn_string_release(&parameters);
  return type;
}

MlirType uattn_smem_type(MlirType tile) {
  return wrap(UATTN_TYPENAME_SMEM, tile, "");
}

MlirType uattn_ring_type(MlirType tile, int64_t stage_count) {
  char suffix[40];
  snprintf(suffix, sizeof suffix, ", %" PRId64 " : i64", stage_count);
  return wrap(UATTN_TYPENAME_RING, tile, suffix);
}

MlirType uattn_tensor_map_type(MlirType box) {
  return wrap(UATTN_TYPENAME_TENSOR_MAP, box, "");
}

MlirType uattn_global_type(MlirType element) {
  return wrap(UATTN_TYPENAME_GLOBAL, element, "");
}

static MlirAttribute parameter(MlirType type, intptr_t index) {
  MlirAttribute parameters = uattn_parameters_of_type(type);
  if (mlirAttributeIsNull(parameters) ||
      index >= mlirArrayAttrGetNumElements(parameters))
    return mlirAttributeGetNull();
  return mlirArrayAttrGetElement(parameters, index);
}

MlirType uattn_type_inner(MlirType type) {
  MlirAttribute inner = parameter(type, 0);
  if (mlirAttributeIsNull(inner) || !mlirAttributeIsAType(inner))
    return (MlirType){NULL};
  return mlirTypeAttrGetValue(inner);
}

int64_t uattn_ring_stage_count(MlirType ring) {
  MlirAttribute stages = parameter(ring, 1);
  if (mlirAttributeIsNull(stages) || !mlirAttributeIsAInteger(stages))
    return -1;
  MlirType type = mlirAttributeGetType(stages);
  if (!mlirTypeIsAInteger(type) || mlirIntegerTypeGetWidth(type) != 64)
    return -1;
  return mlirIntegerAttrGetValueInt(stages);
}
