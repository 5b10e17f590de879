// RUN: uattn-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics \
// RUN:   --uattn-import-stablehlo %s
// What a call or composite says that the op cannot mean is refused by name.

!t = tensor<1x64x2x64xbf16>
func.func @unknown_attribute(%q: !t) {
  // expected-error @below {{unknown attribute 'sm_scal' in backend_config: did you mean 'sm_scale'?}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, sm_scal = 1.0 : f32}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @unknown_attribute_without_likeness(%q: !t) {
  // expected-error @below {{unknown attribute 'temperature' in mhlo.backend_config: expected operandSegmentSizes, resultSegmentSizes, cap_method, cap, cap_alpha, cap_beta, sm_scale, causal, window_len, q_offset, artifact}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32
  }> {mhlo.backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, temperature = 1.0 : f32}} : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @backward_attribute_on_forward(%q: !t) {
  // expected-error @below {{unknown attribute 'deterministic' in backend_config: expected operandSegmentSizes}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, deterministic = false}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @unknown_attribute_of_call(%q: !t) {
  // expected-error @below {{unknown attribute 'has_side_effects' on stablehlo.custom_call: did you mean 'has_side_effect'?}}
  %out = "stablehlo.custom_call"(%q, %q, %q) {
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32, has_side_effects = true,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  } : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @scale_missing(%q: !t) {
  // expected-error @below {{sm_scale is missing in backend_config: expected an f32}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none",
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
// A float of Python, where np.float32 was wanted.
func.func @scale_of_python(%q: !t) {
  // expected-error @below {{sm_scale is 1.250000e-01 : f64 in backend_config: expected an f32}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f64,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @cap_of_integer(%q: !t) {
  // expected-error @below {{cap is 30 : i64 in backend_config: expected an f32}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "tanh", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, cap = 30 : i64}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @cap_method_missing(%q: !t) {
  // expected-error @below {{cap_method is missing in backend_config: expected "none", "tanh", "soft_sign" or "alsc"}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @cap_method_is_no_string(%q: !t) {
  // expected-error @below {{cap_method is 1 : i32 in backend_config: expected "none", "tanh", "soft_sign" or "alsc"}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = 1 : i32, sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @flag_is_two(%q: !t) {
  // expected-error @below {{causal is 2 : ui8 in backend_config: expected true, false, or an integer that is 0 or 1}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, causal = 2 : ui8}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @flag_is_string(%q: !t) {
  // expected-error @below {{causal is "yes" in backend_config: expected true, false, or an integer that is 0 or 1}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, causal = "yes"}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @window_of_i32(%q: !t) {
  // expected-error @below {{window_len is 5 : i32 in backend_config: expected an i64}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, window_len = 5 : i32}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @artifact_is_no_string(%q: !t) {
  // expected-error @below {{artifact is 7 : i64 in backend_config: expected a string}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, artifact = 7 : i64}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
// All are told at once.
func.func @several_mistakes(%q: !t) {
  // expected-error @below {{window_len is 5 : i32 in backend_config: expected an i64}}
  // expected-error @below {{q_offset is 1.000000e+00 : f32 in backend_config: expected an i64}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, window_len = 5 : i32, q_offset = 1.0 : f32}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @segments_missing(%q: !t) {
  // expected-error @below {{operandSegmentSizes is missing in backend_config: expected 7 entries, array<i32: ...> or dense<...> : tensor<7xi32>}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @segments_too_many(%q: !t) {
  // expected-error @below {{resultSegmentSizes is array<i32: 1, 0, 0> in backend_config: expected 2 entries, array<i32: ...> or dense<...> : tensor<2xi32>}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @segments_of_floats(%q: !t) {
  // expected-error @below {{resultSegmentSizes is dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf32> in backend_config: expected 2 entries}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = dense<[1.0, 0.0]> : tensor<2xf32>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @segments_as_list(%q: !t) {
  // expected-error @below {{resultSegmentSizes is [1, 0] in backend_config: expected 2 entries}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = [1, 0]}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @segment_of_two(%q: !t) {
  // expected-error @below {{operandSegmentSizes has 2 at entry 0: expected 0 or 1}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = dense<[2, 1, 0, 0, 0, 0, 0]> : tensor<7xi64>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @operand_count(%q: !t) {
  // expected-error @below {{operandSegmentSizes adds up to 4: expected 3, the number of operands}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @result_count(%q: !t) {
  // expected-error @below {{resultSegmentSizes adds up to 2: expected 1, the number of results}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @workspace_without_artifact(%q: !t) {
  // expected-error @below {{resultSegmentSizes adds up to 1: expected 2, the number of results}}
  %out, %w = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> (!t, tensor<8xui8>)
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @workspace_of_another_type(%q: !t) {
  // expected-error @below {{the workspace, result 1, is a tensor<8xf32>: expected a tensor of ui8 of rank 1}}
  %out, %w = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, artifact = "9f1c"}
  }> : (!t, !t, !t) -> (!t, tensor<8xf32>)
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @workspace_is_used(%q: !t) {
  // expected-error @below {{the workspace, result 1, is used: expected no use, since the attention op has none}}
  %out, %w = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, artifact = "9f1c"}
  }> : (!t, !t, !t) -> (!t, tensor<8xui8>)
  "other.op"(%w) : (tensor<8xui8>) -> ()
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
// It has an entry a result.
func.func @workspace_with_sharding(%q: !t) {
  // expected-error @below {{mhlo.sharding is "{replicated}": expected none beside a workspace, which is dropped}}
  %out, %w = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, artifact = "9f1c"}
  }> {mhlo.sharding = "{replicated}"} : (!t, !t, !t) -> (!t, tensor<8xui8>)
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @untyped_interface(%q: !t) {
  // expected-error @below {{api_version is 1 : i32: expected 4 : i32, or 1 : i32 with mhlo.backend_config}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 1 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @interface_missing(%q: !t) {
  // expected-error @below {{api_version is missing: expected 4 : i32, or 1 : i32 with mhlo.backend_config}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention",
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @config_is_string(%q: !t) {
  // expected-error @below {{backend_config is "{}": expected a dictionary}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32, backend_config = "{}"
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @config_missing(%q: !t) {
  // expected-error @below {{backend_config is missing: expected a dictionary}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @two_configs(%q: !t) {
  // expected-error @below {{backend_config is {}: expected none beside mhlo.backend_config}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32, backend_config = {}
  }> {mhlo.backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}} : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @side_effect(%q: !t) {
  // expected-error @below {{has_side_effect is true: expected false}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32, has_side_effect = true,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @aliases(%q: !t) {
  // expected-error @below {{output_operand_aliases is [0]: expected none}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32, output_operand_aliases = [0],
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @computations(%q: !t) {
  // expected-error @below {{called_computations is [@f]: expected none}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32, called_computations = [@f],
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @operand_layout(%q: !t) {
  // expected-error @below {{layout of operand 1 is dense<[3, 1, 2, 0]> : tensor<4xindex>: expected dense<[3, 2, 1, 0]> : tensor<4xindex>, the default}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32, operand_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 1, 2, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>],
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @result_layout(%q: !t) {
  // expected-error @below {{layout of result 0 is dense<[0, 1, 2, 3]> : tensor<4xindex>: expected dense<[3, 2, 1, 0]> : tensor<4xindex>, the default}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32, result_layouts = [dense<[0, 1, 2, 3]> : tensor<4xindex>],
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @layouts_too_few(%q: !t) {
  // expected-error @below {{result_layouts is []: expected [dense<[3, 2, 1, 0]> : tensor<4xindex>]}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32, result_layouts = [],
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @composite_attribute(%q: !t) {
  // expected-error @below {{unknown attribute 'causl' in composite_attributes: did you mean 'causal'?}}
  %out = "stablehlo.composite"(%q, %q, %q) <{
    name = "uattn.ranker_attention", decomposition = @f, version = 1 : i32,
    composite_attributes = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, causl = true}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @composite_version(%q: !t) {
  // expected-error @below {{version is 2 : i32: expected 0 : i32 or 1 : i32}}
  %out = "stablehlo.composite"(%q, %q, %q) <{
    name = "uattn.ranker_attention", decomposition = @f, version = 2 : i32,
    composite_attributes = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @composite_attributes_missing(%q: !t) {
  // expected-error @below {{composite_attributes is missing: expected a dictionary}}
  %out = "stablehlo.composite"(%q, %q, %q) <{name = "uattn.ranker_attention", decomposition = @f}> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @composite_with_region(%q: !t) {
  // expected-error @below {{a composite has 1 regions: expected none}}
  %out = "stablehlo.composite"(%q, %q, %q) <{
    name = "uattn.ranker_attention", decomposition = @f,
    composite_attributes = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> ({
    "stablehlo.return"() : () -> ()
  }) : (!t, !t, !t) -> !t
  return
}

// -----

// ---- What the raised op means is the verifier's to judge --------------------

!t = tensor<1x64x2x64xbf16>
func.func @cap_method_unknown(%q: !t) {
  // expected-error @below {{cap method is "gelu": expected "none", "tanh", "soft_sign" or "alsc"}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "gelu", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @cap_parameter_without_method(%q: !t) {
  // expected-error @below {{cap none has cap 30, which it does not use: expected 0}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, cap = 30.0 : f32}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @window_below_zero(%q: !t) {
  // expected-error @below {{window_len is -4: expected above 0}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>, window_len = -4 : i64}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @k_missing(%q: !t) {
  // expected-error @below {{element 1 in 'operandSegmentSizes' attribute must be equal to 1}}
  // expected-note @below {{see current operation}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @operand_shape(%q: !t, %k: tensor<1x64x3x64xbf16>) {
  // expected-error @below {{operand v has shape 1x64x2x64: expected 1x64x3x64}}
  %out = "stablehlo.custom_call"(%q, %k, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, tensor<1x64x3x64xbf16>, !t) -> !t
  return
}

// -----

!b = tensor<3x1x64x2x64xbf16>
// vmap_method="broadcast_all" puts a dimension in front; "sequential" does not.
func.func @batched_by_vmap(%q: !b) {
  // expected-error @below {{operand q has rank 5: expected 4}}
  // expected-error @below {{operand k has rank 5: expected 4}}
  // expected-error @below {{operand v has rank 5: expected 4}}
  // expected-error @below {{result out has rank 5: expected 4}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!b, !b, !b) -> tensor<3x1x64x2x64xbf16>
  return
}

// -----

func.func @scalar_operand(%q: f32) {
  // expected-error @below {{expected base type 'builtin.tensor' but got 'builtin.f32'}}
  // expected-note @below {{see current operation}}
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (f32, f32, f32) -> f32
  return
}
