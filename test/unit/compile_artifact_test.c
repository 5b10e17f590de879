/* Tests of the artifact that a module becomes: functions, values, steps,
 * kernels and what launches need.
 * Layer: test. Must not know: how anything is compiled, the artifact's bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compile_fixture.h"

#include "artifact/artifact.h"

static uattn_artifact_t *compile_artifact(const char *source,
                                          uattn_emit_t emit) {
  size_t size = 0;
  uattn_artifact_t *artifact = NULL;
  uint8_t *bytes = compile_ok(source, emit, &size);
  assert_ok(uattn_artifact_parse(bytes, size, &artifact));
  free(bytes);
  return artifact;
}

static void assert_value(const uattn_artifact_value_t *value, const char *name,
                         uattn_dtype_t dtype, int32_t rank,
                         const int64_t *shape) {
  assert_string_equal(value->name, name);
  assert_int_equal(value->dtype, dtype);
  assert_int_equal(value->rank, rank);
  for (int32_t i = 0; i < rank; ++i)
    assert_int_equal(value->shape[i], shape[i]);
}

/* Everything that one op can have: static and dynamic sizes, temp, lse. */
static const char full[] =
    "func.func @full(%a: tensor<2x?x4x64xbf16>, %b: tensor<2x?x2x64xbf16>,\n"
    "                %c: tensor<2x?x2x64xbf16>, %d: tensor<2x?xbf16>)\n"
    "    -> (tensor<2x?x4x64xbf16>, tensor<2x4x?xf32>) {\n"
    "  %out, %lse = \"uattn.ranker_attention\"(%a, %b, %c, %d) {\n"
    "    cap = #uattn.cap<\"alsc\", 30.0 : f32, 4.0 : f32, -0.5 : f32>,\n"
    "    sm_scale = 0.125 : f32, q_offset = 3 : i64,\n"
    "    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,\n"
    "    resultSegmentSizes = array<i32: 1, 1>\n"
    "  } : (tensor<2x?x4x64xbf16>, tensor<2x?x2x64xbf16>,\n"
    "       tensor<2x?x2x64xbf16>, tensor<2x?xbf16>)\n"
    "    -> (tensor<2x?x4x64xbf16>, tensor<2x4x?xf32>)\n"
    "  return %out, %lse : tensor<2x?x4x64xbf16>, tensor<2x4x?xf32>\n"
    "}\n";

static void function_says_what_it_takes_and_gives(void **state) {
  (void)state;
  uattn_artifact_t *artifact = compile_artifact(full, UATTN_EMIT_ARTIFACT);
  const int64_t q[] = {2, -1, 4, 64}, kv[] = {2, -1, 2, 64}, lse[] = {2, 4, -1};
  assert_int_equal(artifact->function_count, 1);
  const uattn_artifact_function_t *f = &artifact->functions[0];
  assert_string_equal(f->name, "full");
  assert_int_equal(f->argument_count, 4);
  assert_int_equal(f->value_count, 6);
  assert_value(&f->values[0], "q", UATTN_DTYPE_BF16, 4, q);
  assert_value(&f->values[1], "k", UATTN_DTYPE_BF16, 4, kv);
  assert_value(&f->values[2], "v", UATTN_DTYPE_BF16, 4, kv);
  assert_value(&f->values[3], "temp", UATTN_DTYPE_BF16, 2, q);
  assert_value(&f->values[4], "out", UATTN_DTYPE_BF16, 4, q);
  assert_value(&f->values[5], "lse", UATTN_DTYPE_F32, 3, lse);
  assert_int_equal(f->result_count, 2);
  assert_int_equal(f->result_values[0], 4);
  assert_int_equal(f->result_values[1], 5);
  assert_int_equal(f->step_count, 1);
  const uattn_problem_t *problem = &f->steps[0].problem;
  assert_int_equal(problem->head_dim, 64);
  assert_int_equal(problem->q_heads, 4);
  assert_int_equal(problem->q_tokens, UATTN_DIM_DYNAMIC);
  assert_int_equal(problem->cap.method, UATTN_CAP_ALSC);
  assert_true(problem->cap.beta == -0.5);
  assert_int_equal(problem->q_offset, 3);
  assert_int_equal(f->steps[0].operand_values[UATTN_OPERAND_TEMP], 3);
  assert_int_equal(f->steps[0].operand_values[UATTN_OPERAND_BOUNDS], -1);
  uattn_artifact_destroy(artifact);
}

