/* From an attention op to its flat dictionary.
 * Layer: passes. Must not know: StableHLO's ops, symbols.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/flat_attributes.h"
#include "passes/stablehlo_names.h"

enum { MAX_ENTRIES = 12 };

typedef struct {
  MlirOperation op;
  MlirContext context;
  MlirNamedAttribute entries[MAX_ENTRIES];
  intptr_t count;
} writer_t;

static void add(writer_t *writer, const char *name, MlirAttribute value) {
  UATTN_CHECK(writer->count < MAX_ENTRIES);
  writer->entries[writer->count++] = mlirNamedAttributeGet(
      mlirIdentifierGet(writer->context, mlirStringRefCreateFromCString(name)),
      value);
}

/* The op's attribute, `missing` where it has none. */
static void add_or(writer_t *writer, const char *name, MlirAttribute missing) {
  MlirAttribute found = uattn_op_get_attribute(writer->op, name);
  add(writer, name, mlirAttributeIsNull(found) ? missing : found);
}

static void add_flag(writer_t *writer, const char *name) {
  add(writer, name,
      mlirBoolAttrGet(writer->context, uattn_op_has_unit(writer->op, name)));
}

/* A dense tensor, the form in which JAX writes an array of numbers. */
static void add_segments(writer_t *writer, const char *name) {
  int32_t sizes[UATTN_OPERAND_COUNT];
  MlirAttribute found = uattn_op_get_attribute(writer->op, name);
  int64_t count = mlirDenseArrayGetNumElements(found);
  UATTN_CHECK(count <= UATTN_OPERAND_COUNT);
  for (int64_t i = 0; i < count; ++i)
    sizes[i] = mlirDenseI32ArrayGetElement(found, (intptr_t)i);
  MlirType type = mlirRankedTensorTypeGet(
      1, &count, mlirIntegerTypeGet(writer->context, 32),
      mlirAttributeGetNull());
  add(writer, name,
      mlirDenseElementsAttrInt32Get(type, (intptr_t)count, sizes));
}

static void add_cap(writer_t *writer) {
  static const char *const names[] = {UATTN_FLAT_CAP_METHOD, UATTN_FLAT_CAP,
                                      UATTN_FLAT_CAP_ALPHA,
                                      UATTN_FLAT_CAP_BETA};
  MlirAttribute parameters = uattn_parameters_of_attribute(
      uattn_op_get_attribute(writer->op, UATTN_ATTR_CAP));
  for (intptr_t i = 0; i < 4; ++i)
    add(writer, names[i], mlirArrayAttrGetElement(parameters, i));
}

MlirAttribute uattn_flat_attributes_write(MlirOperation op) {
  writer_t writer = {.op = op, .context = mlirOperationGetContext(op)};
  MlirAttribute zero_i64 =
      mlirIntegerAttrGet(mlirIntegerTypeGet(writer.context, 64), 0);
  MlirAttribute zero_f32 = mlirFloatAttrDoubleGet(
      writer.context, mlirF32TypeGet(writer.context), 0.0);
  add_segments(&writer, UATTN_ATTR_OPERAND_SEGMENTS);
  add_segments(&writer, UATTN_ATTR_RESULT_SEGMENTS);
  add_cap(&writer);
  add_or(&writer, UATTN_ATTR_SM_SCALE, zero_f32);
  add_flag(&writer, UATTN_ATTR_CAUSAL);
  add_or(&writer, UATTN_ATTR_WINDOW_LEN, zero_i64);
  add_or(&writer, UATTN_ATTR_Q_OFFSET, zero_i64);
  if (uattn_op_is(op, UATTN_OPNAME_RANKER_ATTENTION_BWD)) {
    add_or(&writer, UATTN_ATTR_Z_LOSS_WEIGHT, zero_f32);
    add_flag(&writer, UATTN_ATTR_DETERMINISTIC);
  }
  return mlirDictionaryAttrGet(writer.context, writer.count, writer.entries);
}
