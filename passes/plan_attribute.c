/* Plans as the attribute #uattn.plan and back.
 * Layer: passes. Must not know: how plans are chosen or obeyed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/plan_attribute.h"

#include <stdlib.h>
#include <string.h>

/* The decisions, in the order in which they are printed (MLIR sorts). */
typedef struct {
  const char *name;
  size_t offset;
} integer_field_t;

static const integer_field_t forward_fields[] = {
    {"consumer_registers", offsetof(uattn_forward_plan_t, consumer_registers)},
    {"consumer_warpgroups",
     offsetof(uattn_forward_plan_t, consumer_warpgroups)},
    {"entry_registers", offsetof(uattn_forward_plan_t, entry_registers)},
    {"kv_tile_rows", offsetof(uattn_forward_plan_t, kv_tile_rows)},
    {"polynomial_period", offsetof(uattn_forward_plan_t, polynomial_period)},
    {"producer_registers", offsetof(uattn_forward_plan_t, producer_registers)},
    {"stage_count", offsetof(uattn_forward_plan_t, stage_count)},
};
static const integer_field_t backward_fields[] = {
    {"consumer_registers", offsetof(uattn_backward_plan_t, consumer_registers)},
    {"consumer_warpgroups",
     offsetof(uattn_backward_plan_t, consumer_warpgroups)},
    {"entry_registers", offsetof(uattn_backward_plan_t, entry_registers)},
    {"moving_tile_rows", offsetof(uattn_backward_plan_t, moving_tile_rows)},
    {"producer_registers", offsetof(uattn_backward_plan_t, producer_registers)},
    {"stage_count", offsetof(uattn_backward_plan_t, stage_count)},
};

/* The integer fields of a kind of plan, and its other fields. */
typedef struct {
  const integer_field_t *integers;
  int integer_count;
  const char *const *others; /* ended by NULL */
} plan_fields_t;

enum { MOST_FIELDS = 16 };
static const char ping_pong_field[] = "ping_pong";
static const char fuses_dq_field[] = "fuses_dq";
static const char softmax_field[] = "softmax";
static const char softmax_online[] = "online";
static const char softmax_fixed[] = "fixed_maximum";
static const char target_field[] = "target";

static const char *const forward_others[] = {ping_pong_field, softmax_field,
                                             target_field, NULL};
static const char *const backward_others[] = {fuses_dq_field, target_field,
                                              NULL};
static const plan_fields_t forward_plan_fields = {
    forward_fields, sizeof forward_fields / sizeof *forward_fields,
    forward_others};
static const plan_fields_t backward_plan_fields = {
    backward_fields, sizeof backward_fields / sizeof *backward_fields,
    backward_others};

static int32_t *integer_of(void *plan, const integer_field_t *field) {
  return (int32_t *)(void *)((char *)plan + field->offset);
}

static void append_integers(const plan_fields_t *fields, void *plan,
                            uattn_string_t *text) {
  for (int i = 0; i < fields->integer_count; ++i)
    uattn_string_appendf(text, "%s = %d : i64, ", fields->integers[i].name,
                         *integer_of(plan, &fields->integers[i]));
}

MlirAttribute uattn_plan_attribute(MlirContext context,
                                   const uattn_forward_plan_t *plan,
                                   const uattn_target_t *target) {
  uattn_forward_plan_t copy = *plan;
  uattn_string_t text = {0};
  uattn_string_append(&text, "{");
  append_integers(&forward_plan_fields, &copy, &text);
  uattn_string_appendf(&text, "%s = %s, %s = \"%s\", %s = \"%s\"}",
                       ping_pong_field, plan->is_ping_pong ? "true" : "false",
                       softmax_field,
                       plan->has_fixed_maximum ? softmax_fixed : softmax_online,
                       target_field, target->chip);
  MlirAttribute attribute = uattn_attribute_get(context, UATTN_ATTRNAME_PLAN,
                                                uattn_string_get(&text));
  uattn_string_release(&text);
  return attribute;
}

