"""The two custom ops: schemas, implementations, fake kernels, autograd, vmap.

Both are defined with torch.library.Library and not by its custom_op decorator,
whose wrappers add half to what a call costs the host.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from ..problem import Problem
from ._autograd import learn_plain_keys, nothing_watches, register, transformed_function
from ._calls import Call, HostCall, ResultSpec, cuda_call, no_elements
from ._operands import (
    BACKWARD_NAMES,
    NAMES,
    Attributes,
    check,
    check_device,
    check_layout,
)

FORWARD, BACKWARD = "ranker_attention_fwd", "ranker_attention_bwd"

_OPERANDS = (
    "Tensor q, Tensor k, Tensor v, Tensor? temp, Tensor? bounds, "
    "Tensor? q_segment_ids, Tensor? kv_segment_ids"
)
_ATTRIBUTES = (
    "str cap_method, float cap, float cap_alpha, float cap_beta, float? sm_scale, "
    "bool causal, int window_len, int q_offset, float z_loss_weight, "
    "bool deterministic"
)
_SCHEMAS = {
    FORWARD: f"({_OPERANDS}, {_ATTRIBUTES}) -> (Tensor out, Tensor lse)",
    # dtemp has no element where it is not wanted.
    BACKWARD: f"({_OPERANDS}, Tensor out, Tensor lse, Tensor dout, Tensor? dlse, "
    f"{_ATTRIBUTES}, bool wants_dtemp) "
    "-> (Tensor dq, Tensor dk, Tensor dv, Tensor dtemp)",
}
_FORWARD_COUNT, _BACKWARD_COUNT = len(NAMES), len(BACKWARD_NAMES)
_DIFFERENTIABLE_COUNT = 4  # q, k, v, temp

# Prepared calls, by all that they follow from. Shapes that change from step to
# step would fill memory without a limit.
_CALLS_LIMIT = 4096
_calls: dict[tuple[Any, ...], Call] = {}
# The last one for some attributes and a shape of q: likely the one.
_likely: dict[tuple[Any, ...], Call] = {}

_CALL_TYPES: dict[str, Callable[..., Call]] = {"CPU": HostCall, "CUDA": cuda_call}


def _key(operands: Sequence[torch.Tensor | None], rest: Any) -> tuple[Any, ...]:
    return (
        *[
            None if x is None else (x.shape, x.stride(), x.dtype, x.get_device())
            for x in operands
        ],
        rest,
    )


def _run(operands: tuple[Any, ...], rest: Any, prepare: Callable[[], Call]) -> Any:
    """Results by a prepared call, or by a new one of `prepare`."""
    likely = (rest, operands[0].shape)
    call = _likely.get(likely)
    if call is not None:
        results = call.try_run(operands)
        if results is not None:
            return results
    key = _key(operands, rest)
    call = _calls.get(key)
    if call is None:
        call = prepare()
        learn_plain_keys(operands[0].device)
        if len(_calls) >= _CALLS_LIMIT:
            _calls.clear()
            _likely.clear()
        _calls[key] = call
    if call.can_try:
        _likely[likely] = call
    return call.run(operands)


def _forward_results(q: torch.Tensor) -> list[ResultSpec]:
    batch, tokens, heads, _ = q.shape
    return [(tuple(q.shape), q.dtype), ((batch, heads, tokens), torch.float32)]


def _backward_results(
    operands: tuple[Any, ...], wants_dtemp: bool
) -> list[ResultSpec]:
    found: list[ResultSpec] = [(tuple(x.shape), x.dtype) for x in operands[:3]]
    if wants_dtemp:
        found.append((tuple(operands[0].shape[:2]), torch.float32))
    return found


def _forward(kind: str) -> Callable[..., Any]:
    call_type = _CALL_TYPES[kind]

    def forward(*arguments: Any) -> Any:
        operands, rest = arguments[:_FORWARD_COUNT], arguments[_FORWARD_COUNT:]

        def prepare() -> Call:
            problem = check(operands, Attributes(*rest))
            return call_type(problem, operands, _forward_results(operands[0]))

        return tuple(_run(operands, rest, prepare))

    return forward


def _backward(kind: str) -> Callable[..., Any]:
    gradients = _GRADIENTS[kind]

    def backward(*arguments: Any) -> Any:
        operands, rest = arguments[:_BACKWARD_COUNT], arguments[_BACKWARD_COUNT:]
        results = gradients(operands, rest)
        if not rest[-1]:
            results.append(torch.empty_like(no_elements(operands[0].device)))
        return tuple(results)

    return backward


def _gradients(kind: str) -> Callable[..., list[torch.Tensor]]:
    """(operands, attributes) of the backward; dtemp is there where it is
    wanted."""
    call_type = _CALL_TYPES[kind]

    def gradients(operands: tuple[Any, ...], rest: tuple[Any, ...]) -> Any:
        if kind == "CUDA":
            operands = _with_dense_cotangents(operands)

        def prepare() -> Call:
            problem = _backward_problem(operands, rest)
            specs = _backward_results(operands, rest[-1])
            return call_type(problem, operands, specs)

        return _run(operands, rest, prepare)

    return gradients


_GRADIENTS = {kind: _gradients(kind) for kind in _CALL_TYPES}


def _with_dense_cotangents(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """What autograd hands over may have any strides, those of a sum 0; kernels
    take dense ones."""
    dout, dlse = operands[9:]
    if dout.is_contiguous() and (dlse is None or dlse.is_contiguous()):
        return operands
    return (
        *operands[:9],
        dout.contiguous(),
        None if dlse is None else dlse.contiguous(),
    )


def _backward_problem(operands: tuple[Any, ...], rest: tuple[Any, ...]) -> Problem:
    *values, wants_dtemp = rest
    attributes = Attributes(*values)
    forward = check(operands[:_FORWARD_COUNT], attributes)
    for name, value in zip(BACKWARD_NAMES, operands):
        if value is not None:
            check_device(name, value, operands[0])
    return attributes.backward(forward, operands[10] is not None, wants_dtemp)


def _fake_forward(*arguments: Any) -> Any:
    operands, rest = arguments[:_FORWARD_COUNT], arguments[_FORWARD_COUNT:]
    check(operands, Attributes(*rest))
    q = operands[0]
    return tuple(
        q.new_empty(shape, dtype=dtype) for shape, dtype in _forward_results(q)
    )


def _fake_backward(*arguments: Any) -> Any:
    operands, rest = arguments[:_BACKWARD_COUNT], arguments[_BACKWARD_COUNT:]
    _backward_problem(operands, rest)
    q, wants_dtemp = operands[0], rest[-1]
    results = _backward_results(operands, wants_dtemp)
    if not wants_dtemp:
        results.append(((0,), torch.float32))
    return tuple(q.new_empty(shape, dtype=dtype) for shape, dtype in results)


def _keep(
    ctx: Any, operands: tuple[Any, ...], attributes: tuple[Any, ...], results: Any
) -> None:
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*operands, *results)
    ctx.attributes = attributes


def _pull_back(ctx: Any, needs: tuple[bool, ...], dout: Any, dlse: Any) -> Any:
    """dlse is None where the loss has no lse: the kernel without it runs then,
    and without dtemp where nobody asks for temp's gradient."""
    if dout is None and dlse is None:
        return (None,) * _DIFFERENTIABLE_COUNT
    *operands, out, lse = ctx.saved_tensors
    if dout is None:
        dout = torch.zeros_like(out)
    q, temp, wants_dtemp = operands[0], operands[3], needs[3]
    operands += (out, lse, dout, dlse)
    attributes = (*ctx.attributes, wants_dtemp)
    # A hook of a single saved tensor may have set a bit that kernels do not read.
    is_negative = any([x is not None and x.is_neg() for x in operands])
    if ctx.is_plain and not is_negative and nothing_watches(dout, dlse):
        run = _GRADIENTS["CUDA" if q.is_cuda else "CPU"]
        dq, dk, dv, *dtemps = run(tuple(operands), attributes)
    else:
        dq, dk, dv, *dtemps = call(BACKWARD, *operands, *attributes)
    dtemp = dtemps[0].to(temp.dtype) if wants_dtemp else None
    return dq, dk, dv, dtemp


