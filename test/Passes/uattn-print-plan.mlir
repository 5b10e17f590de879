// RUN: uattn-opt --uattn-plan --uattn-print-plan %s -o %t.mlir 2> %t.txt
// RUN: FileCheck %s --check-prefix=TEXT < %t.txt
// RUN: FileCheck %s --check-prefix=IR < %t.mlir
// RUN: uattn-opt --uattn-plan %s | cmp - %t.mlir
// RUN: not uattn-opt --uattn-print-plan %s 2>&1 | FileCheck %s --check-prefix=UNPLANNED

!q = tensor<1x64x2x64xbf16>

// The text names the kernel, every decision, what it costs and what it was
// chosen from; the IR is the same as without the pass.
// TEXT: forward kernel ranker_attention_fwd_bf16_d64_tanh on sm_90a
// TEXT-NEXT: tiles: 192 query rows a CTA (3 consumer warpgroups of 64), 128 keys
// TEXT-NEXT: rings: 2 stages of K and of V
// TEXT-NEXT: registers a thread: 128 at entry, producer 32, consumers 160 (need {{[0-9]+}})
// TEXT-NEXT: shared memory: {{[0-9]+}} of 232448 bytes; 512 threads
// TEXT-NEXT: schedule: one CTA a query tile, KV tiles from the last to the first, consumers take turns (ping-pong)
// TEXT-NEXT: softmax: base 2, no maximum: the cap bounds the scores{{$}}
// TEXT-NEXT: exponentials: one of {{[2-9]}} groups of 8 columns by a polynomial
// TEXT-NEXT: masks: none but the last KV tile's end
// TEXT-NEXT: a step: tensor {{[0-9]+}}, special functions {{[0-9]+}}, issue {{[0-9]+}}, overhead {{[0-9]+}} cycles; bound by {{special functions|instruction issue}}; {{[0-9.]+}} cycles a pair
// TEXT-NEXT: other KV tiles of these warpgroups:
// TEXT-NEXT: 96 rows: {{[0-9.]+}} cycles a pair, {{[0-9]+}} registers, {{[0-9]+}} bytes, fits
// TEXT-NEXT: 112 rows: {{.*}} fits
// TEXT-NEXT: 144 rows: {{.*}} too many registers
// TEXT-NEXT: 160 rows: {{.*}} too many registers
// IR-LABEL: func.func @chosen_plan_is_explained(
// UNPLANNED: uattn-print-plan.mlir:[[# @LINE + 2]]:10: error: op has no plan: expected the attribute that uattn-plan adds
func.func @chosen_plan_is_explained(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"tanh", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// A plan that somebody wrote is explained as it stands: no ping-pong, scores
// negated because the scale is negative and nothing else takes its sign. Tiles
// of more than 256 rows, which no TMA box has, were once printed as choices.
// TEXT: forward kernel ranker_attention_fwd_bf16_d64_none on sm_90a
// TEXT-NEXT: tiles: 64 query rows a CTA (1 consumer warpgroups of 64), 256 keys
// TEXT-NEXT: rings: 3 stages
// TEXT-NEXT: registers a thread: 160 at entry, producer 80, consumers 240
// TEXT-NEXT: shared memory: {{[0-9]+}} of 232448 bytes; 256 threads
// TEXT-NEXT: schedule: {{.*}}, consumers run freely
// TEXT-NEXT: softmax: base 2, running maximum
// TEXT-NEXT: masks: none but the last KV tile's end
// TEXT-NEXT: scores: negated (sm_scale < 0)
// TEXT: other KV tiles of these warpgroups:
// TEXT-NEXT: 224 rows: {{.*}}
// TEXT-NEXT: 240 rows: {{.*}}
// IR-LABEL: func.func @written_plan_is_explained(
func.func @written_plan_is_explained(%q: !q) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = -0.125 : f32,
    plan = #uattn.plan<{consumer_registers = 240 : i64, consumer_warpgroups = 1 : i64,
      entry_registers = 160 : i64, kv_tile_rows = 256 : i64, ping_pong = false,
      polynomial_period = 0 : i64,
      producer_registers = 80 : i64, softmax = "online", stage_count = 3 : i64,
      target = "sm_90a"}>,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q) -> !q
  return %out : !q
}

// Masks, and a bound that a row's temp may pass.
// TEXT: forward kernel ranker_attention_fwd_bf16_d64_soft_sign_temp_f32_ranker_segments_causal_window on sm_90a
// TEXT: softmax: base 2, no maximum: the cap bounds the scores (running maximum where temp is too large)
// TEXT: masks: ranker (candidates' own keys row-wise) segments (every tile compares) causal window{{$}}
// TEXT: other KV tiles of these warpgroups:
// TEXT-COUNT-4: {{^ +[0-9]+}} rows: {{.*}}
// TEXT-NOT: {{.}}
// IR-LABEL: func.func @masks_are_explained(
func.func @masks_are_explained(%q: !q, %t: tensor<1x64xf32>, %b: tensor<1x4xi32>,
                               %s: tensor<1x64xi32>) -> !q {
  %out = "uattn.ranker_attention"(%q, %q, %q, %t, %b, %s, %s) {
    cap = #uattn.cap<"soft_sign", 30.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    causal, window_len = 16 : i64,
    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (!q, !q, !q, tensor<1x64xf32>, tensor<1x4xi32>, tensor<1x64xi32>, tensor<1x64xi32>) -> !q
  return %out : !q
}
