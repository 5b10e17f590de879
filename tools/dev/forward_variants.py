#!/usr/bin/env python3
"""Prints a module with a function for every kernel of a set that the forward op
compiles to, at one head dimension:

  dense   bf16 without masks; at 64 and 128 caps, temperatures, lse and the
          scale's sign in every combination
  masked  every combination of masks, and f16, each with some of the others

All dimensions but head_dim are dynamic, so that an artifact of the module runs
any sizes.

Usage: forward_variants.py HEAD_DIM [dense|masked] > variants.mlir
SPDX-License-Identifier: Apache-2.0
"""

import collections
import itertools
import sys

HEAD_DIMS = (64, 128, 192, 256)
# alsc's parameters amplify an error of the logistic function by c / (2 n) = 143.
CAPS = {
    "none": '"none", 0.0 : f32, 0.0 : f32, 0.0 : f32',
    "tanh": '"tanh", 20.0 : f32, 0.0 : f32, 0.0 : f32',
    "soft_sign": '"soft_sign", 5.0 : f32, 0.0 : f32, 0.0 : f32',
    "alsc": '"alsc", 30.0 : f32, 4.0 : f32, -0.5 : f32',
}
TEMPS = (None, "f32", "bf16", "f16")

MASKS = ("ranker", "segments", "causal", "window")
WINDOWS = (1, 40, 129)
OFFSETS = (0, 70, -3)

# Kernels that ptxas does not fit into the consumers' registers, and the bytes a
# thread that its frame may have instead; every other kernel spills nothing.
KNOWN_SPILLS = {
    "ranker_attention_fwd_f16_d64_alsc_temp_f32_lse_ranker_segments_window": 24,
    "ranker_attention_fwd_f16_d64_soft_sign_temp_f32_lse_ranker_segments_causal_window": 16,
}

Variant = collections.namedtuple(
    "Variant", "name head_dim dtype cap temp has_lse sm_scale masks q_offset window"
)


def make_variant(head_dim, cap, temp, has_lse, dtype="bf16", masks=(), number=0, sign=1):
    """`number` picks what a launch could choose: the window and q's offset."""
    name = f"d{head_dim}_{cap}"
    name += f"_temp_{temp}" if temp else ""
    name += "_lse" if has_lse else ""
    name += "_f16" if dtype == "f16" else ""
    name += "".join("_" + mask for mask in masks)
    name += "_negative" if sign < 0 else ""
    window = WINDOWS[number % len(WINDOWS)] if "window" in masks else 0
    q_offset = OFFSETS[number // 2 % len(OFFSETS)]
    return Variant(
        name, head_dim, dtype, cap, temp, has_lse, sign * head_dim**-0.5, masks, q_offset, window
    )


def dense_variants(head_dim):
    """In a fixed order. A negative scale makes a kernel of its own where neither
    a cap nor temp takes the sign."""
    product = itertools.product(CAPS, TEMPS, (False, True))
    if head_dim > 128:
        product = [*zip(CAPS, TEMPS, itertools.cycle((False, True))), ("alsc", None, True)]
    for cap, temp, has_lse in product:
        yield make_variant(head_dim, cap, temp, has_lse)
        if cap == "none" and not temp:
            yield make_variant(head_dim, cap, temp, has_lse, sign=-1)


def masked_variants(head_dim):
    """Every set of masks once, caps, temps and types in turns; the next head
    dimension starts elsewhere. Then f16 without masks."""
    start = HEAD_DIMS.index(head_dim)
    sets = [c for n in range(1, 5) for c in itertools.combinations(MASKS, n)]
    for number, masks in enumerate(sets, start):
        cap = list(CAPS)[number % 4]
        temp = TEMPS[(number + number // 4) % 4]
        dtype = ("bf16", "f16")[(number + start) // 2 % 2]
        yield make_variant(head_dim, cap, temp, number % 3 > 0, dtype, masks, number)
    for number, cap in enumerate(CAPS, start):
        yield make_variant(head_dim, cap, TEMPS[number % 4], number % 2 > 0, "f16")


SETS = {"dense": dense_variants, "masked": masked_variants}


def variants(head_dim, name="dense"):
    """The variants of a set."""
    return SETS[name](head_dim)


def function(variant):
    """The func.func of a variant."""
    tensor = f"tensor<?x?x?x{variant.head_dim}x{variant.dtype}>"
    operands = [("%q", tensor), ("%k", tensor), ("%v", tensor)]
    results = [("%out", tensor)]
    if variant.temp:
        operands.append(("%temp", f"tensor<?x?x{variant.temp}>"))
    has_bounds, has_segments = "ranker" in variant.masks, "segments" in variant.masks
    if has_bounds:
        operands.append(("%bounds", "tensor<?x4xi32>"))
    if has_segments:
        operands += [("%q_ids", "tensor<?x?xi32>"), ("%kv_ids", "tensor<?x?xi32>")]
    if variant.has_lse:
        results.append(("%lse", "tensor<?x?x?xf32>"))
    arguments = ", ".join(f"{name}: {kind}" for name, kind in operands)
    operand_names = ", ".join(name for name, _ in operands)
    operand_types = ", ".join(kind for _, kind in operands)
    result_names = ", ".join(name for name, _ in results)
    result_types = ", ".join(kind for _, kind in results)
    present = [1, 1, 1, variant.temp, has_bounds, has_segments, has_segments]
    segments = ", ".join(str(int(bool(operand))) for operand in present)
    attributes = ", causal" if "causal" in variant.masks else ""
    attributes += f", window_len = {variant.window} : i64" if variant.window else ""
    attributes += f", q_offset = {variant.q_offset} : i64" if variant.q_offset else ""
    return f"""\
func.func @{variant.name}({arguments}) -> ({result_types}) {{
  {result_names} = "uattn.ranker_attention"({operand_names}) {{
    cap = #uattn.cap<{CAPS[variant.cap]}>, sm_scale = {variant.sm_scale:.9g} : f32{attributes},
    operandSegmentSizes = array<i32: {segments}>,
    resultSegmentSizes = array<i32: 1, {int(variant.has_lse)}>
  }} : ({operand_types}) -> ({result_types})
  return {result_names} : {result_types}
}}
"""


def module(head_dim, name="dense"):
    """The text of a module with all variants of a set."""
    return "".join(function(variant) for variant in variants(head_dim, name))


def run(arguments, program, sets, print_module):
    """The command line of this program and of its twin for the backward."""
    arguments = arguments if len(arguments) != 1 else [*arguments, "dense"]
    dims = [str(head_dim) for head_dim in HEAD_DIMS]
    if len(arguments) != 2 or arguments[0] not in dims or arguments[1] not in sets:
        usage = f"{'|'.join(dims)} [{'|'.join(sets)}]"
        print(f"usage: {program} {usage}", file=sys.stderr)
        return 2
    sys.stdout.write(print_module(int(arguments[0]), arguments[1]))
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:], "forward_variants.py", SETS, module))
