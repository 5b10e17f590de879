// A recommendation ranker: every token sees the history, a candidate sees the
// history and itself, and each query has a temperature that multiplies its
// capped logits. `bounds` says per batch element where history and candidates
// lie; tokens in neither are dead and may hold anything.
//
// RUN: uattn-compile %s -o %t.uattn
// RUN: uattn-run %t.uattn --device=emulator --seed=3 --check | FileCheck %s
// RUN: %if sm90 %{ uattn-run %t.uattn --device=cuda --seed=3 --check | FileCheck %s %}
// CHECK: out: {{.*}}: ok
// CHECK: lse: {{.*}}: ok
func.func @main(%q: tensor<2x200x4x64xbf16>, %k: tensor<2x200x2x64xbf16>,
                %v: tensor<2x200x2x64xbf16>, %temp: tensor<2x200xf32>,
                %bounds: tensor<2x4xi32>)
    -> (tensor<2x200x4x64xbf16>, tensor<2x4x200xf32>) {
  %out, %lse = "uattn.ranker_attention"(%q, %k, %v, %temp, %bounds) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 4.0 : f32, 0.5 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<2x200x4x64xbf16>, tensor<2x200x2x64xbf16>,
       tensor<2x200x2x64xbf16>, tensor<2x200xf32>, tensor<2x4xi32>)
    -> (tensor<2x200x4x64xbf16>, tensor<2x4x200xf32>)
  return %out, %lse : tensor<2x200x4x64xbf16>, tensor<2x4x200xf32>
}
