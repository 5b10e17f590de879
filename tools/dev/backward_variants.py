#!/usr/bin/env python3
"""Prints a module with a function for every kernel of a set that the backward op
compiles to, at one head dimension:

  dense   without masks: caps and temperatures in every combination, dlse, dtemp,
          z-loss and element types in turns
  masked  every combination of masks, each with some of the others
  deterministic  some of both with that attribute

All dimensions but head_dim are dynamic, so that an artifact of the module runs
any sizes.

Usage: backward_variants.py HEAD_DIM [dense|masked|deterministic] > variants.mlir
SPDX-License-Identifier: Apache-2.0
"""

import collections
import itertools
import sys

from forward_variants import CAPS, HEAD_DIMS, MASKS, OFFSETS, TEMPS, WINDOWS, run

Z_LOSS_WEIGHTS = (0.0, 1e-3, 0.25)

# Kernels that ptxas does not fit into the consumers' registers, as patterns, and
# the bytes that one may spill; every other kernel spills nothing.
KNOWN_SPILLS = {
    "ranker_attention_bwd_d*kv_*_d128_*_segments*": 56,
    "ranker_attention_bwd_dq_*_d192_*_ranker_segments*": 32,
    "ranker_attention_bwd_dq_*_d256_*_ranker*": 400,
}

Variant = collections.namedtuple(
    "Variant",
    "name head_dim dtype cap temp has_dlse has_dtemp z_loss_weight sm_scale masks q_offset window"
    " results is_deterministic",
    defaults=(False,),
)


def make_variant(head_dim, cap, temp, number, masks=()):
    """`number` picks what is taken in turns, and what a launch could choose: the
    window, q's offset, the weight of z-loss and the scale's sign."""
    has_dlse = number % 2 > 0
    has_dtemp = bool(temp) and number % 3 > 0
    dtype = "f16" if number % 5 in (1, 3) else "bf16"
    name = f"bwd_d{head_dim}_{number}_{cap}"
    name += f"_temp_{temp}" if temp else ""
    name += "_dlse" if has_dlse else ""
    name += "_dtemp" if has_dtemp else ""
    name += "_f16" if dtype == "f16" else ""
    name += "".join("_" + mask for mask in masks)
    sign = -1 if number % 7 == 3 else 1
    window = WINDOWS[number % len(WINDOWS)] if "window" in masks else 0
    q_offset = OFFSETS[number // 2 % len(OFFSETS)]
    weight = Z_LOSS_WEIGHTS[number // 3 % len(Z_LOSS_WEIGHTS)]
    results = ("dq", "dk", "dv", "dtemp") if has_dtemp else ("dq", "dk", "dv")
    return Variant(
        name, head_dim, dtype, cap, temp, has_dlse, has_dtemp, weight, sign * head_dim**-0.5,
        masks, q_offset, window, results
    )


def dense_variants(head_dim):
    """In a fixed order; the next head dimension starts elsewhere. Above 128
    every third."""
    start = HEAD_DIMS.index(head_dim)
    for number, (cap, temp) in enumerate(itertools.product(CAPS, TEMPS), start):
        if head_dim > 128 and number % 3 != 1:
            continue
        yield make_variant(head_dim, cap, temp, number)


def masked_variants(head_dim):
    """Every set of masks, caps and temps in turns; above 128 six of them."""
    start = HEAD_DIMS.index(head_dim)
    sets = [c for n in range(1, len(MASKS) + 1) for c in itertools.combinations(MASKS, n)]
    for number, masks in enumerate(sets, start):
        if head_dim > 128 and number % 5 not in (0, 3):
            continue
        cap = list(CAPS)[number % 4]
        yield make_variant(head_dim, cap, TEMPS[(number + number // 4) % 4], number, masks)


# Of dense and masked together, up to and above D 128: what is taken in turns comes
# up in many combinations.
DETERMINISTIC = ((0, 5, 10, 15, 16, 18, 21, 23, 25, 28, 30), (0, 2, 4, 5, 7, 9, 10))


def deterministic_variants(head_dim):
    """Some of both sets with the attribute."""
    both = [*dense_variants(head_dim), *masked_variants(head_dim)]
    for variant in (both[number] for number in DETERMINISTIC[head_dim > 128]):
        yield variant._replace(name=variant.name + "_deterministic", is_deterministic=True)


SETS = {
    "dense": dense_variants, "masked": masked_variants, "deterministic": deterministic_variants
}


def variants(head_dim, name="dense"):
    """The variants of a set."""
    return SETS[name](head_dim)


def function(variant):
    """The func.func of a variant."""
    tensor = f"tensor<?x?x?x{variant.head_dim}x{variant.dtype}>"
    per_row = "tensor<?x?x?xf32>"
    temp = f"tensor<?x?x{variant.temp}>" if variant.temp else None
    bounds = "tensor<?x4xi32>" if "ranker" in variant.masks else None
    ids = "tensor<?x?xi32>" if "segments" in variant.masks else None
    operands = [
        ("%q", tensor), ("%k", tensor), ("%v", tensor), ("%temp", temp), ("%bounds", bounds),
        ("%q_ids", ids), ("%kv_ids", ids), ("%out", tensor), ("%lse", per_row),
        ("%dout", tensor), ("%dlse", per_row if variant.has_dlse else None),
    ]
    results = [(f"%{name}", tensor) for name in ("dq", "dk", "dv")]
    if variant.has_dtemp:
        results.append(("%dtemp", "tensor<?x?xf32>"))
    segments = ", ".join(str(int(kind is not None)) for _, kind in operands)
    operands = [(name, kind) for name, kind in operands if kind]
    arguments = ", ".join(f"{name}: {kind}" for name, kind in operands)
    operand_names = ", ".join(name for name, _ in operands)
    operand_types = ", ".join(kind for _, kind in operands)
    result_names = ", ".join(name for name, _ in results)
    result_types = ", ".join(kind for _, kind in results)
    attributes = ", causal" if "causal" in variant.masks else ""
    attributes += f", window_len = {variant.window} : i64" if variant.window else ""
    attributes += f", q_offset = {variant.q_offset} : i64" if variant.q_offset else ""
    attributes += ", deterministic" if variant.is_deterministic else ""
    if variant.z_loss_weight:
        attributes += f", z_loss_weight = {variant.z_loss_weight:e} : f32"
    return f"""\
func.func @{variant.name}({arguments}) -> ({result_types}) {{
  {result_names} = "uattn.ranker_attention_bwd"({operand_names}) {{
    cap = #uattn.cap<{CAPS[variant.cap]}>, sm_scale = {variant.sm_scale:.9g} : f32{attributes},
    operandSegmentSizes = array<i32: {segments}>,
    resultSegmentSizes = array<i32: 1, 1, 1, {int(variant.has_dtemp)}>
  }} : ({operand_types}) -> ({result_types})
  return {result_names} : {result_types}
}}
"""


def module(head_dim, name="dense"):
    """The text of a module with all variants of a set."""
    return "".join(function(variant) for variant in variants(head_dim, name))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], "backward_variants.py", SETS, module))