static void kernel_says_what_a_launch_needs(void **state) {
  (void)state;
  static const struct {
    uattn_param_kind_t kind;
    bool is_result;
    int32_t tensor_index, box_rows;
    uattn_quantity_t quantity;
  } wanted[] = {
      {UATTN_PARAM_TENSOR_MAP, false, UATTN_OPERAND_Q, 192, 0},
      {UATTN_PARAM_TENSOR_MAP, false, UATTN_OPERAND_K, 128, 0},
      {UATTN_PARAM_TENSOR_MAP, false, UATTN_OPERAND_V, 128, 0},
      {UATTN_PARAM_TENSOR_MAP, true, UATTN_RESULT_OUT, 64, 0},
      {UATTN_PARAM_POINTER, true, UATTN_RESULT_LSE, 0, 0},
      {UATTN_PARAM_POINTER, false, UATTN_OPERAND_TEMP, 0, 0},
      {UATTN_PARAM_I32, false, 0, 0, UATTN_QUANTITY_Q_TOKENS},
      {UATTN_PARAM_I32, false, 0, 0, UATTN_QUANTITY_KV_TOKENS},
      {UATTN_PARAM_I32, false, 0, 0, UATTN_QUANTITY_Q_HEADS},
      {UATTN_PARAM_I32, false, 0, 0, UATTN_QUANTITY_KV_HEADS},
      {UATTN_PARAM_I32, false, 0, 0, UATTN_QUANTITY_Q_TILES},
      {UATTN_PARAM_F32, false, 0, 0, UATTN_QUANTITY_PRE_SCALE},
      {UATTN_PARAM_F32, false, 0, 0, UATTN_QUANTITY_PRE_BIAS},
      {UATTN_PARAM_F32, false, 0, 0, UATTN_QUANTITY_POST_SCALE},
      {UATTN_PARAM_F32, false, 0, 0, UATTN_QUANTITY_LSE_SHIFT},
  };
  uattn_artifact_t *artifact = compile_artifact(full, UATTN_EMIT_ARTIFACT);
  const uattn_artifact_step_t *step = &artifact->functions[0].steps[0];
  assert_int_equal(step->kernel_count, 1);
  assert_non_null(strstr(step->plan_text, "192 query rows a CTA"));
  const uattn_artifact_kernel_t *kernel =
      &artifact->kernels[step->first_kernel];
  assert_string_equal(kernel->entry,
                      "ranker_attention_fwd_bf16_d64_alsc_temp_bf16_lse");
  assert_int_equal(kernel->grid_rule, UATTN_GRID_Q_TILES);
  assert_int_equal(kernel->rows_per_cta, 192);
  assert_int_equal(kernel->threads, 512);
  assert_int_equal(kernel->dynamic_smem_bytes, 90192);
  assert_int_equal(kernel->sm_scale_sign, 0);
  assert_int_equal(kernel->param_count, COUNT_OF(wanted));
  for (size_t i = 0; i < COUNT_OF(wanted); ++i) {
    const uattn_kernel_param_t *param = &kernel->params[i];
    assert_int_equal(param->kind, wanted[i].kind);
    assert_int_equal(param->source, wanted[i].is_result);
    assert_int_equal(param->tensor_index, wanted[i].tensor_index);
    assert_int_equal(param->box_rows, wanted[i].box_rows);
    assert_int_equal(param->box_columns, wanted[i].box_rows ? 64 : 0);
    assert_int_equal(param->quantity, wanted[i].quantity);
  }
  const uattn_artifact_image_t *image = &artifact->images[kernel->image_index];
  assert_string_equal(image->chip, "sm_90a");
  assert_null(image->cubin); /* no assembler was named */
  assert_non_null(strstr(image->ptx, kernel->entry));
  uattn_artifact_destroy(artifact);
}

