#!/usr/bin/env python3
"""Collects what a GPU machine without LLVM needs to time uattn beside its peers.

Into OUT_DIR go, for every row below, the forward (with lse) and the backward as
.mlir and as artifacts, the runtime, the peers' scripts and ours, and go.sh:

    OUT=FOLDER sh OUT_DIR/go.sh [SECONDS]

There it needs python3 with torch and triton. FOLDER receives backward.md (the
table), report.md (the peers' own), results.jsonl and logs.txt. It ends within
SECONDS (300) and half a minute, whatever hangs.

Usage: peer_bundle.py --peers=DIR --out=OUT_DIR [--build=FOLDER] [--rows=ROW,...]
                      [--deterministic=ROW,...]
  --peers          the peers' scripts, workloads.py among them
  --build          whose uattn-compile and runtime are taken (build)
  --rows           of these alone
  --deterministic  rows whose deterministic backward is timed too (A-D128)
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import importlib
import json
import pathlib
import shutil
import subprocess
import sys

import row_modules

HERE = pathlib.Path(__file__).resolve().parent
OURS = ("peer_cudnn.py", "peer_run.py", "peer_table.py", "peer_uattn.py")

# The fastest peer of each row's backward: FlexAttention in a variant of the
# peers' script, or cuDNN where there is no cap and no mask of ours. What
# max-autotune picks for alsc is b32approx; it takes a minute to find it.
PEERS = {
    "A-D128": "cudnn",
    "A-D64": "cudnn",
    "A-D256": "cudnn",
    "C-D128-tanh": "approx",
    "D-S8192-D128-none": "default",
    "D-S8192-D128-alsc": "b32approx",
    "P-S1152-D128-soft_sign": "b32approx",
}

GO = """\
#!/bin/sh
# Usage: OUT=FOLDER sh go.sh [SECONDS]
: "${OUT:?names no folder for the results}"
seconds=${1:-300}
here=$(cd "$(dirname "$0")" && pwd)
timeout -k 5 $((seconds + 20)) python3 "$here/peer_run.py" "$OUT" --seconds="$seconds"
status=$?
timeout -k 5 20 python3 "$here/peers/report.py" "$OUT/results.jsonl" > "$OUT/report.md"
timeout -k 5 20 python3 "$here/peer_table.py" "$OUT/results.jsonl" --rows=@ROWS@ > "$OUT/backward.md"
cat "$OUT/backward.md"
exit $status
"""


class Bundle:
    def __init__(self, folder, build, peers):
        self.folder, self.build, self.peers = folder, build, peers
        self.plan = {"cudnn": [], "flex": [], "uattn": {}}
        sys.path.insert(0, str(peers))
        self.workloads = importlib.import_module("workloads")
        for name in ("rows", "peers"):  # of another time
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir(parents=True)

    def compile(self, name, text):
        """The artifact's path in the bundle."""
        source = self.folder / "rows" / f"{name}.mlir"
        source.write_text(text, encoding="utf-8")
        command = [self.build / "bin" / "uattn-compile", source, "-o", source.with_suffix(".uattn")]
        if subprocess.run(command, check=False).returncode != 0:
            sys.exit(f"peer_bundle: {source} is not compiled")
        return f"rows/{name}.uattn"

    def add_row(self, name, is_deterministic_too):
        row, workloads = self.workloads.ROWS[name], self.workloads
        modules = {
            f"{name}-forward": row_modules.forward_module(row, workloads),
            f"{name}-backward": row_modules.backward_module(row, workloads),
        }
        if is_deterministic_too:
            text = row_modules.backward_module(row, workloads, is_deterministic=True)
            modules[f"{name}-backward-deterministic"] = text
        self.plan["uattn"][name] = [self.compile(*module) for module in modules.items()]
        if PEERS[name] == "cudnn":
            self.plan["cudnn"].append(name)
        else:
            self.plan["flex"].append(f"{name}:{PEERS[name]}")

    def add_files(self):
        library = self.build / "lib" / "libuattn_runtime.so"
        subprocess.run(["strip", "--strip-unneeded", "-o", self.folder / library.name, library],
                       check=True)
        for name in OURS:
            shutil.copy(HERE / name, self.folder)
        for script in self.peers.glob("*.py"):
            shutil.copy(script, self.folder / "peers")
        rows = ",".join(self.plan["uattn"])
        (self.folder / "go.sh").write_text(GO.replace("@ROWS@", rows), encoding="utf-8")
        text = json.dumps(self.plan, indent=1)
        (self.folder / "plan.json").write_text(text + "\n", encoding="utf-8")


def row_names(text):
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in PEERS:
            sys.exit(f"peer_bundle: no row '{name}': expected one of {', '.join(PEERS)}")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--peers", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build")
    parser.add_argument("--rows", type=row_names, default=[*PEERS])
    parser.add_argument("--deterministic", type=row_names, default=["A-D128"])
    options = parser.parse_args()
    bundle = Bundle(options.out, options.build, options.peers.resolve())
    for name in options.rows:
        bundle.add_row(name, name in options.deterministic)
    bundle.add_files()
    size = sum(file.stat().st_size for file in options.out.rglob("*") if file.is_file())
    print(f"{options.out}: {size / 1e6:.1f} MB, {len(options.rows)} rows")


if __name__ == "__main__":
    main()
