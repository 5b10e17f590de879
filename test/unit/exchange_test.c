/* Tests of launches on a framework's objects: what reaches the driver, what is
 * refused before. The framework is one of this file's.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime_test.h"

#include "runtime/dlpack_abi.h"
#include "uattn/exchange.h"

enum { GPU = 2, ORDINAL = 0, OBJECT_COUNT = 6, WORKSPACE_BYTES = 640 };

/* ---- A framework -----------------------------------------------------------
 */

static char none;
static void *const work_stream = (void *)(uintptr_t)0x5eed;

static struct {
  int allocated_count;
  int alive_count;
  size_t allocated_bytes;
  const char *refusal; /* of the next allocation */
  bool has_no_stream;
  bool is_released;
  int release_count;
  bool has_exception;
  _Alignas(256) char memory[WORKSPACE_BYTES];
} framework;

static void *release_lock(void) {
  assert_false(framework.is_released);
  framework.is_released = true;
  ++framework.release_count;
  return &framework;
}

static void take_lock(void *released) {
  assert_ptr_equal(released, &framework);
  assert_true(framework.is_released);
  framework.is_released = false;
}

static void *tuple_item(void *tuple, ptrdiff_t index) {
  assert_false(framework.is_released);
  framework.has_exception = index >= OBJECT_COUNT;
  return framework.has_exception ? NULL : ((void **)tuple)[index];
}

static void clear_exception(void) { framework.has_exception = false; }

static int describe(void *object, dlpack_tensor_t *out_tensor) {
  assert_false(framework.is_released);
  assert_false(framework.has_exception);
  framework.has_exception = ((const dlpack_tensor_t *)object)->rank < 0;
  if (framework.has_exception)
    return -1;
  *out_tensor = *(const dlpack_tensor_t *)object;
  return 0;
}

static void give_back(dlpack_managed_t *tensor) {
  assert_false(framework.is_released);
  --framework.alive_count;
  free(tensor);
}

static int allocate(dlpack_tensor_t *prototype, dlpack_managed_t **out_tensor,
                    void *user_data,
                    void (*set_error)(void *user_data, const char *kind,
                                      const char *message)) {
  assert_false(framework.is_released);
  if (framework.refusal) {
    set_error(user_data, "MemoryError", framework.refusal);
    return -1;
  }
  assert_int_equal(prototype->device.type, GPU);
  assert_int_equal(prototype->device.ordinal, ORDINAL);
  assert_int_equal(prototype->rank, 1);
  assert_int_equal(prototype->dtype.bits, 8);
  dlpack_managed_t *tensor = calloc(1, sizeof *tensor);
  tensor->destroy = give_back;
  tensor->tensor = *prototype;
  tensor->tensor.data = framework.memory;
  framework.allocated_bytes = (size_t)prototype->shape[0];
  ++framework.allocated_count;
  ++framework.alive_count;
  *out_tensor = tensor;
  return 0;
}

static int current_stream(int32_t device_type, int32_t ordinal,
                          void **out_stream) {
  assert_false(framework.is_released);
  assert_int_equal(device_type, GPU);
  assert_int_equal(ordinal, ORDINAL);
  *out_stream = work_stream;
  framework.has_exception = framework.has_no_stream;
  return framework.has_no_stream ? -1 : 0;
}

static const dlpack_exchange_t exchange = {.version = {1, 3},
                                           .allocate = allocate,
                                           .describe = describe,
                                           .current_stream = current_stream};
static const uattn_framework_t as_binding = {.struct_size = sizeof as_binding,
                                             .exchange_api = &exchange,
                                             .tuple_item = tuple_item,
                                             .none = &none,
                                             .release_lock = release_lock,
                                             .take_lock = take_lock,
                                             .clear_exception =
                                                 clear_exception};

/* ---- Launches --------------------------------------------------------------
 */

static const char *const names[OBJECT_COUNT] = {"q",      "k",   "v",
                                                "absent", "out", "lse"};

typedef struct {
  uattn_device_t *device;
  uattn_artifact_t *artifact;
  uattn_program_t *program;
  uattn_tensor_t tensors[OBJECT_COUNT];
  dlpack_tensor_t given[OBJECT_COUNT];
  void *objects[OBJECT_COUNT];
  _Alignas(16) char memory[OBJECT_COUNT][16];
  uattn_exchange_launch_t launch;
} fixture_t;

