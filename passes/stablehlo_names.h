/* Names of the StableHLO ops and attributes that carry an attention op, and of
 * the flat attributes in their dictionaries: the contract with JAX programs.
 * Layer: passes. Must not know: what any of them means.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_STABLEHLO_NAMES_H
#define UATTN_PASSES_STABLEHLO_NAMES_H

#define UATTN_STABLEHLO_CUSTOM_CALL "stablehlo.custom_call"
#define UATTN_STABLEHLO_COMPOSITE "stablehlo.composite"

/* Of stablehlo.custom_call. */
#define UATTN_CALL_TARGET_NAME "call_target_name"
#define UATTN_CALL_API_VERSION "api_version"
#define UATTN_CALL_BACKEND_CONFIG "backend_config"
#define UATTN_CALL_SIDE_EFFECT "has_side_effect"
#define UATTN_CALL_COMPUTATIONS "called_computations"
#define UATTN_CALL_ALIASES "output_operand_aliases"
#define UATTN_CALL_OPERAND_LAYOUTS "operand_layouts"
#define UATTN_CALL_RESULT_LAYOUTS "result_layouts"
/* Where JAX keeps a dictionary; api_version is 1 and backend_config "" then. */
#define UATTN_CALL_MHLO_CONFIG "mhlo.backend_config"
enum { UATTN_CALL_API_UNTYPED = 1, UATTN_CALL_API_TYPED = 4 };

/* Of stablehlo.composite. */
#define UATTN_COMPOSITE_NAME "name"
#define UATTN_COMPOSITE_ATTRIBUTES "composite_attributes"
#define UATTN_COMPOSITE_DECOMPOSITION "decomposition"
#define UATTN_COMPOSITE_VERSION "version"
enum { UATTN_COMPOSITE_CURRENT_VERSION = 1 };

/* Of other dialects, on either op. */
#define UATTN_SHARDING_MHLO "mhlo.sharding"
#define UATTN_SHARDING_SDY "sdy.sharding"

/* In the dictionary, beside the op's own attributes, which keep their names. */
#define UATTN_FLAT_CAP_METHOD "cap_method"
#define UATTN_FLAT_CAP "cap"
#define UATTN_FLAT_CAP_ALPHA "cap_alpha"
#define UATTN_FLAT_CAP_BETA "cap_beta"
#define UATTN_FLAT_ARTIFACT "artifact"

#endif /* UATTN_PASSES_STABLEHLO_NAMES_H */
