// Dense attention, the smallest complete use of the op: 2 query heads share
// one KV head, no cap, no mask, and the log-sum-exp comes back as well.
//
// RUN: uattn-compile %s -o %t.uattn
// RUN: uattn-run %t.uattn --check 2>&1 | FileCheck %s
// CHECK: uattn-run: running on
// CHECK: out: {{.*}} ok
// CHECK: lse: {{.*}} ok
func.func @main(%q: tensor<1x333x2x128xbf16>, %k: tensor<1x333x1x128xbf16>,
                %v: tensor<1x333x1x128xbf16>)
    -> (tensor<1x333x2x128xbf16>, tensor<1x2x333xf32>) {
  %out, %lse = "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.088388346 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<1x333x2x128xbf16>, tensor<1x333x1x128xbf16>,
       tensor<1x333x1x128xbf16>)
    -> (tensor<1x333x2x128xbf16>, tensor<1x2x333xf32>)
  return %out, %lse : tensor<1x333x2x128xbf16>, tensor<1x2x333xf32>
}
