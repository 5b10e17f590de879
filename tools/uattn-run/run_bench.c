/* Times a function and prints the figures as a line of JSON.
 * Layer: tools. Must not know: files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_bench.h"

#include <inttypes.h>

#include "run_pairs.h"

double run_count_step_pairs(const run_values_t *values, uint32_t step) {
  uattn_problem_t problem = run_values_problem(values, step);
  void *operands[UATTN_OPERAND_COUNT];
  const void *masks[UATTN_OPERAND_COUNT] = {NULL};
  run_values_operands(values, step, operands);
  for (int i = UATTN_OPERAND_BOUNDS; i <= UATTN_OPERAND_KV_SEGMENT_IDS; ++i)
    masks[i] = operands[i];
  return (double)run_count_pairs(&problem, masks) * (double)problem.q_heads;
}

double run_count_flops(const run_values_t *values, double *out_pairs) {
  double flops = 0;
  *out_pairs = 0;
  for (uint32_t step = 0; step < values->function->step_count; ++step) {
    uattn_problem_t problem = run_values_problem(values, step);
    double pairs = run_count_step_pairs(values, step);
    *out_pairs += pairs;
    flops += pairs * (double)problem.head_dim *
             (problem.kind == UATTN_OP_FORWARD ? 4 : 10);
  }
  return flops;
}

static void append_quoted(uattn_string_t *text, const char *word) {
  uattn_string_append(text, "\"");
  for (; *word; ++word) {
    if (*word == '"' || *word == '\\')
      uattn_string_append(text, "\\");
    uattn_string_append_bytes(text, word, 1);
  }
  uattn_string_append(text, "\"");
}

static void append_shapes(uattn_string_t *text, const run_values_t *values) {
  const uattn_artifact_function_t *function = values->function;
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    uattn_string_append(text, i > 0 ? ", " : "");
    append_quoted(text, function->values[i].name);
    uattn_string_append(text, ": [");
    for (int axis = 0; axis < function->values[i].rank; ++axis)
      uattn_string_appendf(text, "%s%" PRId64, axis > 0 ? ", " : "",
                           values->shapes[i][axis]);
    uattn_string_append(text, "]");
  }
}

static void append_head(uattn_string_t *text, const run_values_t *values,
                        const char *device, const char *protocol) {
  uattn_string_append(text, "{\"function\": ");
  append_quoted(text, values->function->name);
  uattn_string_append(text, ", \"device\": ");
  append_quoted(text, device);
  uattn_string_append(text, ", \"shape\": {");
  append_shapes(text, values);
  uattn_string_append(text, "}, \"protocol\": ");
  append_quoted(text, protocol);
}

static void print_line(const run_values_t *values, const char *device,
                       const char *protocol, const run_times_t *times) {
  double pairs = 0;
  double flops = run_count_flops(values, &pairs);
  uattn_string_t text = {0};
  append_head(&text, values, device, protocol);
  uattn_string_appendf(&text,
                       ", \"median_ms\": %.5f, \"p10_ms\": %.5f, "
                       "\"p90_ms\": %.5f, \"calls\": %d, \"pairs\": %.0f, "
                       "\"tflops\": %.4g",
                       times->median_ms, times->p10_ms, times->p90_ms,
                       times->call_count, pairs,
                       flops / times->median_ms * 1e-9);
  if (times->burst_ms > 0)
    uattn_string_appendf(&text, ", \"burst_ms\": %.5f, \"burst_tflops\": %.4g",
                         times->burst_ms, flops / times->burst_ms * 1e-9);
  printf("%s}\n", uattn_string_get(&text));
  uattn_string_release(&text);
}

static uattn_error_t *enqueue(const void *work) {
  return run_cuda_launch((const run_cuda_t *)work);
}

uattn_error_t *run_time_cuda(const uattn_device_t *device,
                             const run_cuda_t *cuda, run_times_t *out_times) {
  return run_time(device, enqueue, cuda, out_times);
}

uattn_error_t *run_bench_cuda(const uattn_device_t *device,
                              const run_cuda_t *cuda,
                              const run_values_t *values) {
  run_times_t times = {0};
  uattn_error_t *error = run_time_cuda(device, cuda, &times);
  if (!error)
    print_line(values, uattn_device_name(device), run_timing_protocol, &times);
  return error;
}

void run_bench_reference(const run_values_t *values, double seconds) {
  double ms = seconds * 1e3;
  run_times_t times = {
      .call_count = 1, .median_ms = ms, .p10_ms = ms, .p90_ms = ms};
  print_line(values, "reference",
             "one call of the float64 reference, wall "
             "clock",
             &times);
}

/* The time says nothing of a GPU's. */
void run_bench_emulator(const run_values_t *values,
                        const run_emulated_t *emulated) {
  uattn_string_t text = {0};
  append_head(&text, values, "emulator",
              "one call on the emulator, wall clock");
  uattn_string_appendf(&text,
                       ", \"wall_ms\": %.3f, \"warp_instructions\": %" PRIu64
                       ", \"ctas\": %" PRIu64 "}\n",
                       emulated->seconds * 1e3,
                       emulated->statistics.instructions,
                       emulated->statistics.ctas);
  fputs(uattn_string_get(&text), stdout);
  uattn_string_release(&text);
}
