// A production ranker's forward pass: 64 users, 1024 history tokens and 128
// candidates each, 20 query heads on 4 KV heads. It is meant for a GPU; the
// emulator would need minutes, so that without one it is only compiled.
//
//   uattn-run forward_production.mlir --device=cuda --bench
//
// RUN: uattn-compile %s -o %t.uattn
// RUN: %if sm90 %{ uattn-run %t.uattn --device=cuda --bench | FileCheck %s %}
// CHECK: "tflops"
func.func @main(%q: tensor<64x1152x20x128xbf16>,
                %k: tensor<64x1152x4x128xbf16>,
                %v: tensor<64x1152x4x128xbf16>, %temp: tensor<64x1152xf32>,
                %bounds: tensor<64x4xi32>)
    -> (tensor<64x1152x20x128xbf16>, tensor<64x20x1152xf32>) {
  %out, %lse = "uattn.ranker_attention"(%q, %k, %v, %temp, %bounds) {
    cap = #uattn.cap<"soft_sign", 80.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.088388346 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<64x1152x20x128xbf16>, tensor<64x1152x4x128xbf16>,
       tensor<64x1152x4x128xbf16>, tensor<64x1152xf32>, tensor<64x4xi32>)
    -> (tensor<64x1152x20x128xbf16>, tensor<64x20x1152xf32>)
  return %out, %lse
      : tensor<64x1152x20x128xbf16>, tensor<64x20x1152xf32>
}
