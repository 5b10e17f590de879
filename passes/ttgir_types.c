/* Types and layouts of the kernel in Triton's ops.
 * Layer: passes. Must not know: what the kernel does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/ttgir.h"

#define SHARED(transposed, more)                                               \
  "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = " transposed      \
  ", elementBitWidth = 16" more "}>"
#define BARRIER_LAYOUT                                                         \
  "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"
#define IN_SMEM "#ttg.shared_memory, mutable"

/* Columns of one product's instruction. */
enum { MAX_INSTRUCTION_COLUMNS = 256 };

int32_t uattn_ttgir_power_of_two(int32_t value) {
  int32_t power = 1;
  while (power <= value / 2)
    power *= 2;
  return power;
}

/* ---- Layouts --------------------------------------------------------------
 */

/* An accumulator over the four warps of a consumer. */
static void append_accumulator(uattn_string_t *text, int32_t columns) {
  if (columns > MAX_INSTRUCTION_COLUMNS)
    columns = MAX_INSTRUCTION_COLUMNS;
  uattn_string_appendf(text,
                       "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, "
                       "warpsPerCTA = [4, 1], instrShape = [16, %d, 16]}>",
                       columns);
}

static uattn_ttgir_layouts_t
make_layouts(MlirContext context, int32_t kv_tile_rows, int32_t head_dim) {
  uattn_string_t scores = {0}, out = {0};
  append_accumulator(&scores, kv_tile_rows);
  append_accumulator(&out, head_dim);
  const char *scores_text = uattn_string_get(&scores);
  const char *out_text = uattn_string_get(&out);
  uattn_ttgir_layouts_t layouts = {
      .scores = uattn_attribute_parse(context, "%s", scores_text),
      .scores_rows = uattn_attribute_parse(
          context, "#ttg.slice<{dim = 1, parent = %s}>", scores_text),
      .scores_columns = uattn_attribute_parse(
          context, "#ttg.slice<{dim = 0, parent = %s}>", scores_text),
      .out = uattn_attribute_parse(context, "%s", out_text),
      .out_rows = uattn_attribute_parse(
          context, "#ttg.slice<{dim = 1, parent = %s}>", out_text),
      .p = uattn_attribute_parse(
          context, "#ttg.dot_op<{opIdx = 0, parent = %s, kWidth = 2}>",
          out_text),
  };
  uattn_string_release(&scores);
  uattn_string_release(&out);
  return layouts;
}

uattn_ttgir_kernel_t
uattn_ttgir_kernel_create(MlirContext context, const uattn_problem_t *problem,
                          const uattn_forward_plan_t *plan) {
  int32_t kv_tile_rows = uattn_ttgir_power_of_two(plan->kv_tile_rows);
  return (uattn_ttgir_kernel_t){
      .problem = problem,
      .plan = plan,
      .constants = uattn_softmax_constants(problem),
      .kv_tile_rows = kv_tile_rows,
      .q_tile_rows = plan->consumer_warpgroups * UATTN_WARPGROUP_ROWS,
      .is_online = !plan->has_fixed_maximum || plan->has_temp,
      .element = plan->dtype == UATTN_DTYPE_BF16 ? mlirBF16TypeGet(context)
                                                 : mlirF16TypeGet(context),
      .layouts = make_layouts(context, kv_tile_rows, plan->head_dim),
  };
}

/* ---- Tensors --------------------------------------------------------------
 */

static MlirType matrix(int64_t columns, MlirType element,
                       MlirAttribute layout) {
  int64_t shape[2] = {UATTN_WARPGROUP_ROWS, columns};
  return mlirRankedTensorTypeGet(2, shape, element, layout);
}

MlirType uattn_ttgir_scores_type(const uattn_ttgir_kernel_t *kernel,
                                 MlirType element) {
  return matrix(kernel->kv_tile_rows, element, kernel->layouts.scores);
}

MlirType uattn_ttgir_out_type(const uattn_ttgir_kernel_t *kernel,
                              MlirType element) {
  return matrix(kernel->plan->head_dim, element, kernel->layouts.out);
}

MlirType uattn_ttgir_p_type(const uattn_ttgir_kernel_t *kernel) {
  return matrix(kernel->kv_tile_rows, kernel->element, kernel->layouts.p);
}

