// The ranker mask with temperature and soft-sign cap, every size dynamic.
func.func @main(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %t: tensor<?x?xf32>, %b: tensor<?x4xi32>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %r:2 = "uattn.ranker_attention"(%q, %k, %v, %t, %b) {
    cap = #uattn.cap<"soft_sign", 30.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32, 
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?xf32>, tensor<?x4xi32>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %r#0, %r#1 : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
