// RUN: uattn-opt --convert-scf-to-cf --uattn-verify --canonicalize \
// RUN:   --mlir-print-ir-before-all %s -o %t 2>&1 | FileCheck %s
// RUN: uattn-opt --canonicalize --uattn-verify --convert-scf-to-cf \
// RUN:   --mlir-print-ir-before-all %s -o %t 2>&1 | FileCheck %s --check-prefix=OTHER

// Passes run in the order of the command line, whoever's they are.
// CHECK: IR Dump Before {{.*}}(convert-scf-to-cf)
// CHECK: IR Dump Before uattn-verify (uattn-verify)
// CHECK: IR Dump Before {{.*}}(canonicalize)
// OTHER: IR Dump Before {{.*}}(canonicalize)
// OTHER: IR Dump Before uattn-verify (uattn-verify)
// OTHER: IR Dump Before {{.*}}(convert-scf-to-cf)
func.func @empty() {
  return
}
