"""What is asked of the compiler: one op, its shapes, types and attributes.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import ctypes as C
import dataclasses
import math
from typing import Any, Literal

from . import _abi
from ._checks import expect_int, expect_one_of, expect_real

Dtype = Literal["bf16", "f16", "f32", "i32"]


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """An operand, argument or result: None stands for a dynamic dimension."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]

    def mlir_type(self) -> str:
        """`tensor<?x?x?x128xbf16>`."""
        dims = "".join("?x" if n is None else f"{n}x" for n in self.shape)
        return f"tensor<{dims}{self.dtype}>"


@dataclasses.dataclass(frozen=True)
class Cap:
    """The function that bounds a logit s before softmax; with c = `cap` and
    z = alpha (s / c + beta):

    - "none": s
    - "tanh": c tanh(s / c)
    - "soft_sign": s / (1 + |s| / c)
    - "alsc": c (sigmoid(z) - b) / (b (1 - b)), b = sigmoid(alpha beta)

    Parameters that a method does not use stay 0.
    """

    method: str = "none"
    cap: float = 0.0
    alpha: float = 0.0
    beta: float = 0.0

    def __post_init__(self) -> None:
        if self.method not in _abi.CAP_METHODS:
            raise ValueError(
                f"cap method is {self.method!r}: expected "
                + ", ".join(_abi.CAP_METHODS)
            )
        for name in ("cap", "alpha", "beta"):
            expect_real(f"cap {name}", getattr(self, name))

    def struct(self) -> _abi.Cap:
        """The library's form."""
        method = _abi.CAP_METHODS.index(self.method)
        return _abi.Cap(method, _f32(self.cap), _f32(self.alpha), _f32(self.beta))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Problem:
    """One `uattn.ranker_attention` or, with kind "backward", its gradients.

    q is (batch, q_tokens, q_heads, head_dim), k and v are (batch, kv_tokens,
    kv_heads, head_dim); a size of None is dynamic: one kernel serves them all.
    What breaks a rule of the op raises TypeError or ValueError here, with what
    was found and what was expected.
    """

    head_dim: int
    """64, 128, 192 or 256."""
    dtype: str = "bf16"
    """Of q, k, v and what has their shape: "bf16" or "f16"."""
    kind: str = "forward"
    """"forward" or "backward"."""
    batch: int | None = None
    q_tokens: int | None = None
    kv_tokens: int | None = None
    q_heads: int | None = None
    """A multiple of kv_heads."""
    kv_heads: int | None = None
    cap: Cap = Cap()
    sm_scale: float | None = None
    """Multiplies <q, k>; None: 1 / sqrt(head_dim)."""
    causal: bool = False
    """A key at position j is seen by queries at i >= j."""
    window_len: int | None = None
    """A key at position j is seen by queries at i < j + window_len."""
    q_offset: int = 0
    """The position of row 0 of q."""
    bounds: bool = False
    """The ranker mask, from an operand bounds, i32 (batch, 4)."""
    segment_ids: bool = False
    """Operands q_segment_ids and kv_segment_ids, i32."""
    temp: str | None = None
    """Type of the operand temp (batch, q_tokens): "f32", "bf16", "f16"; None
    where there is none."""
    lse: bool = False
    """Forward: the result lse, f32 (batch, q_heads, q_tokens)."""
    dlse: bool = False
    """Backward: the operand dlse, the gradient that arrives through lse."""
    dtemp: bool = False
    """Backward: the result dtemp, f32 (batch, q_tokens)."""
    z_loss_weight: float = 0.0
    """Backward: adds the gradient of z_loss_weight / 2 times sum of lse^2."""
    deterministic: bool = False
    """Backward: the same bits in every run."""

    def __post_init__(self) -> None:
        _check_types(self)
        library = _abi.runtime()
        _abi.check(library, library.uattn_problem_validate(C.byref(self.struct())))

    def struct(self) -> _abi.Problem:
        """The library's form."""
        is_backward = self.kind == "backward"
        has_operand = [True] * 3 + [self.temp is not None, self.bounds]
        has_operand += [self.segment_ids] * 2 + [is_backward] * 3 + [self.dlse]
        if is_backward:
            has_result = [True, True, True, self.dtemp]
        else:
            has_result = [True, self.lse, False, False]
        return _abi.Problem(
            kind=_abi.KINDS.index(self.kind),
            dtype=_abi.DTYPES.index(self.dtype),
            temp_dtype=_abi.DTYPES.index(self.temp or "f32"),
            **{name: _size(getattr(self, name)) for name in _SIZES},
            cap=self.cap.struct(),
            sm_scale=_f32(scale_of(self.sm_scale, self.head_dim)),
            is_causal=self.causal,
            window_tokens=self.window_len or 0,
            q_offset=self.q_offset,
            z_loss_weight=_f32(self.z_loss_weight),
            is_deterministic=self.deterministic,
            has_operand=(C.c_bool * _abi.OPERAND_COUNT)(*has_operand),
            has_result=(C.c_bool * _abi.RESULT_COUNT)(*has_result),
        )

    @property
    def operands(self) -> tuple[TensorSpec, ...]:
        """What the op takes, in its order."""
        return tuple(spec for _, spec in indexed_operands(self))

    @property
    def results(self) -> tuple[TensorSpec, ...]:
        """What the op returns, in its order."""
        return tuple(spec for _, spec in indexed_results(self))

    def backward(self, **changes: Any) -> Problem:
        """The backward problem that belongs to a forward one; `changes` are its
        own fields (dlse, dtemp, z_loss_weight, deterministic)."""
        return dataclasses.replace(self, kind="backward", lse=False, **changes)

    def mlir(self, function: str = "main") -> str:
        """A module with the op in a function; the same problem gives the same
        text."""
        from ._text import module_text

        return module_text(self, function)