static void scale_sign_is_part_of_the_kernel(void **state) {
  (void)state;
  uattn_artifact_t *artifact = compile_artifact(
      "func.func @main(%q: " TENSOR("64") ") -> (" TENSOR("64") ", " TENSOR(
          "64") ", " TENSOR("64") ") {\n" OP("%a", "%q", "%q", "%q", NONE,
                                             "0.125", "64") OP("%b", "%q", "%q",
                                                               "%q", NONE,
                                                               "-2.0", "64")
          OP("%c", "%q", "%q", "%q", TANH, "-2.0",
             "64") "  return %a, %b, %c : " TENSOR("64") ", " TENSOR("64") ","
                                                                           " " TENSOR(
                                                                               "64") "\n}\n",
      UATTN_EMIT_ARTIFACT);
  const uattn_artifact_function_t *f = &artifact->functions[0];
  const int32_t wanted[] = {1, -1, 0};
  assert_int_equal(artifact->kernel_count, 3);
  for (int i = 0; i < 3; ++i)
    assert_int_equal(artifact->kernels[f->steps[i].first_kernel].sm_scale_sign,
                     wanted[i]);
  assert_string_equal(artifact->kernels[0].entry, artifact->kernels[1].entry);
  uattn_artifact_destroy(artifact);
}

/* The only kernel of an op with this cap and element type. */
static uattn_artifact_t *compile_capped(const char *cap, const char *element,
                                        bool has_temp) {
  uattn_string_t text = {0};
  const char *operand = has_temp ? ", %t" : "";
  const char *type = has_temp ? ", tensor<?x?xf32>" : "";
  uattn_string_appendf(
      &text,
      "!q = tensor<?x?x?x64x%s>\n"
      "func.func @main(%%q: !q, %%t: tensor<?x?xf32>) -> !q {\n"
      "  %%out = \"uattn.ranker_attention\"(%%q, %%q, %%q%s) {\n"
      "    cap = #uattn.cap<%s>, sm_scale = 0.125 : f32,\n",
      element, operand, cap);
  uattn_string_appendf(
      &text,
      "    operandSegmentSizes = array<i32: 1, 1, 1, %d, 0, 0, 0>,\n"
      "    resultSegmentSizes = array<i32: 1, 0>\n"
      "  } : (!q, !q, !q%s) -> !q\n"
      "  return %%out : !q\n"
      "}\n",
      has_temp, type);
  uattn_artifact_t *artifact =
      compile_artifact(uattn_string_get(&text), UATTN_EMIT_ARTIFACT);
  uattn_string_release(&text);
  assert_int_equal(artifact->kernel_count, 1);
  return artifact;
}

/* A kernel without a maximum says up to which log2(e) cap it bears exponents:
 * 2^31 probabilities of 2^88 times values of 2^8 are below the 2^128 of f32.
 * Others, and one that looks at its temp itself, bear any. */
static void kernel_without_a_maximum_says_its_largest_cap(void **state) {
  (void)state;
  static const struct {
    const char *cap;
    const char *element;
    bool has_temp;
    bool has_fixed_maximum;
    double wanted;
  } cases[] = {
      {TANH, "bf16", false, true, 88.0},
      {SOFT_SIGN, "bf16", false, true, 88.0},
      /* 60.9 log2(e) = 87.86, 61.1 log2(e) = 88.15 */
      {"\"tanh\", 60.9 : f32, 0.0 : f32, 0.0 : f32", "bf16", false, true, 88.0},
      {"\"tanh\", 61.1 : f32, 0.0 : f32, 0.0 : f32", "bf16", false, false, 0.0},
      {TANH, "bf16", true, true, 0.0},
      {TANH, "f16", false, false, 0.0},
      {NONE, "bf16", false, false, 0.0},
      {ALSC, "bf16", false, false, 0.0},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    uattn_artifact_t *artifact =
        compile_capped(cases[i].cap, cases[i].element, cases[i].has_temp);
    const char *plan = artifact->functions[0].steps[0].plan_text;
    bool has_fixed_maximum = strstr(plan, "no maximum") != NULL;
    double found = artifact->kernels[0].largest_post_scale;
    if (found != cases[i].wanted ||
        has_fixed_maximum != cases[i].has_fixed_maximum)
      fail_msg("case %zu: largest_post_scale is %g, not %g, of the plan\n%s", i,
               found, cases[i].wanted, plan);
    uattn_artifact_destroy(artifact);
  }
}

