// RUN: uattn-opt --split-input-file --verify-diagnostics %s
// What the backward op refuses beyond the forward op's rules, one rule a
// function.

// One entry an operand of the table.
func.func @operand_segments_have_eleven_entries(%q: tensor<1x64x4x64xbf16>,
                                                %k: tensor<1x96x2x64xbf16>,
                                                %v: tensor<1x96x2x64xbf16>,
                                                %out: tensor<1x64x4x64xbf16>,
                                                %lse: tensor<1x4x64xf32>,
                                                %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{'operandSegmentSizes' attribute for specifying operand segments must have 11 elements, but got 10}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// One entry a result of the table.
func.func @result_segments_have_four_entries(%q: tensor<1x64x4x64xbf16>,
                                             %k: tensor<1x96x2x64xbf16>,
                                             %v: tensor<1x96x2x64xbf16>,
                                             %out: tensor<1x64x4x64xbf16>,
                                             %lse: tensor<1x4x64xf32>,
                                             %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{resultSegmentSizes has 3 entries: expected 4}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// The weight has the precision of the kernel.
func.func @z_loss_weight_is_f32(%q: tensor<1x64x4x64xbf16>,
                                %k: tensor<1x96x2x64xbf16>,
                                %v: tensor<1x96x2x64xbf16>,
                                %out: tensor<1x64x4x64xbf16>,
                                %lse: tensor<1x4x64xf32>,
                                %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{z_loss_weight is 1 : i64: expected an f32}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    z_loss_weight = 1 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// 0x7F800000 is infinity.
func.func @z_loss_weight_is_finite(%q: tensor<1x64x4x64xbf16>,
                                   %k: tensor<1x96x2x64xbf16>,
                                   %v: tensor<1x96x2x64xbf16>,
                                   %out: tensor<1x64x4x64xbf16>,
                                   %lse: tensor<1x4x64xf32>,
                                   %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{z_loss_weight is inf: expected a finite f32 number}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    z_loss_weight = 0x7F800000 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// Its presence is its meaning.
func.func @deterministic_has_no_value(%q: tensor<1x64x4x64xbf16>,
                                      %k: tensor<1x96x2x64xbf16>,
                                      %v: tensor<1x96x2x64xbf16>,
                                      %out: tensor<1x64x4x64xbf16>,
                                      %lse: tensor<1x4x64xf32>,
                                      %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{deterministic is true: expected no value (a unit attribute)}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    deterministic = true,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// The backward op has names of its own to misspell.
func.func @misspelt_attribute_is_refused(%q: tensor<1x64x4x64xbf16>,
                                         %k: tensor<1x96x2x64xbf16>,
                                         %v: tensor<1x96x2x64xbf16>,
                                         %out: tensor<1x64x4x64xbf16>,
                                         %lse: tensor<1x4x64xf32>,
                                         %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{unknown attribute 'z_loss_wieght' on uattn.ranker_attention_bwd: did you mean 'z_loss_weight'?}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    z_loss_wieght = 0.001 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// Only dlse and the forward op's optional operands may be left out.
func.func @out_operand_is_needed(%q: tensor<1x64x4x64xbf16>,
                                 %k: tensor<1x96x2x64xbf16>,
                                 %v: tensor<1x96x2x64xbf16>,
                                 %lse: tensor<1x4x64xf32>,
                                 %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{element 7 in 'operandSegmentSizes' attribute must be equal to 1}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// out is what the forward op returned.
func.func @out_has_the_shape_of_q(%q: tensor<1x64x4x64xbf16>,
                                  %k: tensor<1x96x2x64xbf16>,
                                  %v: tensor<1x96x2x64xbf16>,
                                  %out: tensor<1x96x4x64xbf16>,
                                  %lse: tensor<1x4x64xf32>,
                                  %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{operand out has shape 1x96x4x64: expected 1x64x4x64}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x96x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// out is what the forward op returned.
func.func @out_has_the_type_of_q(%q: tensor<1x64x4x64xbf16>,
                                 %k: tensor<1x96x2x64xbf16>,
                                 %v: tensor<1x96x2x64xbf16>,
                                 %out: tensor<1x64x4x64xf16>,
                                 %lse: tensor<1x4x64xf32>,
                                 %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{operand out has element type f16: expected bf16}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// lse is [batch, heads, tokens].
func.func @lse_has_heads_before_tokens(%q: tensor<1x64x4x64xbf16>,
                                       %k: tensor<1x96x2x64xbf16>,
                                       %v: tensor<1x96x2x64xbf16>,
                                       %out: tensor<1x64x4x64xbf16>,
                                       %lse: tensor<1x64x4xf32>,
                                       %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{operand lse has shape 1x64x4: expected 1x4x64}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x64x4xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// lse is what the forward op returned.
func.func @lse_is_f32(%q: tensor<1x64x4x64xbf16>, %k: tensor<1x96x2x64xbf16>,
                      %v: tensor<1x96x2x64xbf16>,
                      %out: tensor<1x64x4x64xbf16>, %lse: tensor<1x4x64xf16>,
                      %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{operand lse has element type f16: expected f32}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf16>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// A gradient has its value's shape.
func.func @dout_has_the_shape_of_q(%q: tensor<1x64x4x64xbf16>,
                                   %k: tensor<1x96x2x64xbf16>,
                                   %v: tensor<1x96x2x64xbf16>,
                                   %out: tensor<1x64x4x64xbf16>,
                                   %lse: tensor<1x4x64xf32>,
                                   %dout: tensor<1x64x2x64xbf16>) {
  // expected-error @below {{operand dout has shape 1x64x2x64: expected 1x64x4x64}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x2x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// A gradient arrives in its value's type.
func.func @dout_has_the_type_of_q(%q: tensor<1x64x4x64xbf16>,
                                  %k: tensor<1x96x2x64xbf16>,
                                  %v: tensor<1x96x2x64xbf16>,
                                  %out: tensor<1x64x4x64xbf16>,
                                  %lse: tensor<1x4x64xf32>,
                                  %dout: tensor<1x64x4x64xf32>) {
  // expected-error @below {{operand dout has element type f32: expected bf16}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xf32>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// A gradient has its value's shape.
func.func @dlse_has_the_shape_of_lse(%q: tensor<1x64x4x64xbf16>,
                                     %k: tensor<1x96x2x64xbf16>,
                                     %v: tensor<1x96x2x64xbf16>,
                                     %out: tensor<1x64x4x64xbf16>,
                                     %lse: tensor<1x4x64xf32>,
                                     %dout: tensor<1x64x4x64xbf16>,
                                     %dlse: tensor<1x4x63xf32>) {
  // expected-error @below {{operand dlse has shape 1x4x63: expected 1x4x64}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout, %dlse) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>,
       tensor<1x4x63xf32>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// A gradient has its value's type.
func.func @dlse_is_f32(%q: tensor<1x64x4x64xbf16>, %k: tensor<1x96x2x64xbf16>,
                       %v: tensor<1x96x2x64xbf16>,
                       %out: tensor<1x64x4x64xbf16>, %lse: tensor<1x4x64xf32>,
                       %dout: tensor<1x64x4x64xbf16>,
                       %dlse: tensor<1x4x64xbf16>) {
  // expected-error @below {{operand dlse has element type bf16: expected f32}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout, %dlse) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>,
       tensor<1x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// A gradient has its value's shape.
func.func @dq_has_the_shape_of_q(%q: tensor<1x64x4x64xbf16>,
                                 %k: tensor<1x96x2x64xbf16>,
                                 %v: tensor<1x96x2x64xbf16>,
                                 %out: tensor<1x64x4x64xbf16>,
                                 %lse: tensor<1x4x64xf32>,
                                 %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{result dq has shape 1x96x2x64: expected 1x64x4x64}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// Also where several query heads share a KV head.
func.func @dk_has_the_shape_of_k(%q: tensor<1x64x4x64xbf16>,
                                 %k: tensor<1x96x2x64xbf16>,
                                 %v: tensor<1x96x2x64xbf16>,
                                 %out: tensor<1x64x4x64xbf16>,
                                 %lse: tensor<1x4x64xf32>,
                                 %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{result dk has shape 1x96x4x64: expected 1x96x2x64}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x4x64xbf16>,
        tensor<1x96x2x64xbf16>)
  return
}

// -----

// A gradient has its value's type.
func.func @dv_has_the_type_of_v(%q: tensor<1x64x4x64xbf16>,
                                %k: tensor<1x96x2x64xbf16>,
                                %v: tensor<1x96x2x64xbf16>,
                                %out: tensor<1x64x4x64xbf16>,
                                %lse: tensor<1x4x64xf32>,
                                %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{result dv has element type f32: expected bf16}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xf32>)
  return
}

// -----

// Only dtemp may be left out.
func.func @dv_is_always_a_result(%q: tensor<1x64x4x64xbf16>,
                                 %k: tensor<1x96x2x64xbf16>,
                                 %v: tensor<1x96x2x64xbf16>,
                                 %out: tensor<1x64x4x64xbf16>,
                                 %lse: tensor<1x4x64xf32>,
                                 %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{op expects at least 3 results, but got 2}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 0, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>)
  return
}

// -----

// Nothing to differentiate by.
func.func @dtemp_needs_temp(%q: tensor<1x64x4x64xbf16>,
                            %k: tensor<1x96x2x64xbf16>,
                            %v: tensor<1x96x2x64xbf16>,
                            %out: tensor<1x64x4x64xbf16>,
                            %lse: tensor<1x4x64xf32>,
                            %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{result dtemp is asked for without operand temp: expected temp too}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>, tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>, tensor<1x64xf32>)
  return
}

// -----

// A gradient has its value's shape.
func.func @dtemp_has_the_shape_of_temp(%q: tensor<1x64x4x64xbf16>,
                                       %k: tensor<1x96x2x64xbf16>,
                                       %v: tensor<1x96x2x64xbf16>,
                                       %temp: tensor<1x64xf32>,
                                       %out: tensor<1x64x4x64xbf16>,
                                       %lse: tensor<1x4x64xf32>,
                                       %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{result dtemp has shape 1x96: expected 1x64}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %temp, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64xf32>, tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>,
       tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>, tensor<1x96xf32>)
  return
}

// -----

// Also where temp is bf16: it is a sum over many.
func.func @dtemp_is_f32(%q: tensor<1x64x4x64xbf16>,
                        %k: tensor<1x96x2x64xbf16>,
                        %v: tensor<1x96x2x64xbf16>, %temp: tensor<1x64xbf16>,
                        %out: tensor<1x64x4x64xbf16>,
                        %lse: tensor<1x4x64xf32>,
                        %dout: tensor<1x64x4x64xbf16>) {
  // expected-error @below {{result dtemp has element type bf16: expected f32}}
  "uattn.ranker_attention_bwd"(%q, %k, %v, %temp, %out, %lse, %dout) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64xbf16>, tensor<1x64x4x64xbf16>, tensor<1x4x64xf32>,
       tensor<1x64x4x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>,
        tensor<1x96x2x64xbf16>, tensor<1x64xbf16>)
  return
}
