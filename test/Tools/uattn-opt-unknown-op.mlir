// RUN: uattn-opt --allow-unregistered-dialect --verify-diagnostics --split-input-file %s

// A misspelt op of our dialect never passes as an unknown one.
func.func @f() {
  // expected-error @below {{'uattn.ranker_atention'}}
  // expected-note @below {{see current operation}}
  "uattn.ranker_atention"() : () -> ()
  return
}

// -----

// expected-error @below {{expected dynamic type}}
func.func @g(%x: !uattn.rings<i32>) {
  return
}
