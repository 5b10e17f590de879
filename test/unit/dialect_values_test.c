/* Tests of attributes, types and problems read from ops.
 * Layer: test. Must not know: passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "dialect/dialect.h"

typedef struct {
  MlirContext context;
  MlirModule module;
  MlirOperation op; /* the first uattn op of the module */
} parsed_t;

static MlirWalkResult find(MlirOperation op, void *user_data) {
  if (strncmp(mlirIdentifierStr(mlirOperationGetName(op)).data, "uattn.", 6))
    return MlirWalkResultAdvance;
  *(MlirOperation *)user_data = op;
  return MlirWalkResultInterrupt;
}

static parsed_t parse(const char *text) {
  parsed_t parsed = {.context = uattn_context_create(NULL)};
  uattn_source_t source = {"test.mlir", text, strlen(text)};
  parsed.module = uattn_module_parse(parsed.context, &source);
  assert_false(mlirModuleIsNull(parsed.module));
  mlirOperationWalk(mlirModuleGetOperation(parsed.module), find, &parsed.op,
                    MlirWalkPreOrder);
  assert_false(mlirOperationIsNull(parsed.op));
  return parsed;
}

static void release(parsed_t *parsed) {
  mlirModuleDestroy(parsed->module);
  mlirContextDestroy(parsed->context);
}

static const char forward_op[] =
    "func.func @f(%q: tensor<?x70x4x64xf16>, %k: tensor<2x?x2x64xf16>,\n"
    "             %temp: tensor<?x?xbf16>, %bounds: tensor<2x4xi32>) {\n"
    "  %0:2 = \"uattn.ranker_attention\"(%q, %k, %k, %temp, %bounds) {\n"
    "    cap = #uattn.cap<\"alsc\", 30.0 : f32, 4.0 : f32, -0.5 : f32>,\n"
    "    sm_scale = 0.125 : f32, causal, window_len = 48 : i64,\n"
    "    q_offset = -3 : i64, llvm.note = \"text\",\n"
    "    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>,\n"
    "    resultSegmentSizes = array<i32: 1, 1>\n"
    "  } : (tensor<?x70x4x64xf16>, tensor<2x?x2x64xf16>,\n"
    "       tensor<2x?x2x64xf16>, tensor<?x?xbf16>, tensor<2x4xi32>)\n"
    "    -> (tensor<?x?x4x64xf16>, tensor<?x4x70xf32>)\n"
    "  return\n"
    "}\n";

static void forward_op_becomes_a_problem(void **state) {
  (void)state;
  parsed_t parsed = parse(forward_op);
  assert_true(uattn_verify_op(parsed.op));
  uattn_problem_t problem;
  uattn_problem_from_op(parsed.op, &problem);
  assert_int_equal(problem.kind, UATTN_OP_FORWARD);
  assert_int_equal(problem.dtype, UATTN_DTYPE_F16);
  assert_int_equal(problem.temp_dtype, UATTN_DTYPE_BF16);
  assert_int_equal(problem.batch, 2); /* k says so */
  assert_int_equal(problem.q_tokens, 70);
  assert_int_equal(problem.kv_tokens, UATTN_DIM_DYNAMIC);
  assert_int_equal(problem.q_heads, 4);
  assert_int_equal(problem.kv_heads, 2);
  assert_int_equal(problem.head_dim, 64);
  assert_int_equal(problem.cap.method, UATTN_CAP_ALSC);
  assert_true(problem.cap.cap == 30 && problem.cap.alpha == 4);
  assert_true(problem.cap.beta == -0.5);
  assert_true(problem.sm_scale == 0.125);
  assert_true(problem.is_causal);
  assert_int_equal(problem.window_tokens, 48);
  assert_int_equal(problem.q_offset, -3);
  assert_true(problem.z_loss_weight == 0 && !problem.is_deterministic);
  static const bool operands[UATTN_OPERAND_COUNT] = {1, 1, 1, 1, 1};
  assert_memory_equal(problem.has_operand, operands, sizeof operands);
  static const bool results[UATTN_RESULT_COUNT] = {1, 1};
  assert_memory_equal(problem.has_result, results, sizeof results);
  release(&parsed);
}

static void backward_op_becomes_a_problem(void **state) {
  (void)state;
  parsed_t parsed = parse(
      "!q = tensor<1x8x2x128xbf16>\n"
      "!l = tensor<1x2x8xf32>\n"
      "func.func @f(%q: !q, %l: !l, %ids: tensor<1x8xi32>) {\n"
      "  \"uattn.ranker_attention_bwd\"(%q, %q, %q, %ids, %ids, %q, %l, %q,\n"
      "                                 %l) {\n"
      "    cap = #uattn.cap<\"none\", 0.0 : f32, 0.0 : f32, 0.0 : f32>,\n"
      "    sm_scale = 1.0 : f32, z_loss_weight = 0.25 : f32, deterministic,\n"
      "    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1>,\n"
      "    resultSegmentSizes = array<i32: 1, 1, 1, 0>\n"
      "  } : (!q, !q, !q, tensor<1x8xi32>, tensor<1x8xi32>, !q, !l, !q, !l)\n"
      "    -> (!q, !q, !q)\n"
      "  return\n"
      "}\n");
  assert_true(uattn_verify_op(parsed.op));
  uattn_problem_t problem;
  uattn_problem_from_op(parsed.op, &problem);
  assert_int_equal(problem.kind, UATTN_OP_BACKWARD);
  assert_true(problem.z_loss_weight == 0.25);
  assert_true(problem.is_deterministic);
  assert_false(problem.is_causal);
  static const bool operands[UATTN_OPERAND_COUNT] = {1, 1, 1, 0, 0, 1,
                                                     1, 1, 1, 1, 1};
  assert_memory_equal(problem.has_operand, operands, sizeof operands);
  static const bool results[UATTN_RESULT_COUNT] = {1, 1, 1};
  assert_memory_equal(problem.has_result, results, sizeof results);
  release(&parsed);
}