static void give_object(fixture_t *fixture, size_t index) {
  uattn_tensor_t *tensor = &fixture->tensors[index];
  bool is_float = tensor->dtype == UATTN_DTYPE_F32;
  fixture->given[index] = (dlpack_tensor_t){
      .data = fixture->memory[index],
      .device = {GPU, ORDINAL},
      .rank = tensor->rank,
      .dtype = {is_float ? DLPACK_FLOAT : DLPACK_BFLOAT, is_float ? 32 : 16, 1},
      .shape = tensor->shape,
      .strides = tensor->strides};
  fixture->objects[index] = &fixture->given[index];
}

static fixture_t *make_fixture(void) {
  fixture_t *fixture = calloc(1, sizeof *fixture);
  const int64_t q_shape[4] = {2, 300, 8, 64};
  const int64_t k_shape[4] = {2, 70, 4, 64};
  const int64_t lse_shape[3] = {2, 8, 300};
  fixture->device = open_fake_device();
  fixture->artifact =
      sample_artifact(&(sample_options_t){.is_dynamic = true, .has_lse = true});
  assert_ok(uattn_program_create(fixture->device, fixture->artifact,
                                 &fixture->program));
  for (size_t i = 0; i < OBJECT_COUNT; ++i) {
    bool is_of_queries = i == 0 || i == 4;
    fixture->tensors[i] = uattn_tensor_dense(NULL, UATTN_DTYPE_BF16, 4,
                                             is_of_queries ? q_shape : k_shape);
  }
  fixture->tensors[3] = (uattn_tensor_t){.rank = -1};
  fixture->tensors[5] = uattn_tensor_dense(NULL, UATTN_DTYPE_F32, 3, lse_shape);
  for (size_t i = 0; i < OBJECT_COUNT; ++i)
    give_object(fixture, i);
  fixture->objects[3] = &none;
  fixture->launch =
      (uattn_exchange_launch_t){.struct_size = sizeof fixture->launch,
                                .framework = &as_binding,
                                .program = fixture->program,
                                .device_type = GPU,
                                .device_ordinal = ORDINAL,
                                .tensors = fixture->tensors,
                                .argument_count = 4,
                                .result_count = 2};
  memset(&framework, 0, sizeof framework);
  return fixture;
}

static void destroy_fixture(fixture_t *fixture) {
  assert_int_equal(framework.alive_count, 0);
  assert_false(framework.is_released);
  assert_int_equal(fake_depth(), 0);
  uattn_program_destroy(fixture->program);
  uattn_artifact_destroy(fixture->artifact);
  uattn_device_close(fixture->device);
  free(fixture);
}

static uattn_error_t *launch(fixture_t *fixture) {
  return uattn_exchange_launch(&fixture->launch, fixture->objects);
}

static void objects_are_launched_on_the_framework_s_stream(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  fixture->given[1].byte_offset = 0;
  assert_ok(launch(fixture));
  fake_cuda_t *fake = fake_state();
  assert_int_equal(fake->launch_count, 1);
  assert_ptr_equal(fake->launches[0].stream, work_stream);
  assert_int_equal(fake->map_count, 4); /* q, k, v, out */
  static const size_t mapped[] = {0, 1, 2, 4};
  for (size_t i = 0; i < COUNT_OF(mapped); ++i)
    assert_ptr_equal(fake->maps[i].address, fixture->memory[mapped[i]]);
  assert_int_equal(framework.allocated_count, 0);
  destroy_fixture(fixture);
}

static void check_released(void **params) {
  (void)params;
  assert_true(framework.is_released);
}

/* A launch may wait for room in the driver's queue, behind work that only
 * another thread of Python can let go on. */
static void the_driver_is_called_without_the_lock(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  fixture->launch.workspace_bytes = WORKSPACE_BYTES;
  fake_state()->on_launch = check_released;
  assert_ok(launch(fixture));
  assert_int_equal(fake_state()->launch_count, 1);
  assert_int_equal(framework.release_count, 1);
  assert_false(framework.is_released);
  destroy_fixture(fixture);
}

static void a_byte_offset_counts(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  fixture->given[1].data = fixture->memory[0];
  fixture->given[1].byte_offset = 32;
  assert_ok(launch(fixture));
  assert_ptr_equal(fake_state()->maps[1].address, fixture->memory[2]);
  destroy_fixture(fixture);
}

