/* Typed builders of ops: the only way in which uattn makes IR.
 * Layer: emit. Must not know: attributes of the op level, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMIT_BUILDER_H
#define UATTN_EMIT_BUILDER_H

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/IR.h>

#include "support/support.h"

/* Where the next op goes: the end of `block`. Copied freely. */
typedef struct {
  MlirContext context;
  MlirLocation location;
  MlirBlock block;
} uattn_builder_t;

uattn_builder_t uattn_builder_at_end(MlirBlock block, MlirLocation location);

/* ---- Types and attributes ------------------------------------------------ */

MlirType uattn_type_i1(const uattn_builder_t *b);
MlirType uattn_type_i32(const uattn_builder_t *b);
MlirType uattn_type_i64(const uattn_builder_t *b);
MlirType uattn_type_f32(const uattn_builder_t *b);
MlirType uattn_type_index(const uattn_builder_t *b);
MlirType uattn_type_vector1(MlirType element, int64_t count);
MlirType uattn_type_vector2(MlirType element, int64_t rows, int64_t columns);
/* From text that this code base wrote itself: a failure is our bug. */
MlirType uattn_type_parse(MlirContext context, const char *format, ...)
    UATTN_PRINTF(2, 3);
MlirAttribute uattn_attribute_parse(MlirContext context, const char *format,
                                    ...) UATTN_PRINTF(2, 3);
MlirAttribute uattn_attribute_i32(const uattn_builder_t *b, int64_t value);
MlirAttribute uattn_attribute_i64(const uattn_builder_t *b, int64_t value);
MlirAttribute uattn_attribute_string(const uattn_builder_t *b,
                                     const char *text);
MlirAttribute uattn_attribute_unit(const uattn_builder_t *b);
/* The shape and element type of a vector (or another shaped) type. */
MlirType uattn_type_element(MlirType type);
int64_t uattn_type_dim(MlirType type, int dim);

/* ---- Any op ---------------------------------------------------------------
 * uattn_op_t collects operands, results, attributes and regions of one op and
 * uattn_op_append makes it at the builder's place. An op that MLIR refuses to
 * make is our bug. */

enum {
  UATTN_OP_MAX_OPERANDS = 16,
  UATTN_OP_MAX_ATTRIBUTES = 12,
  UATTN_OP_MAX_REGIONS = 8 /* a switch over the roles of 8 warpgroups */
};
typedef struct {
  const char *name;
  MlirValue operands[UATTN_OP_MAX_OPERANDS];
  int operand_count;
  const MlirValue *more_operands; /* behind `operands`; borrowed */
  int more_operand_count;
  MlirType results[UATTN_OP_MAX_OPERANDS];
  int result_count;
  MlirNamedAttribute attributes[UATTN_OP_MAX_ATTRIBUTES];
  int attribute_count;
  MlirRegion regions[UATTN_OP_MAX_REGIONS];
  int region_count;
} uattn_op_t;

uattn_op_t uattn_op(const char *name);
void uattn_op_operand(uattn_op_t *op, MlirValue operand);
/* Any number of further operands, borrowed until the op is appended. */
void uattn_op_more_operands(uattn_op_t *op, const MlirValue *operands,
                            int count);
void uattn_op_result(uattn_op_t *op, MlirType type);
void uattn_op_attribute(uattn_op_t *op, const char *name, MlirAttribute value);
void uattn_op_region(uattn_op_t *op, MlirRegion owned_region);
MlirOperation uattn_op_append(const uattn_builder_t *b, const uattn_op_t *op);
/* The same, for an op with one result: that result. */
MlirValue uattn_op_append_value(const uattn_builder_t *b, const uattn_op_t *op);

/* ---- arith, math, vector --------------------------------------------------
 */

MlirValue uattn_constant_i32(const uattn_builder_t *b, int32_t value);
MlirValue uattn_constant_i64(const uattn_builder_t *b, int64_t value);
MlirValue uattn_constant_f32(const uattn_builder_t *b, double value);
/* Every element of `type`, a vector of f32, is `value`. */
MlirValue uattn_constant_splat(const uattn_builder_t *b, MlirType type,
                               double value);
