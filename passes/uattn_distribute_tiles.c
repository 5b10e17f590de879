/* Pass uattn-distribute-tiles: from warpgroup tiles to single threads.
 * Layer: passes. Must not know: any particular kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>
#include <string.h>

#include "passes/distribute.h"
#include "passes/pass_runs.h"
#include "passes/walk.h"

static const char smem_symbol[] = "dynamic_smem";

MlirValue uattn_distributed(const uattn_distributor_t *d, MlirValue value) {
  MlirValue found = uattn_value_map_get(&d->map, value);
  UATTN_CHECK(!mlirValueIsNull(found));
  return found;
}

MlirValue uattn_distributed_operand(const uattn_distributor_t *d,
                                    MlirOperation op, int index) {
  return uattn_distributed(d, mlirOperationGetOperand(op, index));
}

void uattn_set_distributed(uattn_distributor_t *d, MlirOperation op, int result,
                           MlirValue value) {
  uattn_value_map_set(&d->map, mlirOperationGetResult(op, result), value);
}

MlirType uattn_distributed_type(MlirType type) {
  MlirContext context = mlirTypeGetContext(type);
  MlirType none = {NULL};
  if (uattn_type_is(type, UATTN_TYPENAME_SMEM) ||
      uattn_type_is(type, UATTN_TYPENAME_RING))
    return mlirIntegerTypeGet(context, 32);
  if (uattn_type_is(type, UATTN_TYPENAME_TENSOR_MAP))
    return mlirLLVMPointerTypeGet(context, 0);
  if (uattn_type_is(type, UATTN_TYPENAME_GLOBAL))
    return mlirLLVMPointerTypeGet(context, 1);
  if (!mlirTypeIsAVector(type))
    return type;
  int64_t rank = mlirShapedTypeGetRank(type);
  if (mlirVectorTypeIsScalable(type) || rank < 1 || rank > 2 ||
      uattn_type_dim(type, 0) != UATTN_WARPGROUP_ROWS)
    return none;
  MlirType element = uattn_type_element(type);
  if (rank == 1)
    return uattn_type_vector1(element, 2);
  int64_t columns = uattn_type_dim(type, 1);
  if (columns % 8 != 0 || columns > UATTN_MAX_TILE_COLUMNS)
    return none;
  if (uattn_is_packed_tile(type))
    return uattn_type_vector1(mlirIntegerTypeGet(context, 32), columns / 4);
  return uattn_type_vector1(element, columns / 2);
}

bool uattn_is_packed_tile(MlirType type) {
  if (!mlirTypeIsAVector(type) || mlirShapedTypeGetRank(type) != 2)
    return false;
  MlirType element = uattn_type_element(type);
  return mlirTypeIsABF16(element) || mlirTypeIsAF16(element);
}

/* ---- Ops ------------------------------------------------------------------
 */

static bool copy_regions(uattn_distributor_t *d, MlirOperation op,
                         MlirOperationState *state) {
  uattn_builder_t outer = d->builder;
  bool is_ok = true;
  for (intptr_t i = 0; i < mlirOperationGetNumRegions(op) && is_ok; ++i) {
    MlirRegion region = mlirRegionCreate();
    MlirBlock from = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
    if (!mlirBlockIsNull(from)) {
      MlirBlock to = mlirBlockCreate(0, NULL, NULL);
      mlirRegionAppendOwnedBlock(region, to);
      for (intptr_t a = 0; a < mlirBlockGetNumArguments(from) && is_ok; ++a) {
        MlirValue argument = mlirBlockGetArgument(from, a);
        MlirType type = uattn_distributed_type(mlirValueGetType(argument));
        is_ok = !mlirTypeIsNull(type) ||
                uattn_refuse_layout(op, mlirValueGetType(argument));
        if (is_ok)
          uattn_value_map_set(&d->map, argument,
                              mlirBlockAddArgument(to, type, outer.location));
      }
      d->builder = uattn_builder_at_end(to, outer.location);
      is_ok = is_ok && uattn_distribute_block(d, from);
    }
    mlirOperationStateAddOwnedRegions(state, 1, &region);
  }
  d->builder = outer;
  return is_ok;
}

bool uattn_distribute_copy(uattn_distributor_t *d, MlirOperation op) {
  MlirIdentifier name = mlirOperationGetName(op);
  MlirOperationState state = mlirOperationStateGet(
      mlirIdentifierStr(name), mlirOperationGetLocation(op));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirValue operand = uattn_distributed_operand(d, op, (int)i);
    mlirOperationStateAddOperands(&state, 1, &operand);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(op, i);
    mlirOperationStateAddAttributes(&state, 1, &attribute);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i) {
    MlirType type =
        uattn_distributed_type(mlirValueGetType(mlirOperationGetResult(op, i)));
    mlirOperationStateAddResults(&state, 1, &type);
  }
  bool is_ok = copy_regions(d, op, &state);
  /* Where something was refused the half-made copy is dropped with its
   * function. */
  MlirOperation copy = mlirOperationCreate(&state);
  if (mlirOperationIsNull(copy))
    return false;
  mlirBlockAppendOwnedOperation(d->builder.block, copy);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(copy) && is_ok; ++i)
    uattn_set_distributed(d, op, (int)i, mlirOperationGetResult(copy, i));
  return is_ok;
}