MlirType uattn_ttgir_rows_type(const uattn_ttgir_kernel_t *kernel,
                               MlirType element) {
  int64_t shape[1] = {UATTN_WARPGROUP_ROWS};
  return mlirRankedTensorTypeGet(1, shape, element,
                                 kernel->layouts.scores_rows);
}

MlirType uattn_ttgir_columns_type(const uattn_ttgir_kernel_t *kernel,
                                  MlirType element) {
  int64_t shape[1] = {kernel->kv_tile_rows};
  return mlirRankedTensorTypeGet(1, shape, element,
                                 kernel->layouts.scores_columns);
}

MlirType uattn_ttgir_type_of(MlirType type, MlirType element) {
  if (!mlirTypeIsARankedTensor(type))
    return element;
  int64_t shape[4];
  intptr_t rank = (intptr_t)mlirShapedTypeGetRank(type);
  UATTN_CHECK(rank <= 4);
  for (intptr_t i = 0; i < rank; ++i)
    shape[i] = mlirShapedTypeGetDimSize(type, i);
  return mlirRankedTensorTypeGet(rank, shape, element,
                                 mlirRankedTensorTypeGetEncoding(type));
}

/* ---- Types of Triton's own ------------------------------------------------
 */

/* `format` has one %s, for the element. */
static MlirType parse_with_element(MlirType element, const char *before,
                                   const char *after) {
  uattn_string_t text = uattn_type_text(element);
  MlirType type = uattn_type_parse(mlirTypeGetContext(element), "%s%s%s",
                                   before, uattn_string_get(&text), after);
  uattn_string_release(&text);
  return type;
}

MlirType uattn_ttgir_pointer_type(MlirType element) {
  return parse_with_element(element, "!tt.ptr<", ">");
}

MlirType uattn_ttgir_descriptor_type(const uattn_ttgir_kernel_t *kernel,
                                     int32_t rows) {
  return uattn_type_parse(
      mlirTypeGetContext(kernel->element),
      "!tt.tensordesc<tensor<1x1x%dx%dx%s, " SHARED("false", ", rank = 4") ">>",
      rows, kernel->plan->head_dim, uattn_dtype_name(kernel->plan->dtype));
}

MlirType uattn_ttgir_tile_type(const uattn_ttgir_kernel_t *kernel,
                               uattn_ttgir_form_t form, int32_t rows) {
  static const char *const layouts[] = {
      [UATTN_TTGIR_TILE] = SHARED("false", ""),
      [UATTN_TTGIR_TILE_TRANSPOSED] = SHARED("true", ""),
      [UATTN_TTGIR_TILE_4D] = SHARED("false", ", rank = 4"),
  };
  bool is_transposed = form == UATTN_TTGIR_TILE_TRANSPOSED;
  int32_t head_dim = kernel->plan->head_dim;
  return uattn_type_parse(mlirTypeGetContext(kernel->element),
                          "!ttg.memdesc<%s%dx%dx%s, %s, " IN_SMEM ">",
                          form == UATTN_TTGIR_TILE_4D ? "1x1x" : "",
                          is_transposed ? head_dim : rows,
                          is_transposed ? rows : head_dim,
                          uattn_dtype_name(kernel->plan->dtype), layouts[form]);
}

MlirType uattn_ttgir_tiles_type(const uattn_ttgir_kernel_t *kernel,
                                int32_t count, int32_t rows) {
  return uattn_type_parse(
      mlirTypeGetContext(kernel->element),
      "!ttg.memdesc<%dx%dx%dx%s, " SHARED("false", "") ", " IN_SMEM ">", count,
      rows, kernel->plan->head_dim, uattn_dtype_name(kernel->plan->dtype));
}

MlirType uattn_ttgir_barriers_type(MlirContext context, int32_t count) {
  if (count == 0)
    return uattn_type_parse(context, "!ttg.memdesc<1xi64, " BARRIER_LAYOUT
                                     ", " IN_SMEM ">");
  return uattn_type_parse(
      context, "!ttg.memdesc<%dx1xi64, " BARRIER_LAYOUT ", " IN_SMEM ">",
      count);
}