MlirAttribute uattn_backward_plan_attribute(MlirContext context,
                                            const uattn_backward_plan_t *plan,
                                            const uattn_target_t *target) {
  uattn_backward_plan_t copy = *plan;
  uattn_string_t text = {0};
  uattn_string_append(&text, "{");
  append_integers(&backward_plan_fields, &copy, &text);
  uattn_string_appendf(&text, "%s = %s, %s = \"%s\"}", fuses_dq_field,
                       plan->fuses_dq ? "true" : "false", target_field,
                       target->chip);
  MlirAttribute attribute = uattn_attribute_get(context, UATTN_ATTRNAME_PLAN,
                                                uattn_string_get(&text));
  uattn_string_release(&text);
  return attribute;
}

static MlirAttribute get_field(MlirAttribute fields, const char *name) {
  return mlirDictionaryAttrGetElementByName(
      fields, mlirStringRefCreateFromCString(name));
}

/* A misspelt field is an error, not ignored. */
static bool fields_are_known(MlirOperation op, MlirAttribute fields,
                             const plan_fields_t *kind) {
  const char *known[MOST_FIELDS];
  size_t known_count = 0;
  for (int i = 0; kind->others[i]; ++i)
    known[known_count++] = kind->others[i];
  for (int i = 0; i < kind->integer_count; ++i)
    known[known_count++] = kind->integers[i].name;
  for (intptr_t f = 0; f < mlirDictionaryAttrGetNumElements(fields); ++f) {
    MlirStringRef name =
        mlirIdentifierStr(mlirDictionaryAttrGetElement(fields, f).name);
    bool is_known = false;
    for (size_t i = 0; i < known_count; ++i)
      is_known |= uattn_string_ref_is(name, known[i]);
    if (is_known)
      continue;
    const char *nearest = uattn_nearest_name(name, known, known_count);
    uattn_emit_error(op, "plan has the unknown field %.*s: %s%s%s",
                     (int)name.length, name.data,
                     nearest ? "did you mean " : "expected none such",
                     nearest ? nearest : "", nearest ? "?" : "");
    return false;
  }
  return true;
}

/* Other widths would not read back as they were written. */
static bool is_i64(MlirAttribute value) {
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAInteger(value))
    return false;
  MlirType type = mlirAttributeGetType(value);
  return mlirTypeIsAInteger(type) && mlirIntegerTypeIsSignless(type) &&
         mlirIntegerTypeGetWidth(type) == 64;
}

static bool read_integers(MlirOperation op, MlirAttribute fields,
                          const plan_fields_t *kind, void *plan) {
  for (int i = 0; i < kind->integer_count; ++i) {
    const integer_field_t *field = &kind->integers[i];
    MlirAttribute value = get_field(fields, field->name);
    if (!is_i64(value)) {
      uattn_emit_error(op, "plan has no i64 field %s", field->name);
      return false;
    }
    int64_t number = mlirIntegerAttrGetValueInt(value);
    if (number < 0 || number > INT32_MAX) {
      uattn_emit_error(op, "plan field %s is %lld: expected 0 to %d",
                       field->name, (long long)number, INT32_MAX);
      return false;
    }
    *integer_of(plan, field) = (int32_t)number;
  }
  return true;
}

static bool read_string(MlirOperation op, MlirAttribute fields,
                        const char *name, MlirStringRef *out_value) {
  MlirAttribute value = get_field(fields, name);
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAString(value)) {
    uattn_emit_error(op, "plan has no string field %s", name);
    return false;
  }
  *out_value = mlirStringAttrGetValue(value);
  return true;
}

static bool read_target(MlirOperation op, MlirAttribute fields,
                        const uattn_target_t **out_target) {
  MlirStringRef chip;
  if (!read_string(op, fields, target_field, &chip))
    return false;
  char *chip_text = uattn_allocate(chip.length + 1);
  memcpy(chip_text, chip.data, chip.length);
  bool is_text = strlen(chip_text) == chip.length;
  *out_target = is_text ? uattn_target_find(chip_text) : NULL;
  free(chip_text);
  if (!*out_target)
    uattn_emit_error(op, "plan field target is \"%.*s\": expected \"sm_90a\"",
                     (int)chip.length, chip.data);
  return *out_target != NULL;
}

static bool read_bool(MlirOperation op, MlirAttribute fields, const char *name,
                      bool *out_value) {
  MlirAttribute value = get_field(fields, name);
  if (mlirAttributeIsNull(value) || !mlirAttributeIsABool(value)) {
    uattn_emit_error(op, "plan has no boolean field %s", name);
    return false;
  }
  *out_value = mlirBoolAttrGetValue(value);
  return true;
}

