/* Times a function and prints the figures as a line of JSON.
 * Layer: tools. Must not know: files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_bench.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "run_pairs.h"

/* The protocol. Sustained: calls back to back for `budget_ms` after a warm-up
 * of `warm_up_ms`, an event before and after each. Burst: the mean of a few
 * calls on a chip that has been idle, before power limits its clock. */
enum {
  LEAST_CALLS = 7,
  MOST_CALLS = 300,
  LEAST_WARM_UPS = 2,
  MOST_WARM_UPS = 500,
  BURST_CALLS = 10,
  BURST_WARM_UPS = 3
};
static const double budget_ms = 400;
static const double warm_up_ms = 150;
static const struct timespec burst_idle = {.tv_nsec = 700000000};

static int clamp_count(double count, int least, int most) {
  return count < least ? least : count > most ? most : (int)count;
}

static uattn_error_t *launch_times(const run_cuda_t *cuda, int count) {
  uattn_error_t *error = NULL;
  for (int i = 0; i < count && !error; ++i)
    error = run_cuda_launch(cuda);
  return error;
}

/* Mean of `count` calls between two marks. */
static uattn_error_t *time_calls(const uattn_device_t *device,
                                 const run_cuda_t *cuda, int count,
                                 double *out_ms) {
  uattn_timer_t *timer = NULL;
  float total = 0;
  uattn_error_t *error = uattn_timer_create(device, 2, &timer);
  if (!error)
    error = uattn_timer_mark(timer, 0);
  if (!error)
    error = launch_times(cuda, count);
  if (!error)
    error = uattn_timer_mark(timer, 1);
  if (!error)
    error = uattn_device_synchronize(device);
  if (!error)
    error = uattn_timer_elapsed(timer, 0, 1, &total);
  uattn_timer_destroy(timer);
  *out_ms = (double)total / count;
  return error;
}

static int compare_times(const void *a, const void *b) {
  float first = *(const float *)a;
  float second = *(const float *)b;
  return (first > second) - (first < second);
}

static uattn_error_t *time_each(const uattn_device_t *device,
                                const run_cuda_t *cuda, int count,
                                float *out_times) {
  uattn_timer_t *timer = NULL;
  uattn_error_t *error = uattn_timer_create(device, 2 * (size_t)count, &timer);
  for (int i = 0; i < count && !error; ++i) {
    error = uattn_timer_mark(timer, 2 * (size_t)i);
    if (!error)
      error = run_cuda_launch(cuda);
    if (!error)
      error = uattn_timer_mark(timer, 2 * (size_t)i + 1);
  }
  if (!error)
    error = uattn_device_synchronize(device);
  for (int i = 0; i < count && !error; ++i)
    error = uattn_timer_elapsed(timer, 2 * (size_t)i, 2 * (size_t)i + 1,
                                &out_times[i]);
  uattn_timer_destroy(timer);
  return error;
}

typedef struct {
  int call_count;
  double median_ms;
  double p10_ms;
  double p90_ms;
  double burst_ms;
} times_t;

static uattn_error_t *time_sustained(const uattn_device_t *device,
                                     const run_cuda_t *cuda, times_t *times) {
  double estimate = 0;
  uattn_error_t *error = time_calls(device, cuda, 2, &estimate);
  if (error)
    return error;
  estimate = estimate > 1e-3 ? estimate : 1e-3;
  int count = clamp_count(budget_ms / estimate, LEAST_CALLS, MOST_CALLS);
  float *each = uattn_allocate((size_t)count * sizeof *each);
  error = launch_times(
      cuda, clamp_count(warm_up_ms / estimate, LEAST_WARM_UPS, MOST_WARM_UPS));
  if (!error)
    error = time_each(device, cuda, count, each);
  qsort(each, (size_t)count, sizeof *each, compare_times);
  times->call_count = count;
  times->median_ms =
      ((double)each[(count - 1) / 2] + (double)each[count / 2]) / 2;
  times->p10_ms = (double)each[count / 10];
  times->p90_ms = (double)each[count * 9 / 10];
  free(each);
  return error;
}

static uattn_error_t *time_burst(const uattn_device_t *device,
                                 const run_cuda_t *cuda, times_t *times) {
  nanosleep(&burst_idle, NULL);
  uattn_error_t *error = launch_times(cuda, BURST_WARM_UPS);
  return error ? error
               : time_calls(device, cuda, BURST_CALLS, &times->burst_ms);
}

/* Two matrix products forward, five backward, over the allowed pairs. */
static double count_flops(const run_values_t *values, double *out_pairs) {
  double flops = 0;
  *out_pairs = 0;
  for (uint32_t step = 0; step < values->function->step_count; ++step) {
    uattn_problem_t problem = run_values_problem(values, step);
    void *operands[UATTN_OPERAND_COUNT];
    run_values_operands(values, step, operands);
    const void *masks[UATTN_OPERAND_COUNT] = {NULL};
    for (int i = UATTN_OPERAND_BOUNDS; i <= UATTN_OPERAND_KV_SEGMENT_IDS; ++i)
      masks[i] = operands[i];
    double pairs =
        (double)run_count_pairs(&problem, masks) * (double)problem.q_heads;
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
                       const char *protocol, const times_t *times) {
  double pairs = 0;
  double flops = count_flops(values, &pairs);
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

uattn_error_t *run_bench_cuda(const uattn_device_t *device,
                              const run_cuda_t *cuda,
                              const run_values_t *values) {
  times_t times = {0};
  uattn_error_t *error = time_sustained(device, cuda, &times);
  if (!error)
    error = time_burst(device, cuda, &times);
  if (!error)
    print_line(values, uattn_device_name(device),
               "sustained: calls back to back for 0.4 s after 0.15 s of "
               "warm-up, CUDA events around each; burst: mean of 10 calls "
               "after 0.7 s idle",
               &times);
  return error;
}

void run_bench_reference(const run_values_t *values, double seconds) {
  double ms = seconds * 1e3;
  times_t times = {
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
