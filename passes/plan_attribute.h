/* Plans as the attribute #uattn.plan and back.
 * Layer: passes. Must not know: how plans are chosen or obeyed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_PLAN_ATTRIBUTE_H
#define UATTN_PASSES_PLAN_ATTRIBUTE_H

#include "dialect/dialect.h"
#include "plan/plan.h"

MlirAttribute uattn_plan_attribute(MlirContext context,
                                   const uattn_forward_plan_t *plan,
                                   const uattn_target_t *target);

/* The plan on `op`, an attention op: its decisions from the attribute, what is
 * computed from the op. False, with a diagnostic at the op, where the
 * attribute is missing, malformed, has other fields, or does not fit. */
bool uattn_plan_from_op(MlirOperation op, uattn_forward_plan_t *out_plan,
                        const uattn_target_t **out_target);

/* The same of backward ops. */
MlirAttribute uattn_backward_plan_attribute(MlirContext context,
                                            const uattn_backward_plan_t *plan,
                                            const uattn_target_t *target);
bool uattn_backward_plan_from_op(MlirOperation op,
                                 uattn_backward_plan_t *out_plan,
                                 const uattn_target_t **out_target);

/* Appends the plan of an op of either kind for people; false with a diagnostic
 * as above. */
bool uattn_op_append_plan_text(MlirOperation op, uattn_string_t *text);

#endif /* UATTN_PASSES_PLAN_ATTRIBUTE_H */