/* One argument in two roles is called after the first, a name is given once,
 * results may be dropped, arguments returned, one result returned twice. */
static void ops_feed_each_other(void **state) {
  (void)state;
  uattn_artifact_t *artifact = compile_artifact(
      "func.func @chain(%x: " TENSOR("64") ", %y: " TENSOR(
          "6"
          "4") ", %unused: tensor<5xi32>) -> (" TENSOR("64") ", " TENSOR("64") ", " TENSOR("64") ") {\n" OP("%dropped",
                                                                                                            "%y",
                                                                                                            "%y",
                                                                                                            "%y",
                                                                                                            NONE,
                                                                                                            "0.125",
                                                                                                            "64")
          OP("%a", "%x", "%y", "%y", NONE, "0.125", "64") OP(
              "%b", "%a", "%x", "%a", NONE, "0.125",
              "64") "  return %b, %y, %b : " TENSOR("64") ", " TENSOR("64") ","
                                                                            " " TENSOR(
                                                                                "64") "\n}\n",
      UATTN_EMIT_ARTIFACT);
  const uattn_artifact_function_t *f = &artifact->functions[0];
  const int64_t five[] = {5};
  assert_int_equal(f->argument_count, 3);
  assert_int_equal(f->value_count, 6);
  assert_string_equal(f->values[0].name, "q");
  assert_string_equal(f->values[1].name, "arg1"); /* q is taken */
  assert_value(&f->values[2], "arg2", UATTN_DTYPE_I32, 1, five);
  assert_int_equal(f->step_count, 3);
  const int32_t operands[3][3] = {{1, 1, 1}, {0, 1, 1}, {4, 0, 4}};
  for (int i = 0; i < 3; ++i) {
    for (int o = 0; o < 3; ++o)
      assert_int_equal(f->steps[i].operand_values[o], operands[i][o]);
    assert_int_equal(f->steps[i].result_values[0], 3 + i);
    assert_int_equal(f->steps[i].first_kernel, 0);
  }
  assert_int_equal(f->result_count, 3);
  assert_int_equal(f->result_values[0], 5);
  assert_int_equal(f->result_values[1], 1);
  assert_int_equal(f->result_values[2], 5);
  assert_int_equal(artifact->kernel_count, 1);
  uattn_artifact_destroy(artifact);
}

static void functions_keep_their_order(void **state) {
  (void)state;
  uattn_artifact_t *artifact = compile_artifact(
      SIMPLE("zebra", NONE, "64") "func.func @other() {\n"
                                  "  return\n}\n" SIMPLE("ant", TANH, "128"),
      UATTN_EMIT_ARTIFACT);
  assert_int_equal(artifact->function_count, 2);
  assert_string_equal(artifact->functions[0].name, "zebra");
  assert_string_equal(artifact->functions[1].name, "ant");
  assert_int_equal(artifact->functions[1].steps[0].first_kernel, 1);
  assert_int_equal(artifact->image_count, 2);
  uattn_artifact_destroy(artifact);
}

/* ---- Backward -------------------------------------------------------------
 */

