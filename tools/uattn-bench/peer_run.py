#!/usr/bin/env python3
"""Times what a bundle of peer_bundle.py plans: cuDNN, FlexAttention and uattn on
the same rows in one run, by the peers' runner.

All workers compile and load side by side; then one after the other has the GPU
to itself. uattn has a worker a row, so that a kernel that hangs or faults costs
its row alone. OUT_DIR receives results.jsonl and logs.txt.

Usage: peer_run.py OUT_DIR [--seconds=N]
SPDX-License-Identifier: Apache-2.0
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))

import run_all  # noqa: E402

COMPILE_SHARE = 0.45  # of the seconds
ROW_LIMIT = 30  # seconds on the GPU of a uattn worker; one takes 4 to 8


def make_workers(plan):
    """(script, arguments, environment) by name, as the peers' run_stage takes them."""
    workers = {}
    if plan["cudnn"]:
        workers["cudnn"] = (str(HERE / "peer_cudnn.py"), ["--rows", ",".join(plan["cudnn"])], {})
    for job in plan["flex"]:
        workers["flex-" + job.replace(":", "-")] = run_all.flex([job], threads=3)
    for row, files in plan["uattn"].items():
        paths = ":".join(str(HERE / file) for file in files)
        arguments = ["--library", str(HERE / "libuattn_runtime.so"), "--artifacts", f"{row}={paths}",
                     "--limit", str(ROW_LIMIT)]
        workers[f"uattn-{row}"] = (str(HERE / "peer_uattn.py"), arguments, {})
    return workers


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("out_dir", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args()
    begin = time.time()
    run_all.T0 = begin  # of its messages
    options.out_dir.mkdir(parents=True, exist_ok=True)
    out = str(options.out_dir.resolve())
    try:
        run_all.ceilings(out, "start", env=True)
    except subprocess.TimeoutExpired as error:
        print(f"peer_run: no ceiling: {error}", flush=True)
    plan = json.loads((HERE / "plan.json").read_text(encoding="utf-8"))
    compile_until = time.time() + COMPILE_SHARE * options.seconds
    run_all.run_stage("rows", make_workers(plan), out, compile_until, begin + options.seconds)
    print(f"measured for {time.time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
