#!/usr/bin/env python3
"""Runs the ranker mask on lengths around tile boundaries, dead rows holding NaN.

    ranker_sweep.py RUN ARTIFACT [--device=emulator] [--full] [--folder=DIR]

RUN is uattn-run, ARTIFACT a forward or backward with temp, bounds and lse, D 64, sizes
dynamic. History and candidates take the lengths below; 7 dead rows follow, of
NaN in q, k, v and temp. Every result is checked against the float64 reference
by uattn-run itself. --full takes all pairs, else a spread of a dozen.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HISTORY = [0, 1, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025]
CANDIDATES = [0, 1, 64, 127, 128, 1000]
SPREAD = [(0, 1), (1, 0), (1, 1), (63, 64), (64, 1), (65, 127), (127, 64), (128, 128),
          (129, 1), (0, 127), (129, 127), (64, 0)]
DEAD_ROWS = 7
HEADS, KV_HEADS, HEAD_DIM = 2, 1, 64


def bf16(x):
    """Values that bf16 holds exactly."""
    return ((x.view(np.uint32) + 0x8000) & 0xFFFF0000).view(np.float32)


def write_inputs(folder, history, candidates):
    random = np.random.default_rng(history * 1009 + candidates)
    live = history + candidates
    tokens = live + DEAD_ROWS
    inputs = []
    for name, heads in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
        x = bf16(random.standard_normal((1, tokens, heads, HEAD_DIM)).astype(np.float32))
        x[:, live:] = np.nan
        inputs.append((name, x))
    temp = (random.random((1, tokens)) + 0.5).astype(np.float32)
    temp[:, live:] = np.nan
    bounds = np.array([[0, history, history, live]], np.int32)
    paths = []
    for name, x in inputs + [("temp", temp), ("bounds", bounds)]:
        paths.append(folder / f"{name}.npy")
        np.save(paths[-1], x)
    return paths


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("artifact")
    parser.add_argument("--device", default="emulator")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--folder")
    options = parser.parse_args()
    pairs = [(h, c) for h in HISTORY for c in CANDIDATES] if options.full else SPREAD
    failed = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for history, candidates in pairs:
            inputs = write_inputs(pathlib.Path(folder), history, candidates)
            done = subprocess.run(
                [options.run, options.artifact, f"--device={options.device}", "--check"]
                + [f"--input={path}" for path in inputs], capture_output=True, text=True)
            if done.returncode != 0:
                failed += 1
                print(f"history {history}, candidates {candidates}: exit code "
                      f"{done.returncode}\n{done.stdout}{done.stderr}", file=sys.stderr)
    print(f"{len(pairs)} lengths, {failed} failed")
    return 1 if failed or not pairs else 0


if __name__ == "__main__":
    sys.exit(main())
