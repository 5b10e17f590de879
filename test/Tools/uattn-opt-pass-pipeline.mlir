// RUN: uattn-opt %s -o %t --mlir-print-ir-before-all \
// RUN:   --pass-pipeline='builtin.module(uattn-verify, func.func(cse, canonicalize{max-iterations=3}), any(uattn-verify))' \
// RUN:   2>&1 | FileCheck %s
// RUN: uattn-opt %s --pass-pipeline 'builtin.module()' | FileCheck %s --check-prefix=EMPTY
// RUN: uattn-opt %s --pass-pipeline=' builtin.module ( func.func ( cse ) ) ' | FileCheck %s --check-prefix=EMPTY
// RUN: uattn-opt %s --pass-pipeline='any(uattn-verify)' | FileCheck %s --check-prefix=EMPTY

// Both kinds of passes at any nesting, in order. "any" inside the module means
// the functions, on which uattn-verify does not run.
// CHECK: IR Dump Before uattn-verify (uattn-verify)
// CHECK: IR Dump Before CSE (cse)
// CHECK: IR Dump Before {{.*}} (canonicalize)
// EMPTY: func.func @empty
func.func @empty() {
  return
}
