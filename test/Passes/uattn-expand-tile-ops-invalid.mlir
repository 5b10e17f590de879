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

func.func @mask_of_bf16(%s: vector<64x64xbf16>, %i: i32) {
  // expected-error @below {{scores are vector<64x64xbf16>: expected a vector of f32 with rows and columns}}
  %c = "uattn.mask_apply"(%s, %i, %i) : (vector<64x64xbf16>, i32, i32) -> vector<64x64xbf16>
  return
}

// -----

// A mask needs columns to count; their number was once read from nowhere.
func.func @mask_without_columns(%s: vector<64xf32>, %i: i32) {
  // expected-error @below {{scores are vector<64xf32>: expected a vector of f32 with rows and columns}}
  %c = "uattn.mask_apply"(%s, %i, %i) : (vector<64xf32>, i32, i32) -> vector<64xf32>
  return
}

// -----

func.func @mask_of_unknown_size(%s: vector<64x[8]xf32>, %i: i32) {
  // expected-error @below {{scores are vector<64x[8]xf32>: expected a vector of f32 with rows and columns}}
  %c = "uattn.mask_apply"(%s, %i, %i) : (vector<64x[8]xf32>, i32, i32) -> vector<64x[8]xf32>
  return
}
