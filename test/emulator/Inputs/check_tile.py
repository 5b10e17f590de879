#!/usr/bin/env python3
"""Compares what --dump-tile prints with numpy's matrices.

Usage: check_tile.py CASE INPUTS SCRATCH
  INPUTS is the folder test/Inputs
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import subprocess
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parent.parent / "Examples" / "forward_alsc.mlir"


def lines_of(ptx, opcode, after=""):
    """The lines, from 1, that begin with the opcode, behind a text."""
    text = pathlib.Path(ptx).read_text(encoding="utf-8")
    skipped = text[: text.index(after)].count("\n")
    lines = enumerate(text.splitlines(), 1)
    return [n for n, line in lines if n > skipped and line.strip().startswith(opcode)]


def read_tiles(text):
    """The matrices of a dump: each behind comments, the last of which numbers
    the columns, with the row's number in front of each line."""
    tiles, rows = [], []
    for line, following in zip(text.splitlines(), text.splitlines()[1:] + ["#"]):
        if line.startswith("#"):
            head = line
            continue
        rows.append([float(word) for word in line.split()])
        if following.startswith("#"):
            tile = numpy.array(rows)
            count, width = tile.shape
            numpy.testing.assert_array_equal(tile[:, 0], numpy.arange(count))
            assert head[1:].split() == [str(i) for i in range(width - 1)], head
            tiles.append(tile[:, 1:])
            rows = []
    return tiles


