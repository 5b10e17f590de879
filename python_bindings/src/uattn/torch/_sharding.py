"""How the ops split over a mesh of devices where their operands are DTensors.

The batch and whole groups of heads may be split over any dimensions of the
mesh, each device then running the op on what it has; tokens may not. Operands
that lie otherwise are moved by DTensor, at the least cost that it knows.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from ._operands import BACKWARD_NAMES, NAMES
from ._ops import BACKWARD, FORWARD

_RESULTS = {FORWARD: ("out", "lse"), BACKWARD: ("dq", "dk", "dv", "dtemp")}
_OPERANDS = {FORWARD: NAMES, BACKWARD: BACKWARD_NAMES}
# The dimension of heads; what is not named has none. Where heads are split, a
# device sums temp's gradient over its own alone; where the queries of one kv head
# are, whose k and v every device has, it is so with their gradients too.
_HEADS = dict.fromkeys(("q", "k", "v", "out", "dout", "dq", "dk", "dv"), 2) | {
    "lse": 1,
    "dlse": 1,
}
_QUERIES = {n: x for n, x in _HEADS.items() if n not in ("k", "v", "dk", "dv")}
_SUMS_OF_HEADS, _SUMS_OF_QUERIES = ("dtemp",), ("dtemp", "dk", "dv")


def register() -> None:
    """Makes the ops known to DTensor, where this torch has it."""
    if not torch.distributed.is_available():
        return
    try:
        for name in _OPERANDS:
            _register(name)
    except (ImportError, AttributeError):
        # Nothing of this is public but register_sharding, which looks at a
        # dimension of the mesh at a time, and cannot see then whether groups of
        # heads stay whole. Without it DTensor refuses the ops, and says so.
        pass


def _register(name: str) -> None:
    # Costs nothing: torch.compiler has imported it already.
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor._op_schema import RuntimeSchemaInfo

    # DTensor keeps its decisions by the placements and shapes of tensors, and by
    # arguments from this index on: the first that may be None, for a decision
    # follows from what is there. wants_dtemp stands after it.
    first_static = NAMES.index("temp")
    DTensor._op_dispatcher.sharding_propagator.register_op_strategy(
        getattr(torch.ops.uattn, name).default,
        lambda schema: _strategy(name, schema),
        RuntimeSchemaInfo(first_static),
    )


def _strategy(name: str, schema: Any) -> Any:
    """Every way to split the op over the mesh of its operands."""
    from torch.distributed.tensor._op_schema import OpStrategy
    from torch.distributed.tensor._ops.utils import expand_to_full_mesh_op_strategy

    operands = dict(zip(_OPERANDS[name], schema.args_schema))
    mesh = operands["q"].strategies[0].output_spec.mesh
    present = [n for n, x in operands.items() if x is not None]
    wants_dtemp = name == FORWARD or schema.args_schema[-1]
    kv_heads = operands["k"].shape[2]
    ways = _ways(_RESULTS[name], present, wants_dtemp, kv_heads == 1)
    strategy = expand_to_full_mesh_op_strategy(
        mesh, schema, ways, input_index=len(_RESULTS[name])
    )
    batch, _, heads, _ = operands["q"].shape
    right = [
        spec
        for spec in strategy.strategies
        if _is_right(spec, mesh.shape, batch, heads, kv_heads)
    ]
    return OpStrategy(right)


def _ways(
    results: Sequence[str],
    operands: Sequence[str],
    wants_dtemp: bool,
    one_kv_head: bool,
) -> list[list[Any]]:
    """The placements, of results and then of operands, along one dimension of
    the mesh."""
    from torch.distributed.tensor import Partial, Replicate, Shard

    names = (*results, *operands)
    # A dtemp that is not wanted has no element.
    empty = () if wants_dtemp else ("dtemp",)

    def place(name: str, split: Mapping[str, int], sums: Sequence[str]) -> Any:
        if name in empty:
            return Replicate()
        if name in sums:
            return Partial()
        return Shard(split[name]) if name in split else Replicate()

    ways: list[tuple[Mapping[str, int], Sequence[str]]] = [
        ({}, ()),
        (dict.fromkeys(names, 0), ()),
        (_HEADS, _SUMS_OF_HEADS),
    ]
    if one_kv_head:
        ways.append((_QUERIES, _SUMS_OF_QUERIES))
    return [[place(name, *way) for name in names] for way in ways]


def _is_right(
    spec: Any, mesh_shape: Sequence[int], batch: int, heads: int, kv_heads: int
) -> bool:
    """Whether every device has something of the batch, as many heads as the
    others, and the kv heads of its own groups. Uneven parts of q's heads and of
    k's would pair heads that do not belong together, unseen by anything; and
    what DTensor joins of uneven parts, but for those of a batch, is not dense,
    as kernels want lse."""

    def counts(operand: int, dimension: int) -> list[int]:
        placements = spec.input_specs[operand].placements
        return [n for n, p in zip(mesh_shape, placements) if p.is_shard(dimension)]

    return (
        heads % math.prod(counts(0, 2)) == 0
        and kv_heads % math.prod(counts(1, 2)) == 0
        and _none_empty(batch, counts(0, 0))
    )


def _none_empty(size: int, counts: Iterable[int]) -> bool:
    """Whether parts are not empty where `size` is split as by torch.chunk, and
    each part again: all are as large as the first, but for the last ones."""
    sizes = [size]
    for count in counts:
        parts = [(x, (x + count - 1) // count) for x in sizes]
        sizes = [y for x, first in parts for y in (first, x - (count - 1) * first)]
    return all(x > 0 for x in sizes)


register()
