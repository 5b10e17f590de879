#!/usr/bin/env python3
"""Runs backward kernels of plans that the compiler would not choose.

Every plan that is valid is right, under 4 schedules, with the same bits.

Usage: check_backward_plans.py TOOLS ARTIFACT   TOOLS is the folder of backward_variants.py
SPDX-License-Identifier: Apache-2.0
"""

import subprocess
import sys

sys.path.insert(0, sys.argv[1])
import backward_variants  # noqa: E402

FIELDS = ("consumer_warpgroups", "moving_tile_rows", "stage_count", "entry_registers",
          "producer_registers", "consumer_registers", "fuses_dq")
PLANS = [
    (1, 64, 3, 128, 24, 232, False),
    (3, 64, 2, 128, 32, 160, False),
    (2, 16, 2, 168, 24, 240, False),
    (2, 48, 4, 168, 24, 240, False),
    (1, 32, 1, 128, 24, 232, False),
]
# Head dimension, set, what is in the name.
VARIANTS = [(64, "masked", "segments_causal_window"), (128, "dense", "alsc_temp_f32_dtemp")]


def find_variant(head_dim, kind, text):
    return next(v for v in backward_variants.variants(head_dim, kind) if text in v.name)


def with_plan(variant, plan):
    texts = [str(value).lower() if isinstance(value, bool) else f"{value} : i64" for value in plan]
    fields = ", ".join(f"{name} = {text}" for name, text in zip(FIELDS, texts))
    attribute = f'plan = #uattn.plan<{{{fields}, target = "sm_90a"}}>, '
    text = backward_variants.function(variant)
    return text.replace("operandSegmentSizes", attribute + "operandSegmentSizes")


def is_right(variant, plan, artifact):
    command = ["uattn-compile", "-", "-o", artifact, "--ptxas=none"]
    subprocess.run(command, input=with_plan(variant, plan), text=True, check=True)
    done = subprocess.run(
        ["uattn-run", artifact, "--device=emulator", "--schedules=4", "--check",
         f"--shape=q:1x200x2x{variant.head_dim}", f"--shape=k:1x150x1x{variant.head_dim}"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{variant.name} {plan}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.returncode == 0


def main():
    verdicts = [
        is_right(find_variant(*variant), plan, sys.argv[2])
        for variant in VARIANTS for plan in PLANS
    ]
    print(f"{len(verdicts)} plans, {verdicts.count(False)} wrong")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