static bool distribute_return(uattn_distributor_t *d, MlirOperation op) {
  (void)op;
  uattn_op_t made = uattn_op("llvm.return");
  uattn_op_append(&d->builder, &made);
  return true;
}

static const uattn_distribute_row_t function_ops[] = {
    {"gpu.return", distribute_return},
    {NULL, NULL},
};

static uattn_distribute_op_t find_handler(MlirOperation op) {
  const uattn_distribute_row_t *const tables[] = {
      uattn_distribute_ring_ops,   uattn_distribute_tile_ops,
      uattn_distribute_memory_ops, uattn_distribute_role_ops,
      uattn_distribute_sum_ops,    function_ops};
  for (size_t t = 0; t < sizeof tables / sizeof tables[0]; ++t)
    for (const uattn_distribute_row_t *row = tables[t]; row->name; ++row)
      if (uattn_op_is(op, row->name))
        return row->distribute;
  return NULL;
}

/* Ops of other dialects whose meaning does not depend on the layout. Control
 * flow may carry packed tiles, arithmetic cannot work on them. */
static bool keeps_layout(MlirOperation op) {
  static const char *const prefixes[] = {"arith.", "math.", "scf."};
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; ++i)
    if (mlirStringRefEqual(
            mlirStringRefCreateFromCString(prefixes[i]),
            mlirStringRefCreate(name.data, strnlen(prefixes[i], name.length))))
      return true;
  /* Of a scalar: the layout is the result's. */
  return uattn_op_is(op, "vector.broadcast") &&
         !mlirTypeIsAVector(mlirValueGetType(mlirOperationGetOperand(op, 0)));
}

static bool computes_packed_tile(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (mlirOperationGetNumResults(op) == 0 ||
      strncmp(name.data, "scf.", strlen("scf.")) == 0)
    return false;
  bool is_packed =
      uattn_is_packed_tile(mlirValueGetType(mlirOperationGetResult(op, 0)));
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    is_packed |=
        uattn_is_packed_tile(mlirValueGetType(mlirOperationGetOperand(op, i)));
  return is_packed;
}

static bool distribute_op(uattn_distributor_t *d, MlirOperation op) {
  uattn_distribute_op_t handler = find_handler(op);
  d->builder.location = mlirOperationGetLocation(op);
  if (handler)
    return uattn_distribute_check(op) && handler(d, op);
  if (keeps_layout(op) && !computes_packed_tile(op))
    return uattn_distribute_check(op) && uattn_distribute_copy(d, op);
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  uattn_emit_error(op,
                   "%.*s cannot be distributed to threads: expected a "
                   "uattn pipeline op or elementwise arithmetic",
                   (int)name.length, name.data);
  return false;
}

bool uattn_distribute_block(uattn_distributor_t *d, MlirBlock from) {
  MlirOperation op = mlirBlockGetFirstOperation(from);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (!distribute_op(d, op))
      return false;
  return true;
}

/* ---- The kernel function --------------------------------------------------
 */

static bool has_smem_global(MlirOperation module) {
  uattn_op_list_t globals = uattn_collect_ops(module, "llvm.mlir.global");
  bool is_found = false;
  for (size_t i = 0; i < globals.count; ++i) {
    MlirStringRef symbol;
    is_found |= uattn_op_get_string(globals.ops[i], "sym_name", &symbol) &&
                uattn_string_ref_is(symbol, smem_symbol);
  }
  free(globals.ops);
  return is_found;
}

/* The CTA's dynamic shared memory, which starts where swizzled tiles may. */
static void append_smem_global(const uattn_builder_t *b) {
  if (has_smem_global(mlirBlockGetParentOperation(b->block)))
    return;
  uattn_op_t op = uattn_op("llvm.mlir.global");
  uattn_op_attribute(&op, "sym_name", uattn_attribute_string(b, smem_symbol));
  uattn_op_attribute(
      &op, "global_type",
      mlirTypeAttrGet(uattn_type_parse(b->context, "!llvm.array<0 x i8>")));
  uattn_op_attribute(
      &op, "linkage",
      uattn_attribute_parse(b->context, "#llvm.linkage<external>"));
  uattn_op_attribute(&op, "addr_space", uattn_attribute_i32(b, 3));
  uattn_op_attribute(&op, "alignment", uattn_attribute_i64(b, 1024));
  uattn_op_region(&op, mlirRegionCreate());
  uattn_op_append(b, &op);
}

static MlirValue emit_smem_base(const uattn_builder_t *b) {
  uattn_op_t op = uattn_op("llvm.mlir.addressof");
  uattn_op_attribute(&op, "global_name",
                     uattn_attribute_parse(b->context, "@%s", smem_symbol));
  uattn_op_result(&op, mlirLLVMPointerTypeGet(b->context, 3));
  return uattn_cast(b, "llvm.ptrtoint", uattn_op_append_value(b, &op),
                    uattn_type_i32(b));
}

