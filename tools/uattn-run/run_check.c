/* Compares a function's results with the float64 reference.
 * Layer: tools. Must not know: devices, where the results come from.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run_pairs.h"
#include "run_reference.h"
#include "uattn/reference.h"

/* Multiplications and additions that a check may take: some seconds on a few
 * cores. */
static const double work_limit = 2e10;

/* The rows of one kind of token that are compared; NULL: all. */
typedef struct {
  int64_t *rows;
  size_t count;
} sample_t;

/* One op's comparison: what it is asked, and where its results go. */
typedef struct {
  const run_values_t *values;
  uint32_t step;
  uattn_problem_t problem;
  uattn_reference_tensors_t tensors;
  double *references[UATTN_RESULT_COUNT]; /* NULL: not returned */
  sample_t q_rows;
  sample_t kv_rows;
} step_check_t;

static bool is_of_kv_rows(const uattn_problem_t *problem, int result) {
  return problem->kind == UATTN_OP_BACKWARD &&
         (result == UATTN_RESULT_DK || result == UATTN_RESULT_DV);
}

static const sample_t *sample_of(const step_check_t *check, int result) {
  return is_of_kv_rows(&check->problem, result) ? &check->kv_rows
                                                : &check->q_rows;
}

static double step_work(const step_check_t *check) {
  double pairs =
      (double)run_count_pairs(&check->problem, check->tensors.operands);
  return pairs * (double)check->problem.q_heads *
         (double)check->problem.head_dim *
         (check->problem.kind == UATTN_OP_FORWARD ? 4 : 14);
}

static sample_t choose(int64_t row_count, double part) {
  size_t wanted = (size_t)((double)row_count * part) + 2;
  sample_t sample = {.rows = uattn_allocate(wanted * sizeof *sample.rows)};
  sample.count = uattn_reference_choose_rows(row_count, wanted, sample.rows);
  return sample;
}

static void choose_samples(step_check_t *check) {
  double work = step_work(check);
  if (work <= work_limit)
    return;
  double part = work_limit / work;
  const uattn_problem_t *problem = &check->problem;
  check->q_rows = choose(problem->batch * problem->q_tokens, part);
  if (problem->kind == UATTN_OP_BACKWARD)
    check->kv_rows = choose(problem->batch * problem->kv_tokens, part);
}

/* Room for a result of the chosen rows, or of all. */
static uattn_error_t *allocate_reference(step_check_t *check, int result,
                                         int32_t value) {
  const sample_t *sample = sample_of(check, result);
  size_t count = check->values->element_counts[value];
  if (sample->rows) {
    const uattn_problem_t *problem = &check->problem;
    int64_t tokens =
        is_of_kv_rows(problem, result) ? problem->kv_tokens : problem->q_tokens;
    count = count / (size_t)(problem->batch * tokens) * sample->count;
  }
  check->references[result] = uattn_try_allocate(count * sizeof(double));
  return check->references[result]
             ? NULL
             : uattn_error_create(UATTN_ERROR_INTERNAL,
                                  "out of host memory for %zu numbers", count);
}

/* Which results are returned, and room for them. */
static uattn_error_t *prepare(step_check_t *check) {
  const uattn_artifact_function_t *function = check->values->function;
  const int32_t *made = function->steps[check->step].result_values;
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; i < function->result_count && !error; ++i)
    for (int r = 0; r < UATTN_RESULT_COUNT && !error; ++r)
      if (made[r] == function->result_values[i] && !check->references[r])
        error = allocate_reference(check, r, made[r]);
  return error;
}

/* One run for the results of q rows, one for those of kv rows: in a sample the
 * latter takes delta from the given out, as kernels do, since forming it anew
 * costs a pass over all pairs. */
