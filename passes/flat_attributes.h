/* An attention op's attributes in one flat dictionary, as StableHLO carries
 * them: the cap as a method and three numbers, flags as booleans, defaults left
 * out or written.
 * Layer: passes. Must not know: StableHLO's ops, symbols.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_FLAT_ATTRIBUTES_H
#define UATTN_PASSES_FLAT_ATTRIBUTES_H

#include "dialect/dialect.h"
#include "emit/builder.h"

typedef struct {
  MlirOperation op;         /* has the dictionary; diagnostics stand here */
  const char *place;        /* "in backend_config", for messages */
  MlirAttribute dictionary; /* a DictionaryAttr */
  uattn_op_kind_t kind;
} uattn_flat_attributes_t;

/* Adds the attributes to `out_op`, defaults left out; the result segments add
 * up to `*out_result_count`. False after diagnostics that say what was found
 * and what was wanted: unknown and missing names, wrong types and segment
 * sizes. What the values mean is not checked, that is the verifier's. */
bool uattn_flat_attributes_read(const uattn_flat_attributes_t *flat,
                                uattn_op_t *out_op, intptr_t *out_result_count);

/* Whether a compiled kernel is named, which may bring a workspace along. */
bool uattn_flat_attributes_has_artifact(const uattn_flat_attributes_t *flat);

/* The dictionary of a verified attention op, defaults written out. */
MlirAttribute uattn_flat_attributes_write(MlirOperation op);

#endif /* UATTN_PASSES_FLAT_ATTRIBUTES_H */
