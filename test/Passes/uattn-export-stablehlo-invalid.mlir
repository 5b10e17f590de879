// RUN: uattn-opt --allow-unregistered-dialect --split-input-file --verify-diagnostics \
// RUN:   --uattn-export-stablehlo %s
// StableHLO has no place for what was decided and built; to drop it would lose
// somebody's choice.
//
// RUN: not uattn-opt --allow-unregistered-dialect --split-input-file --uattn-export-stablehlo=form=call %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FORM
// FORM: form is call: expected custom-call or composite
//
// RUN: not uattn-opt --split-input-file --uattn-export-stablehlo %s 2>&1 | FileCheck %s --check-prefix=DIALECT
// DIALECT: StableHLO is no registered dialect: expected --allow-unregistered-dialect

!t = tensor<1x64x2x64xbf16>
func.func @planned(%q: !t) -> !t {
  // expected-error @below {{plan is given: expected an op without it, which StableHLO cannot carry}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    plan = #uattn.plan<{target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!t, !t, !t) -> !t
  return %out : !t
}

// -----

!t = tensor<1x64x2x64xbf16>
func.func @with_kernels(%q: !t) -> !t {
  // expected-error @below {{kernels is given: expected an op without it, which StableHLO cannot carry}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    kernels = [@kernels::@forward],
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!t, !t, !t) -> !t
  return %out : !t
}

// -----

// It would be read as the attributes themselves.
!t = tensor<1x64x2x64xbf16>
func.func @with_config(%q: !t) -> !t {
  // expected-error @below {{mhlo.backend_config is given: expected an op without it, which StableHLO cannot carry}}
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    mhlo.backend_config = {},
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!t, !t, !t) -> !t
  return %out : !t
}
