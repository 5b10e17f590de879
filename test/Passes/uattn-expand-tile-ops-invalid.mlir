// RUN: uattn-opt --split-input-file --verify-diagnostics --uattn-expand-tile-ops %s
// Scores are f32. Constants of another type once came out as garbage.

func.func @cap_of_bf16(%s: vector<64x64xbf16>) {
  // expected-error @below {{scores are vector<64x64xbf16>: expected a vector of f32}}
  %c = "uattn.cap_apply"(%s) {method = "alsc"} : (vector<64x64xbf16>) -> vector<64x64xbf16>
  return
}

// -----

func.func @cap_of_integers(%s: vector<64x64xi32>) {
  // expected-error @below {{scores are vector<64x64xi32>: expected a vector of f32}}
  %c = "uattn.cap_apply"(%s) {method = "tanh"} : (vector<64x64xi32>) -> vector<64x64xi32>
  return
}

// -----

// Constants need a number of elements; it was once read from nowhere.
func.func @cap_of_unknown_size(%s: vector<64x[8]xf32>) {
  // expected-error @below {{scores are vector<64x[8]xf32>: expected a vector of f32}}
  %c = "uattn.cap_apply"(%s) {method = "alsc"} : (vector<64x[8]xf32>) -> vector<64x[8]xf32>
  return
}
