// RUN: uattn-opt --uattn-expand-tile-ops %s | FileCheck %s
// RUN: uattn-opt --uattn-expand-tile-ops %s | uattn-opt - | FileCheck %s

!tile = vector<64x128xf32>

// No cap is no arithmetic.
// CHECK-LABEL: func.func @none(
// CHECK-SAME: %[[S:.*]]: vector<64x128xf32>
// CHECK-NEXT: return %[[S]]
func.func @none(%s: !tile) -> !tile {
  %c = "uattn.cap_apply"(%s) {method = "none"} : (!tile) -> !tile
  return %c : !tile
}

// afn lets NVPTX select tanh.approx.f32, whose 2^-11 is enough for this cap.
// CHECK-LABEL: func.func @tanh(
// CHECK-SAME: %[[S:.*]]: vector<64x128xf32>
// CHECK-NEXT: %[[C:.*]] = math.tanh %[[S]] fastmath<afn> : vector<64x128xf32>
// CHECK: return %[[C]]
func.func @tanh(%s: !tile) -> !tile {
  %c = "uattn.cap_apply"(%s) {method = "tanh"} : (!tile) -> !tile
  return %c : !tile
}

// x / (1 + |x|), with an approximate reciprocal.
// CHECK-LABEL: func.func @soft_sign(
// CHECK-SAME: %[[S:.*]]: vector<64x128xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<64x128xf32>
// CHECK-DAG: %[[ABS:.*]] = math.absf %[[S]]
// CHECK: %[[D:.*]] = arith.addf %[[ABS]], %[[ONE]]
// CHECK: %[[R:.*]] = arith.divf %[[ONE]], %[[D]] fastmath<arcp,afn>
// CHECK: %[[C:.*]] = arith.mulf %[[S]], %[[R]]
// CHECK: return %[[C]]
func.func @soft_sign(%s: !tile) -> !tile {
  %c = "uattn.cap_apply"(%s) {method = "soft_sign"} : (!tile) -> !tile
  return %c : !tile
}

// 1 / (1 + 2^x): never through tanh, whose error c / (2 n) would amplify.
// CHECK-LABEL: func.func @alsc(
// CHECK-SAME: %[[S:.*]]: vector<64x128xf32>
// CHECK-NOT: math.tanh
// CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<64x128xf32>
// CHECK: %[[E:.*]] = math.exp2 %[[S]] fastmath<afn>
// CHECK: %[[D:.*]] = arith.addf %[[E]], %[[ONE]]
// CHECK: %[[C:.*]] = arith.divf %[[ONE]], %[[D]] fastmath<arcp,afn>
// CHECK: return %[[C]]
func.func @alsc(%s: !tile) -> !tile {
  %c = "uattn.cap_apply"(%s) {method = "alsc"} : (!tile) -> !tile
  return %c : !tile
}

// Masks depend on where a thread's rows and columns are: they stay, behind the
// caps, since a capped -inf would be a score again.
// CHECK-LABEL: func.func @cap_before_mask(
// CHECK-SAME: %{{.*}}: vector<64x128xf32>, %[[FIRST:.*]]: i32, %[[END:.*]]: vector<64xi32>
// CHECK: %[[C:.*]] = math.tanh
// CHECK: %[[M:.*]] = "uattn.mask_apply"(%[[C]], %[[FIRST]], %[[END]])
// CHECK: return %[[M]]
func.func @cap_before_mask(%s: !tile, %first: i32, %end: vector<64xi32>) -> !tile {
  %c = "uattn.cap_apply"(%s) {method = "tanh"} : (!tile) -> !tile
  %m = "uattn.mask_apply"(%c, %first, %end) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
    : (!tile, i32, vector<64xi32>) -> !tile
  return %m : !tile
}

// A cap of the candidates' own scores is one of rows.
// CHECK-LABEL: func.func @cap_of_rows(
// CHECK-SAME: %[[S:.*]]: vector<64xf32>
// CHECK: math.tanh %[[S]] fastmath<afn> : vector<64xf32>
func.func @cap_of_rows(%s: vector<64xf32>) -> vector<64xf32> {
  %c = "uattn.cap_apply"(%s) {method = "tanh"} : (vector<64xf32>) -> vector<64xf32>
  return %c : vector<64xf32>
}

// Ops inside regions are found, and what is around them stays.
// CHECK-LABEL: func.func @nested(
// CHECK: scf.if
// CHECK: math.tanh
// CHECK: scf.yield
// CHECK-NOT: uattn.cap_apply
func.func @nested(%s: !tile, %b: i1) -> !tile {
  %r = scf.if %b -> !tile {
    %c = "uattn.cap_apply"(%s) {method = "tanh"} : (!tile) -> !tile
    scf.yield %c : !tile
  } else {
    scf.yield %s : !tile
  }
  return %r : !tile
}