def dump(file, *arguments):
    command = ["uattn-run", str(file), "--device=emulator", *map(str, arguments)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return read_tiles(output)


def save(scratch, name, array):
    numpy.save(scratch / f"{name}.npy", array)
    return f"--input={scratch}/{name}.npy"


def check_product(inputs, scratch):
    """Block (1, 1) of 3 x 2, in steps of 64: B's columns from 64, A's rows from
    64. In each step 4 products of 16; D holds all until then."""
    ptx = inputs / "emulator" / "wgmma_product.ptx"
    lines = lines_of(ptx, "wgmma.mma_async", ".entry wgmma_mn_major")
    assert len(lines) == 4
    draw = numpy.random.default_rng(3)
    a = draw.integers(-16, 17, (128, 256)).astype(numpy.float32) / 4
    b = draw.integers(-16, 17, (256, 192)).astype(numpy.float32) / 4
    wanted, specs = [], []
    for step, part in ((0, 0), (1, 2), (3, 3)):
        first = step * 64 + part * 16
        specs += [f"--dump-tile={lines[part]}:{kind}@4#{step}" for kind in "abd"]
        wanted += [
            a[64:, first : first + 16],
            b[first : first + 16, 64:128],
            a[64:, : first + 16] @ b[: first + 16, 64:128],
        ]
    found = dump(
        ptx,
        f"--launch={HERE}/wgmma_product.launch",
        save(scratch, "a", a),
        save(scratch, "b", b),
        *specs,
    )
    assert len(found) == len(wanted)
    # Each is printed when it has been multiplied, in one order per step.
    for step in range(3):
        a_b_d = {tile.shape: tile for tile in found[3 * step : 3 * step + 3]}
        for matrix in wanted[3 * step : 3 * step + 3]:
            numpy.testing.assert_array_equal(a_b_d[matrix.shape], matrix)


def check_box(inputs, scratch):
    """Block (2, 3) of tiles of 16 x 32 of 50 x 76 numbers hangs over both ends:
    the copy filled it with NaN."""
    ptx = inputs / "emulator" / "tma_copy.ptx"
    load, store = lines_of(ptx, "cp.async.bulk.tensor")
    source = numpy.arange(50 * 80, dtype=numpy.float32).reshape(50, 80) / 3
    padded = numpy.full((64, 96), numpy.nan, numpy.float32)
    padded[:50, :76] = source[:, :76]
    for cta, row, column in ((0, 0, 0), (4, 16, 32), (11, 48, 64)):
        loaded, stored, kept = dump(
            ptx,
            f"--launch={HERE}/tma_copy.launch",
            save(scratch, "source", source),
            f"--dump-tile={load}:box@{cta}",
            f"--dump-tile={store}:box@{cta}",
            f"--dump-tile=shared:0:16x32:f32:128@{cta}",
        )
        tile = padded[row : row + 16, column : column + 32]
        # Nine digits tell each float.
        numpy.testing.assert_array_equal(loaded.astype(numpy.float32), tile)
        tile = 2 * tile + 1
        numpy.testing.assert_array_equal(stored.astype(numpy.float32), tile)
        numpy.testing.assert_array_equal(kept.astype(numpy.float32), tile)


def check_reduce(inputs, scratch):
    """A box of three dimensions: a row for each of the outer two."""
    ptx = inputs / "emulator" / "tma_copy.ptx"
    (line,) = lines_of(ptx, "cp.reduce.async.bulk.tensor")
    description = scratch / "reduce.launch"
    description.write_text(
        "entry tma_reduce\ngrid 3\nblock 64\nbuffer t i32 4x8x16 inout zeros\n"
        "argument map t box 8x4x2\nargument i32 4\nargument i32 1\nargument i32 2\n"
    )
    (box,) = dump(ptx, f"--launch={description}", f"--dump-tile={line}:box@2")
    numpy.testing.assert_array_equal(box, 3 * numpy.arange(64).reshape(8, 8))


def check_halves(inputs, scratch):
    """A from registers, f16 throughout, a sign; two warpgroups."""
    ptx = HERE / "tiles.ptx"
    line = lines_of(ptx, "wgmma.mma_async", ".entry halves")[0]
    description = scratch / "halves.launch"
    description.write_text("entry halves\nblock 256\nbuffer t u32 1 out\nargument pointer t\n")
    k, n = numpy.mgrid[:16, :8]
    b = 64 * (k // 8) + 8 * n + k % 8
    for group in (0, 1):
        row = (group + 1) * numpy.tile([1, 2], 8)
        a = numpy.tile(row, (64, 1))
        for spec, matrix in (("a", a), ("b", b), ("d", -a @ b), ("d#1", -2 * a @ b)):
            spec = f"--dump-tile={line}:{spec}/{group}"
            (tile,) = dump(ptx, f"--launch={description}", spec)
            numpy.testing.assert_array_equal(tile, matrix)


def check_forward(inputs, scratch):
    """The second of the products with V adds to the first; P is in registers.
    The rows of Q and V are those of the inputs."""
    subprocess.run(
        ["uattn-compile", str(EXAMPLE), "--emit=ptx", "-o", str(scratch / "forward.ptx")],
        check=True,
    )
    text = (scratch / "forward.ptx").read_text(encoding="utf-8").splitlines()
    lines = lines_of(scratch / "forward.ptx", "wgmma.mma_async")
    from_registers = [n for n in lines if text[n + 1].strip().startswith("{")]
    first, second = from_registers[:2]
    kinds = [f"{first}:d", f"{second}:a", f"{second}:b", f"{second}:d"]
    tiles = [dump(EXAMPLE, f"--dump-tile={kind}/1")[0] for kind in kinds]
    before, a, b, d = tiles
    assert a.shape == (64, 16) and b.shape == (16, d.shape[1]) and d.shape[0] == 64
    assert numpy.any(a != 0) and numpy.any(before != 0)
    numpy.testing.assert_allclose(d, before + a @ b, rtol=1e-4, atol=1e-4)


CASES = {
    "product": check_product,
    "box": check_box,
    "reduce": check_reduce,
    "halves": check_halves,
    "forward": check_forward,
}


def main():
    name, inputs, scratch = sys.argv[1], *map(pathlib.Path, sys.argv[2:4])
    CASES[name](inputs, scratch)
    print(f"{name}: right")


if __name__ == "__main__":
    main()