/* Tensor maps are passed by value in the parameter space. */
static MlirAttribute argument_attributes(MlirContext context, MlirType type) {
  return uattn_attribute_parse(
      context, "%s",
      uattn_type_is(type, UATTN_TYPENAME_TENSOR_MAP)
          ? "{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, "
            "nvvm.grid_constant}"
          : "{}");
}

/* llvm.func as NVVM wants a kernel: exact thread count, register count at
 * entry (else ptxas ignores setmaxnreg), denormals flushed (else ex2 and
 * friends take extra instructions). */
static void append_function(const uattn_builder_t *module, MlirOperation from,
                            MlirRegion owned_body, const MlirType *types,
                            const MlirAttribute *attributes, int count) {
  const uattn_builder_t *b = module;
  int64_t threads = 0, registers = 0;
  UATTN_CHECK(
      uattn_op_get_i64(from, UATTN_KERNEL_ATTR_THREADS, &threads) &&
      uattn_op_get_i64(from, UATTN_KERNEL_ATTR_ENTRY_REGISTERS, &registers));
  uattn_op_t op = uattn_op("llvm.func");
  uattn_op_attribute(&op, "sym_name", uattn_op_get_attribute(from, "sym_name"));
  uattn_op_attribute(
      &op, "function_type",
      mlirTypeAttrGet(mlirLLVMFunctionTypeGet(mlirLLVMVoidTypeGet(b->context),
                                              count, types, false)));
  uattn_op_attribute(
      &op, "linkage",
      uattn_attribute_parse(b->context, "#llvm.linkage<external>"));
  uattn_op_attribute(&op, "arg_attrs",
                     mlirArrayAttrGet(b->context, count, attributes));
  uattn_op_attribute(&op, "nvvm.kernel", uattn_attribute_unit(b));
  uattn_op_attribute(&op, "nvvm.reqntid",
                     uattn_attribute_parse(b->context, "array<i32: %lld, 1, 1>",
                                           (long long)threads));
  uattn_op_attribute(&op, "nvvm.maxnreg", uattn_attribute_i32(b, registers));
  uattn_op_attribute(
      &op, "passthrough",
      uattn_attribute_parse(b->context, "[[\"denormal-fp-math-f32\", "
                                        "\"preserve-sign,preserve-sign\"]]"));
  uattn_op_attribute(
      &op, UATTN_KERNEL_ATTR_SMEM_BYTES,
      uattn_op_get_attribute(from, UATTN_KERNEL_ATTR_SMEM_BYTES));
  uattn_op_region(&op, owned_body);
  uattn_op_append(b, &op);
}

static void emit_thread_indices(uattn_distributor_t *d) {
  const uattn_builder_t *b = &d->builder;
  d->thread = uattn_emit_thread_index(b);
  d->warpgroup = uattn_emit_warpgroup_index(b, d->thread);
  d->smem_base = emit_smem_base(b);
  d->place = uattn_emit_fragment_place(b, d->thread);
}

static bool distribute_function(MlirOperation function) {
  MlirBlock from = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
  if (!uattn_distribute_check_kernel(function))
    return false;
  MlirLocation location = mlirOperationGetLocation(function);
  uattn_builder_t module =
      uattn_builder_at_end(mlirOperationGetBlock(function), location);
  intptr_t count = mlirBlockGetNumArguments(from);
  MlirType *types = uattn_allocate((size_t)(count + 1) * sizeof *types);
  MlirAttribute *attributes =
      uattn_allocate((size_t)(count + 1) * sizeof *attributes);
  for (intptr_t i = 0; i < count; ++i) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(from, i));
    types[i] = uattn_distributed_type(type);
    attributes[i] = argument_attributes(module.context, type);
  }

  uattn_distributor_t d = {.function = function};
  MlirRegion body = uattn_region_create(&module, types, (int)count, &d.builder);
  for (intptr_t i = 0; i < count; ++i)
    uattn_value_map_set(&d.map, mlirBlockGetArgument(from, i),
                        mlirBlockGetArgument(d.builder.block, i));
  emit_thread_indices(&d);
  bool is_ok = uattn_distribute_block(&d, from);
  if (is_ok) {
    append_smem_global(&module);
    append_function(&module, function, body, types, attributes, (int)count);
    mlirOperationDestroy(function);
  } else {
    mlirRegionDestroy(body);
  }
  uattn_value_map_release(&d.map);
  free(types);
  free(attributes);
  return is_ok;
}

bool uattn_distribute_tiles_run(MlirOperation root,
                                const uattn_pass_options_t *options) {
  (void)options;
  uattn_op_list_t functions = uattn_collect_ops(root, "gpu.func");
  bool is_ok = true;
  for (size_t i = 0; i < functions.count && is_ok; ++i)
    is_ok = distribute_function(functions.ops[i]);
  free(functions.ops);
  return is_ok;
}
