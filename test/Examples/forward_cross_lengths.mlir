// Few queries against many keys, as when candidates are scored against a stored
// history: Sq and Skv have nothing to do with each other, nor with the tiles.
// Without lse nothing but the output is computed.
//
// RUN: uattn-compile %s -o %t.uattn
// RUN: uattn-run %t.uattn --device=emulator --check | FileCheck %s
// RUN: %if sm90 %{ uattn-run %t.uattn --device=cuda --check | FileCheck %s %}
// CHECK: out: {{.*}} ok
func.func @main(%q: tensor<2x17x6x64xbf16>, %k: tensor<2x1025x3x64xbf16>,
                %v: tensor<2x1025x3x64xbf16>) -> tensor<2x17x6x64xbf16> {
  %out = "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<2x17x6x64xbf16>, tensor<2x1025x3x64xbf16>,
       tensor<2x1025x3x64xbf16>) -> tensor<2x17x6x64xbf16>
  return %out : tensor<2x17x6x64xbf16>
}