_SIZES = ("batch", "q_tokens", "kv_tokens", "q_heads", "kv_heads", "head_dim")


def indexed_operands(problem: Problem) -> list[tuple[int, TensorSpec]]:
    """The present operands with their uattn_operand_t."""
    library, struct = _abi.runtime(), problem.struct()
    shape, found = (C.c_int64 * 4)(), []
    for index in range(_abi.OPERAND_COUNT):
        if struct.has_operand[index]:
            rank = library.uattn_operand_shape(C.byref(struct), index, shape)
            name = library.uattn_operand_name(index)
            dtype = library.uattn_operand_dtype(C.byref(struct), index)
            found.append((index, make_spec(name, dtype, rank, shape)))
    return found


def indexed_results(problem: Problem) -> list[tuple[int, TensorSpec]]:
    """The present results with their uattn_result_t."""
    library, struct = _abi.runtime(), problem.struct()
    shape, found = (C.c_int64 * 4)(), []
    for index in range(_abi.RESULT_COUNT):
        if struct.has_result[index]:
            rank = library.uattn_result_shape(C.byref(struct), index, shape)
            name = library.uattn_result_name(struct.kind, index)
            dtype = library.uattn_result_dtype(C.byref(struct), index)
            found.append((index, make_spec(name, dtype, rank, shape)))
    return found


def presence(problem: Problem) -> tuple[list[int], list[int]]:
    """operandSegmentSizes and resultSegmentSizes of the op: 1 where an operand
    or result is present."""
    is_backward = problem.kind == "backward"
    operand_count = _abi.OPERAND_COUNT if is_backward else _abi.FORWARD_OPERAND_COUNT
    result_count = _abi.RESULT_COUNT if is_backward else _abi.FORWARD_RESULT_COUNT
    struct = problem.struct()
    return (
        [int(x) for x in struct.has_operand[:operand_count]],
        [int(x) for x in struct.has_result[:result_count]],
    )


def make_spec(name: bytes, dtype: int, rank: int, shape: Any) -> TensorSpec:
    """A spec from what the library says of a value."""
    dims = (shape[axis] for axis in range(rank))
    return TensorSpec(
        name.decode(),
        _abi.DTYPES[dtype],
        tuple(None if n == _abi.DIM_DYNAMIC else n for n in dims),
    )


def scale_of(sm_scale: float | None, head_dim: int) -> float:
    """What a scale that is left out stands for."""
    return 1 / math.sqrt(head_dim) if sm_scale is None else sm_scale


def _f32(value: float) -> float:
    """As the op holds it; infinity where it has no room."""
    return C.c_float(value).value


def _size(value: int | None) -> int:
    return _abi.DIM_DYNAMIC if value is None else value


def _check_types(problem: Problem) -> None:
    """What the library's structs cannot hold; its own rules come after."""
    for name in _SIZES:
        value = getattr(problem, name)
        expect_int(name, value, or_none=name != "head_dim")
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}: expected 1 or more")
    expect_one_of("dtype", problem.dtype, ("bf16", "f16"))
    expect_one_of("kind", problem.kind, _abi.KINDS)
    if problem.temp is not None:
        expect_one_of("temp", problem.temp, ("f32", "bf16", "f16"))
    if not isinstance(problem.cap, Cap):
        raise TypeError(f"cap is {problem.cap!r}: expected a uattn.Cap")
    if problem.sm_scale is not None:
        expect_real("sm_scale", problem.sm_scale)
    expect_real("z_loss_weight", problem.z_loss_weight)
    expect_int("window_len", problem.window_len, or_none=True)
    if problem.window_len is not None and problem.window_len < 1:
        raise ValueError(f"window_len is {problem.window_len}: expected 1 or more")
    expect_int("q_offset", problem.q_offset, or_none=False)
    flags = ("causal", "bounds", "segment_ids", "lse", "dlse", "dtemp")
    for name in (*flags, "deterministic"):
        if not isinstance(getattr(problem, name), bool):
            found = getattr(problem, name)
            raise TypeError(f"{name} is {found!r}: expected True or False")
    if problem.kind == "forward" and problem.dtemp:
        raise ValueError("dtemp is set on a forward problem: expected it on a "
                         "backward one alone")
    if problem.kind == "backward" and problem.lse:
        raise ValueError("lse is set on a backward problem: expected it on a "
                         "forward one alone, a backward one always takes lse")
