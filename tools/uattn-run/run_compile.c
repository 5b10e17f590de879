/* Gets the artifact that is to be run, compiling a .mlir on the way.
 * Layer: tools. Must not know: MLIR, devices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run_compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

static bool is_artifact(const char *file) {
  size_t size = strlen(file);
  return size > 6 && strcmp(file + size - 6, ".uattn") == 0;
}

uattn_error_t *run_check_file(const char *file) {
  if (access(file, R_OK) == 0)
    return NULL;
  return uattn_error_create(UATTN_ERROR_IO, "cannot read `%s`: %s", file,
                            errno == ENOENT ? "no such file" : strerror(errno));
}

/* NULL where there is none. */
static char *find_compiler(void) {
  char *folder = uattn_program_directory();
  if (!folder)
    return NULL;
  uattn_string_t path = {0};
  uattn_string_appendf(&path, "%s/uattn-compile", folder);
  free(folder);
  char *found = uattn_string_take(&path);
  if (access(found, X_OK) == 0)
    return found;
  free(found);
  return NULL;
}

/* The artifact, or an exit code other than 0 of the compiler. What that says
 * goes to `messages`, or to stderr for NULL. */
static uattn_error_t *compile(const char *compiler, const char *file,
                              bool wants_kernels, uattn_string_t *messages,
                              uattn_artifact_t **out_artifact,
                              int *out_exit_code) {
  char *folder = NULL;
  uattn_error_t *error = uattn_folder_create_scratch(getenv("TMPDIR"), &folder);
  if (error)
    return error;
  uattn_string_t path = {0};
  uattn_string_appendf(&path, "%s/program.uattn", folder);
  char *target = uattn_string_take(&path);
  const char *arguments[] = {compiler,
                             file,
                             "-o",
                             target,
                             wants_kernels ? "--emit=artifact"
                                           : "--emit=problem",
                             NULL};
  error = uattn_process_run(arguments, messages, out_exit_code);
  if (!error && *out_exit_code > 128)
    error =
        uattn_error_create(UATTN_ERROR_TOOLCHAIN, "`%s` was ended by signal %d",
                           compiler, *out_exit_code - 128);
  if (!error && *out_exit_code == 0)
    error = uattn_error_annotate(uattn_artifact_read(target, out_artifact),
                                 "the compiled file");
  unlink(target);
  rmdir(folder);
  free(target);
  free(folder);
  return error;
}

static char *first_line(const char *text) {
  char *line = uattn_string_copy(text);
  line[strcspn(line, "\n")] = '\0';
  return line;
}

/* With kernels, or else without; the compiler's messages are for the user
 * where there is no way. */
static uattn_error_t *compile_if_possible(const char *compiler,
                                          const char *file,
                                          uattn_artifact_t **out_artifact,
                                          int *out_exit_code,
                                          char **out_refusal) {
  uattn_string_t messages = {0};
  uattn_string_t ignored = {0};
  int problem_exit_code = 0;
  uattn_error_t *error =
      compile(compiler, file, true, &messages, out_artifact, out_exit_code);
  bool is_refused = !error && *out_exit_code == 2;
  if (is_refused)
    error = compile(compiler, file, false, &ignored, out_artifact,
                    &problem_exit_code);
  if (is_refused && !error && problem_exit_code == 0) {
    *out_exit_code = 0;
    *out_refusal = first_line(uattn_string_get(&messages));
  } else {
    fputs(uattn_string_get(&messages), stderr);
  }
  uattn_string_release(&messages);
  uattn_string_release(&ignored);
  return error;
}

uattn_error_t *run_get_artifact(const char *file, run_kernels_t kernels,
                                uattn_artifact_t **out_artifact,
                                int *out_exit_code, char **out_refusal) {
  *out_exit_code = 0;
  *out_refusal = NULL;
  if (is_artifact(file))
    return uattn_artifact_read(file, out_artifact);
  char *compiler = find_compiler();
  if (!compiler)
    return uattn_error_create(UATTN_ERROR_TOOLCHAIN,
                              "no uattn-compile beside this program for the "
                              "file `%s`: expected one, or a .uattn",
                              file);
  uattn_error_t *error =
      kernels == RUN_KERNELS_IF_POSSIBLE
          ? compile_if_possible(compiler, file, out_artifact, out_exit_code,
                                out_refusal)
          : compile(compiler, file, kernels == RUN_KERNELS_WANTED, NULL,
                    out_artifact, out_exit_code);
  free(compiler);
  return error;
}
