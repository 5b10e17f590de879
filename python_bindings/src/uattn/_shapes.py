"""The shapes of a forward op's operands, and what may be wrong with them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Sequence

# A letter stands for one size in all operands; a number for itself.
SHAPES = {
    "q": ("B", "Q", "H", "D"),
    "k": ("B", "KV", "H_kv", "D"),
    "v": ("B", "KV", "H_kv", "D"),
    "temp": ("B", "Q"),
    "bounds": ("B", "4"),
    "q_segment_ids": ("B", "Q"),
    "kv_segment_ids": ("B", "KV"),
}


def known_sizes() -> dict[str, tuple[int, str]]:
    """Every size that is known, by its letter, and the operand that told it."""
    return {"4": (4, "")}


def check_shape(
    name: str, shape: Sequence[int], sizes: dict[str, tuple[int, str]]
) -> None:
    """Raises ValueError where an operand's shape is not what `sizes` want of it;
    adds to `sizes` what it tells."""
    wanted = SHAPES[name]
    if len(shape) != len(wanted):
        raise ValueError(
            f"{name} has shape {tuple(shape)}: expected rank {len(wanted)}, "
            f"({', '.join(wanted)})"
        )
    for axis, (size, letter) in enumerate(zip(shape, wanted)):
        if size < 1:
            raise ValueError(
                f"{name} has shape {tuple(shape)}: expected no empty dimension"
            )
        known, teller = sizes.setdefault(letter, (size, name))
        if size != known:
            source = f", as {teller} has" if teller else ""
            raise ValueError(
                f"{name} has {size} in dimension {axis} ({letter}): "
                f"expected {known}{source}"
            )


def check_heads(sizes: dict[str, tuple[int, str]]) -> None:
    """Of operands whose shapes have been checked."""
    heads, kv_heads = sizes["H"][0], sizes["H_kv"][0]
    if heads % kv_heads:
        raise ValueError(
            f"q has {heads} heads: expected a multiple of the {kv_heads} of k"
        )
