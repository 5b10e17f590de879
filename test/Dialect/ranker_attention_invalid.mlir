// RUN: uattn-opt --split-input-file --verify-diagnostics %s
// What the forward op refuses, one rule a function. The rules run right after
// parsing, no pass is needed.

// Which optional operands are there is always said.
func.func @operand_segments_are_given(%q: tensor<1x64x4x64xbf16>,
                                      %k: tensor<1x96x2x64xbf16>,
                                      %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{'operandSegmentSizes' attribute is expected but not provided}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// One entry an operand of the table.
func.func @operand_segments_have_seven_entries(%q: tensor<1x64x4x64xbf16>,
                                               %k: tensor<1x96x2x64xbf16>,
                                               %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{'operandSegmentSizes' attribute for specifying operand segments must have 7 elements, but got 6}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// The entries count the operands.
func.func @operand_segments_add_up(%q: tensor<1x64x4x64xbf16>,
                                   %k: tensor<1x96x2x64xbf16>,
                                   %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{sum of elements in 'operandSegmentSizes' attribute must be equal to the number of operands}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// No operand is a list.
func.func @operand_segments_are_zero_or_one(%q: tensor<1x64x4x64xbf16>,
                                            %k: tensor<1x96x2x64xbf16>,
                                            %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{element 1 in 'operandSegmentSizes' attribute must be equal to 1}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 2, 0, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Which optional results are there is always said.
func.func @result_segments_are_given(%q: tensor<1x64x4x64xbf16>,
                                     %k: tensor<1x96x2x64xbf16>,
                                     %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{resultSegmentSizes is missing: expected an array of 2 i32}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// One entry a result of the table.
func.func @result_segments_have_two_entries(%q: tensor<1x64x4x64xbf16>,
                                            %k: tensor<1x96x2x64xbf16>,
                                            %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{resultSegmentSizes has 1 entries: expected 2}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// The entries count the results.
func.func @result_segments_add_up(%q: tensor<1x64x4x64xbf16>,
                                  %k: tensor<1x96x2x64xbf16>,
                                  %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{resultSegmentSizes adds up to 2: expected 1, the number of results}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// The cap is always said, "none" for none.
func.func @cap_is_given(%q: tensor<1x64x4x64xbf16>,
                        %k: tensor<1x96x2x64xbf16>,
                        %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{'uattn.ranker_attention' op attribute "cap" is expected but not provided}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention"(%q, %k, %v) {
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// A name alone is no cap.
func.func @cap_is_a_cap_attribute(%q: tensor<1x64x4x64xbf16>,
                                  %k: tensor<1x96x2x64xbf16>,
                                  %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{expected base attribute 'uattn.cap' but got 'builtin.string'}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = "tanh",
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Unused ones are written as 0.
func.func @cap_has_four_parameters(%q: tensor<1x64x4x64xbf16>,
                                   %k: tensor<1x96x2x64xbf16>,
                                   %v: tensor<1x96x2x64xbf16>) {
  // expected-error @+2 {{expected 4 type arguments, but had 3}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// The method is a name.
func.func @cap_method_is_a_string(%q: tensor<1x64x4x64xbf16>,
                                  %k: tensor<1x96x2x64xbf16>,
                                  %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{cap method is 1.000000e+00 : f32: expected a string}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<1.0 : f32, 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// The four methods have fixed names.
func.func @cap_method_is_known(%q: tensor<1x64x4x64xbf16>,
                               %k: tensor<1x96x2x64xbf16>,
                               %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{cap method is "softsign": expected "none", "tanh", "soft_sign" or "alsc"}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"softsign", 30.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Parameters have the precision of the kernel.
func.func @cap_parameters_are_f32(%q: tensor<1x64x4x64xbf16>,
                                  %k: tensor<1x96x2x64xbf16>,
                                  %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{cap parameter cap is 3.000000e+01 : f64: expected an f32}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"tanh", 30.0 : f64, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Logits are divided by cap.
func.func @cap_is_above_zero(%q: tensor<1x64x4x64xbf16>,
                             %k: tensor<1x96x2x64xbf16>,
                             %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{cap tanh has cap 0: expected a finite number above 0}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"tanh", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// 0x7F800000 is infinity: no cap is spelt "none".
func.func @cap_is_finite(%q: tensor<1x64x4x64xbf16>,
                         %k: tensor<1x96x2x64xbf16>,
                         %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{cap soft_sign has cap inf: expected a finite number above 0}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"soft_sign", 0x7F800000 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// A number that nobody reads is a mistake.
func.func @no_cap_has_no_cap_value(%q: tensor<1x64x4x64xbf16>,
                                   %k: tensor<1x96x2x64xbf16>,
                                   %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{cap none has cap 30, which it does not use: expected 0}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 30.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Only alsc has alpha and beta.
func.func @tanh_has_no_alpha(%q: tensor<1x64x4x64xbf16>,
                             %k: tensor<1x96x2x64xbf16>,
                             %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{cap tanh has alpha 4, which it does not use: expected 0}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 4.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Only alsc has alpha and beta.
func.func @soft_sign_has_no_beta(%q: tensor<1x64x4x64xbf16>,
                                 %k: tensor<1x96x2x64xbf16>,
                                 %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{cap soft_sign has beta 0.5, which it does not use: expected 0}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"soft_sign", 30.0 : f32, 0.0 : f32, 0.5 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// 0x7F800000 is infinity.
func.func @alsc_alpha_is_finite(%q: tensor<1x64x4x64xbf16>,
                                %k: tensor<1x96x2x64xbf16>,
                                %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{cap alsc has alpha inf: expected a finite number}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 0x7F800000 : f32, 0.5 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// 0x7FC00000 is NaN.
func.func @alsc_beta_is_finite(%q: tensor<1x64x4x64xbf16>,
                               %k: tensor<1x96x2x64xbf16>,
                               %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{cap alsc has beta nan: expected a finite number}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"alsc", 30.0 : f32, 4.0 : f32, 0x7FC00000 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// There is no default scale.
func.func @sm_scale_is_given(%q: tensor<1x64x4x64xbf16>,
                             %k: tensor<1x96x2x64xbf16>,
                             %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{'uattn.ranker_attention' op attribute "sm_scale" is expected but not provided}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// The scale has the precision of the kernel.
func.func @sm_scale_is_f32(%q: tensor<1x64x4x64xbf16>,
                           %k: tensor<1x96x2x64xbf16>,
                           %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{sm_scale is 1.250000e-01 : f64: expected an f32}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// 0x7FC00000 is NaN.
func.func @sm_scale_is_finite(%q: tensor<1x64x4x64xbf16>,
                              %k: tensor<1x96x2x64xbf16>,
                              %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{sm_scale is nan: expected a finite f32 number}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0x7FC00000 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Its presence is its meaning; false would read as off.
func.func @causal_has_no_value(%q: tensor<1x64x4x64xbf16>,
                               %k: tensor<1x96x2x64xbf16>,
                               %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{causal is false: expected no value (a unit attribute)}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    causal = false,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Token counts are i64.
func.func @window_len_is_i64(%q: tensor<1x64x4x64xbf16>,
                             %k: tensor<1x96x2x64xbf16>,
                             %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{window_len is 16 : i32: expected an i64}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    window_len = 16 : i32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// A window of no token allows nothing.
func.func @window_len_is_above_zero(%q: tensor<1x64x4x64xbf16>,
                                    %k: tensor<1x96x2x64xbf16>,
                                    %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{window_len is 0: expected above 0}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    window_len = 0 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Positions are i64.
func.func @q_offset_is_i64(%q: tensor<1x64x4x64xbf16>,
                           %k: tensor<1x96x2x64xbf16>,
                           %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{q_offset is 16 : index: expected an i64}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    q_offset = 16 : index,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// The last of 64 query rows would be at 2^31, and none may be at 2^31 - 1: the
// end of a range of positions is a position.
func.func @positions_fit_32_bits(%q: tensor<1x64x4x64xbf16>,
                                 %k: tensor<1x96x2x64xbf16>,
                                 %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{q_offset is 2147483585 with 64 query rows: expected positions from -2^31 to 2^31 - 2}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    q_offset = 2147483585 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// The forward op has no loss.
func.func @z_loss_weight_is_backward_only(%q: tensor<1x64x4x64xbf16>,
                                          %k: tensor<1x96x2x64xbf16>,
                                          %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{z_loss_weight is given on the forward op: expected it on the backward op alone}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    z_loss_weight = 0.001 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// The forward op is always deterministic.
func.func @deterministic_is_backward_only(%q: tensor<1x64x4x64xbf16>,
                                          %k: tensor<1x96x2x64xbf16>,
                                          %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{deterministic is given on the forward op: expected it on the backward op alone}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    deterministic,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// A misspelt causal is never ignored.
func.func @misspelt_attribute_is_refused(%q: tensor<1x64x4x64xbf16>,
                                         %k: tensor<1x96x2x64xbf16>,
                                         %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{unknown attribute 'casual' on uattn.ranker_attention: did you mean 'causal'?}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    casual,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// A name that resembles none is refused alike.
func.func @unknown_attribute_is_refused(%q: tensor<1x64x4x64xbf16>,
                                        %k: tensor<1x96x2x64xbf16>,
                                        %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{unknown attribute 'dropout' on uattn.ranker_attention: expected cap, sm_scale, causal, window_len, q_offset, z_loss_weight, deterministic, plan, kernels, operandSegmentSizes, resultSegmentSizes}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    dropout = 0.1 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Other dialects may mark ops; ours has no such mark.
func.func @unknown_uattn_attribute_is_refused(%q: tensor<1x64x4x64xbf16>,
                                              %k: tensor<1x96x2x64xbf16>,
                                              %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{unknown attribute 'uattn.causal' on uattn.ranker_attention: expected cap, sm_scale, causal, window_len, q_offset, z_loss_weight, deterministic, plan, kernels, operandSegmentSizes, resultSegmentSizes}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    uattn.causal,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Plans are made by --uattn-plan.
func.func @plan_is_a_plan_attribute(%q: tensor<1x64x4x64xbf16>,
                                    %k: tensor<1x96x2x64xbf16>,
                                    %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{plan is "fast": expected a #uattn.plan}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    plan = "fast",
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// The decisions have names.
func.func @plan_holds_a_dictionary(%q: tensor<1x64x4x64xbf16>,
                                   %k: tensor<1x96x2x64xbf16>,
                                   %v: tensor<1x96x2x64xbf16>) {
  // expected-error @+4 {{expected base attribute 'builtin.dictionary' but got 'builtin.array'}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    plan = #uattn.plan<[2 : i64]>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// A string is no reference that passes would keep up to date.
func.func @kernels_are_symbols(%q: tensor<1x64x4x64xbf16>,
                               %k: tensor<1x96x2x64xbf16>,
                               %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{kernels is ["fwd"]: expected an array of symbol references}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    kernels = ["fwd"],
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Heads are a dimension of their own.
func.func @q_has_rank_4(%q: tensor<1x64x256xbf16>, %k: tensor<1x96x2x64xbf16>,
                        %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{operand q has rank 3: expected 4}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x256xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Shapes may be dynamic, ranks may not.
func.func @q_is_a_ranked_tensor(%q: tensor<*xbf16>,
                                %k: tensor<1x96x2x64xbf16>,
                                %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{expected base type 'builtin.tensor' but got 'builtin.unranked_tensor'}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<*xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Layouts other than the plain one are unknown.
func.func @q_has_no_encoding(%q: tensor<1x64x4x64xbf16, "sparse">,
                             %k: tensor<1x96x2x64xbf16>,
                             %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{operand q has an encoding: expected none}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16, "sparse">, tensor<1x96x2x64xbf16>,
       tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Tensor cores take 16-bit operands.
func.func @q_is_bf16_or_f16(%q: tensor<1x64x4x64xf32>,
                            %k: tensor<1x96x2x64xbf16>,
                            %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{operand q has element type f32: expected bf16 or f16}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xf32>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Both factors of a product have one type.
func.func @k_has_the_type_of_q(%q: tensor<1x64x4x64xbf16>,
                               %k: tensor<1x96x2x64xf16>,
                               %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{operand k has element type f16: expected bf16}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// A value a key.
func.func @k_and_v_have_one_length(%q: tensor<1x64x4x64xbf16>,
                                   %k: tensor<1x96x2x64xbf16>,
                                   %v: tensor<1x95x2x64xbf16>) {
  // expected-error @below {{operand v has shape 1x95x2x64: expected 1x96x2x64}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x95x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Batches attend to themselves.
func.func @q_and_k_have_one_batch(%q: tensor<3x64x4x64xbf16>,
                                  %k: tensor<1x96x2x64xbf16>,
                                  %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{operand k has shape 1x96x2x64: expected 3x96x2x64}}
  // expected-error @below {{operand v has shape 1x96x2x64: expected 3x96x2x64}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<3x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<3x64x4x64xbf16>
  return
}

// -----

// There is nothing to compute.
func.func @batch_is_above_zero(%q: tensor<0x64x4x64xbf16>,
                               %k: tensor<0x96x2x64xbf16>,
                               %v: tensor<0x96x2x64xbf16>) {
  // expected-error @below {{batch is 0: expected 1 to 2147483647}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<0x64x4x64xbf16>, tensor<0x96x2x64xbf16>, tensor<0x96x2x64xbf16>)
    -> tensor<0x64x4x64xbf16>
  return
}

// -----

// The last position would be 2^31.
func.func @tokens_fit_32_bits(%q: tensor<1x64x4x64xbf16>,
                              %k: tensor<1x2147483649x2x64xbf16>,
                              %v: tensor<1x2147483649x2x64xbf16>) {
  // expected-error @below {{kv_tokens is 2147483649: expected 1 to 2147483647}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x2147483649x2x64xbf16>,
       tensor<1x2147483649x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// A query head reads one KV head.
func.func @kv_heads_divide_q_heads(%q: tensor<1x64x4x64xbf16>,
                                   %k: tensor<1x96x3x64xbf16>,
                                   %v: tensor<1x96x3x64xbf16>) {
  // expected-error @below {{q has 4 heads, not a multiple of the 3 kv heads}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x3x64xbf16>, tensor<1x96x3x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Dot products run over D.
func.func @q_and_k_have_one_head_dim(%q: tensor<1x64x4x64xbf16>,
                                     %k: tensor<1x96x2x128xbf16>,
                                     %v: tensor<1x96x2x128xbf16>) {
  // expected-error @below {{operand k has shape 1x96x2x128: expected 1x96x2x64}}
  // expected-error @below {{operand v has shape 1x96x2x128: expected 1x96x2x64}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x128xbf16>,
       tensor<1x96x2x128xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Kernels are made for one D.
func.func @head_dim_is_static(%q: tensor<1x64x4x64xbf16>,
                              %k: tensor<1x96x2x?xbf16>,
                              %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{operand k has a dynamic head_dim: expected 64, 128, 192 or 256}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x?xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// One swizzled row holds 64 elements.
func.func @head_dim_is_a_multiple_of_64(%q: tensor<1x64x4x72xbf16>,
                                        %k: tensor<1x96x2x72xbf16>,
                                        %v: tensor<1x96x2x72xbf16>) {
  // expected-error @below {{head_dim is 72: expected 64, 128, 192 or 256}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x72xbf16>, tensor<1x96x2x72xbf16>, tensor<1x96x2x72xbf16>)
    -> tensor<1x64x4x72xbf16>
  return
}

// -----

// More does not fit the registers.
func.func @head_dim_is_at_most_256(%q: tensor<1x64x4x320xbf16>,
                                   %k: tensor<1x96x2x320xbf16>,
                                   %v: tensor<1x96x2x320xbf16>) {
  // expected-error @below {{head_dim is 320: expected 64, 128, 192 or 256}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x320xbf16>, tensor<1x96x2x320xbf16>,
       tensor<1x96x2x320xbf16>)
    -> tensor<1x64x4x320xbf16>
  return
}

// -----

// Temperatures multiply logits.
func.func @temp_is_a_float(%q: tensor<1x64x4x64xbf16>,
                           %k: tensor<1x96x2x64xbf16>,
                           %v: tensor<1x96x2x64xbf16>,
                           %temp: tensor<1x64xi32>) {
  // expected-error @below {{operand temp has element type i32: expected f32, bf16 or f16}}
  "uattn.ranker_attention"(%q, %k, %v, %temp) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64xi32>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Not one a head or a key.
func.func @temp_has_a_value_a_query(%q: tensor<1x64x4x64xbf16>,
                                    %k: tensor<1x96x2x64xbf16>,
                                    %v: tensor<1x96x2x64xbf16>,
                                    %temp: tensor<1x96xf32>) {
  // expected-error @below {{operand temp has shape 1x96: expected 1x64}}
  "uattn.ranker_attention"(%q, %k, %v, %temp) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x96xf32>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// History and candidates, lower and upper.
func.func @bounds_have_four_columns(%q: tensor<1x64x4x64xbf16>,
                                    %k: tensor<1x96x2x64xbf16>,
                                    %v: tensor<1x96x2x64xbf16>,
                                    %bounds: tensor<1x2xi32>) {
  // expected-error @below {{operand bounds has shape 1x2: expected 1x4}}
  "uattn.ranker_attention"(%q, %k, %v, %bounds) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x2xi32>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Positions on the device have 32 bits.
func.func @bounds_are_i32(%q: tensor<1x64x4x64xbf16>,
                          %k: tensor<1x96x2x64xbf16>,
                          %v: tensor<1x96x2x64xbf16>,
                          %bounds: tensor<1x4xi64>) {
  // expected-error @below {{operand bounds has element type i64: expected i32}}
  "uattn.ranker_attention"(%q, %k, %v, %bounds) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x4xi64>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Ids are compared with each other.
func.func @q_segment_ids_need_kv_segment_ids(%q: tensor<1x64x4x64xbf16>,
                                             %k: tensor<1x96x2x64xbf16>,
                                             %v: tensor<1x96x2x64xbf16>,
                                             %q_ids: tensor<1x64xi32>) {
  // expected-error @below {{operand q_segment_ids is given without kv_segment_ids: expected both or neither}}
  "uattn.ranker_attention"(%q, %k, %v, %q_ids) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64xi32>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Ids are compared with each other.
func.func @kv_segment_ids_need_q_segment_ids(%q: tensor<1x64x4x64xbf16>,
                                             %k: tensor<1x96x2x64xbf16>,
                                             %v: tensor<1x96x2x64xbf16>,
                                             %kv_ids: tensor<1x96xi32>) {
  // expected-error @below {{operand kv_segment_ids is given without q_segment_ids: expected both or neither}}
  "uattn.ranker_attention"(%q, %k, %v, %kv_ids) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x96xi32>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Other integers are not loaded.
func.func @segment_ids_are_i32(%q: tensor<1x64x4x64xbf16>,
                               %k: tensor<1x96x2x64xbf16>,
                               %v: tensor<1x96x2x64xbf16>,
                               %q_ids: tensor<1x64xi8>,
                               %kv_ids: tensor<1x96xi8>) {
  // expected-error @below {{operand q_segment_ids has element type i8: expected i32}}
  // expected-error @below {{operand kv_segment_ids has element type i8: expected i32}}
  "uattn.ranker_attention"(%q, %k, %v, %q_ids, %kv_ids) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64xi8>, tensor<1x96xi8>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// An id a key, not a query.
func.func @kv_segment_ids_have_an_id_a_key(%q: tensor<1x64x4x64xbf16>,
                                           %k: tensor<1x96x2x64xbf16>,
                                           %v: tensor<1x96x2x64xbf16>,
                                           %q_ids: tensor<1x64xi32>,
                                           %kv_ids: tensor<1x64xi32>) {
  // expected-error @below {{operand kv_segment_ids has shape 1x64: expected 1x96}}
  "uattn.ranker_attention"(%q, %k, %v, %q_ids, %kv_ids) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>,
       tensor<1x64xi32>, tensor<1x64xi32>)
    -> tensor<1x64x4x64xbf16>
  return
}

// -----

// Only lse may be left out.
func.func @out_is_always_a_result(%q: tensor<1x64x4x64xbf16>,
                                  %k: tensor<1x96x2x64xbf16>,
                                  %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{result out is missing: expected it always}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 0, 1>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x4x64xf32>
  return
}

// -----

// A row of out a row of q.
func.func @out_has_the_shape_of_q(%q: tensor<1x64x4x64xbf16>,
                                  %k: tensor<1x96x2x64xbf16>,
                                  %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{result out has shape 1x64x2x64: expected 1x64x4x64}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x2x64xbf16>
  return
}

// -----

// Kernels round once, to the input type.
func.func @out_has_the_type_of_q(%q: tensor<1x64x4x64xbf16>,
                                 %k: tensor<1x96x2x64xbf16>,
                                 %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{result out has element type f32: expected bf16}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> tensor<1x64x4x64xf32>
  return
}

// -----

// lse is [batch, heads, tokens].
func.func @lse_has_heads_before_tokens(%q: tensor<1x64x4x64xbf16>,
                                       %k: tensor<1x96x2x64xbf16>,
                                       %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{result lse has shape 1x64x4: expected 1x4x64}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x64x4xf32>)
  return
}

// -----

// 16 bits would lose the backward pass.
func.func @lse_is_f32(%q: tensor<1x64x4x64xbf16>, %k: tensor<1x96x2x64xbf16>,
                      %v: tensor<1x96x2x64xbf16>) {
  // expected-error @below {{result lse has element type bf16: expected f32}}
  "uattn.ranker_attention"(%q, %k, %v) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>,
    sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1>
  } : (tensor<1x64x4x64xbf16>, tensor<1x96x2x64xbf16>, tensor<1x96x2x64xbf16>)
    -> (tensor<1x64x4x64xbf16>, tensor<1x4x64xbf16>)
  return
}
