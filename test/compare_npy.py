#!/usr/bin/env python3
"""Compares the results of a golden case with those that it wants.

Prints a line a result; exits 1 where one is over its bound, 2 where a file is
missing or has another shape or type.

Usage: compare_npy.py [--exact] CASE FOUND
  CASE     a folder of test/Inputs/golden
  FOUND    a folder with out.npy, lse.npy and the like
  --exact  hold the results to what float32 can store and not to the bounds of
           the op's semantics: for the float64 reference
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import json
import os
import sys

import numpy

EXACT = 1e-5
WITHOUT_NORM = 1e-6
BOUNDS = {
    ("fwd", "bf16"): 5e-3,
    ("fwd", "f16"): 1e-3,
    ("bwd", "bf16"): 1.2e-2,
    ("bwd", "f16"): 3e-3,
}


def load(path):
    try:
        return numpy.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        print(f"compare_npy: cannot read `{path}`: {error}", file=sys.stderr)
        raise SystemExit(2) from error


def lse_error(wanted, found, is_exact):
    """The worst number's error and bound; infinite where -inf does not agree."""
    empty = numpy.isneginf(wanted)
    if not numpy.array_equal(empty, numpy.isneginf(found)):
        return numpy.inf, 0.0
    if empty.all():
        return 0.0, EXACT
    wanted, found = wanted[~empty], found[~empty]
    bounds = numpy.full_like(wanted, EXACT)
    if not is_exact:
        bounds = 2e-3 + 1e-3 * abs(wanted)
    errors = abs(found - wanted)
    worst = numpy.argmax(errors / bounds)  # the first NaN where there is one
    return errors[worst], bounds[worst]


def relative_error(wanted, found, bound):
    """The relative Frobenius error; absolute where the norm is 0."""
    difference = numpy.linalg.norm(found - wanted)
    norm = numpy.linalg.norm(wanted)
    return (difference, WITHOUT_NORM) if norm == 0 else (difference / norm, bound)


def compare(case, name, wanted, found, is_exact):
    wanted = wanted.astype(numpy.float64)
    found = found.astype(numpy.float64)
    if name == "lse":
        error, bound = lse_error(wanted, found, is_exact)
    else:
        bound = EXACT if is_exact else BOUNDS[case["op"], case["dtype"]]
        error, bound = relative_error(wanted.ravel(), found.ravel(), bound)
    is_right = bool(error <= bound)  # false for NaN
    verdict = "ok" if is_right else "over its bound"
    print(f"{case['name']} {name}: error {error:.2e}, bound {bound:.2e}: {verdict}")
    return is_right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("case")
    parser.add_argument("found")
    options = parser.parse_args()
    with open(os.path.join(options.case, "case.json"), encoding="utf-8") as file:
        case = json.load(file)
    are_right = []
    for name in case["results"]:
        wanted = load(os.path.join(options.case, f"want_{name}.npy"))
        found = load(os.path.join(options.found, f"{name}.npy"))
        if found.shape != wanted.shape or found.dtype != numpy.float32:
            print(
                f"{case['name']} {name}: {found.dtype} {found.shape}: "
                f"expected float32 {wanted.shape}"
            )
            return 2
        are_right.append(compare(case, name, wanted, found, options.exact))
    return 0 if are_right and all(are_right) else 1


if __name__ == "__main__":
    sys.exit(main())
