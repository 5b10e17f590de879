#!/usr/bin/env python3
"""Compares a result of the emulator with what an H200 gave: both round to bf16,
so that nearly all numbers are the same and none is far away.

Usage: compare_h200.py WANTED FOUND
  WANTED  the H200's numbers, the bits of bf16
  FOUND   float32
SPDX-License-Identifier: Apache-2.0
"""

import sys

import numpy

MOST_DIFFERENT = 0.05  # of all numbers
RELATIVE_BOUND = 1e-3  # a bf16 kernel is 2e-3 from the exact result


def main():
    wanted = numpy.load(sys.argv[1]).astype(numpy.uint32) << 16
    wanted = wanted.view(numpy.float32)
    found = numpy.load(sys.argv[2])
    different = float(numpy.mean(found != wanted))
    error = float(numpy.linalg.norm(found - wanted) / numpy.linalg.norm(wanted))
    print(f"{different:.2%} of the numbers differ, relative error {error:.1e}")
    is_right = different <= MOST_DIFFERENT and error <= RELATIVE_BOUND
    return 0 if is_right and found.shape == wanted.shape else 1


if __name__ == "__main__":
    sys.exit(main())
