/* The StableHLO ops that carry an attention op: what is read off them and how
 * they are built. StableHLO is not linked: they are unregistered ops.
 * Layer: passes. Must not know: the flat attributes, the attention op.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_STABLEHLO_OPS_H
#define UATTN_PASSES_STABLEHLO_OPS_H

#include "dialect/dialect.h"
#include "emit/builder.h"

/* Whether the op names `target`, in the attribute where its kind does so. */
bool uattn_call_has_target(MlirOperation call, const char *target);
bool uattn_composite_has_name(MlirOperation composite, const char *name);

/* The dictionary of attributes, with its place for messages in `*out_place`.
 * Null after diagnostics: attributes that StableHLO does not define, layouts
 * other than the default, side effects, aliases, an untyped interface. */
MlirAttribute uattn_call_dictionary(MlirOperation call, const char **out_place);
MlirAttribute uattn_composite_dictionary(MlirOperation composite,
                                         const char **out_place);

/* ---- Building -------------------------------------------------------------
 */

/* An attribute that belongs to the op itself. */
typedef struct {
  const char *name;
  MlirAttribute value;
} uattn_property_t;

/* Appends an unregistered op and gives it `properties`, so that it prints them
 * as StableHLO does: "op"() <{properties}> {other attributes}. */
MlirOperation uattn_append_with_properties(const uattn_builder_t *b,
                                           const uattn_op_t *op,
                                           const uattn_property_t *properties,
                                           size_t property_count);

/* Values, and the attributes beside them, for a new op. */
typedef struct {
  const char *target;
  MlirAttribute dictionary;
  const MlirValue *operands;
  intptr_t operand_count;
  const MlirType *results;
  intptr_t result_count;
} uattn_stablehlo_facts_t;

/* Appends the op, as JAX writes it. `decomposition` is a symbol reference. */
MlirOperation uattn_call_append(const uattn_builder_t *b,
                                const uattn_stablehlo_facts_t *facts);
MlirOperation uattn_composite_append(const uattn_builder_t *b,
                                     const uattn_stablehlo_facts_t *facts,
                                     MlirAttribute decomposition);

/* [dense<[1, 0]> : tensor<2xindex>, ...]: an entry a type, dimensions from the
 * fastest to the slowest. */
MlirAttribute uattn_default_layouts(MlirContext context, const MlirType *types,
                                    intptr_t type_count);

#endif /* UATTN_PASSES_STABLEHLO_OPS_H */
