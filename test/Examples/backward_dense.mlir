// A training step of dense attention: the forward op, then the backward op on
// what the forward left. The backward takes the forward's operands, its out and
// its lse, and the gradient of out; it gives the gradients of q, k and v. Here 2
// query heads share one KV head, whose gradients are sums over both.
//
// It is three kernels, which hand arrays to each other: what every query row
// brings along (delta, lse in base 2), then dk and dv, then dq. `--check` holds
// the gradients to the float64 reference of the whole chain.
//
// RUN: uattn-compile %s -o %t.uattn
// RUN: uattn-run %t.uattn --device=emulator --check | FileCheck %s
// RUN: %if sm90 %{ uattn-run %t.uattn --device=cuda --check | FileCheck %s %}
// CHECK: out: {{.*}}: ok
// CHECK: dq: {{.*}}: ok
// CHECK: dk: {{.*}}: ok
// CHECK: dv: {{.*}}: ok
func.func @main(%q: tensor<1x333x2x128xbf16>, %k: tensor<1x333x1x128xbf16>,
                %v: tensor<1x333x1x128xbf16>, %dout: tensor<1x333x2x128xbf16>)
    -> (tensor<1x333x2x128xbf16>, tensor<1x333x2x128xbf16>,
        tensor<1x333x1x128xbf16>, tensor<1x333x1x128xbf16>) {
  %out, %lse = "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.088388346 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<1x333x2x128xbf16>, tensor<1x333x1x128xbf16>,
       tensor<1x333x1x128xbf16>)
    -> (tensor<1x333x2x128xbf16>, tensor<1x2x333xf32>)
  %dq, %dk, %dv = "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.088388346 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x333x2x128xbf16>, tensor<1x333x1x128xbf16>,
       tensor<1x333x1x128xbf16>, tensor<1x333x2x128xbf16>,
       tensor<1x2x333xf32>, tensor<1x333x2x128xbf16>)
    -> (tensor<1x333x2x128xbf16>, tensor<1x333x1x128xbf16>,
        tensor<1x333x1x128xbf16>)
  return %out, %dq, %dk, %dv
      : tensor<1x333x2x128xbf16>, tensor<1x333x2x128xbf16>,
        tensor<1x333x1x128xbf16>, tensor<1x333x1x128xbf16>
}
