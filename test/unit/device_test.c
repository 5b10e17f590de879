/* Tests of opening a GPU, its memory, and loading programs on it.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime_test.h"

#include "runtime/runtime.h"

static uattn_error_t *open_with(uattn_device_options_t options) {
  options.struct_size = sizeof options;
  if (!options.driver_path)
    options.driver_path = FAKE_CUDA_PATH;
  uattn_device_t *device = NULL;
  uattn_error_t *error = uattn_device_open(&options, &device);
  uattn_device_close(device);
  return error;
}

static void a_device_tells_what_it_is(void **state) {
  (void)state;
  uattn_device_t *device = open_fake_device();
  assert_string_equal(uattn_device_name(device), "Fake GPU");
  assert_int_equal(uattn_device_compute_capability(device), 90);
  assert_int_equal(fake_state()->retained_count, 1);
  uattn_device_close(device);
  assert_int_equal(fake_state()->retained_count, 0);
  uattn_device_close(NULL);
}

static void a_missing_driver_is_a_device_error(void **state) {
  (void)state;
  assert_error_says(
      open_with((uattn_device_options_t){.driver_path = "libno-such-cuda.so"}),
      UATTN_ERROR_DEVICE, "no CUDA driver: libno-such-cuda.so");
  assert_error_says(
      open_with((uattn_device_options_t){.driver_path = "libm.so.6"}),
      UATTN_ERROR_DEVICE,
      "CUDA driver libm.so.6 lacks cuInit: wanted a driver of CUDA 12.0");
}

static void a_missing_gpu_is_a_device_error(void **state) {
  (void)state;
  assert_error_says(open_with((uattn_device_options_t){.ordinal = 1}),
                    UATTN_ERROR_DEVICE,
                    "no CUDA device 1: the driver offers 1");
  assert_error_says(open_with((uattn_device_options_t){.ordinal = -1}),
                    UATTN_ERROR_DEVICE,
                    "no CUDA device -1: the driver offers 1");
  setenv("UATTN_FAKE_CUDA", "devices=0", 1);
  assert_error_says(open_with((uattn_device_options_t){0}), UATTN_ERROR_DEVICE,
                    "no CUDA device 0: the driver offers 0");
  unsetenv("UATTN_FAKE_CUDA");
}

static void the_current_context_can_be_used(void **state) {
  (void)state;
  assert_error_says(
      open_with((uattn_device_options_t){.context = UATTN_CONTEXT_CURRENT}),
      UATTN_ERROR_DEVICE, "no CUDA context is current on this thread");
  assert_error_says(
      open_with((uattn_device_options_t){.context = (uattn_context_choice_t)5}),
      UATTN_ERROR_INVALID_ARGUMENT, "context choice is 5: wanted primary (0)");
  cu_result_t (*push)(cu_context_t) = NULL;
  cu_result_t (*pop)(cu_context_t *) = NULL;
  void *symbols[] = {fake_symbol("cuCtxPushCurrent_v2"),
                     fake_symbol("cuCtxPopCurrent_v2")};
  memcpy(&push, &symbols[0], sizeof push);
  memcpy(&pop, &symbols[1], sizeof pop);
  assert_int_equal(push((cu_context_t)(void *)fake_state()), 0);
  assert_ok(
      open_with((uattn_device_options_t){.context = UATTN_CONTEXT_CURRENT}));
  assert_int_equal(fake_state()->retained_count, 0);
  assert_int_equal(fake_depth(), 1);
  cu_context_t popped = NULL;
  assert_int_equal(pop(&popped), 0);
}

static void memory_holds_what_was_copied(void **state) {
  (void)state;
  uattn_device_t *device = open_fake_device();
  void *data = NULL;
  char text[8] = "abcdefg";
  char back[8] = "";
  assert_ok(uattn_device_allocate(device, sizeof text, &data));
  assert_ok(uattn_device_upload(device, data, text, sizeof text));
  assert_ok(uattn_device_fill(device, data, 'x', 2));
  assert_ok(uattn_device_download(device, back, data, sizeof back));
  assert_string_equal(back, "xxcdefg");
  assert_ok(uattn_device_synchronize(device));
  uattn_device_free(device, data);
  uattn_device_free(device, NULL);
  assert_int_equal(fake_state()->used_bytes, 0);
  assert_int_equal(fake_depth(), 0);
  uattn_device_close(device);
}

static void memory_that_runs_out_is_told(void **state) {
  (void)state;
  uattn_device_t *device = open_fake_device();
  fake_state()->memory_bytes = 1000;
  void *data = NULL;
  assert_error(uattn_device_allocate(device, 1001, &data), UATTN_ERROR_DEVICE,
               "out of memory on Fake GPU: wanted 1001 bytes, 1000 of 1000 are "
               "free");
  assert_null(data);
  uattn_device_close(device);
}

static void time_between_marks_is_told(void **state) {
  (void)state;
  uattn_device_t *device = open_fake_device();
  uattn_timer_t *timer = NULL;
  float ms = 0;
  fake_state()->launch_count = 1; /* code is loaded */
  assert_ok(uattn_timer_create(device, 2, &timer));
  assert_ok(uattn_timer_mark(timer, 0));
  assert_ok(uattn_timer_mark(timer, 1));
  assert_ok(uattn_timer_elapsed(timer, 0, 1, &ms));
  assert_true(ms == 1);
  uattn_timer_destroy(timer);
  assert_int_equal(fake_state()->event_count, 0);
  uattn_device_close(device);
}

