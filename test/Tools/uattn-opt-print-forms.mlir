// RUN: uattn-opt --mlir-print-op-generic %s | FileCheck %s --check-prefix=GENERIC
// RUN: uattn-opt --mlir-print-debuginfo %s | FileCheck %s --check-prefix=DEBUG
// RUN: uattn-opt --mlir-print-debuginfo - < %s | FileCheck %s --check-prefix=STDIN
// RUN: uattn-opt --mlir-disable-threading %s | FileCheck %s

// GENERIC: "func.func"() <{
// GENERIC: "func.return"() : () -> ()

// Locations name the file, or stdin, ops and arguments alike.
// DEBUG: @f(%arg0: i32 loc("{{.*}}uattn-opt-print-forms.mlir":[[# @LINE + 9]]:14))
// DEBUG: return loc(#[[RETURN:.*]])
// DEBUG: #[[RETURN]] = loc("{{.*}}uattn-opt-print-forms.mlir":[[# @LINE + 8]]:3)
// STDIN: loc("<stdin>":
// STDIN-NOT: loc("-":

// CHECK: func.func @f(%arg0: i32)
// CHECK-NEXT: return

func.func @f(%x: i32) {
  return
}