/* Everything that a backward op can have but bounds. */
static const char gradients[] =
    "func.func @gradients(%a: tensor<2x?x4x64xf16>, %b: tensor<2x?x2x64xf16>,\n"
    "                     %c: tensor<2x?xf32>, %i: tensor<2x?xi32>,\n"
    "                     %l: tensor<2x4x?xf32>)\n"
    "    -> (tensor<2x?x4x64xf16>, tensor<2x?xf32>) {\n"
    "  %0:4 = \"uattn.ranker_attention_bwd\"(%a, %b, %b, %c, %i, %i, %a, %l,\n"
    "                                        %a, %l) {\n"
    "    cap = #uattn.cap<\"alsc\", 30.0 : f32, 4.0 : f32, -0.5 : f32>,\n"
    "    sm_scale = 0.125 : f32, q_offset = 3 : i64, causal,\n"
    "    window_len = 9 : i64, z_loss_weight = 0.5 : f32,\n"
    "    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1>,\n"
    "    resultSegmentSizes = array<i32: 1, 1, 1, 1>\n"
    "  } : (tensor<2x?x4x64xf16>, tensor<2x?x2x64xf16>, tensor<2x?x2x64xf16>,\n"
    "       tensor<2x?xf32>, tensor<2x?xi32>, tensor<2x?xi32>,\n"
    "       tensor<2x?x4x64xf16>, tensor<2x4x?xf32>, tensor<2x?x4x64xf16>,\n"
    "       tensor<2x4x?xf32>)\n"
    "    -> (tensor<2x?x4x64xf16>, tensor<2x?x2x64xf16>,\n"
    "        tensor<2x?x2x64xf16>, tensor<2x?xf32>)\n"
    "  return %0#0, %0#3 : tensor<2x?x4x64xf16>, tensor<2x?xf32>\n"
    "}\n";

/* How often a kernel takes each source, and which quantity its tiles are. */
static void backward_op_has_kernels_and_scratch(void **state) {
  (void)state;
  static const struct {
    const char *entry;
    uattn_grid_rule_t grid_rule;
    int32_t rows_per_cta, threads;
    uattn_quantity_t tiles;
    int operands, results, scratch;
  } wanted[] = {
      /* out, dout, lse, dlse, temp, ids of q; both shifts and records */
      {"ranker_attention_bwd_rows_f16_d64_alsc_temp_f32_dlse_dtemp_segments_"
       "causal_window",
       UATTN_GRID_Q_TILES, 64, 256, UATTN_QUANTITY_Q_TILES, 6, 0, 3},
      /* q, k, v, dout, ids; dk, dv; records */
      {"ranker_attention_bwd_dkv_f16_d64_alsc_temp_f32_dlse_dtemp_segments_"
       "causal_window",
       UATTN_GRID_KV_TILES, 128, 384, UATTN_QUANTITY_KV_TILES, 6, 2, 1},
      /* q, k, v, dout, lse, dlse, temp, ids; dq; both shifts and dtemp's share
       */
      {"ranker_attention_bwd_dq_f16_d64_alsc_temp_f32_dlse_dtemp_segments_"
       "causal_window",
       UATTN_GRID_Q_TILES, 128, 384, UATTN_QUANTITY_Q_TILES, 9, 1, 3},
      {"ranker_attention_bwd_dtemp_f16_d64_alsc_temp_f32_dlse_dtemp_segments_"
       "causal_window",
       UATTN_GRID_Q_TILES, 64, 256, UATTN_QUANTITY_Q_TILES, 0, 1, 1},
  };
  uattn_artifact_t *artifact = compile_artifact(gradients, UATTN_EMIT_ARTIFACT);
  const uattn_artifact_step_t *step = &artifact->functions[0].steps[0];
  assert_int_equal(step->problem.kind, UATTN_OP_BACKWARD);
  assert_int_equal(step->kernel_count, COUNT_OF(wanted));
  assert_int_equal(step->scratch_count, 4);
  for (uint32_t i = 0; i < 3; ++i)
    assert_int_equal(step->scratch[i], UATTN_SCRATCH_Q_ROWS);
  assert_int_equal(step->scratch[3], UATTN_SCRATCH_Q_RECORDS);
  assert_non_null(strstr(step->plan_text, "work: dK and dV"));
  for (size_t k = 0; k < COUNT_OF(wanted); ++k) {
    const uattn_artifact_kernel_t *kernel =
        &artifact->kernels[step->first_kernel + k];
    assert_string_equal(kernel->entry, wanted[k].entry);
    assert_int_equal(kernel->grid_rule, wanted[k].grid_rule);
    assert_int_equal(kernel->rows_per_cta, wanted[k].rows_per_cta);
    assert_int_equal(kernel->threads, wanted[k].threads);
    assert_int_equal(kernel->sm_scale_sign, 0);
    assert_true(kernel->largest_post_scale == 0);
    int counts[3] = {0}, tiles = 0;
    for (uint32_t p = 0; p < kernel->param_count; ++p) {
      const uattn_kernel_param_t *param = &kernel->params[p];
      if (param->kind == UATTN_PARAM_TENSOR_MAP ||
          param->kind == UATTN_PARAM_POINTER)
        ++counts[param->source];
      else
        tiles += param->quantity == wanted[k].tiles;
    }
    assert_int_equal(counts[UATTN_PARAM_SOURCE_OPERAND], wanted[k].operands);
    assert_int_equal(counts[UATTN_PARAM_SOURCE_RESULT], wanted[k].results);
    assert_int_equal(counts[UATTN_PARAM_SOURCE_SCRATCH], wanted[k].scratch);
    assert_int_equal(tiles, 1);
    const uattn_artifact_image_t *image =
        &artifact->images[kernel->image_index];
    assert_non_null(strstr(image->ptx, kernel->entry));
  }
  uattn_artifact_destroy(artifact);
}

