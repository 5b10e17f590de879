// RUN: not uattn-opt --cse --transform-interpreter --canonicalize \
// RUN:   --mlir-print-ir-after-failure %s -o %t 2>&1 | FileCheck %s

// Only the pass that fails is followed by a dump: there is no script to
// interpret. Passes behind it do not run.
// CHECK-NOT: (cse)
// CHECK: error: could not find
// CHECK: IR Dump After InterpreterPass Failed (transform-interpreter)
// CHECK: func.func @f
// CHECK-NOT: (canonicalize)
module attributes {transform.with_named_sequence} {
  func.func @f() {
    return
  }
}
