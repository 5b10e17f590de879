/* From a kernel in the llvm dialect to LLVM IR, PTX and cubin.
 * Layer: target. Must not know: plans, what a kernel does, artifacts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_TARGET_TARGET_H
#define UATTN_TARGET_TARGET_H

#include <mlir-c/IR.h>

#include "support/support.h"

/* Texts are zero-terminated; free them with free(). */
typedef struct {
  char *llvm_ir;
  char *ptx;
} uattn_ptx_t;

/* Translates a gpu.module whose functions are in the llvm and nvvm dialects.
 * On error nothing is handed out. */
UATTN_NODISCARD uattn_error_t *uattn_target_emit_ptx(MlirOperation gpu_module,
                                                     const char *chip,
                                                     uattn_ptx_t *out_ptx);

/* Where an assembler is; both NULL: none. */
typedef struct {
  const char *ptxas_path;
  const char *nvjitlink_path;    /* libnvJitLink.so.13, used without ptxas */
  const char *scratch_directory; /* for files meanwhile; NULL: /tmp */
} uattn_assembler_t;

/* What an assembler said of a kernel. Spills, a stack frame and the remarks
 * mean that it will be slow. */
typedef struct {
  int32_t registers; /* a thread at entry */
  int32_t stack_bytes;
  int32_t spill_store_bytes;
  int32_t spill_load_bytes;
  bool is_wgmma_serialized;     /* C7510 and its kin */
  bool is_wgmma_order_injected; /* C7517, C7519: a wait or fence was missing */
  bool is_setmaxnreg_ignored;   /* C7508 and its kin */
} uattn_assembly_report_t;

typedef struct {
  uint8_t *cubin; /* free with free() */
  size_t cubin_bytes;
  char *messages; /* the assembler's, free with free() */
  uattn_assembly_report_t report;
} uattn_assembly_t;

/* Precondition: `assembler` names one. An assembler that fails gives
 * UATTN_ERROR_TOOLCHAIN with its messages. */
UATTN_NODISCARD uattn_error_t *
uattn_target_assemble(const uattn_assembler_t *assembler, const char *ptx,
                      const char *chip, uattn_assembly_t *out_assembly);

/* Reads what ptxas -v prints. */
uattn_assembly_report_t uattn_assembly_report_parse(const char *messages);

/* Appends a line a reason why the kernel will be slow; nothing for a kernel
 * without such a reason. */
void uattn_assembly_report_warn(const uattn_assembly_report_t *report,
                                const char *kernel, uattn_string_t *text);

#endif /* UATTN_TARGET_TARGET_H */
