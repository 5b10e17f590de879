// RUN: uattn-opt --canonicalize --cse --mlir-print-ir-before-all %s -o %t 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: uattn-opt --canonicalize --cse --mlir-print-ir-after-all %s -o %t 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: uattn-opt --canonicalize --cse --mlir-print-ir-after-change %s -o %t 2>&1 | FileCheck %s --check-prefix=CHANGE
// RUN: uattn-opt --pass-pipeline='builtin.module(func.func(cse))' --mlir-print-ir-after-all --mlir-print-ir-module-scope %s -o %t 2>&1 | FileCheck %s --check-prefix=SCOPE
// RUN: uattn-opt --cse --mlir-print-ir-after-all --mlir-print-debuginfo %s -o %t 2>&1 | FileCheck %s --check-prefix=DEBUG
// RUN: not uattn-opt --canonicalize --gpu-lower-to-nvvm-pipeline --test-no-such-pass %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// Dumps go to stderr, one before or after each pass.
// BEFORE: IR Dump Before {{.*}} (canonicalize)
// BEFORE: arith.addi
// BEFORE: IR Dump Before {{.*}} (cse)
// AFTER-NOT: IR Dump Before
// AFTER: IR Dump After {{.*}} (canonicalize)
// AFTER: IR Dump After {{.*}} (cse)

// Canonicalisation folds the sum, then nothing is left to do.
// CHANGE: IR Dump After {{.*}} (canonicalize)
// CHANGE-NOT: (cse)

// SCOPE: IR Dump After {{.*}} (cse) ('func.func' operation: @sum)
// SCOPE-NEXT: module {
// DEBUG: loc(
// UNKNOWN: 'test-no-such-pass' is no registered pass or pipeline
func.func @sum() -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %sum = arith.addi %one, %two : i32
  return %sum : i32
}