def _keep_nothing(
    ctx: Any, operands: tuple[Any, ...], attributes: tuple[Any, ...], results: Any
) -> None:
    pass


def _pull_back_twice(ctx: Any, needs: tuple[bool, ...], *cotangents: Any) -> Any:
    raise NotImplementedError(
        "uattn.torch.ranker_attention has no second derivatives: expected a loss "
        "that is differentiated once"
    )


def _batch(name: str, operand_count: int) -> Callable[..., Any]:
    """A mapped dimension becomes a part of the batch. Other transforms may have
    been there first."""

    def fold(operand: Any, axis: int | None, size: int) -> Any:
        if operand is None:
            return None
        if axis is None:
            stacked = operand.unsqueeze(0).expand(size, *operand.shape)
        else:
            stacked = operand.movedim(axis, 0)
        return stacked.reshape(-1, *stacked.shape[2:]).contiguous()

    def batch(info: Any, in_dims: Any, *arguments: Any) -> Any:
        size = info.batch_size
        folded = [
            fold(x, axis, size)
            for x, axis in zip(arguments[:operand_count], in_dims)
        ]
        results = call(name, *folded, *arguments[operand_count:])
        unfolded = tuple(
            # A dtemp that is not wanted has no batch.
            x.reshape(size, -1, *x.shape[1:]) if x.numel() else x.expand(size, 0)
            for x in results
        )
        return unfolded, (0,) * len(unfolded)

    return batch


