// RUN: uattn-opt --cse --uattn-verify --mlir-timing %s -o %t 2>&1 | FileCheck %s

// One report, with a line a pass of either kind and none that the command line
// does not name.
// CHECK: Execution time report
// CHECK-NOT: uattn-verify-each
// CHECK: CSE
// CHECK-NOT: uattn-verify-each
// CHECK: uattn-verify
// CHECK-NOT: uattn-verify-each
// CHECK: Total
func.func @f() {
  return
}
