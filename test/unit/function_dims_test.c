/* Tests of which dimensions of a function are one.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "sample_artifact.h"

static const sample_options_t chain = {
    .is_dynamic = true, .has_temp = true, .has_lse = true, .op_count = 3};

typedef struct {
  uattn_artifact_t *artifact;
  const uattn_artifact_function_t *function;
  uattn_function_dims_t dims;
} fixture_t;

static fixture_t make_fixture(const sample_options_t *options) {
  fixture_t fixture = {.artifact = sample_artifact(options)};
  fixture.function = fixture.artifact->functions;
  assert_ok(uattn_function_dims_create(fixture.function, &fixture.dims));
  return fixture;
}

static void release_fixture(fixture_t *fixture) {
  uattn_function_dims_release(&fixture->dims);
  uattn_artifact_destroy(fixture->artifact);
}

static uattn_shape_view_t view_of(int64_t (*shapes)[4]) {
  return (uattn_shape_view_t){.first = shapes[0],
                              .stride_bytes = sizeof *shapes};
}

static void sizes_flow_through_ops(void **state) {
  (void)state;
  fixture_t fixture = make_fixture(&chain);
  int64_t shapes[4][4] = {
      {2, 100, 8, 64}, {2, 70, 4, 64}, {2, 70, 4, 64}, {2, 100}};
  uattn_shape_view_t view = view_of(shapes);
  assert_ok(uattn_function_check_shapes(fixture.function, &fixture.dims, view));
  const uattn_artifact_step_t *last = &fixture.function->steps[2];
  int64_t shape[4];
  uattn_function_value_shape(fixture.function, &fixture.dims, view,
                             (uint32_t)last->result_values[UATTN_RESULT_OUT],
                             shape);
  assert_memory_equal(shape, shapes[0], sizeof shape);
  uattn_function_value_shape(fixture.function, &fixture.dims, view,
                             (uint32_t)last->result_values[UATTN_RESULT_LSE],
                             shape);
  assert_true(shape[0] == 2 && shape[1] == 8 && shape[2] == 100 &&
              shape[3] == 0);
  uattn_problem_t problem =
      uattn_function_step_problem(fixture.function, &fixture.dims, view, 2);
  assert_true(problem.batch == 2 && problem.q_tokens == 100 &&
              problem.kv_tokens == 70 && problem.q_heads == 8 &&
              problem.kv_heads == 4 && problem.head_dim == 64);
  release_fixture(&fixture);
}

static void wrong_shapes_are_named(void **state) {
  (void)state;
  static const struct {
    int64_t shapes[4][4];
    const char *message;
  } cases[] = {
      {{{2, 9, 8, 64}, {3, 7, 4, 64}, {2, 7, 4, 64}, {2, 9}},
       "argument 1 (k) has 3 in dimension 0: wanted 2, as argument 0 (q) has "
       "in dimension 0"},
      {{{2, 9, 8, 64}, {2, 7, 4, 64}, {2, 6, 4, 64}, {2, 9}},
       "argument 2 (v) has 6 in dimension 1: wanted 7, as argument 1 (k) has "
       "in dimension 1"},
      {{{2, 9, 8, 64}, {2, 7, 4, 64}, {2, 7, 4, 64}, {2, 8}},
       "argument 3 (temp) has 8 in dimension 1: wanted 9, as argument 0 (q) "
       "has in dimension 1"},
      {{{2, 9, 8, 32}, {2, 7, 4, 64}, {2, 7, 4, 64}, {2, 9}},
       "argument 0 (q) has 32 in dimension 3: wanted 64"},
      {{{2, 0, 8, 64}, {2, 7, 4, 64}, {2, 7, 4, 64}, {2, 9}},
       "argument 0 (q) has 0 in dimension 1: wanted 1 to 2147483647"},
      {{{2, 9, 8, 64},
        {2, INT64_C(1) << 31, 4, 64},
        {2, INT64_C(1) << 31, 4, 64},
        {2, 9}},
       "argument 1 (k) has 2147483648 in dimension 1: wanted 1 to 2147483647"},
      {{{2, 9, 8, 64}, {2, 7, 3, 64}, {2, 7, 3, 64}, {2, 9}},
       "op 0: q has 8 heads, not a multiple of the 3 kv heads"},
  };
  fixture_t fixture = make_fixture(&chain);
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    int64_t shapes[4][4];
    memcpy(shapes, cases[i].shapes, sizeof shapes);
    assert_error(uattn_function_check_shapes(fixture.function, &fixture.dims,
                                             view_of(shapes)),
                 UATTN_ERROR_INVALID_ARGUMENT, cases[i].message);
  }
  release_fixture(&fixture);
}

/* A static size anywhere in the chain holds for the arguments too. */
static void one_static_size_binds_all(void **state) {
  (void)state;
  uattn_artifact_t *artifact = sample_artifact(&chain);
  uattn_artifact_function_t *function = artifact->functions;
  int32_t last = function->steps[2].result_values[UATTN_RESULT_OUT];
  function->values[last].shape[1] = 33;
  uattn_function_dims_t dims = {0};
  assert_ok(uattn_function_dims_create(function, &dims));
  int64_t shapes[4][4] = {
      {1, 32, 2, 64}, {1, 7, 1, 64}, {1, 7, 1, 64}, {1, 32}};
  assert_error(uattn_function_check_shapes(function, &dims, view_of(shapes)),
               UATTN_ERROR_INVALID_ARGUMENT,
               "argument 0 (q) has 32 in dimension 1: wanted 33");
  uattn_function_dims_release(&dims);
  uattn_artifact_destroy(artifact);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_flow_through_ops),
      cmocka_unit_test(wrong_shapes_are_named),
      cmocka_unit_test(one_static_size_binds_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
