// The asymmetric logistic cap on wide logits: a scale of 2 makes scores of about
// +-50, where the cap's slope varies most. An error of the logistic function
// would be amplified by c / (2 n), which is why no approximate tanh is used.
//
// RUN: uattn-compile %s -o %t.uattn
// RUN: uattn-run %t.uattn --device=emulator --check | FileCheck %s
// RUN: %if sm90 %{ uattn-run %t.uattn --device=cuda --check | FileCheck %s %}
// CHECK: out: {{.*}} ok
// CHECK: lse: {{.*}} ok
func.func @main(%q: tensor<1x130x4x128xbf16>, %k: tensor<1x130x2x128xbf16>,
                %v: tensor<1x130x2x128xbf16>)
    -> (tensor<1x130x4x128xbf16>, tensor<1x4x130xf32>) {
  %out, %lse = "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 4.0 : f32, -0.5 : f32>,
    sm_scale = 2.0 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<1x130x4x128xbf16>, tensor<1x130x2x128xbf16>,
       tensor<1x130x2x128xbf16>)
    -> (tensor<1x130x4x128xbf16>, tensor<1x4x130xf32>)
  return %out, %lse : tensor<1x130x4x128xbf16>, tensor<1x4x130xf32>
}
