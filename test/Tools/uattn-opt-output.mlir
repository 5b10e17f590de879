// RUN: uattn-opt %s | FileCheck %s
// RUN: uattn-opt < %s | FileCheck %s
// RUN: uattn-opt - < %s | FileCheck %s
// RUN: uattn-opt %s -o %t.mlir && FileCheck %s < %t.mlir
// RUN: uattn-opt -o=%t.2.mlir %s && FileCheck %s < %t.2.mlir
// RUN: uattn-opt %s -o - | FileCheck %s
// RUN: not uattn-opt %s -o %t.no/such/folder/out.mlir 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not uattn-opt %t.missing.mlir 2>&1 | FileCheck %s --check-prefix=MISSING

// From a file or stdin to a file or stdout.
// CHECK: func.func @f()
// FOLDER: uattn-opt: {{.*}}out.mlir
// MISSING: uattn-opt: {{.*}}missing.mlir{{.*}}no such file
func.func @f() {
  return
}
