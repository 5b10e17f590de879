// RUN: uattn-opt --allow-unregistered-dialect --uattn-import-stablehlo %s | FileCheck %s
// RUN: uattn-opt --allow-unregistered-dialect --uattn-import-stablehlo %s \
// RUN:   | uattn-opt --allow-unregistered-dialect --uattn-import-stablehlo - | FileCheck %s

!t = tensor<1x64x2x64xbf16>
!lse = tensor<1x2x64xf32>
!rows = tensor<1x64xf32>

// What is missing has its default, and the raised op leaves defaults out.
// CHECK-LABEL: func.func @minimal(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor
// CHECK-NEXT: %[[OUT:.*]] = "uattn.ranker_attention"(%[[Q]], %[[Q]], %[[Q]])
// CHECK-SAME: cap = #uattn.cap<"none", 0.000000e+00 : f32, 0.000000e+00 : f32, 0.000000e+00 : f32>
// CHECK-NOT: causal
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-NOT: q_offset
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 0>
// CHECK-SAME: sm_scale = 1.250000e-01 : f32
// CHECK-NOT: window_len
// CHECK-NEXT: return %[[OUT]]
func.func @minimal(%q: !t) -> !t {
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return %out : !t
}

// Defaults that are written are defaults.
// CHECK-LABEL: func.func @written_defaults(
// CHECK-NEXT: "uattn.ranker_attention"
// CHECK-NOT: causal
// CHECK-NOT: q_offset
// CHECK-NOT: window_len
// CHECK: return
func.func @written_defaults(%q: !t) -> !t {
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>,
      cap = 0.0 : f32, cap_alpha = 0.0 : f32, cap_beta = 0.0 : f32, causal = false,
      window_len = 0 : i64, q_offset = 0 : i64}
  }> : (!t, !t, !t) -> !t
  return %out : !t
}

// Every forward attribute. JAX writes arrays of numpy as dense tensors.
// CHECK-LABEL: func.func @all_attributes(
// CHECK: "uattn.ranker_attention"
// CHECK-SAME: cap = #uattn.cap<"alsc", 3.000000e+01 : f32, 1.500000e+00 : f32, -2.500000e-01 : f32>
// CHECK-SAME: causal,
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>
// CHECK-SAME: q_offset = -3 : i64
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1>
// CHECK-SAME: sm_scale = -5.000000e-01 : f32
// CHECK-SAME: window_len = 17 : i64
func.func @all_attributes(%q: !t) -> (!t, !lse) {
  %out, %lse = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "alsc", cap = 30.0 : f32, cap_alpha = 1.5 : f32, cap_beta = -0.25 : f32,
      sm_scale = -0.5 : f32, causal = true, window_len = 17 : i64, q_offset = -3 : i64,
      operandSegmentSizes = dense<[1, 1, 1, 0, 0, 0, 0]> : tensor<7xi64>,
      resultSegmentSizes = dense<1> : tensor<2xi32>}
  }> : (!t, !t, !t) -> (!t, !lse)
  return %out, %lse : !t, !lse
}

// A flag may be any integer that is 0 or 1.
// CHECK-LABEL: func.func @flags_as_integers(
// CHECK: "uattn.ranker_attention_bwd"
// CHECK-SAME: causal
// CHECK-SAME: deterministic
// CHECK-SAME: z_loss_weight = 1.000000e-03 : f32
func.func @flags_as_integers(%q: !t, %lse: !lse) -> (!t, !t, !t) {
  %dq, %dk, %dv = "stablehlo.custom_call"(%q, %q, %q, %q, %lse, %q) <{
    call_target_name = "uattn.ranker_attention_bwd", api_version = 4 : i32,
    backend_config = {cap_method = "tanh", cap = 30.0 : f32, sm_scale = 0.125 : f32,
      causal = 1 : ui8, deterministic = 1 : i32, z_loss_weight = 1.0e-3 : f32,
      operandSegmentSizes = array<i64: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0>,
      resultSegmentSizes = array<i64: 1, 1, 1, 0>}
  }> : (!t, !t, !t, !t, !lse, !t) -> (!t, !t, !t)
  return %dq, %dk, %dv : !t, !t, !t
}

// As JAX 0.10 prints it: the dictionary stands in an attribute of mhlo, and the
// interface calls itself untyped.
// CHECK-LABEL: func.func @config_of_mhlo(
// CHECK: "uattn.ranker_attention"
// CHECK-NOT: mhlo.backend_config
// CHECK: return
func.func @config_of_mhlo(%q: !t) -> !t {
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 1 : i32, backend_config = "",
    has_side_effect = false, called_computations = [], output_operand_aliases = [],
    operand_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>,
                       dense<[3, 2, 1, 0]> : tensor<4xindex>],
    result_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>]
  }> {
    mhlo.backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  } : (!t, !t, !t) -> !t
  return %out : !t
}

// A kernel's name means nothing here; the workspace behind the results, which
// it may bring along, goes.
// CHECK-LABEL: func.func @workspace_is_dropped(
// CHECK-NEXT: %[[OUT:[a-z0-9]+]] = "uattn.ranker_attention"
// CHECK-NOT: artifact
// CHECK-NOT: ui8
// CHECK: return %[[OUT]]
func.func @workspace_is_dropped(%q: !t) -> !t {
  %out, %workspace = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>,
      artifact = "9f1c"}
  }> : (!t, !t, !t) -> (!t, tensor<4096xui8>)
  return %out : !t
}

