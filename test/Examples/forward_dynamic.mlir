// One artifact for every batch, length and head count: only the head dimension is
// known when it is compiled. Whoever runs it says the sizes, here by --shape.
//
// RUN: uattn-compile %s -o %t.uattn
// RUN: uattn-run %t.uattn --device=emulator --shape=q:1x65x4x128 --shape=k:1x65x4x128 --shape=v:1x65x4x128 --check | FileCheck %s
// RUN: uattn-run %t.uattn --device=emulator --shape=q:3x1x6x128 --shape=k:3x333x2x128 --shape=v:3x333x2x128 --check | FileCheck %s
// RUN: %if sm90 %{ uattn-run %t.uattn --device=cuda --shape=q:1x65x4x128 --shape=k:1x65x4x128 --shape=v:1x65x4x128 --check | FileCheck %s %}
// RUN: %if sm90 %{ uattn-run %t.uattn --device=cuda --shape=q:3x1x6x128 --shape=k:3x333x2x128 --shape=v:3x333x2x128 --check | FileCheck %s %}
// CHECK: out: {{.*}} ok
// CHECK: lse: {{.*}} ok
func.func @main(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>,
                %v: tensor<?x?x?x128xbf16>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %out, %lse = "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"soft_sign", 20.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.088388346 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %out, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
