/* Ops of a dialect that is not linked, with attributes of their own.
 * Layer: passes. Must not know: which ops these are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/stablehlo_ops.h"

MlirOperation uattn_append_with_properties(const uattn_builder_t *b,
                                           const uattn_op_t *op,
                                           const uattn_property_t *properties,
                                           size_t property_count) {
  MlirOperation made = uattn_op_append(b, op);
  for (size_t i = 0; i < property_count; ++i)
    mlirOperationSetInherentAttributeByName(
        made, mlirStringRefCreateFromCString(properties[i].name),
        properties[i].value);
  return made;
}
