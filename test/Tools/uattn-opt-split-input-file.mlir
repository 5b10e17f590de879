// RUN: uattn-opt --split-input-file %s | FileCheck %s
// RUN: not uattn-opt %s -o %t 2>&1 | FileCheck %s --check-prefix=WHOLE

// Pieces are modules of their own, so names and aliases may repeat; as a whole
// the file redefines both.
// WHOLE: error: redefinition of type alias id 't'
// CHECK: func.func @same(%arg0: tensor<1xf32>)
// CHECK: // -----
// CHECK: func.func @same(%arg0: tensor<2xf32>)
// CHECK: // -----
// CHECK: func.func @last()
// CHECK-NOT: // -----
!t = tensor<1xf32>
func.func @same(%x: !t) {
  return
}

// -----

!t = tensor<2xf32>
func.func @same(%x: !t) {
  return
}

// -----   

func.func @last() { // ----- not a split line
  return
}
