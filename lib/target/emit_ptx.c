/* The llvm dialect to LLVM IR and PTX, through both C APIs.
 * Layer: target. Must not know: plans, what a kernel does.
 * SPDX-License-Identifier: Apache-2.0 */
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <mlir-c/Target/LLVMIR.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "target/target.h"

static const char triple[] = "nvptx64-nvidia-cuda";
/* PTX 8.3: the oldest that has what the kernels use, so that older drivers
 * can compile it at load. */
static const char features[] = "+ptx83";

static void initialize_nvptx(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
}

/* `owned_message` was allocated by LLVM, or is NULL. */
static uattn_error_t *llvm_error(const char *what, char *owned_message) {
  uattn_error_t *error =
      uattn_error_create(UATTN_ERROR_INTERNAL, "%s: %s", what,
                         owned_message ? owned_message : "no reason given");
  LLVMDisposeMessage(owned_message);
  return error;
}

static uattn_error_t *create_machine(const char *chip,
                                     LLVMTargetMachineRef *out_machine) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  LLVMTargetRef target = NULL;
  char *message = NULL;
  pthread_once(&once, initialize_nvptx);
  if (LLVMGetTargetFromTriple(triple, &target, &message))
    return llvm_error("LLVM has no NVPTX target", message);
  *out_machine = LLVMCreateTargetMachine(
      target, triple, chip, features, LLVMCodeGenLevelDefault, LLVMRelocDefault,
      LLVMCodeModelDefault);
  return *out_machine ? NULL : llvm_error("no target machine", NULL);
}

static uattn_error_t *generate(LLVMModuleRef module,
                               LLVMTargetMachineRef machine,
                               uattn_ptx_t *out_ptx) {
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMMemoryBufferRef buffer = NULL;
  char *message = NULL;
  LLVMSetTarget(module, triple);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  char *llvm_ir = LLVMPrintModuleToString(module);
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile,
                                          &message, &buffer)) {
    LLVMDisposeMessage(llvm_ir);
    return llvm_error("the NVPTX back end failed", message);
  }
  uattn_string_t ptx = {0};
  uattn_string_append_bytes(&ptx, LLVMGetBufferStart(buffer),
                            LLVMGetBufferSize(buffer));
  LLVMDisposeMemoryBuffer(buffer);
  out_ptx->ptx = uattn_string_take(&ptx);
  out_ptx->llvm_ir = uattn_string_copy(llvm_ir);
  LLVMDisposeMessage(llvm_ir);
  return NULL;
}

uattn_error_t *uattn_target_emit_ptx(MlirOperation gpu_module, const char *chip,
                                     uattn_ptx_t *out_ptx) {
  LLVMTargetMachineRef machine = NULL;
  uattn_error_t *error = create_machine(chip, &machine);
  if (error)
    return error;
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = mlirTranslateModuleToLLVMIR(gpu_module, context);
  if (module) {
    error = generate(module, machine, out_ptx);
    LLVMDisposeModule(module);
  } else {
    error = uattn_error_create(UATTN_ERROR_INTERNAL,
                               "the kernel does not translate to LLVM IR");
  }
  LLVMContextDispose(context);
  LLVMDisposeTargetMachine(machine);
  return error;
}
