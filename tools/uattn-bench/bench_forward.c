/* What a function reaches on a GPU, beside cuBLAS, and what bounds it.
 * Layer: tools. Must not know: MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench_forward.h"

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

static void print_units(const double unit_ms[BENCH_UNIT_COUNT],
                        double measured_ms) {
  int bound = 0;
  printf("least time of each unit at the highest clock:");
  for (int unit = 0; unit < BENCH_UNIT_COUNT; ++unit) {
    printf("%s %s %.4f ms", unit > 0 ? "," : "",
           bench_unit_name((bench_unit_t)unit), unit_ms[unit]);
    if (unit_ms[unit] > unit_ms[bound])
      bound = unit;
  }
  printf("\nbound by: %s, busy at least %.0f %% of the time\n",
         bench_unit_name((bench_unit_t)bound),
         100 * unit_ms[bound] / measured_ms);
}

static uattn_error_t *measure(const uattn_device_t *device,
                              const uattn_artifact_t *artifact,
                              const run_values_t *values,
                              const run_cuda_t *cuda) {
  double unit_ms[BENCH_UNIT_COUNT];
  uattn_device_rates_t rates;
  run_times_t times = {0};
  uattn_error_t *error = uattn_device_rates(device, &rates);
  if (!error)
    error = bench_unit_times(artifact, values, &rates, unit_ms);
  if (!error)
    error = run_time_cuda(device, cuda, &times);
  if (error)
    return error;
  double pairs = 0;
  double flops = run_count_flops(values, &pairs);
  double tflops = flops / times.median_ms * 1e-9;
  print_shapes(values, uattn_device_name(device));
  printf("sustained: %.4f ms (10 %% below %.4f, 90 %% below %.4f, %d calls), "
         "%.1f TFLOP/s over %.0f allowed pairs\n",
         times.median_ms, times.p10_ms, times.p90_ms, times.call_count, tflops,
         pairs);
  printf("burst: %.4f ms, %.1f TFLOP/s\n", times.burst_ms,
         flops / times.burst_ms * 1e-9);
  print_ceiling(device, values->function->steps[0].problem.dtype, tflops);
  print_units(unit_ms, times.median_ms);
  printf("protocol: %s\n", run_timing_protocol);
  return NULL;
}

static uattn_error_t *measure_artifact(const run_command_t *command,
                                       const uattn_device_t *device,
                                       const uattn_artifact_t *artifact) {
  uint32_t function = 0;
  run_values_t values = {0};
  run_cuda_t *cuda = NULL;
  uattn_error_t *error =
      run_find_function(artifact, command->file, command->function, &function);
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

uattn_error_t *bench_forward(const run_command_t *command, int *out_exit_code) {
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
    error = measure_artifact(command, device, artifact);
  uattn_artifact_destroy(artifact);
  uattn_device_close(device);
  return error;
}
