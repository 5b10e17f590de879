#!/usr/bin/env python3
"""Runs a program that nvcc compiled by its launch description, with numpy's
numbers in and numpy's answer beside what comes out.

Usage: check_launch.py tma_copy|wgmma_product INPUTS SCRATCH
  INPUTS is the folder test/Inputs
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import subprocess
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent


def run(name, inputs, arrays, outputs, scratch):
    """The output arrays."""
    command = ["uattn-run", inputs / "emulator" / f"{name}.ptx"]
    command += [f"--launch={HERE / name}.launch", "--schedules=2"]
    for index, array in enumerate(arrays):
        numpy.save(scratch / f"in{index}.npy", array)
        command.append(f"--input={scratch}/in{index}.npy")
    command += [f"--output={scratch}/out{i}.npy" for i in range(outputs)]
    subprocess.run(command, check=True)
    return [numpy.load(scratch / f"out{i}.npy") for i in range(outputs)]


def check_tma_copy(inputs, scratch):
    source = numpy.arange(50 * 80, dtype=numpy.float32).reshape(50, 80)
    target, raw = run("tma_copy", inputs, [source], 2, scratch)
    wanted = numpy.zeros_like(source)
    wanted[:, :76] = 2 * source[:, :76] + 1
    numpy.testing.assert_array_equal(target, wanted)
    # Tiles in shared memory: 16-byte pieces are exchanged by the row, NaN is
    # where the matrix is not.
    padded = numpy.full((64, 96), numpy.nan, numpy.float32)
    padded[:50, :76] = source[:, :76]
    tiles = padded.reshape(4, 16, 3, 8, 4).swapaxes(1, 2).reshape(12, 16, 8, 4)
    rows, pieces = numpy.ogrid[:16, :8]
    swizzled = tiles[:, rows, pieces ^ (rows % 8)]
    numpy.testing.assert_array_equal(raw, swizzled.reshape(12, 16, 32))


def check_wgmma_product(inputs, scratch):
    draw = numpy.random.default_rng(3)
    a = draw.integers(-16, 17, (128, 256)).astype(numpy.float16) / 4
    b = draw.integers(-16, 17, (256, 192)).astype(numpy.float16) / 4
    (c,) = run("wgmma_product", inputs, [a, b], 1, scratch)
    numpy.testing.assert_array_equal(c, a.astype(float) @ b.astype(float))


def main():
    name, inputs, scratch = sys.argv[1], *map(pathlib.Path, sys.argv[2:4])
    {"tma_copy": check_tma_copy, "wgmma_product": check_wgmma_product}[name](inputs, scratch)
    print(f"{name}: right")


if __name__ == "__main__":
    main()
