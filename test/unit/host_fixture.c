/* A problem with drawn tensors for the tests of the host layer.
 * Layer: test. Must not know: anything above the host layer and the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host_fixture.h"

#include "random_stream.h"
#include "spec/spec.h"
#include "support/support.h"

size_t host_tensor_size(const uattn_tensor_t *tensor) {
  size_t size = 1;
  for (int axis = 0; axis < tensor->rank; ++axis)
    size *= (size_t)tensor->shape[axis];
  return size;
}

size_t host_tensor_bytes(const uattn_tensor_t *tensor) {
  return host_tensor_size(tensor) * uattn_dtype_bytes(tensor->dtype);
}

void *host_tensor_at(const uattn_tensor_t *tensor, size_t index) {
  int64_t element = 0;
  int64_t rest = (int64_t)index;
  for (int axis = tensor->rank - 1; axis >= 0; --axis) {
    element += rest % tensor->shape[axis] * tensor->strides[axis];
    rest /= tensor->shape[axis];
  }
  return (char *)tensor->data +
         element * (int64_t)uattn_dtype_bytes(tensor->dtype);
}

double host_tensor_number(const uattn_tensor_t *tensor, size_t index) {
  const void *address = host_tensor_at(tensor, index);
  switch (tensor->dtype) {
  case UATTN_DTYPE_BF16:
    return (double)uattn_bf16_to_float(*(const uint16_t *)address);
  case UATTN_DTYPE_F16:
    return (double)uattn_f16_to_float(*(const uint16_t *)address);
  case UATTN_DTYPE_F32:
    return (double)*(const float *)address;
  case UATTN_DTYPE_I32:
    return *(const int32_t *)address;
  }
  return NAN;
}

void host_tensor_set(const uattn_tensor_t *tensor, size_t index, double value) {
  void *address = host_tensor_at(tensor, index);
  if (tensor->dtype == UATTN_DTYPE_BF16)
    *(uint16_t *)address = uattn_bf16_from_float((float)value);
  else if (tensor->dtype == UATTN_DTYPE_F16)
    *(uint16_t *)address = uattn_f16_from_float((float)value);
  else if (tensor->dtype == UATTN_DTYPE_F32)
    *(float *)address = (float)value;
  else
    *(int32_t *)address = (int32_t)value;
}

static uattn_tensor_t make_tensor(uattn_dtype_t dtype, int rank,
                                  const int64_t shape[4]) {
  uattn_tensor_t tensor = uattn_tensor_dense(NULL, dtype, rank, shape);
  tensor.data = uattn_allocate(host_tensor_bytes(&tensor));
  return tensor;
}

static double draw(const host_case_t *host_case, uattn_operand_t operand,
                   const uattn_tensor_t *tensor, size_t index) {
  uint64_t key = uattn_random_key(7, (uint64_t)operand, 0);
  size_t batch = index / (host_tensor_size(tensor) / (size_t)tensor->shape[0]);
  int64_t row = (int64_t)index % tensor->shape[1];
  double begin = (double)host_case->temp_begin;
  double end = (double)host_case->temp_end;
  switch (operand) {
  case UATTN_OPERAND_TEMP:
    if (begin <= 0 && end > 0 && row % 10 == 3)
      return 0;
    return begin == end
               ? 0.5 + uattn_random_uniform(key, index)
               : begin + (end - begin) * uattn_random_uniform(key, index);
  case UATTN_OPERAND_BOUNDS:
    return host_case->bounds[batch % 2][index % 4];
  case UATTN_OPERAND_Q_SEGMENT_IDS:
  case UATTN_OPERAND_KV_SEGMENT_IDS:
    return (double)(row / host_case->segment_rows % 3);
  default:
    return uattn_random_normal(key, index);
  }
}

static void complete_problem(uattn_problem_t *problem, uattn_op_kind_t kind) {
  bool is_backward = kind == UATTN_OP_BACKWARD;
  problem->kind = kind;
  for (int i = UATTN_OPERAND_Q; i <= UATTN_OPERAND_V; ++i)
    problem->has_operand[i] = true;
  for (int i = UATTN_OPERAND_OUT; i <= UATTN_OPERAND_DOUT; ++i)
    problem->has_operand[i] = is_backward;
  if (!is_backward) {
    problem->has_operand[UATTN_OPERAND_DLSE] = false;
    problem->z_loss_weight = 0;
  }
  for (int i = 0; i < uattn_result_count(kind); ++i)
    problem->has_result[i] = !is_backward || i != UATTN_RESULT_DTEMP ||
                             problem->has_operand[UATTN_OPERAND_TEMP];
}

static void take_forward_results(const host_case_t *host_case,
                                 host_fixture_t *backward) {
  host_fixture_t forward = host_fixture_create(host_case, UATTN_OP_FORWARD);
  uattn_tensor_t *operands = backward->tensors.operands;
  for (int i = 0; i < UATTN_FORWARD_RESULT_COUNT; ++i) {
    const uattn_tensor_t *operand = &operands[UATTN_OPERAND_OUT + i];
    double *numbers = host_fixture_reference(&forward, i);
    for (size_t n = 0; n < host_tensor_size(operand); ++n)
      host_tensor_set(operand, n, numbers[n]);
    free(numbers);
  }
  host_fixture_destroy(&forward);
}

host_fixture_t host_fixture_create(const host_case_t *host_case,
                                   uattn_op_kind_t kind) {
  host_fixture_t fixture = {.problem = host_case->problem};
  uattn_problem_t *problem = &fixture.problem;
  int64_t shape[4] = {0};
  complete_problem(problem, kind);
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i) {
    uattn_operand_t operand = (uattn_operand_t)i;
    uattn_tensor_t *tensor = &fixture.tensors.operands[i];
    if (!problem->has_operand[i])
      continue;
    int rank = uattn_operand_shape(problem, operand, shape);
    *tensor = make_tensor(uattn_operand_dtype(problem, operand), rank, shape);
    for (size_t n = 0; n < host_tensor_size(tensor); ++n)
      host_tensor_set(tensor, n, draw(host_case, operand, tensor, n));
  }
  for (int i = 0; i < uattn_result_count(kind); ++i)
    if (problem->has_result[i]) {
      int rank = uattn_result_shape(problem, i, shape);
      fixture.tensors.results[i] =
          make_tensor(uattn_result_dtype(problem, i), rank, shape);
    }
  if (kind == UATTN_OP_BACKWARD)
    take_forward_results(host_case, &fixture);
  return fixture;
}

void host_fixture_destroy(host_fixture_t *fixture) {
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    free(fixture->tensors.operands[i].data);
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    free(fixture->tensors.results[i].data);
}

void host_fixture_run(host_fixture_t *fixture, int thread_count) {
  uattn_host_options_t options = {.struct_size = sizeof options,
                                  .thread_count = thread_count};
  assert_ok(uattn_host_run(&fixture->problem, &fixture->tensors, &options));
}

/* The reference knows heads of whole 64 numbers alone: zeros fill them up and
 * change nothing. */
