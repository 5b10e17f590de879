/* The compiler as a library: a module's text in, an artifact's bytes out.
 * Layer: compiler (public). Must not know: files, the environment, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_COMPILER_H
#define UATTN_COMPILER_H

#include "uattn/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a compilation ends with. */
typedef enum {
  UATTN_EMIT_ARTIFACT = 0, /* the .uattn file */
  UATTN_EMIT_PROBLEM = 1,  /* a .uattn file without kernels: what is asked, for
                              the reference */
  UATTN_EMIT_PLANNED = 2,  /* a module of that level, as text */
  UATTN_EMIT_PIPELINE = 3,
  UATTN_EMIT_THREAD = 4,
  UATTN_EMIT_LLVM = 5,
  UATTN_EMIT_PTX = 6,  /* of the one kernel of the module */
  UATTN_EMIT_CUBIN = 7 /* likewise */
} uattn_emit_t;

typedef enum {
  UATTN_SEVERITY_ERROR = 0,
  UATTN_SEVERITY_WARNING = 1
} uattn_severity_t;

/* Called for every diagnostic of the module and every warning, from the
 * compiling thread; `text` ends with a newline and is borrowed. */
typedef void (*uattn_report_t)(uattn_severity_t severity, const char *text,
                               void *user_data);

typedef struct {
  size_t struct_size;
  const char *source_name; /* for locations; NULL: "<source>" */
  const char *chip;        /* NULL: "sm_90a" */
  uattn_emit_t emit;
  uint32_t reserved; /* 0 */
  /* The assembler: ptxas, or else libnvJitLink, which ignores setmaxnreg:
   * artifacts hold the PTX alone of kernels that it would slow down. Both
   * NULL: artifacts hold PTX alone, which the driver compiles at load; cubin
   * cannot be emitted. */
  const char *ptxas_path;
  const char *nvjitlink_path;
  /* An existing folder for numbered NN-pass.mlir, MODULE.ll, MODULE.ptx and
   * MODULE.ptxas.txt of every gpu.module, and plan.txt; NULL: none are
   * written. */
  const char *dump_directory;
  uattn_report_t report; /* NULL: stderr */
  void *report_data;
  /* An existing folder for the assembler's files meanwhile; NULL: /tmp. */
  const char *scratch_directory;
} uattn_compile_options_t;

/* All defaults, for the caller's size of the struct. */
#define uattn_compile_options_init(options)                                    \
  uattn_compile_options_init_sized((options), sizeof *(options))
UATTN_EXPORT void
uattn_compile_options_init_sized(uattn_compile_options_t *options,
                                 size_t struct_size);

/* Compiles the `size` bytes of `source`, MLIR text or bytecode, followed by a
 * zero byte that `size` does not count. Functions hold uattn ops, their
 * arguments and the return, nothing else. NULL options are the defaults.
 *
 * On success the caller frees `*out_bytes` (free). On error both outputs are
 * untouched; a module that is wrong or needs what is not compiled yet gives
 * UATTN_ERROR_INVALID_ARGUMENT after its diagnostics, a failing assembler
 * UATTN_ERROR_TOOLCHAIN. Thread safe. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_compile(const char *source, size_t size,
              const uattn_compile_options_t *options, uint8_t **out_bytes,
              size_t *out_size);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_COMPILER_H */
