/* Keeps code generators of other machines out of programs that hold LLVM.
 * Layer: target. Must not know: anything of uattn.
 *
 * A pass of MLIR's that is registered with all others, and that uattn never
 * runs, initialises every machine of LLVM's, and so would bring all of them
 * from the archives: more than half of the program. Here their initialisers
 * are functions that do nothing; NVPTX's keep out of the way by other names.
 * Compiled with UATTN_STATIC_LLVM alone.
 * SPDX-License-Identifier: Apache-2.0 */
#define LLVMInitializeNVPTXTargetInfo uattn_unused_target_info
#define LLVMInitializeNVPTXTarget uattn_unused_target
#define LLVMInitializeNVPTXTargetMC uattn_unused_target_mc
#define LLVMInitializeNVPTXAsmPrinter uattn_unused_asm_printer

#define DEFINE(function)                                                       \
  void function(void);                                                         \
  void function(void) {}

#define LLVM_TARGET(machine)                                                   \
  DEFINE(LLVMInitialize##machine##TargetInfo)                                  \
  DEFINE(LLVMInitialize##machine##Target)                                      \
  DEFINE(LLVMInitialize##machine##TargetMC)
#include "llvm/Config/Targets.def"

#define LLVM_ASM_PRINTER(machine) DEFINE(LLVMInitialize##machine##AsmPrinter)
#include "llvm/Config/AsmPrinters.def"

#define LLVM_ASM_PARSER(machine) DEFINE(LLVMInitialize##machine##AsmParser)
#include "llvm/Config/AsmParsers.def"