/* Loads a sample on a device that `prepare` has changed, and unloads it. */
static uattn_error_t *load_with(const sample_options_t *options,
                                void (*prepare)(fake_cuda_t *fake,
                                                uattn_artifact_t *artifact)) {
  uattn_device_t *device = open_fake_device();
  uattn_artifact_t *artifact = sample_artifact(options);
  if (prepare)
    prepare(fake_state(), artifact);
  uattn_program_t *program = NULL;
  uattn_error_t *error = uattn_program_create(device, artifact, &program);
  assert_true(!error == !!program);
  assert_int_equal(fake_state()->module_count, error ? 0 : 1);
  uattn_program_destroy(program);
  assert_int_equal(fake_state()->module_count, 0);
  assert_int_equal(fake_depth(), 0);
  uattn_artifact_destroy(artifact);
  uattn_device_close(device);
  return error;
}

static void kernels_are_loaded_and_unloaded(void **state) {
  (void)state;
  assert_ok(load_with(&(sample_options_t){0}, NULL));
  assert_true(fake_state()->was_ptx);
  assert_string_equal(fake_state()->entry, "uattn_forward");
  assert_int_equal(fake_state()->smem_limit_bytes, 100000);
  assert_ok(load_with(&(sample_options_t){.has_cubin = true}, NULL));
  assert_false(fake_state()->was_ptx);
}

static void refuse_cubin(fake_cuda_t *fake, uattn_artifact_t *artifact) {
  (void)artifact;
  fake->refuses_cubin = true;
}

static void refuse_both(fake_cuda_t *fake, uattn_artifact_t *artifact) {
  (void)artifact;
  fake->refuses_cubin = fake->refuses_ptx = true;
}

static void refuse_lone_cubin(fake_cuda_t *fake, uattn_artifact_t *artifact) {
  fake->refuses_cubin = true;
  artifact->images[0].ptx[0] = '\0';
}

static void ptx_stands_in_for_a_refused_cubin(void **state) {
  (void)state;
  sample_options_t options = {.has_cubin = true};
  assert_ok(load_with(&options, refuse_cubin));
  assert_true(fake_state()->was_ptx);
  assert_error_says(load_with(&options, refuse_both), UATTN_ERROR_DEVICE,
                    "the driver cannot compile the PTX: CUDA_ERROR_INVALID_PTX "
                    "(218, as the test wants); its log: line 1: not to my "
                    "taste");
  assert_error_says(load_with(&options, refuse_lone_cubin), UATTN_ERROR_DEVICE,
                    "the driver refuses the cubin: CUDA_ERROR_INVALID_PTX");
}

static void name_later(fake_cuda_t *fake, uattn_artifact_t *artifact) {
  (void)fake;
  strcpy(artifact->images[0].chip, "sm_99");
}

static void name_older(fake_cuda_t *fake, uattn_artifact_t *artifact) {
  (void)fake;
  strcpy(artifact->images[0].chip, "sm_80");
}

static void name_nonsense(fake_cuda_t *fake, uattn_artifact_t *artifact) {
  (void)fake;
  strcpy(artifact->images[0].chip, "gfx9");
}

static void another_chip_is_refused(void **state) {
  (void)state;
  sample_options_t options = {.has_cubin = true};
  setenv("UATTN_FAKE_CUDA", "capability=80", 1);
  assert_error_says(load_with(&options, NULL), UATTN_ERROR_DEVICE,
                    "found Fake GPU with compute capability 8.0, wanted 9.0");
  setenv("UATTN_FAKE_CUDA", "capability=100", 1);
  assert_error_says(load_with(&options, NULL), UATTN_ERROR_DEVICE,
                    "found Fake GPU with compute capability 10.0, wanted 9.0");
  unsetenv("UATTN_FAKE_CUDA");
  assert_error_says(load_with(&options, name_later), UATTN_ERROR_DEVICE,
                    "compute capability 9.0, wanted 9.9 or later");
  assert_ok(load_with(&options, name_older));
  assert_error_says(load_with(&options, name_nonsense), UATTN_ERROR_UNSUPPORTED,
                    "chip gfx9 is not known: wanted a name such as sm_90a");
}

static void kernels_that_do_not_fit_are_named(void **state) {
  (void)state;
  uattn_device_t *device = open_fake_device();
  uattn_artifact_t *artifact = sample_artifact(&(sample_options_t){0});
  uattn_program_t *program = NULL;
  artifact->kernels[0].dynamic_smem_bytes = 300000;
  assert_error(uattn_program_create(device, artifact, &program),
               UATTN_ERROR_DEVICE,
               "kernel uattn_forward wants 300000 bytes of shared memory: Fake "
               "GPU has 232448");
  artifact->kernels[0].dynamic_smem_bytes = 0;
  strcpy(artifact->kernels[0].entry, "missing");
  assert_error(uattn_program_create(device, artifact, &program),
               UATTN_ERROR_DEVICE,
               "kernel missing: cannot find it in its image: "
               "CUDA_ERROR_NOT_FOUND (500, as the test wants)");
  assert_int_equal(fake_state()->module_count, 0);
  uattn_artifact_destroy(artifact);
  uattn_device_close(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_device_tells_what_it_is),
      cmocka_unit_test(a_missing_driver_is_a_device_error),
      cmocka_unit_test(a_missing_gpu_is_a_device_error),
      cmocka_unit_test(the_current_context_can_be_used),
      cmocka_unit_test(memory_holds_what_was_copied),
      cmocka_unit_test(memory_that_runs_out_is_told),
      cmocka_unit_test(time_between_marks_is_told),
      cmocka_unit_test(kernels_are_loaded_and_unloaded),
      cmocka_unit_test(ptx_stands_in_for_a_refused_cubin),
      cmocka_unit_test(another_chip_is_refused),
      cmocka_unit_test(kernels_that_do_not_fit_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
