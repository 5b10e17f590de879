/* The layouts that stablehlo.custom_call gives to its operands and results.
 * Layer: passes. Must not know: the other attributes of that op.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "passes/stablehlo_ops.h"

static MlirAttribute default_layout(MlirContext context, MlirType type) {
  int64_t rank =
      mlirTypeIsARankedTensor(type) ? mlirShapedTypeGetRank(type) : 0;
  MlirType index = mlirIndexTypeGet(context);
  MlirAttribute *dims = uattn_allocate(((size_t)rank + 1) * sizeof *dims);
  for (int64_t i = 0; i < rank; ++i)
    dims[i] = mlirIntegerAttrGet(index, rank - 1 - i);
  MlirAttribute layout = mlirDenseElementsAttrGet(
      mlirRankedTensorTypeGet(1, &rank, index, mlirAttributeGetNull()),
      (intptr_t)rank, dims);
  free(dims);
  return layout;
}

MlirAttribute uattn_default_layouts(MlirContext context, const MlirType *types,
                                    intptr_t type_count) {
  MlirAttribute *layouts =
      uattn_allocate(((size_t)type_count + 1) * sizeof *layouts);
  for (intptr_t i = 0; i < type_count; ++i)
    layouts[i] = default_layout(context, types[i]);
  MlirAttribute all = mlirArrayAttrGet(context, type_count, layouts);
  free(layouts);
  return all;
}
