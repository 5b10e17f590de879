// The ranker mask with temperature and alsc, every size dynamic.
func.func @main(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>,
                %v: tensor<?x?x?x64xbf16>, %temp: tensor<?x?xf32>,
                %bounds: tensor<?x4xi32>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %out, %lse = "uattn.ranker_attention"(%q, %k, %v, %temp, %bounds) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 4.0 : f32, 0.5 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>,
       tensor<?x?xf32>, tensor<?x4xi32>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %out, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
