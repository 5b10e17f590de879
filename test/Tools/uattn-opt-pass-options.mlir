// RUN: uattn-opt --canonicalize %s | FileCheck %s --check-prefix=DEFAULT
// RUN: uattn-opt --canonicalize="max-iterations=0 region-simplify=disabled" %s \
// RUN:   | FileCheck %s --check-prefix=ZERO
// RUN: uattn-opt '--canonicalize{max-iterations=0}' %s | FileCheck %s --check-prefix=ZERO
// RUN: uattn-opt '--canonicalize={max-iterations=0}' %s | FileCheck %s --check-prefix=ZERO
// RUN: uattn-opt -canonicalize %s | FileCheck %s --check-prefix=DEFAULT

// Options reach upstream's passes in every form that the flag may have:
// without an iteration nothing is folded.
// DEFAULT: constant 3
// ZERO: arith.addi
func.func @sum() -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %sum = arith.addi %one, %two : i32
  return %sum : i32
}
