/* All passes as data: documentation, command line and registry in one place.
 *
 * A new pass is a file named as its flag with underscores, a declaration in
 * pass_runs.h and a row below; `--help`, the markdown list and the parsers
 * follow from the row.
 *
 * Layer: passes. Must not know: how any pass works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/pass_runs.h"

#include <string.h>

/* The example that several rows share: a dense forward op. */
#define FORWARD_OP_WITH(attributes)                                            \
  "func.func @main(%q: tensor<1x64x2x64xbf16>, %k: tensor<1x64x1x64xbf16>)\n"  \
  "    -> tensor<1x64x2x64xbf16> {\n"                                          \
  "  %out = \"uattn.ranker_attention\"(%q, %k, %k) {\n"                        \
  "    cap = #uattn.cap<\"none\", 0.0 : f32, 0.0 : f32, 0.0 : f32>,\n"         \
  "    sm_scale = 0.125 : f32,\n" attributes                                   \
  "    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,\n"               \
  "    resultSegmentSizes = array<i32: 1, 0>\n"                                \
  "  } : (tensor<1x64x2x64xbf16>, tensor<1x64x1x64xbf16>,\n"                   \
  "       tensor<1x64x1x64xbf16>) -> tensor<1x64x2x64xbf16>\n"                 \
  "  return %out : tensor<1x64x2x64xbf16>\n"                                   \
  "}\n"
#define FORWARD_OP FORWARD_OP_WITH("")

#define PLAN                                                                   \
  "    plan = #uattn.plan<{consumer_registers = 160 : i64,\n"                  \
  "      consumer_warpgroups = 3 : i64, entry_registers = 128 : i64,\n"        \
  "      kv_tile_rows = 128 : i64, ping_pong = true,\n"                        \
  "      producer_registers = 32 : i64, softmax = \"online\",\n"               \
  "      stage_count = 2 : i64, target = \"sm_90a\"}>,\n"
#define PLANNED_OP FORWARD_OP_WITH(PLAN)

/* FORWARD_OP as StableHLO carries it, all defaults written. */
#define FORWARD_CALL                                                           \
  "func.func @main(%q: tensor<1x64x2x64xbf16>, %k: tensor<1x64x1x64xbf16>)\n"  \
  "    -> tensor<1x64x2x64xbf16> {\n"                                          \
  "  %out = \"stablehlo.custom_call\"(%q, %k, %k) <{\n"                        \
  "    call_target_name = \"uattn.ranker_attention\",\n"                       \
  "    api_version = 4 : i32, has_side_effect = false,\n"                      \
  "    called_computations = [], output_operand_aliases = [],\n"               \
  "    operand_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>,\n"            \
  "                       dense<[3, 2, 1, 0]> : tensor<4xindex>,\n"            \
  "                       dense<[3, 2, 1, 0]> : tensor<4xindex>],\n"           \
  "    result_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>],\n"            \
  "    backend_config = {\n"                                                   \
  "      cap_method = \"none\", cap = 0.0 : f32,\n"                            \
  "      cap_alpha = 0.0 : f32, cap_beta = 0.0 : f32,\n"                       \
  "      sm_scale = 0.125 : f32, causal = false,\n"                            \
  "      window_len = 0 : i64, q_offset = 0 : i64,\n"                          \
  "      operandSegmentSizes = dense<[1, 1, 1, 0, 0, 0, 0]>\n"                 \
  "        : tensor<7xi32>,\n"                                                 \
  "      resultSegmentSizes = dense<[1, 0]> : tensor<2xi32>}\n"                \
  "  }> : (tensor<1x64x2x64xbf16>, tensor<1x64x1x64xbf16>,\n"                  \
  "        tensor<1x64x1x64xbf16>) -> tensor<1x64x2x64xbf16>\n"                \
  "  return %out : tensor<1x64x2x64xbf16>\n"                                   \
  "}\n"

static const uattn_pass_option_t export_options[] = {
    {.name = "form",
     .kind = UATTN_PASS_OPTION_STRING,
     .default_value = "custom-call",
     .summary = "custom-call, or composite with a private function around the "
                "custom call as its decomposition"},
};

static const uattn_pass_option_t plan_options[] = {
    {.name = "target",
     .kind = UATTN_PASS_OPTION_STRING,
     .default_value = "sm_90a",
     .summary = "the chip that the plan is for"},
    {.name = "compiler",
     .kind = UATTN_PASS_OPTION_STRING,
     .default_value = "uattn",
     .summary = "who compiles forward ops: uattn, or triton, whose tiles are "
                "powers of two, behind uattn-emit-ttgir"},
};

