// RUN: uattn-opt --emit-bytecode %s -o %t.mlirbc
// RUN: head -c 4 %t.mlirbc | od -An -tx1 | FileCheck %s --check-prefix=MAGIC
// RUN: uattn-opt %t.mlirbc | FileCheck %s
// RUN: uattn-opt - < %t.mlirbc | FileCheck %s
// RUN: head -c 60 %t.mlirbc > %t.torn
// RUN: not uattn-opt %t.torn 2>&1 | FileCheck %s --check-prefix=TORN
// RUN: not uattn-opt --emit-bytecode --split-input-file %s 2>&1 | FileCheck %s --check-prefix=SPLIT

// MAGIC: 4d 4c ef 52
// CHECK: func.func @f()
// TORN: .torn{{.*}}: error:
// SPLIT: --emit-bytecode and --split-input-file are given
func.func @f() {
  return
}