static void the_workspace_is_the_framework_s_and_goes_back(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  fixture->launch.workspace_bytes = WORKSPACE_BYTES;
  assert_ok(launch(fixture));
  assert_int_equal(framework.allocated_count, 1);
  assert_int_equal(framework.allocated_bytes, WORKSPACE_BYTES);
  assert_int_equal(framework.alive_count, 0);
  framework.refusal = "out of memory";
  assert_error(launch(fixture), UATTN_ERROR_DEVICE,
               "the framework gives no workspace: MemoryError: out of memory");
  assert_int_equal(fake_state()->launch_count, 1);
  destroy_fixture(fixture);
}

static void no_stream_is_an_error(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  framework.has_no_stream = true;
  assert_error(launch(fixture), UATTN_ERROR_DEVICE,
               "the framework has no current stream of device 0");
  assert_false(framework.has_exception);
  assert_int_equal(fake_state()->launch_count, 0);
  destroy_fixture(fixture);
}

static void an_exception_of_the_framework_becomes_an_error(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  fixture->given[1].rank = -1;
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "object 1 cannot be had by DLPack");
  assert_false(framework.has_exception);
  destroy_fixture(fixture);
}

/* Each change of one object is seen, and nothing was launched. */
static void other_objects_are_refused(void **state) {
  (void)state;
  for (size_t index = 0; index < OBJECT_COUNT; ++index) {
    if (index == 3)
      continue;
    for (int change = 0; change < 9; ++change) {
      fixture_t *fixture = make_fixture();
      dlpack_tensor_t *given = &fixture->given[index];
      int64_t other[4];
      memcpy(other, given->shape, sizeof other);
      switch (change) {
      case 0:
        given->device.type = DLPACK_CPU;
        break;
      case 1:
        given->device.ordinal = 1;
        break;
      case 2:
        given->rank -= 1;
        break;
      case 3:
        given->dtype.code = DLPACK_INT;
        break;
      case 4:
        given->dtype.bits *= 2;
        break;
      case 5:
        given->dtype.lanes = 2;
        break;
      case 6:
        given->strides = NULL;
        break;
      default: /* the last dimension, in its size and in its stride */
        if (change == 8)
          memcpy(other, given->strides, sizeof other);
        other[given->rank - 1] += 1;
        *(change == 8 ? &given->strides : &given->shape) = other;
      }
      uattn_error_t *error = launch(fixture);
      if (!error)
        fail_msg("change %d of %s is not seen", change, names[index]);
      assert_error_says(error, UATTN_ERROR_INVALID_ARGUMENT,
                        "has another device, type, shape or strides");
      assert_int_equal(fake_state()->launch_count, 0);
      destroy_fixture(fixture);
    }
  }
}

static void what_is_absent_stays_so(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  fixture->objects[3] = fixture->objects[1];
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "object 3 is given: wanted None, as the launch was prepared "
               "without it");
  fixture->objects[3] = &none;
  fixture->objects[2] = &none;
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "object 2 is None: wanted a tensor");
  destroy_fixture(fixture);
}

static void a_tuple_that_is_too_short_is_refused(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  uattn_tensor_t more[OBJECT_COUNT + 1];
  memcpy(more, fixture->tensors, sizeof fixture->tensors);
  more[OBJECT_COUNT] = more[OBJECT_COUNT - 1];
  fixture->launch.tensors = more;
  ++fixture->launch.result_count;
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "object 6 is None: wanted a tensor");
  assert_false(framework.has_exception);
  destroy_fixture(fixture);
}

static void too_many_objects_are_refused(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  fixture->launch.result_count = SIZE_MAX;
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "4 arguments and 18446744073709551615 results: wanted at most "
               "64 together");
  destroy_fixture(fixture);
}

/* What the objects are is right, but not what the function wants. */
static void launches_are_checked_as_ever(void **state) {
  (void)state;
  fixture_t *fixture = make_fixture();
  fixture->launch.result_count = 1;
  assert_error(launch(fixture), UATTN_ERROR_INVALID_ARGUMENT,
               "1 results: function main gives 2");
  destroy_fixture(fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(objects_are_launched_on_the_framework_s_stream),
      cmocka_unit_test(the_driver_is_called_without_the_lock),
      cmocka_unit_test(a_byte_offset_counts),
      cmocka_unit_test(the_workspace_is_the_framework_s_and_goes_back),
      cmocka_unit_test(no_stream_is_an_error),
      cmocka_unit_test(an_exception_of_the_framework_becomes_an_error),
      cmocka_unit_test(other_objects_are_refused),
      cmocka_unit_test(what_is_absent_stays_so),
      cmocka_unit_test(a_tuple_that_is_too_short_is_refused),
      cmocka_unit_test(too_many_objects_are_refused),
      cmocka_unit_test(launches_are_checked_as_ever),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
