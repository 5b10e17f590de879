"""The operands of a forward op, and what may be wrong with them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from .._shapes import check_heads, check_shape, known_sizes

Array: TypeAlias = jax.Array


class Operands(NamedTuple):
    """In the order of the op; None is absent."""

    q: Any
    k: Any
    v: Any
    temp: Any
    bounds: Any
    q_segment_ids: Any
    kv_segment_ids: Any

    def present(self) -> list[Any]:
        return [operand for operand in self if operand is not None]


_HALVES = ("bfloat16", "float16")
_DTYPES = {
    "q": _HALVES,
    "temp": ("float32", *_HALVES),
    "bounds": ("int32",),
    "q_segment_ids": ("int32",),
    "kv_segment_ids": ("int32",),
}


def check_operands(given: Operands) -> Operands:
    """The same, as jax arrays; TypeError or ValueError names the first that is
    wrong. Integers of fewer bits than int32 become int32."""
    operands = Operands(
        *(_as_array(name, value) for name, value in given._asdict().items())
    )
    if (operands.q_segment_ids is None) != (operands.kv_segment_ids is None):
        missing = "q" if operands.q_segment_ids is None else "kv"
        raise TypeError(
            f"{missing}_segment_ids is None: expected both segment ids or neither"
        )
    sizes = known_sizes()
    for name, value in operands._asdict().items():
        if value is not None:
            _check_dtype(name, value, operands.q)
            _check_shape(name, value, sizes)
    check_devices(operands._asdict())
    check_heads(sizes)
    return operands


def _as_array(name: str, value: Any) -> Any:
    if value is None and name not in ("q", "k", "v"):
        return None
    if not isinstance(value, (jax.Array, np.ndarray)):
        raise TypeError(f"{name} is a {type(value).__name__}: expected a jax array")
    if name in ("q_segment_ids", "kv_segment_ids", "bounds"):
        dtype = np.dtype(value.dtype)
        if dtype.kind in "iu" and np.can_cast(dtype, np.int32):
            return jnp.asarray(value, np.int32)
    return value


def _check_dtype(name: str, value: Any, q: Any) -> None:
    found = np.dtype(value.dtype).name
    if name in ("k", "v"):
        wanted: tuple[str, ...] = (np.dtype(q.dtype).name,)
        why = " as q"
    else:
        wanted, why = _DTYPES[name], ""
    if found not in wanted:
        raise TypeError(
            f"{name} has dtype {found}: expected {' or '.join(wanted)}{why}"
        )


def check_devices(operands: dict[str, Any]) -> None:
    """Of values that JAX may not move, outside jit: by name, None is absent."""
    first: tuple[str, frozenset[Any]] | None = None
    for name, value in operands.items():
        if isinstance(value, jax.core.Tracer) or not getattr(value, "committed", False):
            continue
        devices = frozenset(value.devices())
        teller, wanted = first = first or (name, devices)
        if devices != wanted:
            raise ValueError(
                f"{name} is on {_device_names(devices)}: expected "
                f"{_device_names(wanted)}, where {teller} is"
            )


def _device_names(devices: frozenset[Any]) -> str:
    return ", ".join(sorted(map(str, devices)))


def _check_shape(name: str, value: Any, sizes: dict[str, tuple[int, str]]) -> None:
    for axis, size in enumerate(value.shape):
        if not isinstance(size, int):
            raise TypeError(
                f"{name} has the symbolic size {size} in dimension {axis}: "
                "expected a number"
            )
    check_shape(name, value.shape, sizes)
