// Causal attention with a tanh soft cap, as language models use it: key j is
// seen from position j on, and no logit leaves [-30, 30].
//
// RUN: uattn-compile %s -o %t.uattn
// RUN: uattn-run %t.uattn --device=emulator --check | FileCheck %s
// RUN: %if sm90 %{ uattn-run %t.uattn --device=cuda --check | FileCheck %s %}
// CHECK: out: {{.*}}: ok
// CHECK: lse: {{.*}}: ok
func.func @main(%q: tensor<1x300x4x128xbf16>, %k: tensor<1x300x2x128xbf16>,
                %v: tensor<1x300x2x128xbf16>)
    -> (tensor<1x300x4x128xbf16>, tensor<1x4x300xf32>) {
  %out, %lse = "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.088388346 : f32,
    causal,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<1x300x4x128xbf16>, tensor<1x300x2x128xbf16>,
       tensor<1x300x2x128xbf16>)
    -> (tensor<1x300x4x128xbf16>, tensor<1x4x300xf32>)
  return %out, %lse : tensor<1x300x4x128xbf16>, tensor<1x4x300xf32>
}
