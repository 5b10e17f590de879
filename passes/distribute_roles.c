/* Roles, thread indices and named barriers for one thread.
 * Layer: passes. Must not know: any particular kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/distribute.h"

/* Warpgroups are dealt to the roles in order. All barriers that the ring_allocs
 * above initialised are visible to the CTA, and to the copy engine, behind the
 * role op. */
static bool distribute_role(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirAttribute warpgroups = uattn_op_get_attribute(op, UATTN_ATTR_WARPGROUPS);
  intptr_t count = mlirDenseArrayGetNumElements(warpgroups);
  MlirValue role = uattn_constant_i32(b, 0);
  MlirValue first = role;
  int64_t start = 0;
  uattn_emit_mbarrier_init_fence(b);
  uattn_emit_cta_barrier(b);
  for (intptr_t i = 1; i < count; ++i) {
    start += mlirDenseI64ArrayGetElement(warpgroups, i - 1);
    MlirValue role_start = uattn_constant_i32(b, (int32_t)start);
    MlirValue is_before =
        uattn_compare_i(b, UATTN_CMPI_SLT, d->warpgroup, role_start);
    role = uattn_select(b, is_before, role, uattn_constant_i32(b, (int32_t)i));
    first = uattn_select(b, is_before, first, role_start);
  }
  uattn_set_distributed(d, op, 0, role);
  uattn_set_distributed(d, op, 1,
                        uattn_binary(b, "arith.subi", d->warpgroup, first));
  return true;
}

static bool distribute_elect(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirValue in_warpgroup =
      uattn_binary(b, "arith.andi", d->thread,
                   uattn_constant_i32(b, UATTN_WARPGROUP_THREADS - 1));
  uattn_set_distributed(d, op, 0,
                        uattn_compare_i(b, UATTN_CMPI_EQ, in_warpgroup,
                                        uattn_constant_i32(b, 0)));
  return true;
}

static bool distribute_cta_index(uattn_distributor_t *d, MlirOperation op) {
  uattn_set_distributed(d, op, 0, uattn_emit_cta_index_x(&d->builder));
  return true;
}

static bool distribute_named_barrier(uattn_distributor_t *d, MlirOperation op) {
  int64_t threads = 0;
  MlirValue when = {NULL};
  UATTN_CHECK(uattn_op_get_i64(op, UATTN_ATTR_THREADS, &threads));
  if (mlirOperationGetNumOperands(op) == 2)
    when = uattn_distributed_operand(d, op, 1);
  uattn_emit_bar(&d->builder, uattn_op_is(op, UATTN_OPNAME_NAMED_BARRIER_SYNC),
                 uattn_distributed_operand(d, op, 0), threads, when);
  return true;
}

/* The role op whose first result `value` is, through index casts; else null. */
static MlirOperation role_behind(MlirValue value) {
  MlirOperation none = {NULL};
  while (mlirValueIsAOpResult(value)) {
    MlirOperation owner = mlirOpResultGetOwner(value);
    if (uattn_op_is(owner, UATTN_OPNAME_ROLE))
      return mlirOpResultGetResultNumber(value) == 0 ? owner : none;
    if (!uattn_op_is(owner, "arith.index_cast"))
      return none;
    value = mlirOperationGetOperand(owner, 0);
  }
  return none;
}

/* A switch over the role starts every role with its register count. */
static bool distribute_index_switch(uattn_distributor_t *d, MlirOperation op) {
  MlirOperation role = role_behind(mlirOperationGetOperand(op, 0));
  if (mlirOperationIsNull(role))
    return uattn_distribute_copy(d, op);
  MlirAttribute cases = uattn_op_get_attribute(op, "cases");
  MlirAttribute registers = uattn_op_get_attribute(role, UATTN_ATTR_REGISTERS);
  intptr_t case_count = mlirDenseArrayGetNumElements(cases);
  int64_t entry_registers = 0;
  if (mlirDenseArrayGetNumElements(registers) != case_count + 1 ||
      mlirOperationGetNumResults(op) != 0 ||
      !uattn_op_get_i64(d->function, UATTN_KERNEL_ATTR_ENTRY_REGISTERS,
                        &entry_registers)) {
    uattn_emit_error(op,
                     "a switch over roles has %lld cases: expected one a "
                     "role but the last, no results and a function with "
                     "the attribute " UATTN_KERNEL_ATTR_ENTRY_REGISTERS,
                     (long long)case_count);
    return false;
  }
  uattn_builder_t outer = d->builder;
  uattn_op_t made = uattn_op("scf.index_switch");
  uattn_op_operand(&made, uattn_distributed_operand(d, op, 0));
  uattn_op_attribute(&made, "cases", cases);
  bool is_ok = true;
  for (intptr_t i = 0; i <= case_count; ++i) {
    /* Region 0 is the default, which the last role takes. */
    intptr_t index = i == 0
                         ? case_count
                         : (intptr_t)mlirDenseI64ArrayGetElement(cases, i - 1);
    MlirBlock from = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
    uattn_op_region(&made, uattn_region_create(&outer, NULL, 0, &d->builder));
    uattn_emit_set_max_registers(&d->builder,
                                 mlirDenseI64ArrayGetElement(registers, index),
                                 entry_registers);
    is_ok = is_ok && uattn_distribute_block(d, from);
  }
  d->builder = outer;
  if (is_ok)
    uattn_op_append(&outer, &made);
  else
    for (int i = 0; i < made.region_count; ++i)
      mlirRegionDestroy(made.regions[i]);
  return is_ok;
}

const uattn_distribute_row_t uattn_distribute_role_ops[] = {
    {UATTN_OPNAME_ROLE, distribute_role},
    {UATTN_OPNAME_ELECT, distribute_elect},
    {UATTN_OPNAME_CTA_INDEX, distribute_cta_index},
    {UATTN_OPNAME_NAMED_BARRIER_SYNC, distribute_named_barrier},
    {UATTN_OPNAME_NAMED_BARRIER_ARRIVE, distribute_named_barrier},
    {"scf.index_switch", distribute_index_switch},
    {NULL, NULL},
};