static void view_gives_operands_by_meaning(void **state) {
  (void)state;
  parsed_t parsed = parse(forward_op);
  uattn_op_view_t view = uattn_op_view(parsed.op);
  assert_true(mlirValueEqual(view.operands[UATTN_OPERAND_BOUNDS],
                             mlirOperationGetOperand(parsed.op, 4)));
  assert_true(mlirValueIsNull(view.operands[UATTN_OPERAND_Q_SEGMENT_IDS]));
  assert_true(mlirValueIsNull(view.operands[UATTN_OPERAND_OUT]));
  assert_true(mlirValueEqual(view.results[UATTN_RESULT_LSE],
                             mlirOperationGetResult(parsed.op, 1)));
  release(&parsed);
}

static void attributes_are_read_by_name_and_type(void **state) {
  (void)state;
  parsed_t parsed = parse(forward_op);
  int64_t integer = 7;
  double number = 7;
  MlirStringRef text = {NULL, 0};
  assert_true(uattn_op_get_i64(parsed.op, "window_len", &integer));
  assert_int_equal(integer, 48);
  assert_true(uattn_op_get_f64(parsed.op, "sm_scale", &number));
  assert_true(number == 0.125);
  assert_true(uattn_op_get_string(parsed.op, "llvm.note", &text));
  assert_true(uattn_string_ref_is(text, "text"));
  assert_true(uattn_op_has_unit(parsed.op, "causal"));
  /* Another type or no attribute: untouched. */
  assert_false(uattn_op_get_i64(parsed.op, "sm_scale", &integer));
  assert_false(uattn_op_get_i64(parsed.op, "nothing", &integer));
  assert_int_equal(integer, 48);
  assert_false(uattn_op_get_f64(parsed.op, "window_len", &number));
  assert_true(number == 0.125);
  assert_false(uattn_op_get_string(parsed.op, "causal", &text));
  assert_false(uattn_op_has_unit(parsed.op, "window_len"));
  assert_false(uattn_op_has_unit(parsed.op, "nothing"));
  release(&parsed);
}

static void cap_parameters_are_read(void **state) {
  (void)state;
  parsed_t parsed = parse(forward_op);
  MlirAttribute cap = uattn_op_get_attribute(parsed.op, UATTN_ATTR_CAP);
  assert_true(uattn_attribute_is(cap, UATTN_ATTRNAME_CAP));
  assert_false(uattn_attribute_is(cap, UATTN_ATTRNAME_PLAN));
  assert_false(uattn_attribute_is(cap, "uattn.ca"));
  assert_false(
      uattn_attribute_is(mlirUnitAttrGet(parsed.context), UATTN_ATTRNAME_CAP));
  MlirAttribute parameters = uattn_parameters_of_attribute(cap);
  assert_int_equal(mlirArrayAttrGetNumElements(parameters), 4);
  assert_true(mlirFloatAttrGetValueDouble(
                  mlirArrayAttrGetElement(parameters, 3)) == -0.5);
  MlirAttribute same =
      uattn_attribute_get(parsed.context, UATTN_ATTRNAME_CAP,
                          "\"alsc\", 30.0 : f32, 4.0 : f32, -0.5 : f32");
  assert_true(mlirAttributeEqual(cap, same));
  release(&parsed);
}

static void types_are_built_and_read(void **state) {
  (void)state;
  MlirContext context = uattn_context_create(NULL);
  int64_t shape[] = {64, 128};
  MlirType tile = mlirVectorTypeGet(2, shape, mlirBF16TypeGet(context));
  MlirType smem = uattn_smem_type(tile);
  MlirType ring = uattn_ring_type(tile, 3);
  MlirType map = uattn_tensor_map_type(tile);
  MlirType global = uattn_global_type(mlirF32TypeGet(context));
  assert_true(uattn_type_is(smem, UATTN_TYPENAME_SMEM));
  assert_true(uattn_type_is(ring, UATTN_TYPENAME_RING));
  assert_true(uattn_type_is(map, UATTN_TYPENAME_TENSOR_MAP));
  assert_true(uattn_type_is(global, UATTN_TYPENAME_GLOBAL));
  assert_false(uattn_type_is(ring, UATTN_TYPENAME_SMEM));
  assert_false(uattn_type_is(tile, UATTN_TYPENAME_SMEM));
  assert_true(mlirTypeEqual(uattn_type_inner(smem), tile));
  assert_true(mlirTypeEqual(uattn_type_inner(ring), tile));
  assert_true(mlirTypeIsAF32(uattn_type_inner(global)));
  assert_int_equal(uattn_ring_stage_count(ring), 3);
  assert_int_equal(uattn_ring_stage_count(smem), -1);
  assert_true(
      mlirTypeEqual(ring, uattn_type_get(context, UATTN_TYPENAME_RING,
                                         "vector<64x128xbf16>, 3 : i64")));
  mlirContextDestroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forward_op_becomes_a_problem),
      cmocka_unit_test(backward_op_becomes_a_problem),
      cmocka_unit_test(view_gives_operands_by_meaning),
      cmocka_unit_test(attributes_are_read_by_name_and_type),
      cmocka_unit_test(cap_parameters_are_read),
      cmocka_unit_test(types_are_built_and_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
