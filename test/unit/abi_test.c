/* Pins the layout of every public struct: fields are appended, never moved.
 * Layer: test. Must not know: private headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "uattn/artifact.h"
#include "uattn/compiler.h"
#include "uattn/emulator.h"
#include "uattn/exchange.h"
#include "uattn/host.h"
#include "uattn/kernels.h"
#include "uattn/problem.h"
#include "uattn/reference.h"
#include "uattn/runtime.h"

/* One line a field: where it is on the 64-bit machines that have the GPUs. */
#define FIELD(type, field, offset)                                             \
  { #type "." #field, offsetof(type, field), offset }
#define SIZE(type, size)                                                       \
  { "sizeof " #type, sizeof(type), size }

static const struct {
  const char *name;
  size_t found;
  size_t wanted;
} facts[] = {
    FIELD(uattn_version_t, abi_major, 0),
    FIELD(uattn_version_t, abi_minor, 4),
    SIZE(uattn_version_t, 8),

    FIELD(uattn_cap_t, method, 0),
    FIELD(uattn_cap_t, cap, 8),
    FIELD(uattn_cap_t, alpha, 16),
    FIELD(uattn_cap_t, beta, 24),
    SIZE(uattn_cap_t, 32),

    FIELD(uattn_problem_t, kind, 0),
    FIELD(uattn_problem_t, dtype, 4),
    FIELD(uattn_problem_t, temp_dtype, 8),
    FIELD(uattn_problem_t, batch, 16),
    FIELD(uattn_problem_t, q_tokens, 24),
    FIELD(uattn_problem_t, kv_tokens, 32),
    FIELD(uattn_problem_t, q_heads, 40),
    FIELD(uattn_problem_t, kv_heads, 48),
    FIELD(uattn_problem_t, head_dim, 56),
    FIELD(uattn_problem_t, cap, 64),
    FIELD(uattn_problem_t, sm_scale, 96),
    FIELD(uattn_problem_t, is_causal, 104),
    FIELD(uattn_problem_t, window_tokens, 112),
    FIELD(uattn_problem_t, q_offset, 120),
    FIELD(uattn_problem_t, z_loss_weight, 128),
    FIELD(uattn_problem_t, is_deterministic, 136),
    FIELD(uattn_problem_t, has_operand, 137),
    FIELD(uattn_problem_t, has_result, 148),
    SIZE(uattn_problem_t, 152),

    FIELD(uattn_value_info_t, name, 0),
    FIELD(uattn_value_info_t, dtype, 8),
    FIELD(uattn_value_info_t, rank, 12),
    FIELD(uattn_value_info_t, shape, 16),
    SIZE(uattn_value_info_t, 48),

    FIELD(uattn_device_options_t, struct_size, 0),
    FIELD(uattn_device_options_t, context, 8),
    FIELD(uattn_device_options_t, ordinal, 12),
    FIELD(uattn_device_options_t, driver_path, 16),

    FIELD(uattn_tensor_t, data, 0),
    FIELD(uattn_tensor_t, dtype, 8),
    FIELD(uattn_tensor_t, rank, 12),
    FIELD(uattn_tensor_t, shape, 16),
    FIELD(uattn_tensor_t, strides, 48),
    SIZE(uattn_tensor_t, 80),

    FIELD(uattn_map_description_t, name, 0),
    FIELD(uattn_map_description_t, data, 8),
    FIELD(uattn_map_description_t, dtype, 16),
    FIELD(uattn_map_description_t, sizes, 24),
    FIELD(uattn_map_description_t, stride_bytes, 56),
    FIELD(uattn_map_description_t, box, 80),
    SIZE(uattn_map_description_t, 96),
    SIZE(uattn_param_value_t, 96),

    FIELD(uattn_kernel_info_t, entry, 0),
    FIELD(uattn_kernel_info_t, chip, 8),
    FIELD(uattn_kernel_info_t, cubin, 16),
    FIELD(uattn_kernel_info_t, cubin_bytes, 24),
    FIELD(uattn_kernel_info_t, ptx, 32),
    FIELD(uattn_kernel_info_t, threads, 40),
    FIELD(uattn_kernel_info_t, dynamic_smem_bytes, 44),
    FIELD(uattn_kernel_info_t, param_count, 48),
    SIZE(uattn_kernel_info_t, 56),

    FIELD(uattn_param_info_t, kind, 0),
    FIELD(uattn_param_info_t, dtype, 4),
    FIELD(uattn_param_info_t, name, 8),
    SIZE(uattn_param_info_t, 16),

    FIELD(uattn_kernels_call_t, struct_size, 0),
    FIELD(uattn_kernels_call_t, arguments, 8),
    FIELD(uattn_kernels_call_t, argument_count, 16),
    FIELD(uattn_kernels_call_t, results, 24),
    FIELD(uattn_kernels_call_t, result_count, 32),
    FIELD(uattn_kernels_call_t, workspace, 40),
    FIELD(uattn_kernels_call_t, workspace_bytes, 48),
    FIELD(uattn_kernels_call_t, sm_scale, 56),
    FIELD(uattn_kernels_call_t, cap, 64),

    FIELD(uattn_kernel_arguments_t, cta_count, 0),
    FIELD(uattn_kernel_arguments_t, param_count, 4),
    FIELD(uattn_kernel_arguments_t, params, 8),
    SIZE(uattn_kernel_arguments_t, 6152),

    FIELD(uattn_framework_t, struct_size, 0),
    FIELD(uattn_framework_t, exchange_api, 8),
    FIELD(uattn_framework_t, tuple_item, 16),
    FIELD(uattn_framework_t, none, 24),
    FIELD(uattn_framework_t, release_lock, 32),
    FIELD(uattn_framework_t, take_lock, 40),
    FIELD(uattn_framework_t, clear_exception, 48),
    SIZE(uattn_framework_t, 56),

    FIELD(uattn_exchange_launch_t, struct_size, 0),
    FIELD(uattn_exchange_launch_t, framework, 8),
    FIELD(uattn_exchange_launch_t, program, 16),
    FIELD(uattn_exchange_launch_t, function, 24),
    FIELD(uattn_exchange_launch_t, device_type, 32),
    FIELD(uattn_exchange_launch_t, device_ordinal, 36),
    FIELD(uattn_exchange_launch_t, tensors, 40),
    FIELD(uattn_exchange_launch_t, argument_count, 48),
    FIELD(uattn_exchange_launch_t, result_count, 56),
    FIELD(uattn_exchange_launch_t, workspace_bytes, 64),
    SIZE(uattn_exchange_launch_t, 72),

    FIELD(uattn_launch_t, struct_size, 0),
    FIELD(uattn_launch_t, arguments, 8),
    FIELD(uattn_launch_t, argument_count, 16),
    FIELD(uattn_launch_t, results, 24),
    FIELD(uattn_launch_t, result_count, 32),
    FIELD(uattn_launch_t, workspace, 40),
    FIELD(uattn_launch_t, workspace_bytes, 48),
    FIELD(uattn_launch_t, stream, 56),
    FIELD(uattn_launch_t, sm_scale, 64),
    FIELD(uattn_launch_t, cap, 72),
    FIELD(uattn_launch_t, is_place_known, 80),

    FIELD(uattn_compile_options_t, struct_size, 0),
    FIELD(uattn_compile_options_t, source_name, 8),
    FIELD(uattn_compile_options_t, chip, 16),
    FIELD(uattn_compile_options_t, emit, 24),
    FIELD(uattn_compile_options_t, reserved, 28),
    FIELD(uattn_compile_options_t, ptxas_path, 32),
    FIELD(uattn_compile_options_t, nvjitlink_path, 40),
    FIELD(uattn_compile_options_t, dump_directory, 48),
    FIELD(uattn_compile_options_t, report, 56),
    FIELD(uattn_compile_options_t, report_data, 64),
    FIELD(uattn_compile_options_t, scratch_directory, 72),

    FIELD(uattn_reference_tensors_t, operands, 0),
    FIELD(uattn_reference_tensors_t, results, 88),
    SIZE(uattn_reference_tensors_t, 120),

    FIELD(uattn_reference_options_t, struct_size, 0),
    FIELD(uattn_reference_options_t, thread_count, 8),
    FIELD(uattn_reference_options_t, q_rows, 16),
    FIELD(uattn_reference_options_t, q_row_count, 24),
    FIELD(uattn_reference_options_t, kv_rows, 32),
    FIELD(uattn_reference_options_t, kv_row_count, 40),

    FIELD(uattn_host_tensors_t, operands, 0),
    FIELD(uattn_host_tensors_t, results, 880),
    SIZE(uattn_host_tensors_t, 1200),

    FIELD(uattn_host_options_t, struct_size, 0),
    FIELD(uattn_host_options_t, thread_count, 8),

    FIELD(uattn_comparison_inputs_t, result, 0),
    FIELD(uattn_comparison_inputs_t, computed, 8),
    FIELD(uattn_comparison_inputs_t, reference, 16),
    FIELD(uattn_comparison_inputs_t, rows, 24),
    FIELD(uattn_comparison_inputs_t, row_count, 32),
    SIZE(uattn_comparison_inputs_t, 40),

    FIELD(uattn_comparison_t, is_within_bound, 0),
    FIELD(uattn_comparison_t, error, 8),
    FIELD(uattn_comparison_t, bound, 16),
    FIELD(uattn_comparison_t, is_absolute, 24),
    FIELD(uattn_comparison_t, mismatch_count, 32),
    FIELD(uattn_comparison_t, worst_batch, 40),
    FIELD(uattn_comparison_t, worst_token, 48),
    FIELD(uattn_comparison_t, worst_head, 56),
    FIELD(uattn_comparison_t, worst_row_error, 64),
    SIZE(uattn_comparison_t, 72),

    FIELD(uattn_emulator_memory_t, name, 0),
    FIELD(uattn_emulator_memory_t, data, 8),
    FIELD(uattn_emulator_memory_t, bytes, 16),
    FIELD(uattn_emulator_memory_t, is_read_only, 24),
    SIZE(uattn_emulator_memory_t, 32),

    FIELD(uattn_tensor_map_t, element, 0),
    FIELD(uattn_tensor_map_t, rank, 4),
    FIELD(uattn_tensor_map_t, data, 8),
    FIELD(uattn_tensor_map_t, dims, 16),
    FIELD(uattn_tensor_map_t, strides, 56),
    FIELD(uattn_tensor_map_t, box, 88),
    FIELD(uattn_tensor_map_t, element_strides, 108),
    FIELD(uattn_tensor_map_t, swizzle, 128),
    FIELD(uattn_tensor_map_t, fills_with_nan, 132),
    SIZE(uattn_tensor_map_t, 136),

    FIELD(uattn_emulator_tile_t, kind, 0),
    FIELD(uattn_emulator_tile_t, entry, 8),
    FIELD(uattn_emulator_tile_t, cta, 16),
    FIELD(uattn_emulator_tile_t, line, 24),
    FIELD(uattn_emulator_tile_t, occurrence, 32),
    FIELD(uattn_emulator_tile_t, warpgroup, 40),
    FIELD(uattn_emulator_tile_t, offset, 48),
    FIELD(uattn_emulator_tile_t, rows, 56),
    FIELD(uattn_emulator_tile_t, columns, 60),
    FIELD(uattn_emulator_tile_t, element, 64),
    FIELD(uattn_emulator_tile_t, swizzle, 68),
    SIZE(uattn_emulator_tile_t, 72),

    FIELD(uattn_emulator_trace_t, struct_size, 0),
    FIELD(uattn_emulator_trace_t, pattern, 8),
    FIELD(uattn_emulator_trace_t, cta, 16),
    FIELD(uattn_emulator_trace_t, warp, 24),
    FIELD(uattn_emulator_trace_t, tiles, 32),
    FIELD(uattn_emulator_trace_t, tile_count, 40),
    FIELD(uattn_emulator_trace_t, tell_instruction, 48),
    FIELD(uattn_emulator_trace_t, tell_tile, 56),
    FIELD(uattn_emulator_trace_t, user_data, 64),

    FIELD(uattn_emulator_launch_t, struct_size, 0),
    FIELD(uattn_emulator_launch_t, grid, 8),
    FIELD(uattn_emulator_launch_t, block, 20),
    FIELD(uattn_emulator_launch_t, dynamic_shared_bytes, 32),
    FIELD(uattn_emulator_launch_t, params, 40),
    FIELD(uattn_emulator_launch_t, param_bytes, 48),
    FIELD(uattn_emulator_launch_t, param_count, 56),
    FIELD(uattn_emulator_launch_t, memories, 64),
    FIELD(uattn_emulator_launch_t, memory_count, 72),
    FIELD(uattn_emulator_launch_t, seed, 80),
    FIELD(uattn_emulator_launch_t, thread_count, 88),
    FIELD(uattn_emulator_launch_t, progress, 96),
    FIELD(uattn_emulator_launch_t, progress_data, 104),
    FIELD(uattn_emulator_launch_t, ignores_hazards, 112),
    FIELD(uattn_emulator_launch_t, trace, 120),
    FIELD(uattn_emulator_launch_t, timeline, 128),

    FIELD(uattn_emulator_statistics_t, instructions, 0),
    FIELD(uattn_emulator_statistics_t, ctas, 8),
    SIZE(uattn_emulator_statistics_t, 16),

    FIELD(uattn_emulator_call_t, struct_size, 0),
    FIELD(uattn_emulator_call_t, arguments, 8),
    FIELD(uattn_emulator_call_t, argument_count, 16),
    FIELD(uattn_emulator_call_t, results, 24),
    FIELD(uattn_emulator_call_t, result_count, 32),
    FIELD(uattn_emulator_call_t, sm_scale, 40),
    FIELD(uattn_emulator_call_t, cap, 48),
    FIELD(uattn_emulator_call_t, seed, 56),
    FIELD(uattn_emulator_call_t, thread_count, 64),
    FIELD(uattn_emulator_call_t, progress, 72),
    FIELD(uattn_emulator_call_t, progress_data, 80),
    FIELD(uattn_emulator_call_t, ignores_hazards, 88),
    FIELD(uattn_emulator_call_t, trace, 96),
    FIELD(uattn_emulator_call_t, timeline, 104),

    FIELD(uattn_emulator_timeline_options_t, struct_size, 0),
    FIELD(uattn_emulator_timeline_options_t, cta, 8),
    FIELD(uattn_emulator_timeline_options_t, begin_cycle, 16),
    FIELD(uattn_emulator_timeline_options_t, end_cycle, 24),
};

static void fields_are_where_they_were(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(facts); ++i) {
    if (facts[i].found != facts[i].wanted)
      print_error("%s is %zu, was %zu\n", facts[i].name, facts[i].found,
                  facts[i].wanted);
    assert_int_equal(facts[i].found, facts[i].wanted);
  }
}

typedef struct {
  const char *name;
  int found;
  int wanted;
} number_t;

#define NUMBER(name, wanted)                                                   \
  { #name, (int)name, wanted }

/* Enumerators are in files and in callers. */
static const number_t numbers[] = {
    NUMBER(UATTN_ERROR_INVALID_ARGUMENT, 1),
    NUMBER(UATTN_ERROR_UNSUPPORTED, 2),
    NUMBER(UATTN_ERROR_IO, 3),
    NUMBER(UATTN_ERROR_DEVICE, 4),
    NUMBER(UATTN_ERROR_TOOLCHAIN, 5),
    NUMBER(UATTN_ERROR_INTERNAL, 6),
    NUMBER(UATTN_ERROR_FAULT, 7),
    NUMBER(UATTN_CONTEXT_PRIMARY, 0),
    NUMBER(UATTN_CONTEXT_CURRENT, 1),
    NUMBER(UATTN_EMIT_ARTIFACT, 0),
    NUMBER(UATTN_EMIT_PROBLEM, 1),
    NUMBER(UATTN_EMIT_PLANNED, 2),
    NUMBER(UATTN_EMIT_PIPELINE, 3),
    NUMBER(UATTN_EMIT_THREAD, 4),
    NUMBER(UATTN_EMIT_LLVM, 5),
    NUMBER(UATTN_EMIT_PTX, 6),
    NUMBER(UATTN_EMIT_CUBIN, 7),
    NUMBER(UATTN_SEVERITY_ERROR, 0),
    NUMBER(UATTN_SEVERITY_WARNING, 1),
    NUMBER(UATTN_TILE_A, 0),
    NUMBER(UATTN_TILE_B, 1),
    NUMBER(UATTN_TILE_D, 2),
    NUMBER(UATTN_TILE_BOX, 3),
    NUMBER(UATTN_TILE_SHARED, 4),
    NUMBER(UATTN_SWIZZLE_NONE, 0),
    NUMBER(UATTN_SWIZZLE_32B, 1),
    NUMBER(UATTN_SWIZZLE_64B, 2),
    NUMBER(UATTN_SWIZZLE_128B, 3),
    NUMBER(UATTN_ELEMENT_U8, 0),
    NUMBER(UATTN_ELEMENT_U16, 1),
    NUMBER(UATTN_ELEMENT_U32, 2),
    NUMBER(UATTN_ELEMENT_I32, 3),
    NUMBER(UATTN_ELEMENT_U64, 4),
    NUMBER(UATTN_ELEMENT_I64, 5),
    NUMBER(UATTN_ELEMENT_F16, 6),
    NUMBER(UATTN_ELEMENT_F32, 7),
    NUMBER(UATTN_ELEMENT_F64, 8),
    NUMBER(UATTN_ELEMENT_BF16, 9),
    NUMBER(UATTN_DTYPE_BF16, 0),
    NUMBER(UATTN_DTYPE_F16, 1),
    NUMBER(UATTN_DTYPE_F32, 2),
    NUMBER(UATTN_DTYPE_I32, 3),
    NUMBER(UATTN_CAP_NONE, 0),
    NUMBER(UATTN_CAP_TANH, 1),
    NUMBER(UATTN_CAP_SOFT_SIGN, 2),
    NUMBER(UATTN_CAP_ALSC, 3),
    NUMBER(UATTN_OP_FORWARD, 0),
    NUMBER(UATTN_OP_BACKWARD, 1),
    NUMBER(UATTN_OPERAND_KV_SEGMENT_IDS, 6),
    NUMBER(UATTN_OPERAND_DLSE, 10),
    NUMBER(UATTN_RESULT_LSE, 1),
    NUMBER(UATTN_RESULT_DTEMP, 3),
    NUMBER(UATTN_DIM_DYNAMIC, -1),
    NUMBER(UATTN_CONTEXT_PRIMARY, 0),
    NUMBER(UATTN_CONTEXT_CURRENT, 1),
    NUMBER(UATTN_EMIT_ARTIFACT, 0),
    NUMBER(UATTN_EMIT_PROBLEM, 1),
    NUMBER(UATTN_EMIT_PLANNED, 2),
    NUMBER(UATTN_EMIT_PIPELINE, 3),
    NUMBER(UATTN_EMIT_THREAD, 4),
    NUMBER(UATTN_EMIT_LLVM, 5),
    NUMBER(UATTN_EMIT_PTX, 6),
    NUMBER(UATTN_EMIT_CUBIN, 7),
    NUMBER(UATTN_SEVERITY_ERROR, 0),
    NUMBER(UATTN_SEVERITY_WARNING, 1),
};

static void numbers_are_what_they_were(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(numbers); ++i) {
    if (numbers[i].found != numbers[i].wanted)
      print_error("%s is %d, was %d\n", numbers[i].name, numbers[i].found,
                  numbers[i].wanted);
    assert_int_equal(numbers[i].found, numbers[i].wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_are_where_they_were),
      cmocka_unit_test(numbers_are_what_they_were),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