/* Ops of one plan share kernels, each with scratch of its own; without dtemp
 * there are three. */
static void backward_ops_share_kernels(void **state) {
  (void)state;
  uattn_artifact_t *artifact =
      compile_artifact(BACKWARD("a", NONE, "64") SIMPLE("f", NONE, "64")
                           BACKWARD("b", TANH, "128") BACKWARD("c", NONE, "64"),
                       UATTN_EMIT_ARTIFACT);
  assert_int_equal(artifact->function_count, 4);
  assert_int_equal(artifact->kernel_count, 7);
  const uint32_t counts[] = {3, 1, 3, 3}, scratch[] = {2, 0, 2, 2};
  for (int i = 0; i < 4; ++i) {
    const uattn_artifact_step_t *step = &artifact->functions[i].steps[0];
    assert_int_equal(step->kernel_count, counts[i]);
    assert_int_equal(step->scratch_count, scratch[i]);
    if (scratch[i]) {
      assert_int_equal(step->scratch[0], UATTN_SCRATCH_Q_RECORDS);
      assert_int_equal(step->scratch[1], UATTN_SCRATCH_Q_SUMS);
    }
  }
  assert_int_equal(artifact->functions[0].steps[0].first_kernel,
                   artifact->functions[3].steps[0].first_kernel);
  assert_int_not_equal(artifact->functions[0].steps[0].first_kernel,
                       artifact->functions[2].steps[0].first_kernel);
  uattn_artifact_destroy(artifact);
}

/* For the reference: what is asked, of ops that no kernel covers too. */
static void problem_has_no_kernels(void **state) {
  (void)state;
  uattn_artifact_t *artifact =
      compile_artifact(SIMPLE("main", NONE, "256"), UATTN_EMIT_PROBLEM);
  assert_int_equal(artifact->kernel_count, 0);
  assert_int_equal(artifact->image_count, 0);
  const uattn_artifact_step_t *step = &artifact->functions[0].steps[0];
  assert_int_equal(step->problem.head_dim, 256);
  assert_int_equal(step->kernel_count, 0);
  assert_string_equal(step->plan_text, "");
  uattn_artifact_destroy(artifact);
}

/* ---- With an assembler ----------------------------------------------------
 */

static const char *ptxas_path;
static const char *nvjitlink_path;

