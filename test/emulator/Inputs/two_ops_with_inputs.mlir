// forward_two_ops.mlir, which also returns what it was given: the inputs that
// uattn-run draws.



func.func @main(%q: tensor<1x96x4x64xbf16>, %k1: tensor<1x127x4x64xbf16>,
                %v1: tensor<1x127x4x64xbf16>, %k2: tensor<1x63x1x64xbf16>,
                %v2: tensor<1x63x1x64xbf16>) -> (tensor<1x96x4x64xbf16>, tensor<1x96x4x64xbf16>, tensor<1x127x4x64xbf16>, tensor<1x127x4x64xbf16>, tensor<1x63x1x64xbf16>, tensor<1x63x1x64xbf16>) {
  %mid, %lse = "uattn.ranker_attention"(%q, %k1, %v1) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<1x96x4x64xbf16>, tensor<1x127x4x64xbf16>,
       tensor<1x127x4x64xbf16>)
    -> (tensor<1x96x4x64xbf16>, tensor<1x4x96xf32>)
  %out = "uattn.ranker_attention"(%mid, %k2, %v2) {
    cap = #uattn.cap<"tanh", 5.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 1.0 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x96x4x64xbf16>, tensor<1x63x1x64xbf16>,
       tensor<1x63x1x64xbf16>) -> tensor<1x96x4x64xbf16>
  return %out, %q, %k1, %v1, %k2, %v2 : tensor<1x96x4x64xbf16>, tensor<1x96x4x64xbf16>, tensor<1x127x4x64xbf16>, tensor<1x127x4x64xbf16>, tensor<1x63x1x64xbf16>, tensor<1x63x1x64xbf16>
}
