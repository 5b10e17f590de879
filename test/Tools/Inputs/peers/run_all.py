"""In place of the peers' runner: no worker is started, and each has the result
lines that are written here.
SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib

FILES = ("--library", "--artifacts")


def flex(jobs, threads=2, extra=()):
    return "peer_flex.py", ["--jobs", ",".join(jobs), *extra], {}


def append(folder, **record):
    with open(pathlib.Path(folder) / "results.jsonl", "a", encoding="utf-8") as lines:
        lines.write(json.dumps(record) + "\n")


def ceilings(folder, tag, env=False):
    append(folder, kind="ceiling", peer="ceiling", what="same protocol", tflops=680.0)


def measured(folder, peer, row, variant, ms, error):
    common = {"peer": peer, "row": row, "variant": variant}
    append(folder, kind="time", **common, dir="bwd", ms=ms, tflops=1000 / ms)
    append(folder, kind="numerics", **common, err={"out": 2e-3, "dq": error})


def run_stage(name, workers, folder, compile_until, end):
    for worker, (script, arguments, _) in sorted(workers.items()):
        print(worker, pathlib.Path(script).name, "limited" if "--limit" in arguments else "")
        if "--artifacts" not in arguments:
            continue
        row, _, paths = arguments[arguments.index("--artifacts") + 1].partition("=")
        files = [pathlib.Path(arguments[1]), *map(pathlib.Path, paths.split(":"))]
        print(*(file.name if file.is_absolute() and file.is_file() else "MISSING" for file in files))
    assert end > compile_until
    measured(folder, "sdpa", "A-D128", "cudnn", 5.0, 2e-3)
    measured(folder, "uattn", "A-D128", "A-D128-backward", 4.0, 2e-3)
    measured(folder, "uattn", "A-D128", "A-D128-backward-deterministic", 8.0, 2e-3)
    measured(folder, "flex", "D-S8192-D128-alsc", "b32approx", 10.0, 3e-3)
    measured(folder, "uattn", "D-S8192-D128-alsc", "D-S8192-D128-alsc-backward", 2.0, float("nan"))
    append(folder, kind="error", peer="uattn", worker="uattn-A-D64", where="time",
           error="no end after 30 s on the GPU")