/* The image is a cubin, the kernel has the planned registers, no warning. */
static void ptxas_adds_a_cubin(void **state) {
  (void)state;
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(UATTN_EMIT_ARTIFACT, &reports);
  uint8_t *bytes = NULL;
  size_t size = 0;
  uattn_artifact_t *artifact = NULL;
  if (!ptxas_path)
    skip();
  options.ptxas_path = ptxas_path;
  options.nvjitlink_path = "/nonexistent"; /* not asked */
  assert_ok(uattn_compile(full, strlen(full), &options, &bytes, &size));
  assert_int_equal(reports.errors + reports.warnings, 0);
  assert_ok(uattn_artifact_parse(bytes, size, &artifact));
  assert_int_equal(artifact->kernels[0].entry_registers, 128);
  assert_true(artifact->images[0].cubin_bytes > 4);
  assert_memory_equal(artifact->images[0].cubin, "\177ELF", 4);
  uattn_artifact_destroy(artifact);
  free(bytes);
}

/* nvJitLink ignores setmaxnreg (C7504): its cubin spilled and ran slowly. */
static void
kernels_that_nvjitlink_slows_down_are_left_to_the_driver(void **state) {
  (void)state;
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(UATTN_EMIT_ARTIFACT, &reports);
  uint8_t *bytes = NULL;
  size_t size = 0;
  uattn_artifact_t *artifact = NULL;
  if (!nvjitlink_path)
    skip();
  options.nvjitlink_path = nvjitlink_path;
  assert_ok(uattn_compile(full, strlen(full), &options, &bytes, &size));
  assert_string_equal(
      uattn_string_get(&reports.text),
      "test.mlir: warning: ranker_attention_fwd_bf16_d64_alsc_temp_bf16_lse is "
      "left to the driver to compile: nvJitLink ignores its setmaxnreg, ptxas "
      "would not\n");
  assert_ok(uattn_artifact_parse(bytes, size, &artifact));
  assert_null(artifact->images[0].cubin);
  assert_int_equal(artifact->kernels[0].entry_registers, 0);
  uattn_artifact_destroy(artifact);
  free(bytes);
  uattn_string_release(&reports.text);
}

/* Who asks for a cubin gets it, with the warnings. */
static void cubin_of_nvjitlink_comes_with_warnings(void **state) {
  (void)state;
  reports_t reports = {0};
  uattn_compile_options_t options = options_with(UATTN_EMIT_CUBIN, &reports);
  uint8_t *bytes = NULL;
  size_t size = 0;
  if (!nvjitlink_path)
    skip();
  options.nvjitlink_path = nvjitlink_path;
  assert_ok(uattn_compile(full, strlen(full), &options, &bytes, &size));
  assert_memory_equal(bytes, "\177ELF", 4);
  assert_non_null(strstr(uattn_string_get(&reports.text),
                         "has its setmaxnreg ignored by ptxas (C7508)"));
  free(bytes);
  uattn_string_release(&reports.text);
}

int main(int argument_count, char **arguments) {
  for (int i = 1; i < argument_count; ++i) {
    if (strncmp(arguments[i], "--ptxas=", 8) == 0)
      ptxas_path = arguments[i] + 8;
    if (strncmp(arguments[i], "--nvjitlink=", 12) == 0)
      nvjitlink_path = arguments[i] + 12;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(function_says_what_it_takes_and_gives),
      cmocka_unit_test(kernel_says_what_a_launch_needs),
      cmocka_unit_test(scale_sign_is_part_of_the_kernel),
      cmocka_unit_test(kernel_without_a_maximum_says_its_largest_cap),
      cmocka_unit_test(ops_feed_each_other),
      cmocka_unit_test(functions_keep_their_order),
      cmocka_unit_test(backward_op_has_kernels_and_scratch),
      cmocka_unit_test(backward_ops_share_kernels),
      cmocka_unit_test(problem_has_no_kernels),
      cmocka_unit_test(ptxas_adds_a_cubin),
      cmocka_unit_test(
          kernels_that_nvjitlink_slows_down_are_left_to_the_driver),
      cmocka_unit_test(cubin_of_nvjitlink_comes_with_warnings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
