"""How an op's implementations and derivatives are registered, at little cost a
call.

torch.library.register_autograd looks through the schema in every call, in time
that grows with the square of its length: over 100 microseconds here. This does
the same without.
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.autograd import forward_ad

Function = Callable[..., Any]


def register(
    library: Any,
    name: str,
    implementations: Mapping[str, Function],
    keep: Function,
    pull_back: Function,
    differentiable_count: int | None = None,
    examine: Function | None = None,
) -> None:
    """Of an op that is defined, and whose operands come before its attributes;
    those that may have gradients, `differentiable_count` (None: all), first.

    `implementations` are those of the dispatch keys "CPU", "CUDA";
    `keep(ctx, operands, attributes, results)` says what `pull_back(ctx, needs,
    *cotangents)` finds in ctx; the latter returns a gradient or None for each
    differentiable operand, of which `needs` says whether it is wanted.
    `examine(*arguments)` may refuse what others than the implementations would
    get to see. `ctx.is_plain` says whether nothing but its implementation saw the op, and
    what it kept comes back as it was.
    """
    op = getattr(getattr(torch.ops, library.ns), name).default
    operand_count = _operand_count(op)
    direct = {
        torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key)).raw_repr(): run
        for key, run in implementations.items()
    }
    differentiable_count = differentiable_count or operand_count
    function = _function(
        name, frozenset(direct.values()), operand_count, keep, pull_back
    )
    below_autograd = torch._C._after_autograd_keyset

    def kernel(keyset: Any, *arguments: Any) -> Any:
        """Enters the implementation itself where nothing else (a mode, a
        subclass of Tensor) waits to see the op."""
        rest = keyset & below_autograd
        run = direct.get(rest.raw_repr())
        if run is None:
            if examine is not None:
                examine(*arguments)
            run = _redispatch(op, rest)
        operands = arguments[:differentiable_count]
        if forward_ad._current_level >= 0:
            _refuse_tangents(name, operands)
        if torch.is_grad_enabled():
            for operand in operands:
                if operand is not None and operand.requires_grad:
                    return function.apply(run, arguments, *operands)
        return run(*arguments)

    # Where dynamo evaluates frames it shall not look into these.
    for key, run in implementations.items():
        library.impl(name, torch.compiler.disable(run), key)
    library.impl(name, torch.compiler.disable(kernel), "Autograd", with_keyset=True)


def _operand_count(op: Any) -> int:
    return sum("Tensor" in str(argument.type) for argument in op._schema.arguments)


def _refuse_tangents(name: str, operands: tuple[Any, ...]) -> None:
    """They would be lost."""
    for operand in operands:
        if operand is not None and forward_ad.unpack_dual(operand).tangent is not None:
            raise NotImplementedError(
                f"uattn::{name} has no forward derivatives: expected operands "
                "without tangents"
            )


def _redispatch(op: Any, keyset: Any) -> Function:
    def run(*arguments: Any) -> Any:
        with torch._C._AutoDispatchBelowAutograd():
            return op.redispatch(keyset, *arguments)

    return run


def _function(
    name: str,
    direct: frozenset[Function],
    operand_count: int,
    keep: Function,
    pull_back: Function,
) -> Any:
    """The autograd.Function (run, arguments, *differentiable operands): of what
    torch does for every operand the others are spared. Without setup_context:
    with it, torch would bind arguments by name in every call."""

    def forward(
        ctx: Any, run: Function, arguments: tuple[Any, ...], *differentiable: Any
    ) -> Any:
        results = run(*arguments)
        hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
        ctx.is_plain = run in direct and hooks is None
        keep(ctx, arguments[:operand_count], arguments[operand_count:], results)
        return results

    def backward(ctx: Any, *cotangents: Any) -> Any:
        return (None, None, *pull_back(ctx, ctx.needs_input_grad[2:], *cotangents))

    members = {
        "forward": staticmethod(forward),
        "backward": staticmethod(torch.compiler.disable(backward)),
    }
    return type(f"{name}_function", (torch.autograd.Function,), members)


def transformed_function(
    op: Any,
    keep: Function,
    pull_back: Function,
    differentiable_count: int,
    batch: Function,
) -> Any:
    """The autograd.Function of an op for transforms of torch.func, which do not
    see what is registered with it. Slower than `register`."""

    operand_count = _operand_count(op)
    nothing = (None,) * (len(op._schema.arguments) - differentiable_count)

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.is_plain = False
        keep(ctx, inputs[:operand_count], inputs[operand_count:], output)

    def backward(ctx: Any, *cotangents: Any) -> Any:
        return (*pull_back(ctx, ctx.needs_input_grad, *cotangents), *nothing)

    members = {
        "forward": staticmethod(op),
        "setup_context": staticmethod(setup_context),
        "backward": staticmethod(torch.compiler.disable(backward)),
        "vmap": staticmethod(batch),
    }
    return type("transformed", (torch.autograd.Function,), members)


# The dispatch keys of tensors that implementations get to see.
_plain_keys: set[int] = set()


def learn_plain_keys(device: torch.device) -> None:
    """Of tensors on a device for which there is an implementation."""
    with torch.inference_mode(False):
        plain = torch.empty(0, device=device)
    _plain_keys.add(torch._C._dispatch_keys(plain).raw_repr())


def nothing_watches(*operands: torch.Tensor | None) -> bool:
    """Whether an op with these operands would reach its implementation unseen by
    modes, profilers, subclasses and further derivatives. The dispatcher costs as
    much as all else that a call does on the host: a backward may then do
    without."""
    torch_c = torch._C
    if (
        torch.is_grad_enabled()
        or forward_ad._current_level >= 0
        or torch_c._len_torch_dispatch_stack()
        or torch_c._len_torch_function_stack()
        or torch_c._autograd._profiler_enabled()
        or torch_c._has_torch_function_variadic(*operands)
    ):
        return False
    for operand in operands:
        if (
            operand is not None
            and torch_c._dispatch_keys(operand).raw_repr() not in _plain_keys
        ):
            return False
    return True
