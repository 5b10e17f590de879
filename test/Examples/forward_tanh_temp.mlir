// A ranker's usual head layout: 10 query heads share 2 KV heads (a ratio of 5),
// logits are capped by 30 tanh(s / 30), and every query has a temperature of its
// own, which multiplies the capped logit. It may be negative or zero.
//
// RUN: uattn-compile %s -o %t.uattn
// RUN: uattn-run %t.uattn --device=emulator --check | FileCheck %s
// RUN: %if sm90 %{ uattn-run %t.uattn --device=cuda --check | FileCheck %s %}
// CHECK: out: {{.*}} ok
func.func @main(%q: tensor<2x200x10x64xbf16>, %k: tensor<2x200x2x64xbf16>,
                %v: tensor<2x200x2x64xbf16>, %temp: tensor<2x200xf32>)
    -> tensor<2x200x10x64xbf16> {
  %out = "uattn.ranker_attention"(%q, %k, %v, %temp) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<2x200x10x64xbf16>, tensor<2x200x2x64xbf16>,
       tensor<2x200x2x64xbf16>, tensor<2x200xf32>)
    -> tensor<2x200x10x64xbf16>
  return %out : tensor<2x200x10x64xbf16>
}
