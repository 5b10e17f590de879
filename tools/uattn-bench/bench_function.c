/* What a function reaches on a GPU, beside cuBLAS, and what bounds it.
 * Layer: tools. Must not know: MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench_function.h"

#include <inttypes.h>

#include "gemm_rate.h"
#include "tools/uattn-run/run_bench.h"
#include "tools/uattn-run/run_compile.h"
#include "tools/uattn-run/run_function.h"
#include "unit_times.h"

static void print_shapes(const run_values_t *values, const char *device) {
  const uattn_artifact_function_t *function = values->function;
  printf("%s on %s:", function->name, device);
  for (uint32_t i = 0; i < function->argument_count; ++i) {
    printf("%s %s", i > 0 ? "," : "", function->values[i].name);
    for (int axis = 0; axis < function->values[i].rank; ++axis)
      printf("%s%" PRId64, axis > 0 ? "x" : " ", values->shapes[i][axis]);
  }
  printf("\n");
}

/* The ceiling, and which share of it `tflops` is; without cuBLAS, why. */
static void print_ceiling(const uattn_device_t *device, uattn_dtype_t dtype,
                          double tflops) {
  run_times_t times = {0};
  uattn_error_t *error = bench_time_gemm(device, dtype, &times);
  if (error) {
    printf("share of cuBLAS: not measured (%s)\n", uattn_error_message(error));
    uattn_error_destroy(error);
    return;
  }
  double ceiling = bench_gemm_tflops(times.median_ms);
  printf("share of cuBLAS: %.1f %% of %.1f TFLOP/s sustained (%.1f in a "
         "burst), %s, %d cubed\n",
         100 * tflops / ceiling, ceiling, bench_gemm_tflops(times.burst_ms),
         uattn_dtype_name(dtype), BENCH_GEMM_SIZE);
}

/* A unit without a model may be the one that bounds the kernels. */
static void print_units(const bench_unit_times_t *times, double measured_ms) {
  int bound = BENCH_UNIT_TENSOR; /* which every function has a time of */
  bool are_all_known = true;
  printf("least time of each unit at the highest clock:");
  for (int unit = 0; unit < BENCH_UNIT_COUNT; ++unit) {
    printf("%s %s ", unit > 0 ? "," : "", bench_unit_name((bench_unit_t)unit));
    if (times->is_known[unit])
      printf("%.4f ms", times->ms[unit]);
    else
      printf("not known");
    are_all_known &= times->is_known[unit];
    if (times->is_known[unit] && times->ms[unit] > times->ms[bound])
      bound = unit;
  }
  printf("\nbound by: %s%s, busy at least %.0f %% of the time\n",
         are_all_known ? ""
                       : "not known, since backward kernels have no cost "
                         "model; of the known units ",
         bench_unit_name((bench_unit_t)bound),
         100 * times->ms[bound] / measured_ms);
}

static uint32_t count_kernels(const uattn_artifact_function_t *function) {
  uint32_t count = 0;
  for (uint32_t step = 0; step < function->step_count; ++step)
    count += function->steps[step].kernel_count;
  return count;
}

static uattn_error_t *measure(const uattn_device_t *device,
                              const uattn_artifact_t *artifact,
                              const run_values_t *values,
                              const run_cuda_t *cuda) {
  bench_unit_times_t unit_times;
  uattn_device_rates_t rates;
  run_times_t times = {0};
  uattn_error_t *error = uattn_device_rates(device, &rates);
  if (!error)
    error = bench_unit_times(artifact, values, &rates, &unit_times);
  if (!error)
    error = run_time_cuda(device, cuda, &times);
  if (error)
    return error;
  double pairs = 0;
  double flops = run_count_flops(values, &pairs);
  double tflops = flops / times.median_ms * 1e-9;
  print_shapes(values, uattn_device_name(device));
  uint32_t kernel_count = count_kernels(values->function);
  if (kernel_count > 1)
    printf("kernels: %" PRIu32 ", timed together\n", kernel_count);
  printf("sustained: %.4f ms (10 %% below %.4f, 90 %% below %.4f, %d calls), "
         "%.1f TFLOP/s over %.0f allowed pairs\n",
         times.median_ms, times.p10_ms, times.p90_ms, times.call_count, tflops,
         pairs);
  printf("burst: %.4f ms, %.1f TFLOP/s\n", times.burst_ms,
         flops / times.burst_ms * 1e-9);
  print_ceiling(device, values->function->steps[0].problem.dtype, tflops);
  print_units(&unit_times, times.median_ms);
  printf("protocol: %s\n", run_timing_protocol);
  return NULL;
}

static uattn_error_t *check_kind(const uattn_artifact_function_t *function,
                                 uattn_op_kind_t kind) {
  uattn_op_kind_t found = UATTN_OP_FORWARD;
  for (uint32_t step = 0; step < function->step_count; ++step)
    if (function->steps[step].problem.kind == UATTN_OP_BACKWARD)
      found = UATTN_OP_BACKWARD;
  if (found == kind)
    return NULL;
  bool is_backward = found == UATTN_OP_BACKWARD;
  return uattn_error_create(
      UATTN_ERROR_INVALID_ARGUMENT,
      "function %s has %s backward op: expected uattn-bench %s", function->name,
      is_backward ? "a" : "no", is_backward ? "backward" : "forward");
}

static uattn_error_t *measure_artifact(const run_command_t *command,
                                       uattn_op_kind_t kind,
                                       const uattn_device_t *device,
                                       const uattn_artifact_t *artifact) {
  uint32_t function = 0;
  run_values_t values = {0};
  run_cuda_t *cuda = NULL;
  uattn_error_t *error =
      run_find_function(artifact, command->file, command->function, &function);
  if (!error)
    error = check_kind(&artifact->functions[function], kind);
  if (!error)
    error = run_values_create(&artifact->functions[function], command, &values);
  if (!error)
    error = run_cuda_create(device, artifact, function, &values, &cuda);
  if (!error)
    error = measure(device, artifact, &values, cuda);
  run_cuda_destroy(cuda);
  run_values_release(&values);
  return error;
}

uattn_error_t *bench_function(const run_command_t *command,
                              uattn_op_kind_t kind, int *out_exit_code) {
  uattn_device_t *device = NULL;
  uattn_artifact_t *artifact = NULL;
  char *refusal = NULL; /* stays NULL: kernels are wanted */
  uattn_error_t *error = run_check_file(command->file);
  if (!error)
    error = run_cuda_open(true, &device);
  if (!error)
    error = run_get_artifact(command->file, RUN_KERNELS_WANTED, &artifact,
                             out_exit_code, &refusal);
  if (!error && *out_exit_code == 0)
    error = measure_artifact(command, kind, device, artifact);
  uattn_artifact_destroy(artifact);
  uattn_device_close(device);
  return error;
}
