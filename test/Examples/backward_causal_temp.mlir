// The gradients of capped causal attention with a temperature a query: dtemp is
// one number a query, a sum over the heads, and a fourth kernel.
//
// A loss may read lse too. dlse is the gradient that arrives through it, and
// z_loss_weight adds that of z_loss_weight / 2 times the sum of lse squared,
// which keeps logits from growing. Without a forward in the function, uattn-run
// draws q, k, v, temp, dout and dlse, and computes the out and lse that go with
// them.
//
// RUN: uattn-compile %s -o %t.uattn
// RUN: uattn-run %t.uattn --device=emulator --check | FileCheck %s
// RUN: %if sm90 %{ uattn-run %t.uattn --device=cuda --check | FileCheck %s %}
// CHECK: dq: {{.*}}: ok
// CHECK: dk: {{.*}}: ok
// CHECK: dv: {{.*}}: ok
// CHECK: dtemp: {{.*}}: ok
func.func @main(%q: tensor<2x200x10x64xbf16>, %k: tensor<2x200x2x64xbf16>,
                %v: tensor<2x200x2x64xbf16>, %temp: tensor<2x200xf32>,
                %out: tensor<2x200x10x64xbf16>, %lse: tensor<2x10x200xf32>,
                %dout: tensor<2x200x10x64xbf16>, %dlse: tensor<2x10x200xf32>)
    -> (tensor<2x200x10x64xbf16>, tensor<2x200x2x64xbf16>,
        tensor<2x200x2x64xbf16>, tensor<2x200xf32>) {
  %dq, %dk, %dv, %dtemp = "uattn.ranker_attention_bwd"(
      %q, %k, %v, %temp, %out, %lse, %dout, %dlse) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    causal,
    z_loss_weight = 1.0e-3 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (tensor<2x200x10x64xbf16>, tensor<2x200x2x64xbf16>,
       tensor<2x200x2x64xbf16>, tensor<2x200xf32>, tensor<2x200x10x64xbf16>,
       tensor<2x10x200xf32>, tensor<2x200x10x64xbf16>, tensor<2x10x200xf32>)
    -> (tensor<2x200x10x64xbf16>, tensor<2x200x2x64xbf16>,
        tensor<2x200x2x64xbf16>, tensor<2x200xf32>)
  return %dq, %dk, %dv, %dtemp
      : tensor<2x200x10x64xbf16>, tensor<2x200x2x64xbf16>,
        tensor<2x200x2x64xbf16>, tensor<2x200xf32>
}
