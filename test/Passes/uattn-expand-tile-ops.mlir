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

// Column c is key first_key + c, which is allowed below kv_tokens:
// c < kv_tokens - first_key.
// CHECK-LABEL: func.func @mask(
// CHECK-SAME: %[[S:.*]]: vector<64x128xf32>, %[[FIRST:.*]]: i32, %[[TOKENS:.*]]: i32
// CHECK-DAG: %[[COLUMN:.*]] = "uattn.column_index"() : () -> vector<64x128xi32>
// CHECK-DAG: %[[LEFT:.*]] = arith.subi %[[TOKENS]], %[[FIRST]] : i32
// CHECK: %[[LIMIT:.*]] = vector.broadcast %[[LEFT]] : i32 to vector<64x128xi32>
// CHECK: %[[ALLOWED:.*]] = arith.cmpi slt, %[[COLUMN]], %[[LIMIT]]
// CHECK: %[[NONE:.*]] = arith.constant dense<0xFF800000> : vector<64x128xf32>
// CHECK: %[[M:.*]] = arith.select %[[ALLOWED]], %[[S]], %[[NONE]]
// CHECK: return %[[M]]
func.func @mask(%s: !tile, %first: i32, %tokens: i32) -> !tile {
  %m = "uattn.mask_apply"(%s, %first, %tokens) : (!tile, i32, i32) -> !tile
  return %m : !tile
}

// The order stays: caps are applied before the mask, since a capped -inf would
// be a score again.
// CHECK-LABEL: func.func @cap_before_mask(
// CHECK: %[[C:.*]] = math.tanh
// CHECK: %[[M:.*]] = arith.select %{{.*}}, %[[C]], %{{.*}}
// CHECK: return %[[M]]
func.func @cap_before_mask(%s: !tile, %first: i32, %tokens: i32) -> !tile {
  %c = "uattn.cap_apply"(%s) {method = "tanh"} : (!tile) -> !tile
  %m = "uattn.mask_apply"(%c, %first, %tokens) : (!tile, i32, i32) -> !tile
  return %m : !tile
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