// CHECK-LABEL: func.func @artifact_without_workspace(
// CHECK: "uattn.ranker_attention"
func.func @artifact_without_workspace(%q: !t) -> !t {
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>,
      artifact = "9f1c"}
  }> : (!t, !t, !t) -> !t
  return %out : !t
}

// Attributes of other dialects go over as they stand.
// CHECK-LABEL: func.func @shardings_are_kept(
// CHECK: "uattn.ranker_attention"
// CHECK-SAME: mhlo.sharding = "{replicated}"
// CHECK-SAME: sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}, {}]>]>
func.func @shardings_are_kept(%q: !t) -> !t {
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> {
    mhlo.sharding = "{replicated}",
    sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}, {}, {}]>]>
  } : (!t, !t, !t) -> !t
  return %out : !t
}

// Other calls and composites are somebody else's.
// CHECK-LABEL: func.func @others_stay(
// CHECK: "stablehlo.custom_call"
// CHECK-SAME: call_target_name = "uattn.ranker"
// CHECK: "stablehlo.composite"
// CHECK-SAME: name = "uattn.ranker_attention_forward"
func.func @others_stay(%q: !t) -> !t {
  %a = "stablehlo.custom_call"(%q) <{call_target_name = "uattn.ranker", has_side_effect = true}> : (!t) -> !t
  %b = "stablehlo.composite"(%a) <{name = "uattn.ranker_attention_forward", decomposition = @of_another}> : (!t) -> !t
  return %b : !t
}
// CHECK: func.func private @of_another(
func.func private @of_another(%q: !t) -> !t {
  return %q : !t
}

// CHECK-LABEL: func.func @inside_a_region(
// CHECK: "stablehlo.case"
// CHECK: "uattn.ranker_attention"
// CHECK: "stablehlo.return"
func.func @inside_a_region(%q: !t, %i: tensor<i32>) -> !t {
  %r = "stablehlo.case"(%i) ({
  %out = "stablehlo.custom_call"(%q, %q, %q) <{
    call_target_name = "uattn.ranker_attention", api_version = 4 : i32,
    backend_config = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
    "stablehlo.return"(%out) : (!t) -> ()
  }) : (tensor<i32>) -> !t
  return %r : !t
}

// ---- Decompositions ----------------------------------------------------------

// A private decomposition goes with its last composite, and so do the private
// functions that it alone called.
// CHECK-LABEL: func.func @composites(
// CHECK-COUNT-2: "uattn.ranker_attention"
// CHECK-NOT: @unused
// CHECK-NOT: @called_by_unused
func.func @composites(%q: !t) -> (!t, !t) {
  %a = "stablehlo.composite"(%q, %q, %q) <{
    name = "uattn.ranker_attention", decomposition = @unused, version = 1 : i32,
    composite_attributes = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  %b = "stablehlo.composite"(%q, %q, %q) <{
    name = "uattn.ranker_attention", decomposition = @"unused <lambda>", version = 1 : i32,
    composite_attributes = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  return %a, %b : !t, !t
}
func.func private @unused(%q: !t, %k: !t, %v: !t) -> !t {
  %r = func.call @called_by_unused(%q) : (!t) -> !t
  return %r : !t
}
func.func private @"unused <lambda>"(%q: !t, %k: !t, %v: !t) -> !t {
  %r = func.call @called_by_unused(%q) : (!t) -> !t
  %s = func.call @called_by_others(%r) : (!t) -> !t
  return %s : !t
}
func.func private @called_by_unused(%q: !t) -> !t {
  return %q : !t
}

// CHECK-LABEL: func.func @uses(
func.func @uses(%q: !t) -> !t {
  %a = "stablehlo.composite"(%q, %q, %q) <{
    name = "uattn.ranker_attention", decomposition = @called, version = 1 : i32,
    composite_attributes = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  %b = "stablehlo.composite"(%q, %q, %q) <{
    name = "uattn.ranker_attention", decomposition = @mentioned, version = 1 : i32,
    composite_attributes = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  %c = "stablehlo.composite"(%q, %q, %q) <{
    name = "uattn.ranker_attention", decomposition = @public, version = 1 : i32,
    composite_attributes = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  %d = "stablehlo.composite"(%q, %q, %q) <{
    name = "uattn.ranker_attention", decomposition = @recursive, version = 1 : i32,
    composite_attributes = {cap_method = "none", sm_scale = 0.125 : f32,
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0>}
  }> : (!t, !t, !t) -> !t
  %e = func.call @called(%a, %b, %c) : (!t, !t, !t) -> !t
  %f = func.call @called_by_others(%e) : (!t) -> !t
  "other.op"() <{callee = @mentioned}> : () -> ()
  return %f : !t
}
// CHECK: func.func private @called(
func.func private @called(%q: !t, %k: !t, %v: !t) -> !t {
  return %q : !t
}
// What an unregistered op refers to is a use.
// CHECK: func.func private @mentioned(
func.func private @mentioned(%q: !t, %k: !t, %v: !t) -> !t {
  return %q : !t
}
// CHECK: func.func @public(
func.func @public(%q: !t, %k: !t, %v: !t) -> !t {
  return %q : !t
}
// CHECK: func.func private @recursive(
func.func private @recursive(%q: !t, %k: !t, %v: !t) -> !t {
  %r = func.call @recursive(%q, %k, %v) : (!t, !t, !t) -> !t
  return %r : !t
}
// CHECK: func.func private @called_by_others(
func.func private @called_by_others(%q: !t) -> !t {
  return %q : !t
}
