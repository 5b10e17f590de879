"""How the op is split over devices: by batch, and by heads in whole groups.

Shardy learns from the rule which dimensions go together; `_partition` then says
what each device computes of what it was given.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax._src import dispatch
from jax._src.sharding_impls import ShardingContext
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

from ..problem import Problem

# Dimensions by what they count: B batch, S rows of q, T rows of k, H heads of
# q, K heads of k, D head_dim, R the numbers of bounds.
_DIMENSIONS = {
    "q": "BSHD",
    "k": "BTKD",
    "v": "BTKD",
    "temp": "BS",
    "bounds": "BR",
    "q_segment_ids": "BS",
    "kv_segment_ids": "BT",
    "out": "BSHD",
    "lse": "BHS",
    "dout": "BSHD",
    "dlse": "BHS",
    "dq": "BSHD",
    "dk": "BTKD",
    "dv": "BTKD",
    "dtemp": "BS",
}


def partitioned(primitive: Any) -> Any:
    """A function (problem, *operands) that binds the primitive on each device's
    part."""

    def whole(problem: Problem, *operands: Any) -> Any:
        return primitive.bind(*operands, problem=problem)

    function = custom_partitioning(whole, static_argnums=(0,))
    function.def_partition(
        partition=functools.partial(_partition, primitive), sharding_rule=_rule
    )
    return function


def needs_devices(primitive: Any) -> None:
    """Has JAX name the devices of a program while it lowers this primitive, as
    custom_partitioning wants it; JAX has no public word for that."""
    dispatch.prim_requires_devices_during_lowering.add(primitive)


def can_partition(context: Any) -> bool:
    """Whether JAX can partition what is lowered here: for a mesh whose axes all
    are the partitioner's. Elsewhere (jax.export, a part of the axes manual, no
    mesh, the partitioner before Shardy) a custom call is replicated, which is
    right, only slower where its operands are split."""
    module = context.module_context
    axes = module.axis_context
    return (
        bool(getattr(jax.config, "jax_use_shardy_partitioner", True))
        and not module.lowering_parameters.for_export
        and isinstance(axes, ShardingContext)
        and axes.device_assignment is not None
        and axes.abstract_mesh is not None
        and not axes.abstract_mesh.empty
    )


def _rule(problem: Problem, mesh: Any, operand_types: Any, result_types: Any) -> Any:
    """Shardy's rule: heads of k and the q heads of their group move together,
    where every axis of the mesh divides them; an axis that does not would be
    split, which JAX has no name for."""
    del result_types
    shapes = dict(zip((spec.name for spec in problem.operands), operand_types))
    q_heads, kv_heads = shapes["q"].shape[2], shapes["k"].shape[2]
    sizes: dict[str, Any] = {}
    if q_heads == kv_heads:
        factors = {"H": "h", "K": "h"}
    elif kv_heads == 1 or any(kv_heads % size for size in mesh.shape.values()):
        factors = {"H": "h", "K": "k"}
    else:
        factors = {"H": "(h g)", "K": "h"}
        sizes = {"g": q_heads // kv_heads}
    fixed = {"S": "s", "T": "t", "D": "d", "R": "r"}

    def text(specs: Sequence[Any]) -> str:
        letters = factors | fixed | {"B": "b"}
        return ", ".join(
            " ".join(letters[letter] for letter in _DIMENSIONS[spec.name])
            for spec in specs
        )

    rule = f"{text(problem.operands)} -> {text(problem.results)}"
    # A group of q heads stays with its head of k. Shardy wants special factors
    # in the order in which a rule names factors first.
    order = list(dict.fromkeys(re.findall(r"\w+", rule)))
    whole = [name for name in order if name == "g" or name in fixed.values()]
    return rule, sizes | {"need_replication_factors": tuple(whole)}


def _spec_axes(sharding: Any, dimension: int) -> tuple[str, ...]:
    spec = sharding.spec
    axes = spec[dimension] if dimension < len(spec) else None
    if axes is None:
        return ()
    return axes if isinstance(axes, tuple) else (axes,)


def _partition(
    primitive: Any, problem: Problem, mesh: Any, operands: Any, results: Any
) -> Any:
    """What q's sharding leaves to each device: whole batch entries, and whole
    heads where their number allows it."""
    del results
    names = [spec.name for spec in problem.operands]
    given = dict(zip(names, operands))
    batch = _spec_axes(given["q"].sharding, 0)
    if given["q"].shape[0] % _size(mesh, batch):
        batch = ()
    heads = _spec_axes(given["q"].sharding, 2)
    q_heads, kv_heads = given["q"].shape[2], given["k"].shape[2]
    parts = _size(mesh, heads)
    shares_kv = kv_heads == 1 and parts > 1
    if q_heads % parts or (kv_heads % parts and not shares_kv):
        heads, shares_kv = (), False
    axes = {"B": batch, "H": heads, "K": () if shares_kv else heads}

    def sharding(name: str) -> NamedSharding:
        spec = (axes.get(letter) or None for letter in _DIMENSIONS[name])
        return NamedSharding(mesh, PartitionSpec(*spec))

    summed = {"dtemp"} | ({"dk", "dv"} if shares_kv else set())

    def run(*parts_of: Any) -> Any:
        values = primitive.bind(*parts_of, problem=problem)
        return [
            _sum_over(heads, value) if heads and spec.name in summed else value
            for spec, value in zip(problem.results, values)
        ]

    return (
        mesh,
        run,
        [sharding(spec.name) for spec in problem.results],
        tuple(sharding(name) for name in names),
    )


def _sum_over(axes: tuple[str, ...], part: Any) -> Any:
    """Of what each device has of a gradient, in float32."""
    return jax.lax.psum(part.astype(jnp.float32), axes).astype(part.dtype)


def _size(mesh: Any, axes: tuple[str, ...]) -> int:
    return math.prod(mesh.shape[axis] for axis in axes)