static uattn_error_t *compute(step_check_t *check, bool is_of_kv) {
  bool is_wanted = false;
  for (int r = 0; r < UATTN_RESULT_COUNT; ++r) {
    bool is_here = is_of_kv_rows(&check->problem, r) == is_of_kv;
    check->tensors.results[r] = is_here ? check->references[r] : NULL;
    is_wanted |= check->tensors.results[r] != NULL;
  }
  uattn_reference_options_t options = {.struct_size = sizeof options};
  const sample_t *sample = is_of_kv ? &check->kv_rows : &check->q_rows;
  if (is_of_kv) {
    options.kv_rows = sample->rows;
    options.kv_row_count = sample->count;
    options.uses_given_out = sample->rows != NULL;
  } else {
    options.q_rows = sample->rows;
    options.q_row_count = sample->count;
  }
  return is_wanted
             ? uattn_reference_run(&check->problem, &check->tensors, &options)
             : NULL;
}

static bool print_comparison(const step_check_t *check, int result,
                             const void *computed) {
  const sample_t *sample = sample_of(check, result);
  uattn_comparison_inputs_t inputs = {.result = result,
                                      .computed = computed,
                                      .reference = check->references[result],
                                      .rows = sample->rows,
                                      .row_count = sample->count};
  uattn_comparison_t comparison =
      uattn_reference_compare(&check->problem, &inputs);
  char line[512];
  uattn_comparison_format(&check->problem, result, &comparison, line,
                          sizeof line);
  printf("%s", line);
  if (sample->rows) {
    bool is_of_kv = is_of_kv_rows(&check->problem, result);
    printf(" (a sample: %zu of %" PRId64 " %s rows)", sample->count,
           check->problem.batch *
               (is_of_kv ? check->problem.kv_tokens : check->problem.q_tokens),
           is_of_kv ? "kv" : "query");
  }
  printf("\n");
  return comparison.is_within_bound;
}

/* A chain's ops are compared with the reference of the whole chain. */
static uattn_error_t *check_step(run_values_t *values, uint32_t step,
                                 void *const *results, bool *out_is_right) {
  const uattn_artifact_function_t *function = values->function;
  step_check_t check = {.values = values,
                        .step = step,
                        .problem = run_values_problem(values, step)};
  void *operands[UATTN_OPERAND_COUNT];
  uattn_error_t *error = run_reference_operands(values, step);
  if (error)
    return error;
  run_values_operands(values, step, operands);
  memcpy(check.tensors.operands, operands, sizeof operands);
  choose_samples(&check);
  error = prepare(&check);
  if (!error)
    error = compute(&check, false);
  if (!error)
    error = compute(&check, true);
  const int32_t *made = function->steps[step].result_values;
  for (uint32_t i = 0; i < function->result_count && !error; ++i)
    for (int r = 0; r < UATTN_RESULT_COUNT; ++r)
      if (made[r] == function->result_values[i] &&
          !print_comparison(&check, r, results[i]))
        *out_is_right = false;
  for (int r = 0; r < UATTN_RESULT_COUNT; ++r)
    free(check.references[r]);
  free(check.q_rows.rows);
  free(check.kv_rows.rows);
  return error;
}

/* A returned argument is what it was. */
static bool check_argument(const run_values_t *values, int32_t value,
                           const void *computed) {
  bool is_right = memcmp(computed, values->data[value],
                         values->element_counts[value] * sizeof(float)) == 0;
  printf("%s: a copy of the argument: %s\n",
         values->function->values[value].name, is_right ? "ok" : "it differs");
  return is_right;
}

static bool returns_result_of(const uattn_artifact_function_t *function,
                              uint32_t step) {
  for (uint32_t i = 0; i < function->result_count; ++i)
    for (int r = 0; r < UATTN_RESULT_COUNT; ++r)
      if (function->steps[step].result_values[r] == function->result_values[i])
        return true;
  return false;
}

uattn_error_t *run_check_results(run_values_t *values, void *const *results,
                                 bool *out_is_right) {
  const uattn_artifact_function_t *function = values->function;
  *out_is_right = true;
  uattn_error_t *error = NULL;
  for (uint32_t step = 0; step < function->step_count && !error; ++step)
    if (returns_result_of(function, step))
      error = check_step(values, step, results, out_is_right);
  for (uint32_t i = 0; i < function->result_count && !error; ++i) {
    int32_t value = function->result_values[i];
    if ((uint32_t)value < function->argument_count &&
        !check_argument(values, value, results[i]))
      *out_is_right = false;
  }
  return error;
}
