#!/usr/bin/env python3
"""Prints a module with a function for every kernel that the forward op compiles
to: caps, temperatures, lse and the scale's sign, at one head dimension.

All dimensions but head_dim are dynamic, so that an artifact of the module runs
any sizes.

Usage: forward_variants.py HEAD_DIM > variants.mlir
SPDX-License-Identifier: Apache-2.0
"""

import collections
import itertools
import sys

HEAD_DIMS = (64, 128)
# alsc's parameters amplify an error of the logistic function by c / (2 n) = 143.
CAPS = {
    "none": '"none", 0.0 : f32, 0.0 : f32, 0.0 : f32',
    "tanh": '"tanh", 20.0 : f32, 0.0 : f32, 0.0 : f32',
    "soft_sign": '"soft_sign", 5.0 : f32, 0.0 : f32, 0.0 : f32',
    "alsc": '"alsc", 30.0 : f32, 4.0 : f32, -0.5 : f32',
}
TEMPS = (None, "f32", "bf16", "f16")

Variant = collections.namedtuple("Variant", "name head_dim cap temp has_lse sm_scale")


def variants(head_dim):
    """Every variant, in a fixed order. A negative scale makes a kernel of its
    own where neither a cap nor temp takes the sign."""
    scale = head_dim**-0.5
    for cap, temp, has_lse in itertools.product(CAPS, TEMPS, (False, True)):
        name = f"d{head_dim}_{cap}"
        name += f"_temp_{temp}" if temp else ""
        name += "_lse" if has_lse else ""
        yield Variant(name, head_dim, cap, temp, has_lse, scale)
        if cap == "none" and not temp:
            yield Variant(name + "_negative", head_dim, cap, temp, has_lse, -scale)


def function(variant):
    """The func.func of a variant."""
    tensor = f"tensor<?x?x?x{variant.head_dim}xbf16>"
    operands = [("%q", tensor), ("%k", tensor), ("%v", tensor)]
    results = [("%out", tensor)]
    if variant.temp:
        operands.append(("%temp", f"tensor<?x?x{variant.temp}>"))
    if variant.has_lse:
        results.append(("%lse", "tensor<?x?x?xf32>"))
    arguments = ", ".join(f"{name}: {kind}" for name, kind in operands)
    operand_names = ", ".join(name for name, _ in operands)
    operand_types = ", ".join(kind for _, kind in operands)
    result_names = ", ".join(name for name, _ in results)
    result_types = ", ".join(kind for _, kind in results)
    has_temp, has_lse = int(bool(variant.temp)), int(variant.has_lse)
    return f"""\
func.func @{variant.name}({arguments}) -> ({result_types}) {{
  {result_names} = "uattn.ranker_attention"({operand_names}) {{
    cap = #uattn.cap<{CAPS[variant.cap]}>, sm_scale = {variant.sm_scale:.9g} : f32,
    operandSegmentSizes = array<i32: 1, 1, 1, {has_temp}, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, {has_lse}>
  }} : ({operand_types}) -> ({result_types})
  return {result_names} : {result_types}
}}
"""


def module(head_dim):
    """The text of a module with all variants."""
    return "".join(function(variant) for variant in variants(head_dim))


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in map(str, HEAD_DIMS):
        print(f"usage: forward_variants.py {'|'.join(map(str, HEAD_DIMS))}", file=sys.stderr)
        return 2
    sys.stdout.write(module(int(sys.argv[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