def _check_layouts(*arguments: Any) -> None:
    for name, value in zip(BACKWARD_NAMES, arguments):
        if isinstance(value, torch.Tensor):
            check_layout(name, value)


def _refuse_layout(*arguments: Any) -> Any:
    """The implementation for tensors that are not strided."""
    _check_layouts(*arguments)
    raise TypeError("an operand has another layout: expected strided")


# Dispatch keys of tensors without strides, beside those of the implementations.
_OTHER_LAYOUTS = tuple(
    f"{layout}{kind}"
    for layout in ("Sparse", "SparseCsr", "Quantized", "NestedTensor")
    for kind in ("CPU", "CUDA")
) + ("MkldnnCPU",)


def _tags() -> tuple[torch.Tag, ...]:
    """Compilers hand over operands with the strides that they had in eager
    mode."""
    names = ("pt2_compliant_tag", "needs_exact_strides")
    return tuple(getattr(torch.Tag, n) for n in names if hasattr(torch.Tag, n))


class _Parts(NamedTuple):
    """What an op consists of beside its schema."""

    make: Callable[[str], Callable[..., Any]]
    """The implementation for a dispatch key."""
    fake: Callable[..., Any]
    keep: Callable[..., Any]
    pull_back: Callable[..., Any]
    operand_count: int
    differentiable_count: int


_PARTS = {
    FORWARD: _Parts(
        _forward,
        _fake_forward,
        _keep,
        _pull_back,
        _FORWARD_COUNT,
        _DIFFERENTIABLE_COUNT,
    ),
    BACKWARD: _Parts(
        _backward,
        _fake_backward,
        _keep_nothing,
        _pull_back_twice,
        _BACKWARD_COUNT,
        _BACKWARD_COUNT,
    ),
}


def _register(library: Any, name: str, parts: _Parts) -> Any:
    """Defines an op; its autograd.Function for transforms of torch.func."""
    library.define(name + _SCHEMAS[name], tags=_tags())
    implementations = {key: parts.make(key) for key in _CALL_TYPES}
    for key in _OTHER_LAYOUTS:
        library.impl(name, _refuse_layout, key)
    torch.library.register_fake(f"uattn::{name}", parts.fake, lib=library)
    derivatives = parts.keep, parts.pull_back, parts.differentiable_count
    register(library, name, implementations, *derivatives, _check_layouts)
    op = getattr(torch.ops.uattn, name).default
    batch = _batch(name, parts.operand_count)
    torch.library.register_vmap(f"uattn::{name}", batch, lib=library)
    return transformed_function(op, *derivatives, batch)


# Its end would end the ops.
_library = torch.library.Library("uattn", "FRAGMENT")
_transformed = {
    name: _register(_library, name, parts) for name, parts in _PARTS.items()
}
_ops = {name: getattr(torch.ops.uattn, name).default for name in _PARTS}


def call(name: str, *arguments: Any) -> Any:
    """An op's results, also under transforms of torch.func."""
    if torch._C._are_functorch_transforms_active():
        return _transformed[name].apply(*arguments)
    return _ops[name](*arguments)
