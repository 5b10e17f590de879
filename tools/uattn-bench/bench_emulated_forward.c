/* What a whole forward kernel costs on the emulator.
 * Layer: tools. Must not know: instructions, MLIR's C interface.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench_emulated_forward.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"
#include "tools/uattn-run/random_stream.h"
#include "tools/uattn-run/run_compile.h"
#include "tools/uattn-run/run_pack.h"
#include "tools/uattn-run/run_progress.h"
#include "uattn/emulator.h"

enum { HEADS = 4, HEAD_DIM = 128, TENSOR_COUNT = 4 };

static const char source[] =
    "func.func @main(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,\n"
    "                %v: tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16> {\n"
    "  %out = \"uattn.ranker_attention\"(%q, %k, %v) {\n"
    "    cap = #uattn.cap<\"none\", 0.0 : f32, 0.0 : f32, 0.0 : f32>,\n"
    "    sm_scale = 0.088388346 : f32,\n"
    "    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,\n"
    "    resultSegmentSizes = array<i32: 1, 0>\n"
    "  } : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>,\n"
    "       tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>\n"
    "  return %out : tensor<?x?x?x128xbf16>\n}\n";

/* By the uattn-compile beside this program. */
static uattn_error_t *compile(uattn_artifact_t **out_artifact) {
  char *folder = NULL;
  uattn_error_t *error = uattn_folder_create_scratch(getenv("TMPDIR"), &folder);
  if (error)
    return error;
  uattn_string_t name = {0};
  uattn_string_appendf(&name, "%s/forward.mlir", folder);
  const char *path = uattn_string_get(&name);
  int exit_code = 0;
  char *refusal = NULL; /* stays NULL: kernels are wanted */
  error = uattn_file_write(path, source, strlen(source));
  if (!error)
    error = run_get_artifact(path, RUN_KERNELS_WANTED, out_artifact, &exit_code,
                             &refusal);
  if (!error && exit_code != 0)
    error = uattn_error_create(UATTN_ERROR_TOOLCHAIN,
                               "uattn-compile ended with %d", exit_code);
  unlink(path);
  rmdir(folder);
  uattn_string_release(&name);
  free(folder);
  return error;
}

static uattn_error_t *make_tensor(int64_t tokens, uint64_t index,
                                  uattn_tensor_t *out_tensor) {
  const int64_t shape[4] = {1, tokens, HEADS, HEAD_DIM};
  size_t count = (size_t)(tokens * HEADS * HEAD_DIM);
  float *numbers = uattn_try_allocate(count * sizeof *numbers);
  void *data = aligned_alloc(256, count * 2); /* a multiple of 256 */
  *out_tensor = uattn_tensor_dense(data, UATTN_DTYPE_BF16, 4, shape);
  if (!numbers || !data) {
    free(numbers);
    return uattn_error_create(UATTN_ERROR_INTERNAL,
                              "out of host memory for %zu numbers", count);
  }
  uint64_t key = uattn_random_key(0, index, 0);
  for (size_t i = 0; i < count; ++i)
    numbers[i] = (float)uattn_random_normal(key, i);
  run_pack(numbers, UATTN_DTYPE_BF16, count, data);
  free(numbers);
  return NULL;
}

static uattn_error_t *time_forward(const uattn_artifact_t *artifact,
                                   const uattn_tensor_t *tensors,
                                   uattn_emulator_statistics_t *statistics,
                                   double *out_seconds) {
  uattn_emulator_program_t *program = NULL;
  const uattn_emulator_call_t call = {.struct_size = sizeof call,
                                      .arguments = tensors,
                                      .argument_count = TENSOR_COUNT - 1,
                                      .results = &tensors[TENSOR_COUNT - 1],
                                      .result_count = 1};
  uattn_error_t *error = uattn_emulator_program_create(artifact, &program);
  double begin = run_seconds_now();
  if (!error)
    error = uattn_emulator_program_run(program, 0, &call, statistics);
  *out_seconds = run_seconds_now() - begin;
  uattn_emulator_program_destroy(program);
  return error;
}

uattn_error_t *bench_emulator_forward(int64_t tokens) {
  uattn_artifact_t *artifact = NULL;
  uattn_tensor_t tensors[TENSOR_COUNT] = {{0}};
  uattn_emulator_statistics_t statistics = {0};
  double seconds = 0;
  uattn_error_t *error = compile(&artifact);
  for (int i = 0; i < TENSOR_COUNT && !error; ++i)
    error = make_tensor(tokens, (uint64_t)i, &tensors[i]);
  if (!error)
    error = time_forward(artifact, tensors, &statistics, &seconds);
  if (!error)
    printf("forward, B 1, S %" PRId64 ", %d heads, D %d: %.3f s, %" PRIu64
           " warp instructions, %" PRIu64 " CTAs, %ld processors\n",
           tokens, HEADS, HEAD_DIM, seconds, statistics.instructions,
           statistics.ctas, sysconf(_SC_NPROCESSORS_ONLN));
  for (int i = 0; i < TENSOR_COUNT; ++i)
    free(tensors[i].data);
  uattn_artifact_destroy(artifact);
  return error;
}
