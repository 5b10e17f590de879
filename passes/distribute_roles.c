/* Roles, thread indices and named barriers for one thread.
 * Layer: passes. Must not know: any particular kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/distribute.h"

/* 1024 threads a CTA. */
enum { MAX_WARPGROUPS = 8 };

/* The roles take all of the CTA's warpgroups, and no more registers than it
 * starts with: setmaxnreg would wait for them forever. */
static bool check_roles(const uattn_distributor_t *d, MlirOperation op) {
  MlirAttribute warpgroups = uattn_op_get_attribute(op, UATTN_ATTR_WARPGROUPS);
  MlirAttribute registers = uattn_op_get_attribute(op, UATTN_ATTR_REGISTERS);
  int64_t threads = 0, entry = 0, total = 0, taken = 0;
  UATTN_CHECK(
      uattn_op_get_i64(d->function, UATTN_KERNEL_ATTR_THREADS, &threads) &&
      uattn_op_get_i64(d->function, UATTN_KERNEL_ATTR_ENTRY_REGISTERS, &entry));
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(warpgroups); ++i) {
    int64_t count = mlirDenseI64ArrayGetElement(warpgroups, i);
    if (count < 1 || count > MAX_WARPGROUPS) {
      uattn_emit_error(op, "a role has %lld warpgroups: expected 1 to %d",
                       (long long)count, MAX_WARPGROUPS);
      return false;
    }
    total += count;
    taken += count * mlirDenseI64ArrayGetElement(registers, i);
  }
  if (total * UATTN_WARPGROUP_THREADS != threads) {
    uattn_emit_error(op,
                     "the roles have %lld warpgroups: expected %lld threads, "
                     "as the kernel has",
                     (long long)total, (long long)threads);
    return false;
  }
  if (taken > total * entry) {
    uattn_emit_error(op,
                     "the roles take %lld registers a thread of each "
                     "warpgroup: expected at most the %lld of the kernel's "
                     "start",
                     (long long)taken, (long long)(total * entry));
    return false;
  }
  return true;
}

/* Warpgroups are dealt to the roles in order. All barriers that the ring_allocs
 * above initialised are visible to the CTA, and to the copy engine, behind the
 * role op. */
static bool distribute_role(uattn_distributor_t *d, MlirOperation op) {
  if (!check_roles(d, op))
    return false;
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

MlirValue uattn_distributed_elected(const uattn_distributor_t *d) {
  const uattn_builder_t *b = &d->builder;
  return uattn_compare_i(
      b, UATTN_CMPI_EQ,
      uattn_binary_i32(b, "arith.andi", d->thread, UATTN_WARPGROUP_THREADS - 1),
      uattn_constant_i32(b, 0));
}

static bool distribute_elect(uattn_distributor_t *d, MlirOperation op) {
  uattn_set_distributed(d, op, 0, uattn_distributed_elected(d));
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

/* Every role but the last has its case; the default is the last one's. */
static bool check_role_switch(MlirOperation op, intptr_t role_count) {
  MlirAttribute cases = uattn_op_get_attribute(op, "cases");
  intptr_t case_count = mlirDenseArrayGetNumElements(cases);
  bool is_right = case_count == role_count - 1;
  for (intptr_t i = 0; i < case_count && is_right; ++i) {
    int64_t value = mlirDenseI64ArrayGetElement(cases, i);
    is_right = value >= 0 && value < role_count - 1;
  }
  if (!is_right)
    uattn_emit_error(op,
                     "a switch over %lld roles has %lld cases: expected one "
                     "for each role but the last",
                     (long long)role_count, (long long)case_count);
  else if (mlirOperationGetNumResults(op) != 0)
    uattn_emit_error(op, "a switch over roles has results: expected none");
  return is_right && mlirOperationGetNumResults(op) == 0;
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
  if (!check_role_switch(op, mlirDenseArrayGetNumElements(registers)))
    return false;
  UATTN_CHECK(uattn_op_get_i64(d->function, UATTN_KERNEL_ATTR_ENTRY_REGISTERS,
                               &entry_registers));
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