static const uattn_pass_t table[] = {
    {
        .flag = "uattn-verify",
        .anchor = "builtin.module",
        .summary = "Checks what uattn's ops mean beyond their declaration: "
                   "shapes, types, attributes.",
        .before = FORWARD_OP,
        .after = FORWARD_OP,
        .requires = "nothing",
        .ensures = "every uattn op obeys its rules; the IR is unchanged",
        .run = uattn_verify_run,
    },
    {
        .flag = "uattn-import-stablehlo",
        .anchor = "builtin.module",
        .summary = "Raises StableHLO's custom calls and composites that name "
                   "an attention op to that op.",
        .before = FORWARD_CALL,
        .after = FORWARD_OP,
        .requires = "StableHLO in generic form under "
                    "--allow-unregistered-dialect",
        .ensures = "no custom call and no composite names an attention op; a "
                   "private decomposition that nothing uses any more is gone, "
                   "with the private functions that it alone called",
        .run = uattn_import_stablehlo_run,
    },
    {
        .flag = "uattn-export-stablehlo",
        .anchor = "builtin.module",
        .summary = "Writes every attention op as a custom call or a composite "
                   "of StableHLO.",
        .before = FORWARD_OP,
        .after = FORWARD_CALL,
        .requires = "--allow-unregistered-dialect; ops without plan and "
                    "kernels, for which StableHLO has no place",
        .ensures = "no attention op; uattn-import-stablehlo gives back what "
                   "was there, apart from defaults that were written out",
        .options = export_options,
        .option_count = sizeof export_options / sizeof *export_options,
        .run = uattn_export_stablehlo_run,
    },
    {
        .flag = "uattn-plan",
        .anchor = "builtin.module",
        .summary = "Chooses tiles, stages, roles and registers for every "
                   "attention op that has no plan yet.",
        .before = FORWARD_OP,
        .after = PLANNED_OP,
        .requires = "ops that a kernel covers; others are refused by name",
        .ensures = "every attention op has the attribute plan",
        .options = plan_options,
        .option_count = sizeof plan_options / sizeof *plan_options,
        .run = uattn_plan_run,
    },
    {
        .flag = "uattn-print-plan",
        .anchor = "builtin.module",
        .summary = "Prints every plan on stderr and explains what it costs and "
                   "what it was chosen from.",
        .before = PLANNED_OP,
        .after = PLANNED_OP,
        .requires = "uattn-plan",
        .ensures = "the IR is unchanged",
        .run = uattn_print_plan_run,
    },
    {
        .flag = "uattn-emit-ttgir",
        .anchor = "builtin.module",
        .summary = "Writes the planned forward op as a kernel that Triton 3.6 "
                   "compiles.",
        .before = PLANNED_OP,
        .after = "module attributes {\"ttg.num-warps\" = 4 : i32} {\n"
                 "  \"tt.func\"() <{sym_name = \"kernel\",\n"
                 "      function_type = () -> ()}> ({\n"
                 "    \"ttg.warp_specialize\"() <{\n"
                 "        partitionNumWarps = array<i32: 4, 4, 1>,\n"
                 "        requestedRegisters = array<i32: 160, 160, 32>}> ({\n"
                 "      \"ttg.warp_yield\"() : () -> ()\n"
                 "    }, {\n"
                 "      \"ttg.warp_specialize.partitions\"() : () -> ()\n"
                 "    }) : () -> ()\n"
                 "    \"tt.return\"() : () -> ()\n"
                 "  }) : () -> ()\n"
                 "}\n",
        .requires = "uattn-plan, best with compiler=triton; "
                    "--allow-unregistered-dialect; a module of one function "
                    "with one op",
        .ensures = "the module is a .ttgir file's: one tt.func, no uattn op; "
                   "a plan's tile of keys is rounded down to a power of two; "
                   "what Triton's ops cannot say is refused by name",
        .run = uattn_emit_ttgir_run,
    },
    {
        .flag = "uattn-lower-to-pipeline",
        .anchor = "builtin.module",
        .summary = "Builds the warp-specialised kernel of every planned op, "
                   "on tiles of one warpgroup.",
        .before = PLANNED_OP,
        .after = "gpu.module @kernels {\n"
                 "  gpu.func @kernel(%n: i32) kernel {\n"
                 "    %role, %index = \"uattn.role\"() {\n"
                 "      registers = array<i64: 32, 160>,\n"
                 "      warpgroups = array<i64: 1, 3>} : () -> (i32, i32)\n"
                 "    %which = arith.index_cast %role : i32 to index\n"
                 "    scf.index_switch %which\n"
                 "    case 0 { scf.yield }\n"
                 "    default { scf.yield }\n"
                 "    gpu.return\n"
                 "  }\n"
                 "}\n",
        .requires = "uattn-plan",
        .ensures = "a gpu.module a kernel; each op names its kernels",
        .run = uattn_lower_to_pipeline_run,
    },
    {
        .flag = "uattn-expand-tile-ops",
        .anchor = "builtin.module",
        .summary = "Writes caps as elementwise arithmetic on tiles.",
        .before = "func.func @cap(%s: vector<64x64xf32>) -> vector<64x64xf32> "
                  "{\n"
                  "  %c = \"uattn.cap_apply\"(%s) {method = \"tanh\"}\n"
                  "    : (vector<64x64xf32>) -> vector<64x64xf32>\n"
                  "  return %c : vector<64x64xf32>\n"
                  "}\n",
        .after = "func.func @cap(%s: vector<64x64xf32>) -> vector<64x64xf32> "
                 "{\n"
                 "  %c = math.tanh %s fastmath<afn> : vector<64x64xf32>\n"
                 "  return %c : vector<64x64xf32>\n"
                 "}\n",
        .requires = "nothing",
        .ensures = "no uattn.cap_apply",
        .run = uattn_expand_tile_ops_run,
    },
    {
        .flag = "uattn-distribute-tiles",
        .anchor = "builtin.module",
        .summary = "Distributes tiles to threads by their layouts and turns "
                   "rings, copies and products into what one thread does.",
        .before = "gpu.module @kernels {\n"
                  "  gpu.func @kernel(%x: f32) kernel attributes {\n"
                  "      uattn.threads = 128 : i64, uattn.smem_bytes = 0 : "
                  "i64,\n"
                  "      uattn.entry_registers = 168 : i64} {\n"
                  "    %t = vector.broadcast %x : f32 to vector<64x64xf32>\n"
                  "    %u = arith.addf %t, %t : vector<64x64xf32>\n"
                  "    gpu.return\n"
                  "  }\n"
                  "}\n",
        .after = "gpu.module @kernels {\n"
                 "  llvm.func @kernel(%x: f32) attributes {nvvm.kernel} {\n"
                 "    %t = vector.broadcast %x : f32 to vector<32xf32>\n"
                 "    %u = arith.addf %t, %t : vector<32xf32>\n"
                 "    llvm.return\n"
                 "  }\n"
                 "}\n",
        .requires = "uattn-expand-tile-ops",
        .ensures = "no uattn op in a kernel; every vector is one thread's part",
        .run = uattn_distribute_tiles_run,
    },
    {
        .flag = "uattn-lower-to-llvm",
        .anchor = "builtin.module",
        .summary = "Converts kernels to the llvm dialect with upstream's "
                   "conversions.",
        .before = "gpu.module @kernels {\n"
                  "  llvm.func @kernel(%x: f32) attributes {nvvm.kernel} {\n"
                  "    %u = arith.addf %x, %x : f32\n"
                  "    llvm.return\n"
                  "  }\n"
                  "}\n",
        .after = "gpu.module @kernels {\n"
                 "  llvm.func @kernel(%x: f32) attributes {nvvm.kernel} {\n"
                 "    %u = llvm.fadd %x, %x : f32\n"
                 "    llvm.return\n"
                 "  }\n"
                 "}\n",
        .requires = "uattn-distribute-tiles",
        .ensures = "kernels in the llvm and nvvm dialects alone",
        .run = uattn_lower_to_llvm_run,
    },
};

const uattn_pass_t *uattn_pass_table(size_t *out_count) {
  *out_count = sizeof table / sizeof *table;
  return table;
}

const uattn_pass_t *uattn_pass_find(const char *flag) {
  flag += strspn(flag, "-");
  for (size_t index = 0; index < sizeof table / sizeof *table; ++index)
    if (strcmp(table[index].flag, flag) == 0)
      return &table[index];
  return NULL;
}