static int64_t padded_head_dim(const uattn_problem_t *problem) {
  return (problem->head_dim + 63) / 64 * 64;
}

/* An operand as the reference takes it. */
static void *widen(const host_fixture_t *fixture,
                   const uattn_tensor_t *tensor) {
  size_t size = host_tensor_size(tensor);
  size_t row = tensor->rank == 4 ? (size_t)tensor->shape[3] : 1;
  size_t pitch =
      tensor->rank == 4 ? (size_t)padded_head_dim(&fixture->problem) : 1;
  float *numbers = uattn_allocate(size / row * pitch * sizeof *numbers);
  int32_t *integers = (int32_t *)(void *)numbers;
  for (size_t n = 0; n < size; ++n) {
    double number = host_tensor_number(tensor, n);
    if (tensor->dtype == UATTN_DTYPE_I32)
      integers[n] = (int32_t)number;
    else
      numbers[n / row * pitch + n % row] = (float)number;
  }
  return numbers;
}

double *host_fixture_reference(const host_fixture_t *fixture, int result) {
  uattn_problem_t problem = fixture->problem;
  const uattn_tensor_t *tensor = &fixture->tensors.results[result];
  size_t size = host_tensor_size(tensor);
  size_t row = tensor->rank == 4 ? (size_t)tensor->shape[3] : 1;
  size_t pitch = tensor->rank == 4 ? (size_t)padded_head_dim(&problem) : 1;
  uattn_reference_tensors_t tensors = {0};
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    if (problem.has_operand[i])
      tensors.operands[i] = widen(fixture, &fixture->tensors.operands[i]);
  double *numbers = uattn_allocate(size / row * pitch * sizeof *numbers);
  tensors.results[result] = numbers;
  problem.head_dim = padded_head_dim(&problem);
  if (problem.dtype == UATTN_DTYPE_F32)
    problem.dtype = UATTN_DTYPE_BF16; /* the reference rounds nothing */
  uattn_reference_options_t options = {.struct_size = sizeof options,
                                       .uses_given_out = true};
  assert_ok(uattn_reference_run(&problem, &tensors, &options));
  for (size_t n = 0; n < size; ++n)
    numbers[n] = numbers[n / row * pitch + n % row];
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    free((void *)tensors.operands[i]);
  return numbers;
}

void assert_same_host_results(const host_fixture_t *found,
                              const host_fixture_t *wanted) {
  bool has_number = false;
  for (int i = 0; i < uattn_result_count(found->problem.kind); ++i) {
    const uattn_tensor_t *a = &found->tensors.results[i];
    const uattn_tensor_t *b = &wanted->tensors.results[i];
    if (!a->data || !b->data)
      continue;
    for (size_t n = 0; n < host_tensor_size(a); ++n) {
      assert_memory_equal(host_tensor_at(a, n), host_tensor_at(b, n),
                          uattn_dtype_bytes(a->dtype));
      has_number = has_number || host_tensor_number(a, n) != 0;
    }
  }
  assert_true(has_number);
}