static bool read_others(MlirOperation op, MlirAttribute fields,
                        uattn_forward_plan_t *plan) {
  if (!read_bool(op, fields, ping_pong_field, &plan->is_ping_pong))
    return false;
  MlirStringRef softmax;
  if (!read_string(op, fields, softmax_field, &softmax))
    return false;
  plan->has_fixed_maximum = uattn_string_ref_is(softmax, softmax_fixed);
  if (plan->has_fixed_maximum || uattn_string_ref_is(softmax, softmax_online))
    return true;
  uattn_emit_error(
      op, "plan field softmax is \"%.*s\": expected \"%s\" or \"%s\"",
      (int)softmax.length, softmax.data, softmax_online, softmax_fixed);
  return false;
}

/* A diagnostic at `op` from an error, which is destroyed. True for NULL. */
static bool report(MlirOperation op, uattn_error_t *owned_error) {
  if (!owned_error)
    return true;
  uattn_emit_error(op, "%s", uattn_error_message(owned_error));
  uattn_error_destroy(owned_error);
  return false;
}

/* The attribute's dictionary; false without a plan, or with other fields. */
static bool find_fields(MlirOperation op, const plan_fields_t *kind,
                        MlirAttribute *out_fields) {
  MlirAttribute attribute = uattn_op_get_attribute(op, UATTN_ATTR_PLAN);
  if (mlirAttributeIsNull(attribute)) {
    uattn_emit_error(op, "op has no plan: expected the attribute that "
                         "uattn-plan adds");
    return false;
  }
  *out_fields =
      mlirArrayAttrGetElement(uattn_parameters_of_attribute(attribute), 0);
  return fields_are_known(op, *out_fields, kind);
}

/* What is computed comes from the op: the plan of a fresh choice has it. */
bool uattn_plan_from_op(MlirOperation op, uattn_forward_plan_t *out_plan,
                        const uattn_target_t **out_target) {
  MlirAttribute fields;
  uattn_problem_t problem;
  uattn_forward_plan_t plan;
  uattn_forward_plan_t decisions = {0};
  uattn_problem_from_op(op, &problem);
  if (!find_fields(op, &forward_plan_fields, &fields) ||
      !read_others(op, fields, &decisions) ||
      !read_target(op, fields, out_target) ||
      !report(op, uattn_plan_forward(&problem, *out_target,
                                     UATTN_PLAN_COMPILER_UATTN, &plan)) ||
      !read_integers(op, fields, &forward_plan_fields, &plan))
    return false;
  plan.is_ping_pong = decisions.is_ping_pong;
  plan.has_fixed_maximum = decisions.has_fixed_maximum;
  if (!report(op, uattn_forward_plan_validate(&plan, *out_target)))
    return false;
  *out_plan = plan;
  return true;
}

bool uattn_backward_plan_from_op(MlirOperation op,
                                 uattn_backward_plan_t *out_plan,
                                 const uattn_target_t **out_target) {
  MlirAttribute fields;
  uattn_problem_t problem;
  uattn_backward_plan_t plan;
  uattn_problem_from_op(op, &problem);
  if (!find_fields(op, &backward_plan_fields, &fields) ||
      !read_target(op, fields, out_target) ||
      !report(op, uattn_plan_backward(&problem, *out_target, &plan)) ||
      !read_integers(op, fields, &backward_plan_fields, &plan) ||
      !read_bool(op, fields, fuses_dq_field, &plan.fuses_dq) ||
      !report(op, uattn_backward_plan_validate(&plan, *out_target)))
    return false;
  *out_plan = plan;
  return true;
}

bool uattn_op_append_plan_text(MlirOperation op, uattn_string_t *text) {
  const uattn_target_t *target;
  if (uattn_op_is(op, UATTN_OPNAME_RANKER_ATTENTION_BWD)) {
    uattn_backward_plan_t plan;
    if (!uattn_backward_plan_from_op(op, &plan, &target))
      return false;
    uattn_backward_plan_print(&plan, target, text);
    return true;
  }
  uattn_forward_plan_t plan;
  if (!uattn_plan_from_op(op, &plan, &target))
    return false;
  uattn_forward_plan_print(&plan, target, text);
  return true;
}
