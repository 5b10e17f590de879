// RUN: uattn-opt --verify-diagnostics --split-input-file --allow-unregistered-dialect %s

// Each way to say where: on the line, the next, the one before, so many lines
// off. Two expectations may speak of one line.
func.func @this_line(%x: i32) -> i64 {
  return %x : i32 // expected-error {{type of return operand 0 ('i32')}}
  // expected-note @-1 {{see current operation}}
}

// -----

func.func @below(%x: i32) -> i64 {
  // expected-error @below {{type of return operand 0 ('i32')}}
  // expected-note @below {{see current operation}}
  return %x : i32
}

// -----

func.func @above(%x: i32) -> i64 {
  return %x : i32
  // expected-error @above {{doesn't match function result type ('i64')}}
  // expected-note @above {{see current operation}}
}

// -----

// expected-error @+4 {{in function @offsets}}
// expected-note@+3{{"func.return"(%arg0)}}

func.func @offsets(%x: i32) -> i64 {
  return %x : i32
}

// -----

func.func @negative_offset(%x: i32) -> i64 {
  return %x : i32

  // expected-error @-2 {{doesn't match function result type}}
  // expected-note @-3 {{see current operation}}
}

// -----

// No diagnostic and no expectation is right as well.
func.func @nothing() {
  return
}
