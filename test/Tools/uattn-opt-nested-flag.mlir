// RUN: uattn-opt --affine-loop-tile --cse --affine-parallelize %s | FileCheck %s

// A flag for a pass on functions nests it, as upstream's tools do: the loops
// are tiled, then made parallel.
// CHECK-LABEL: func.func @loop(
// CHECK: affine.parallel
// CHECK: affine.parallel
func.func @loop(%buffer: memref<128x128xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 128 {
    affine.for %j = 0 to 128 {
      affine.store %zero, %buffer[%i, %j] : memref<128x128xf32>
    }
  }
  return
}
