// A backward of sizes that a call chooses, in both modes.
!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>
func.func @plain(%q: !q, %k: !q, %v: !q, %out: !q, %lse: !lse, %dout: !q) -> (!q, !q, !q) {
  %dq, %dk, %dv = "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %dq, %dk, %dv : !q, !q, !q
}
func.func @deterministic(%q: !q, %k: !q, %v: !q, %out: !q, %lse: !lse, %dout: !q) -> (!q, !q, !q) {
  %dq, %dk, %dv = "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    deterministic,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (!q, !q, !q, !q, !lse, !q) -> (!q, !q, !q)
  return %dq, %dk, %dv : !q, !q, !q
}