/* Every element of `type`, a vector of i1, is `value`. */
MlirValue uattn_constant_splat_i1(const uattn_builder_t *b, MlirType type,
                                  bool value);
/* Every element of `type`, a vector of i32, is `value`. */
MlirValue uattn_constant_splat_i32(const uattn_builder_t *b, MlirType type,
                                   int32_t value);
/* `name` is an op whose operands and result have one type. */
MlirValue uattn_unary(const uattn_builder_t *b, const char *name,
                      MlirValue value);
MlirValue uattn_binary(const uattn_builder_t *b, const char *name,
                       MlirValue lhs, MlirValue rhs);
MlirValue uattn_binary_i32(const uattn_builder_t *b, const char *name,
                           MlirValue lhs, int64_t constant);
/* Of an i1, or a vector of them. */
MlirValue uattn_not(const uattn_builder_t *b, MlirValue flags);
MlirValue uattn_ternary(const uattn_builder_t *b, const char *name,
                        MlirValue first, MlirValue second, MlirValue third);
/* As uattn_unary and uattn_binary, with hardware approximation allowed. */
MlirValue uattn_unary_approximate(const uattn_builder_t *b, const char *name,
                                  MlirValue value);
MlirValue uattn_divide_approximate(const uattn_builder_t *b, MlirValue lhs,
                                   MlirValue rhs);
MlirValue uattn_cast(const uattn_builder_t *b, const char *name,
                     MlirValue value, MlirType type);
/* Predicates of arith.cmpi that we use. */
enum {
  UATTN_CMPI_EQ = 0,
  UATTN_CMPI_NE = 1,
  UATTN_CMPI_SLT = 2,
  UATTN_CMPI_SLE = 3,
  UATTN_CMPI_ULT = 6
};
MlirValue uattn_compare_i(const uattn_builder_t *b, int predicate,
                          MlirValue lhs, MlirValue rhs);
enum { UATTN_CMPF_OEQ = 1, UATTN_CMPF_OLT = 4 };
MlirValue uattn_compare_f(const uattn_builder_t *b, int predicate,
                          MlirValue lhs, MlirValue rhs);
MlirValue uattn_select(const uattn_builder_t *b, MlirValue condition,
                       MlirValue if_true, MlirValue if_false);
MlirValue uattn_broadcast(const uattn_builder_t *b, MlirValue scalar,
                          MlirType vector_type);
/* [rows, columns] -> [rows]; kind "maxnumf" or "add"; `accumulator` joins. */
MlirValue uattn_reduce_columns(const uattn_builder_t *b, const char *kind,
                               MlirValue tile, MlirValue accumulator);

/* ---- scf ------------------------------------------------------------------
 * A region is filled through the builder that is handed back and closed by
 * uattn_yield; the op itself is made by the matching ..._append. */

/* A region with one block whose arguments have `types`. */
MlirRegion uattn_region_create(const uattn_builder_t *b, const MlirType *types,
                               int type_count, uattn_builder_t *out_inner);
void uattn_yield(const uattn_builder_t *b, const MlirValue *values, int count);
/* Appends scf.for over i32 with the body `owned_body`, whose block arguments
 * are the index and then the carried values. */
MlirOperation uattn_for_append(const uattn_builder_t *b, MlirValue lower,
                               MlirValue upper, MlirValue step,
                               const MlirValue *initial, int initial_count,
                               MlirRegion owned_body);
/* Appends scf.if with results of the given types; both regions yield them. */
MlirOperation uattn_if_else_append(const uattn_builder_t *b,
                                   MlirValue condition, const MlirType *types,
                                   int type_count, MlirRegion owned_then,
                                   MlirRegion owned_else);
/* Appends scf.if without results. */
void uattn_if_append(const uattn_builder_t *b, MlirValue condition,
                     MlirRegion owned_then);

#endif /* UATTN_EMIT_BUILDER_H */
