#!/usr/bin/env python3
"""Collects what a GPU machine without LLVM needs to check the compiled kernels.

Into OUT_DIR go uattn-run, artifacts of every kernel variant (all sizes
dynamic), of the examples and of the golden cases that are compiled (backwards
as they are and deterministic), their .npy files, and check.py, which needs Python
and numpy alone:

    python3 OUT_DIR/check.py --device=cuda

Usage: gpu_bundle.py OUT_DIR [--build=FOLDER] [--ptxas=FILE|none] [--op=forward|backward]
                     [--head-dims=N,...]
  --ptxas=none  is quicker: the kernels are PTX, which the driver compiles
  --op          what is of one op alone
  --head-dims   variants of these alone
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import fnmatch
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys

import backward_variants
import forward_variants

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZE_LIMIT = 60 << 20

# What runs an example, as its own RUN line says.
EXAMPLE_RUN = re.compile(r"^// RUN: uattn-run %t\.uattn (?!.*--device=cuda)(.*--check)", re.M)

# Arguments that no op reads cost no time on the host, however large they are.
# Each fits into the host's memory, both do not fit into the device's.
OUT_OF_MEMORY = """
func.func @main(%q: tensor<1x64x1x64xbf16>, %huge: tensor<?x?xf32>,
                %other: tensor<?x?xf32>) -> tensor<1x64x1x64xbf16> {
  %out = "uattn.ranker_attention"(%q, %q, %q) {
    cap = #uattn.cap<"none", 0.0 : f32, 0.0 : f32, 0.0 : f32>, sm_scale = 0.125 : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 0>
  } : (tensor<1x64x1x64xbf16>, tensor<1x64x1x64xbf16>, tensor<1x64x1x64xbf16>)
    -> tensor<1x64x1x64xbf16>
  return %out : tensor<1x64x1x64xbf16>
}
"""


def is_known_spill(warning):
    known = [*forward_variants.KNOWN_SPILLS, *backward_variants.KNOWN_SPILLS]
    return any(fnmatch.filter(warning.split(), pattern) for pattern in known)


class Bundle:
    def __init__(self, folder, build, ptxas, head_dims):
        self.folder = folder
        self.head_dims = head_dims
        self.compiler = build / "bin" / "uattn-compile"
        self.options = [f"--ptxas={ptxas}"] if ptxas else []
        self.manifest = {"variants": {}, "caps": {}, "examples": [], "golden": []}
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(build / "bin" / "uattn-run", folder / "uattn-run")
        tools = ROOT / "tools" / "dev"
        shutil.copy(tools / "gpu_check.py", folder / "check.py")
        for module in ("attention_numpy.py", "backward_cases.py"):
            shutil.copy(tools / module, folder)

    def compile(self, source, name, options=None):
        """Compiles `source`, a text or a path, to artifact `name`."""
        is_path = isinstance(source, pathlib.Path)
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        options = self.options if options is None else options
        command = [self.compiler, source if is_path else "-", "-o", target, *options]
        done = subprocess.run(
            command,
            input=None if is_path else source,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"gpu_bundle: {name}: exit code {done.returncode}: {done.stderr}")
        warnings = [line for line in done.stderr.splitlines() if "warning" in line]
        if not all(map(is_known_spill, warnings)):
            sys.exit(f"gpu_bundle: {name}: {done.stderr}")

    def add_forward_variants(self):
        """One artifact a head dimension and set; another holds PTX alone, which
        the driver compiles."""
        sets = forward_variants.SETS
        for head_dim, kind in itertools.product(self.head_dims, sets):
            name = f"{kind}_d{head_dim}.uattn"
            self.compile(forward_variants.module(head_dim, kind), name)
            self.manifest["variants"][name] = [
                variant._asdict() for variant in forward_variants.variants(head_dim, kind)
            ]
        few = list(forward_variants.variants(64))[:4]
        text = "".join(map(forward_variants.function, few))
        self.compile(text, "ptx_alone.uattn", ["--ptxas=none"])
        self.manifest["variants"]["ptx_alone.uattn"] = [v._asdict() for v in few]

    def add_caps(self):
        for cap, text in forward_variants.CAPS.items():
            numbers = re.findall(r"[-0-9.]+(?= : f32)", text)
            self.manifest["caps"][cap] = [float(number) for number in numbers]

    def add_backward_variants(self):
        sets = backward_variants.SETS
        for head_dim, kind in itertools.product(self.head_dims, sets):
            name = f"bwd_{kind}_d{head_dim}.uattn"
            self.compile(backward_variants.module(head_dim, kind), name)
            self.manifest["variants"][name] = [
                variant._asdict() for variant in backward_variants.variants(head_dim, kind)
            ]

    def add_examples(self, op):
        for path in sorted((ROOT / "test" / "Examples").glob(f"{op}_*.mlir")):
            name = f"examples/{path.stem}.uattn"
            text = path.read_text(encoding="utf-8")
            runs = EXAMPLE_RUN.findall(text)
            if "--bench" in text and not runs:
                continue  # too large for the reference: measured, not checked
            if not runs:
                sys.exit(f"gpu_bundle: {path} has no RUN line of uattn-run with --check")
            self.compile(path, name)
            for run in runs:
                arguments = [a for a in run.split() if not a.startswith("--device")]
                self.manifest["examples"].append({"file": name, "arguments": arguments})

    def add_golden(self, op):
        for case in sorted((ROOT / "test" / "Inputs" / "golden").glob(f"{op}_*/case.mlir")):
            name = case.parent.name
            self.compile(case, f"golden/{name}/case.uattn")
            if op == "bwd":
                text = case.read_text(encoding="utf-8")
                text = text.replace("sm_scale =", "deterministic, sm_scale =")
                self.compile(text, f"golden/{name}/deterministic.uattn")
            for file in [*case.parent.glob("*.npy"), case.parent / "case.json"]:
                shutil.copy(file, self.folder / "golden" / name)
            self.manifest["golden"].append(name)

    def finish(self):
        self.compile(OUT_OF_MEMORY, "out_of_memory.uattn")
        text = json.dumps(self.manifest, indent=1)
        (self.folder / "manifest.json").write_text(text + "\n", encoding="utf-8")
        size = sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
        if size > SIZE_LIMIT:
            sys.exit(f"gpu_bundle: {size} bytes: expected at most {SIZE_LIMIT}")
        counts = {key: len(value) for key, value in self.manifest.items()}
        print(f"{self.folder}: {size / 1e6:.1f} MB, {counts}")


def read_head_dims(text):
    head_dims = [int(number) for number in text.split(",")]
    if not set(head_dims) <= set(forward_variants.HEAD_DIMS):
        raise ValueError(text)
    return head_dims


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out_dir", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--ptxas")
    parser.add_argument("--op", choices=("forward", "backward"))
    parser.add_argument("--head-dims", type=read_head_dims, default=forward_variants.HEAD_DIMS)
    options = parser.parse_args()
    bundle = Bundle(options.out_dir, options.build, options.ptxas, options.head_dims)
    bundle.add_caps()
    if options.op != "backward":
        bundle.add_forward_variants()
        bundle.add_examples("forward")
        bundle.add_golden("fwd")
    if options.op != "forward":
        bundle.add_backward_variants()
        bundle.add_examples("backward")
        bundle.add_golden("bwd")
    bundle.finish()


if __name__ == "__main__":
    main()
