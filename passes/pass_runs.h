/* The function of every pass: one declaration a pass, in the table's order.
 * Layer: passes. Must not know: how any pass works.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_PASS_RUNS_H
#define UATTN_PASSES_PASS_RUNS_H

#include "passes/pass.h"

typedef bool uattn_pass_function_t(MlirOperation root,
                                   const uattn_pass_options_t *options);

uattn_pass_function_t uattn_verify_run;
uattn_pass_function_t uattn_import_stablehlo_run;
uattn_pass_function_t uattn_export_stablehlo_run;
uattn_pass_function_t uattn_plan_run;
uattn_pass_function_t uattn_print_plan_run;
uattn_pass_function_t uattn_emit_ttgir_run;
uattn_pass_function_t uattn_lower_to_pipeline_run;
uattn_pass_function_t uattn_expand_tile_ops_run;
uattn_pass_function_t uattn_distribute_tiles_run;
uattn_pass_function_t uattn_lower_to_llvm_run;

#endif /* UATTN_PASSES_PASS_RUNS_H */
