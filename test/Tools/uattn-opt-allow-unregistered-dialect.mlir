// RUN: not uattn-opt %s -o %t 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: uattn-opt --allow-unregistered-dialect %s | FileCheck %s

// Unknown dialects are refused unless asked for; a uattn op that does not exist
// is refused in any case (uattn-opt-unknown-op.mlir).
// REFUSED: :[[# @LINE + 4]]:17: error: {{.*}}unregistered dialect
// REFUSED-NEXT: "somewhere.op"() : () -> ()
// CHECK: "somewhere.op"()
func.func @f() {
  "somewhere.op"() : () -> ()
  return
}
