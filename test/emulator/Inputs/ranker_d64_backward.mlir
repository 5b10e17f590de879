// The ranker mask at sizes that a run chooses: all gradients.
!q = tensor<?x?x?x64xbf16>
!lse = tensor<?x?x?xf32>
!temp = tensor<?x?xf32>
func.func @main(%q: !q, %k: !q, %v: !q, %temp: !temp, %bounds: tensor<?x4xi32>,
                %out: !q, %lse: !lse, %dout: !q) -> (!q, !q, !q, !temp) {
  %dq, %dk, %dv, %dtemp = "uattn.ranker_attention_bwd"(
      %q, %k, %v, %temp, %bounds, %out, %lse, %dout) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    z_loss_weight = 1.0e-3 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (!q, !q, !q, !temp, tensor<?x4xi32>, !q, !lse, !q) -> (!q, !q, !q, !temp)
  return %dq, %dk, %dv, %dtemp : !q, !q, !q, !temp
}
