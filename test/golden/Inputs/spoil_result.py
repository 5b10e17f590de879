#!/usr/bin/env python3
"""Copies a golden case's wanted results to a folder, one of them spoilt.

Usage: spoil_result.py CASE FOLDER RESULT HOW
  HOW  none; scale=F: every number times F; first=F: the first number is F;
       empty=F: the first -inf is F; shape: one dimension more; missing
SPDX-License-Identifier: Apache-2.0
"""

import os
import shutil
import sys

import numpy


def spoil(numbers, how):
    kind, _, value = how.partition("=")
    if kind == "scale":
        return numbers * numpy.float32(value)
    if kind == "shape":
        return numbers[numpy.newaxis]
    if kind == "first":
        numbers.flat[0] = numpy.float32(value)
    elif kind == "empty":
        numbers[numpy.unravel_index(numpy.isneginf(numbers).argmax(), numbers.shape)] = (
            numpy.float32(value)
        )
    elif kind != "none":
        sys.exit(f"spoil_result: unknown way `{how}`")
    return numbers


def main():
    case, folder, result, how = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for entry in os.listdir(case):
        if not entry.startswith("want_"):
            continue
        name = entry[len("want_") : -len(".npy")]
        target = os.path.join(folder, f"{name}.npy")
        if name != result:
            shutil.copyfile(os.path.join(case, entry), target)
        elif how != "missing":
            numpy.save(target, spoil(numpy.load(os.path.join(case, entry)), how))


if __name__ == "__main__":
    main()
